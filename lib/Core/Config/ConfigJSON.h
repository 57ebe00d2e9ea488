//===- ConfigJSON.h - A configuration that loses nothing --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An lto::Config with its TargetOptions, and LLVM's own options, as text, so
// that lto::thinBackend makes the same bytes on another machine. Writer and
// reader have the same LLVM version, with which the text begins.
//
// Each field of the three structs (Config, TargetOptions, MCTargetOptions) is
// in one of three lists: it travels; it must have the one value that can travel
// (empty callbacks, files that aren't sent); or the backend doesn't read it. A
// test compares the lists with LLVM's headers.
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

/// What a configuration only refers to, in the form in which it travels.
struct ConfigExtras {
  /// The names of these fields' files among a job's inputs; empty: the field
  /// isn't sent, and must be empty.
  std::string CSIRProfile, SampleProfile, ProfileRemapping;
  /// PreCodeGenPassesHook is that of LLD's Mach-O port, which adds the pass
  /// that contracts ARC's calls of Objective-C.
  bool ObjCARCContract = false;
  /// If the job makes a .dwo file (DwoDir), the file's name in the object;
  /// empty: DwoDir isn't sent.
  std::string DwoName;
  /// The object's name in its debug info, which isn't in LLVM's structs; empty:
  /// none.
  std::string ObjectName;
  /// The job makes a file of remarks (RemarksFilename).
  bool Remarks = false;
  /// The name of BBSectionsFuncListBuf's file, which isn't in LLVM's structs.
  std::string FunctionList;
  /// The name of the file of code generation data (LLVM/CodegenData.h), which
  /// LLVM reads for an option of its own.
  std::string CodegenData;
  /// The module's name in the linker, if the object has it; empty: it hasn't.
  std::string ModuleName;
  /// Library functions that code generation must not call (ThinBackend.h),
  /// which the linker passes separately.
  std::vector<std::string> Unavailable;
  CompileSpec Spec;
  /// PostImportModuleHook is the one that reduces a module to a part.
  bool HasPartHook = false;
};

/// Returns a JSON object in one line; equal configurations give equal text.
/// \p LLVMOptions are the words of the user's options for LLVM itself
/// (`-mllvm`). Fails with one line that names the option or field that can't
/// travel.
llvm::Expected<std::string> writeConfig(const llvm::lto::Config &Conf,
                                        llvm::ArrayRef<std::string> LLVMOptions,
                                        const ConfigExtras &Extras = {});

/// Like writeConfig(), without what only code generation depends on, the names
/// of files, and the outputs: configurations with equal texts optimise a module
/// to the same.
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

/// Reads bytes that may come from anywhere. Fails with one line on anything
/// that writeConfig() doesn't write: a missing, unknown or repeated field, a
/// value of another type or out of its range, another LLVM version.
llvm::Expected<ReadConfig> readConfig(llvm::StringRef Text);

} // namespace dtlto

#endif // DTLTO_CONFIG_CONFIGJSON_H
