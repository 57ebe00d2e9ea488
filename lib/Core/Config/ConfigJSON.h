//===- ConfigJSON.h - A configuration as text -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An lto::Config with its TargetOptions and LLVM's own options as text. From
// the text, lto::thinBackend makes the same bytes on another machine. The text
// begins with the LLVM version, which must be the same for writer and reader.
//
// Each field of the three structs (Config, TargetOptions, MCTargetOptions) is
// in one of three lists: fields that are sent; fields that must have one fixed
// value (empty callbacks, files that aren't sent); and fields that the backend
// doesn't read. A test compares the lists with LLVM's headers.
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

/// What a configuration only refers to, in the form in which it is sent.
struct ConfigExtras {
  /// The names of the files of these fields among the job's inputs. Empty: the
  /// field isn't sent and must be empty.
  std::string CSIRProfile, SampleProfile, ProfileRemapping;
  /// PreCodeGenPassesHook is the hook of LLD's Mach-O port, which adds the pass
  /// that contracts Objective-C ARC calls.
  bool ObjCARCContract = false;
  /// The name of the .dwo file in the object, if the job makes one (DwoDir).
  /// Empty: DwoDir isn't sent.
  std::string DwoName;
  /// The object's name in its debug info, which isn't in LLVM's structs. Empty:
  /// none.
  std::string ObjectName;
  /// The job writes a remarks file (RemarksFilename).
  bool Remarks = false;
  /// The name of the file of BBSectionsFuncListBuf, which isn't in LLVM's
  /// structs.
  std::string FunctionList;
  /// The name of the code generation data file (LLVM/CodegenData.h), which an
  /// LLVM option names.
  std::string CodegenData;
  /// The module's name in the linker, if the object contains it.
  std::string ModuleName;
  /// Library functions that code generation must not call (ThinBackend.h),
  /// which the linker passes separately.
  std::vector<std::string> Unavailable;
  CompileSpec Spec;
  /// PostImportModuleHook only does what specs say (Compile/BackendCompile.h).
  bool HasSpecHook = false;
};

/// Returns a JSON object in one line; equal configurations give equal text.
/// \p LLVMOptions are the user's options for LLVM itself (`-mllvm`). Fails with
/// a one-line reason that names the option or field that can't be sent.
///
/// With \p OmitsCodegen, leaves out file names, outputs, and what only code
/// generation reads: configurations with equal texts then produce the same
/// optimized module.
llvm::Expected<std::string> writeConfig(const llvm::lto::Config &Conf,
                                        llvm::ArrayRef<std::string> LLVMOptions,
                                        const ConfigExtras &Extras = {},
                                        bool OmitsCodegen = false);

struct ReadConfig {
  /// Has the hook, but not the files that \c Extras names.
  llvm::lto::Config Conf;
  ConfigExtras Extras;
  /// Pass these to cl::ParseCommandLineOptions before any other use of LLVM.
  std::vector<std::string> LLVMOptions;
};

/// Reads an untrusted configuration. Fails with a one-line reason on anything
/// that writeConfig() doesn't write: a missing, unknown or repeated field, a
/// value of another type or out of range, another LLVM version.
llvm::Expected<ReadConfig> readConfig(llvm::StringRef Text);

} // namespace dtlto

#endif // DTLTO_CONFIG_CONFIGJSON_H
