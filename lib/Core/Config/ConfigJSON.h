//===- ConfigJSON.h - A configuration that loses nothing --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An lto::Config with its TargetOptions, and LLVM's own options, as text, so
// that lto::thinBackend on another machine makes the same bytes. Writer and
// reader are of one LLVM version; the text begins with it.
//
// Each field of the three structs (Config, TargetOptions, MCTargetOptions) is
// in one of three lists: it travels; it must have the one value that can travel
// (callbacks that must be empty, files that aren't sent); or the backend
// doesn't look at it. A test compares the lists with LLVM's headers.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_CONFIGJSON_H
#define DTLTO_CONFIG_CONFIGJSON_H

#include "Config/CompileSpec.h"
#include "llvm/LTO/Config.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// What a configuration only points at, and how that travels.
struct ConfigExtras {
  /// The names that the files of these fields have among a job's inputs; empty:
  /// the field is not sent, and so must be empty.
  std::string CSIRProfile, SampleProfile, ProfileRemapping;
  /// PreCodeGenPassesHook is the one of LLD's Mach-O port, which adds the pass
  /// that contracts ARC's calls of Objective-C.
  bool ObjCARCContract = false;
  /// The job makes a .dwo file (DwoDir), and this is its name in the object;
  /// empty: DwoDir is not sent.
  std::string DwoName;
  /// What the object calls itself, which no field of LLVM's holds; empty: it
  /// has no name.
  std::string ObjectName;
  /// The job makes a file of remarks (RemarksFilename).
  bool Remarks = false;
  /// BBSectionsFuncListBuf, as SampleProfile and the others above.
  std::string FunctionList;
  /// The name of a file that LLVM reads by way of an option of its own: what
  /// code generation learnt (LLVM/CodegenData.h).
  std::string CodegenData;
  /// The module's name in the linker, where the object has it; empty: it is of
  /// no use.
  std::string ModuleName;
  /// Library functions that code generation must not call (ThinBackend.h). Not
  /// of the Config, but of what the linker says beside it.
  std::vector<std::string> Unavailable;
  CompileSpec Spec;
  /// PostImportModuleHook is that which makes a module a part.
  bool HasPartHook = false;
};

/// Returns a JSON object in one line; equal configurations give equal text.
/// \p LLVMOptions are the words that the user gave to LLVM itself (`-mllvm`).
/// Fails with one line that names the option or field which can't travel.
llvm::Expected<std::string> writeConfig(const llvm::lto::Config &Conf,
                                        llvm::ArrayRef<std::string> LLVMOptions,
                                        const ConfigExtras &Extras = {});

/// As writeConfig(), without what only code generation depends on: equal texts
/// are of configurations by which a module is optimised to the same. What files
/// are sent, and what becomes of the object, isn't in it either.
llvm::Expected<std::string>
writeOptimizationConfig(const llvm::lto::Config &Conf,
                        llvm::ArrayRef<std::string> LLVMOptions,
                        const ConfigExtras &Extras);

struct ReadConfig {
  /// With the hook, but without the files, if \c Extras has them.
  llvm::lto::Config Conf;
  ConfigExtras Extras;
  /// For cl::ParseCommandLineOptions, before anything else of LLVM runs.
  std::vector<std::string> LLVMOptions;
};

/// The way back. Fails with one line on anything that writeConfig() doesn't
/// write: a missing, unknown or repeated field, a value of another type or out
/// of its range, another LLVM version. The bytes may come from anywhere.
llvm::Expected<ReadConfig> readConfig(llvm::StringRef Text);

} // namespace dtlto

#endif // DTLTO_CONFIG_CONFIGJSON_H
