//===- ConfigCompat.h - Fields of a configuration ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_CONFIGCOMPAT_H
#define DTLTO_LLVM_CONFIGCOMPAT_H

#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/LTO/Config.h"
#include "llvm/Target/TargetOptions.h"
#include <optional>

namespace dtlto {

/// Whether basic blocks get labels that --lto-basic-block-sections=labels asked
/// for. Later versions have an option of its own for that.
inline bool labelsBasicBlocks(const llvm::TargetOptions &Options) {
#if LLVM_VERSION_MAJOR >= 20
  (void)Options;
  return false;
#else
  return Options.BBSections == llvm::BasicBlockSection::Labels;
#endif
}

/// The name of one that was set of the code generation options that only some
/// versions of LLVM have, or null. No compiler's command line has them.
inline const char *optionOfThisVersion(const llvm::lto::Config &Conf) {
  const llvm::TargetOptions &O = Conf.Options;
#if LLVM_VERSION_MAJOR >= 21
  const llvm::MCTargetOptions &M = O.MCOptions;
  if (O.EnableStaticDataPartitioning)
    return "-mllvm -partition-static-data-sections";
  if (!O.VerifyArgABICompliance)
    return "arguments that aren't checked against the ABI";
  if (M.ImplicitMapSyms)
    return "-mllvm -implicit-mapsyms";
  if (M.OutputAsmVariant || !M.InstPrinterOptions.empty())
    return "assembler options";
#endif
#if LLVM_VERSION_MAJOR >= 22
  const llvm::PipelineTuningOptions &PTO = Conf.PTO, Default;
  if (PTO.LoopFusion != Default.LoopFusion ||
      PTO.DevirtualizeSpeculatively != Default.DevirtualizeSpeculatively)
    return "tuning of the optimization pipeline";
  if (O.EmitCallGraphSection)
    return "-mllvm -call-graph-section";
  if (O.VecLib != llvm::VectorLibrary::NoLibrary)
    return "-mllvm -vector-library";
  if (M.EmitSFrameUnwind)
    return "-mllvm -gsframe";
#endif
#if LLVM_VERSION_MAJOR >= 23
  if (!Conf.LoadedPassPlugins.empty() || !Conf.PassPluginFilenames.empty())
    return "--load-pass-plugin";
  if (!O.StackUsageFile.empty())
    return "stack usage files";
  if (M.RelocSectionSym != llvm::RelocSectionSymType::All)
    return "-mllvm -reloc-section-sym";
  if (M.LargeEHEncoding)
    return "-mllvm -large-eh-encoding";
#else
  if (!Conf.PassPlugins.empty())
    return "--load-pass-plugin";
  if (!O.StackUsageOutput.empty())
    return "stack usage files";
  if (O.NoInfsFPMath)
    return "-mllvm -enable-no-infs-fp-math";
  if (O.NoNaNsFPMath)
    return "-mllvm -enable-no-nans-fp-math";
  if (O.NoSignedZerosFPMath)
    return "-mllvm -enable-no-signed-zeros-fp-math";
#endif
#if LLVM_VERSION_MAJOR < 22
  if (O.UnsafeFPMath)
    return "-mllvm -enable-unsafe-fp-math";
  if (O.ApproxFuncFPMath)
    return "-mllvm -enable-approx-func-fp-math";
  if (O.getRawFPDenormalMode() != llvm::DenormalMode::getIEEE())
    return "-mllvm -denormal-fp-math";
#endif
  return nullptr;
}

/// Whether -mllvm \p Name is a code generation flag, in versions of LLVM that
/// have it as one: optionOfThisVersion() tells of it.
inline bool isCodeGenFlagOfThisVersion(llvm::StringRef Name) {
  static constexpr llvm::StringLiteral Flags[] = {
#if LLVM_VERSION_MAJOR >= 21
    "partition-static-data-sections",
    "implicit-mapsyms",
#endif
#if LLVM_VERSION_MAJOR >= 22
    "vector-library",
    "call-graph-section",
    "gsframe",
#endif
#if LLVM_VERSION_MAJOR >= 23
    "reloc-section-sym",
    "large-eh-encoding",
    "W", // no-warn
#endif
    ""
  };
  return !Name.empty() && llvm::is_contained(Flags, Name);
}

/// Whether loops are interchanged; nothing where LLVM has no such field.
inline std::optional<bool>
loopInterchange(const llvm::PipelineTuningOptions &PTO) {
#if LLVM_VERSION_MAJOR >= 21
  return PTO.LoopInterchange;
#else
  (void)PTO;
  return std::nullopt;
#endif
}

/// RISC-V's ABI is taken from the module.
inline constexpr bool TakesRISCVABIFromModule = LLVM_VERSION_MAJOR >= 21;

} // namespace dtlto

#endif // DTLTO_LLVM_CONFIGCOMPAT_H
