//===- CompilerArgs.cpp - A configuration as clang options ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/CompilerArgs.h"
#include "Config/LLVMOptions.h"
#include "Support/Failure.h"
#include "LLVM/ConfigCompat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Target/TargetOptions.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// Collects options, and the first thing that has none.
class ArgsBuilder {
public:
  ArgsBuilder(const lto::Config &Conf, const Triple &TheTriple)
      : Conf(Conf), Options(Conf.Options), TheTriple(TheTriple) {}

  void addTarget();
  void addOptimization();
  void addCodeGeneration();
  void checkConfig();
  void checkTargetOptions();
  void checkMCOptions();

  Expected<std::vector<std::string>> take() {
    if (!Reason.empty())
      return failure(Reason);
    return std::move(Args);
  }

private:
  void add(const Twine &Arg) { Args.push_back(Arg.str()); }
  /// For options that the driver doesn't pass on, or only after asking a
  /// toolchain. The frontend takes the last of each.
  void addFrontend(const Twine &Arg) {
    add("-Xclang");
    add(Arg);
  }
  void addFlag(bool On, StringRef Positive, StringRef Negative) {
    add(On ? Positive : Negative);
  }
  /// Clang leaves the field alone or has no option for it: \p IsDefault says
  /// whether it has the value that clang's has.
  void require(bool IsDefault, const Twine &What) {
    if (!IsDefault && Reason.empty())
      Reason = What.str();
  }

  const lto::Config &Conf;
  const TargetOptions &Options;
  const Triple &TheTriple;
  std::vector<std::string> Args;
  std::string Reason;
};

} // namespace

/// Whether we know how to make clang leave the target alone. Its driver adds
/// features or an ABI of its own for some, which show in the object's header,
/// attributes or alignment (seen on RISC-V and MIPS); LLD has none of these.
static bool isKnownTarget(const Triple &T) {
  switch (T.getArch()) {
  case Triple::riscv32:
  case Triple::riscv64:
  case Triple::x86:
  case Triple::x86_64:
  case Triple::aarch64:
  case Triple::ppc:
  case Triple::systemz:
  case Triple::wasm32:
    return true;
  default:
    return false;
  }
}

void ArgsBuilder::addTarget() {
  require(isKnownTarget(TheTriple),
          "the features that clang has for " + TheTriple.getArchName());
  // The driver may add a version to the triple; then the frontend would change
  // the module's.
  add("--target=" + TheTriple.str());
  addFrontend("-triple");
  addFrontend(TheTriple.str());
  addFrontend("-target-cpu");
  addFrontend(Conf.CPU);
  for (const std::string &Feature : Conf.MAttrs) {
    addFrontend("-target-feature");
    addFrontend(Feature);
  }

  if (TheTriple.isRISCV()) {
    // It takes an ABI from the module, which clang doesn't do in the same way.
    require(!TakesRISCVABIFromModule, "the ABI of a RISC-V module");
    // Settle what the driver chooses, then take it back.
    require(Conf.CPU.empty() && Conf.MAttrs.empty(),
            "-mcpu and -mattr for RISC-V");
    add(TheTriple.isArch64Bit() ? "-march=rv64gc" : "-march=rv32gc");
    for (StringRef Feature :
         {"m", "a", "f", "d", "c", "zicsr", "zifencei", "zmmul", "relax"}) {
      addFrontend("-target-feature");
      addFrontend("-" + Feature);
    }
    addFrontend("-target-abi");
    addFrontend("");
  }

  // Without a model, each module's own flags decide: clang can't leave it out.
  if (!Conf.RelocModel) {
    require(false, "no relocation model (-r)");
    return;
  }
  addFrontend("-mrelocation-model");
  switch (*Conf.RelocModel) {
  case Reloc::Static:
    addFrontend("static");
    break;
  case Reloc::PIC_:
    addFrontend("pic");
    break;
  case Reloc::DynamicNoPIC:
    addFrontend("dynamic-no-pic");
    break;
  case Reloc::ROPI:
    addFrontend("ropi");
    break;
  case Reloc::RWPI:
    addFrontend("rwpi");
    break;
  case Reloc::ROPI_RWPI:
    addFrontend("ropi-rwpi");
    break;
  }

  if (Conf.CodeModel)
    switch (*Conf.CodeModel) {
    case CodeModel::Tiny:
      addFrontend("-mcmodel=tiny");
      break;
    case CodeModel::Small:
      addFrontend("-mcmodel=small");
      break;
    case CodeModel::Kernel:
      addFrontend("-mcmodel=kernel");
      break;
    case CodeModel::Medium:
      addFrontend("-mcmodel=medium");
      break;
    case CodeModel::Large:
      addFrontend("-mcmodel=large");
      break;
    }
}

void ArgsBuilder::addOptimization() {
  // Clang has one level for both, LLD two: --lto-O1 alone gives (1, 2).
  unsigned CodeGenLevel = static_cast<unsigned>(Conf.CGOptLevel);
  require(Conf.OptLevel == CodeGenLevel,
          "different optimization levels, --lto-O" + Twine(Conf.OptLevel) +
              " and --lto-CGO" + Twine(CodeGenLevel));
  add("-O" + Twine(Conf.OptLevel));

  const PipelineTuningOptions &PTO = Conf.PTO;
  addFlag(PTO.LoopVectorization, "-fvectorize", "-fno-vectorize");
  addFlag(PTO.SLPVectorization, "-fslp-vectorize", "-fno-slp-vectorize");
  addFlag(PTO.LoopUnrolling, "-funroll-loops", "-fno-unroll-loops");
  // Since LLVM 23 it is LLD's default, and not clang's.
  if (std::optional<bool> IsOn = loopInterchange(PTO))
    addFlag(*IsOn, "-floop-interchange", "-fno-loop-interchange");
  require(PTO.LoopInterleaving == PTO.LoopUnrolling, "loop interleaving");
  PipelineTuningOptions Default;
  require(PTO.ForgetAllSCEVInLoopUnroll == Default.ForgetAllSCEVInLoopUnroll &&
              PTO.LicmMssaOptCap == Default.LicmMssaOptCap &&
              PTO.LicmMssaNoAccForPromotionCap ==
                  Default.LicmMssaNoAccForPromotionCap &&
              PTO.CallGraphProfile && PTO.UnifiedLTO == Default.UnifiedLTO &&
              PTO.MergeFunctions == Default.MergeFunctions &&
              PTO.InlinerThreshold == Default.InlinerThreshold &&
              PTO.EagerlyInvalidateAnalyses ==
                  Default.EagerlyInvalidateAnalyses,
          "tuning of the optimization pipeline");
}

void ArgsBuilder::addCodeGeneration() {
  addFlag(Options.FunctionSections, "-ffunction-sections",
          "-fno-function-sections");
  addFlag(Options.DataSections, "-fdata-sections", "-fno-data-sections");
  addFlag(Options.UniqueSectionNames, "-funique-section-names",
          "-fno-unique-section-names");
  addFlag(Options.EmitAddrsig, "-faddrsig", "-fno-addrsig");
  addFlag(Options.EmulatedTLS, "-femulated-tls", "-fno-emulated-tls");
  if (Options.UniqueBasicBlockSectionNames)
    add("-funique-basic-block-section-names");
  if (Options.BBAddrMap)
    addFrontend("-fbasic-block-address-map");
  switch (Options.BBSections) {
  case BasicBlockSection::None:
    break;
  case BasicBlockSection::All:
    addFrontend("-fbasic-block-sections=all");
    break;
  default:
    if (labelsBasicBlocks(Options))
      addFrontend("-fbasic-block-sections=labels");
    else
      require(false, "--lto-basic-block-sections with a list of functions");
  }
  switch (Options.DebuggerTuning) {
  case DebuggerKind::Default:
    break;
  case DebuggerKind::GDB:
    addFrontend("-debugger-tuning=gdb");
    break;
  case DebuggerKind::LLDB:
    addFrontend("-debugger-tuning=lldb");
    break;
  case DebuggerKind::SCE:
    addFrontend("-debugger-tuning=sce");
    break;
  case DebuggerKind::DBX:
    addFrontend("-debugger-tuning=dbx");
    break;
  }
  if (TheTriple.isOSBinFormatCOFF()) {
    // Neither a time stamp nor the compiler's command line.
    addFlag(Options.MCOptions.MCIncrementalLinkerCompatible,
            "-mincremental-linker-compatible",
            "-mno-incremental-linker-compatible");
    addFrontend("-gno-codeview-command-line");
  } else
    require(!Options.MCOptions.MCIncrementalLinkerCompatible,
            "-mllvm -incremental-linker-compatible");
  if (Options.EmitStackSizeSection)
    add("-fstack-size-section");
  if (!Options.UseInitArray)
    addFrontend("-fno-use-init-array");
}

/// Fields of lto::Config, in the order of Config.h, that have no option or
/// whose effect is more than the object file.
void ArgsBuilder::checkConfig() {
  require(!Conf.PreCodeGenPassesHook,
          "passes that the linker adds before code generation");
  require(Conf.CGFileType == CodeGenFileType::ObjectFile, "--lto-emit-asm");
  require(!Conf.VerifyEach, "verification after each pass");
  require(!Conf.Freestanding, "freestanding code generation");
  require(!Conf.CodeGenOnly, "code generation without optimization");
  require(!Conf.RunCSIRInstr, "--lto-cs-profile-generate");
  require(Conf.OptPipeline.empty(), "--lto-newpm-passes");
  require(Conf.AAPipeline.empty(), "--lto-aa-pipeline");
  require(Conf.OverrideTriple.empty(), "another target triple");
  require(Conf.CSIRProfile.empty(), "--lto-cs-profile-file");
  require(Conf.SampleProfile.empty(), "--lto-sample-profile");
  require(Conf.ProfileRemapping.empty(), "a profile remapping file");
  require(Conf.DwoDir.empty(), "--plugin-opt=dwo_dir=");
  require(Conf.SplitDwarfFile.empty() && Conf.SplitDwarfOutput.empty(),
          "split DWARF");
  require(Conf.RemarksFilename.empty(), "--opt-remarks-filename");
  require(!Conf.DebugPassManager, "--lto-debug-pass-manager");
  require(Conf.StatsFile.empty(), "--plugin-opt=stats-file=");
  require(!Conf.AddFSDiscriminator, "flow-sensitive discriminators");
  require(!Conf.PreOptModuleHook && !Conf.PostPromoteModuleHook &&
              !Conf.PostInternalizeModuleHook && !Conf.PostImportModuleHook &&
              !Conf.PostOptModuleHook && !Conf.PreCodeGenModuleHook,
          "--save-temps or --lto-emit-llvm");
}

/// Fields of TargetOptions, in the order of TargetOptions.h, that
/// addCodeGeneration() has no option for: their values without any flag of
/// LLD's code generation options.
void ArgsBuilder::checkTargetOptions() {
  const TargetOptions &O = Options;
  const char *Set = optionOfThisVersion(Conf);
  require(!Set, Set ? Set : "");
  require(O.BinutilsVersion == std::pair<int, int>(0, 0),
          "another version of binutils");
  // LLD has false and clang true; only Arm's build attributes tell.
  require(!O.NoTrappingFPMath && !TheTriple.isARM() && !TheTriple.isThumb(),
          "floating-point traps on Arm");
  require(!O.EnableAIXExtendedAltivecABI, "-mllvm -vec-extabi");
  require(!O.HonorSignDependentRoundingFPMathOption,
          "-mllvm -enable-sign-dependent-rounding-fp-math");
  require(!O.NoZerosInBSS, "-mllvm -nozero-initialized-in-bss");
  require(!O.GuaranteedTailCallOpt, "-mllvm -tailcallopt");
  require(O.StackSymbolOrdering, "-mllvm -stack-symbol-ordering");
  require(!O.EnableFastISel && !O.EnableGlobalISel &&
              O.GlobalISelAbort == GlobalISelAbortMode::Enable,
          "another instruction selector");
  require(O.SwiftAsyncFramePointer == SwiftAsyncFramePointerMode::Always,
          "-mllvm -swift-async-fp");
  require(!O.DisableIntegratedAS, "-mllvm -no-integrated-as");
  require(!O.IgnoreXCOFFVisibility && O.XCOFFTracebackTable &&
              !O.XCOFFReadOnlyPointers,
          "XCOFF options");
  require(!O.SeparateNamedSections, "-mllvm -separate-named-sections");
  require(!O.TrapUnreachable && !O.NoTrapAfterNoreturn,
          "traps for unreachable code");
  require(O.TLSSize == 0, "-mllvm -tls-size");
  require(!O.EnableTLSDESC, "-mllvm -enable-tlsdesc");
  require(!O.EnableIPRA && !O.EnableMachineOutliner &&
              !O.SupportsDefaultOutlining && !O.EnableCFIFixup &&
              !O.ValueTrackingVariableLocations && !O.SupportsDebugEntryValues,
          "target options that targets set themselves");
  require(!O.EnableMachineFunctionSplitter, "-mllvm -split-machine-functions");
  require(!O.EmitCallSiteInfo, "-mllvm -emit-call-site-info");
  require(!O.EnableDebugEntryValues, "-mllvm -debug-entry-values");
  require(!O.ForceDwarfFrameSection, "-mllvm -force-dwarf-frame-section");
  require(O.XRayFunctionIndex, "-mllvm -xray-function-index");
  require(!O.DebugStrictDwarf, "-mllvm -strict-dwarf");
  require(!O.Hotpatch, "hot patching");
  require(!O.PPCGenScalarMASSEntries, "scalar MASS entries");
  require(!O.JMCInstrument, "-mllvm -enable-jmc-instrument");
  require(!O.MisExpect, "misexpect diagnostics");
  require(O.LoopAlignment == 0, "-mllvm -align-loops");
  require(O.FloatABIType == FloatABI::Default, "-mllvm -float-abi");
  require(O.AllowFPOpFusion == FPOpFusion::Standard, "-mllvm -fp-contract");
  require(O.ThreadModel == ThreadModel::POSIX, "-mllvm -thread-model");
  require(O.EABIVersion == EABI::Default || O.EABIVersion == EABI::Unknown,
          "-mllvm -meabi");
  require(O.ExceptionModel == ExceptionHandling::None,
          "-mllvm -exception-model");
  require(O.ObjectFilenameForDebug.empty(), "an object's name for debuggers");
}

void ArgsBuilder::checkMCOptions() {
  const MCTargetOptions &M = Options.MCOptions;
  require(!M.MCRelaxAll, "-mllvm -mc-relax-all");
  require(!M.MCNoExecStack && !M.AsmVerbose && M.PreserveAsmComments &&
              !M.ShowMCEncoding,
          "assembler options");
  require(!M.MCFatalWarnings, "-mllvm -fatal-warnings");
  require(!M.MCNoWarn && !M.MCNoDeprecatedWarn && !M.MCNoTypeCheck,
          "-mllvm -no-warn");
  require(!M.MCSaveTempLabels, "-mllvm -save-temp-labels");
  require(!M.FDPIC, "-mllvm -fdpic");
  require(!M.ShowMCInst, "-mllvm -asm-show-inst");
  require(!M.Dwarf64, "-mllvm -dwarf64");
  require(!M.Crel, "-mllvm -crel");
  require(M.X86RelaxRelocations, "-mllvm -x86-relax-relocations");
  require(!M.X86Sse2Avx, "-mllvm -x86-sse2avx");
  require(M.EmitDwarfUnwind == EmitDwarfUnwindType::Default,
          "-mllvm -emit-dwarf-unwind");
  require(M.DwarfVersion == 0, "-mllvm -dwarf-version");
  require(M.CompressDebugSections == DebugCompressionType::None,
          "compressed debug sections in objects");
  require(M.ABIName.empty(), "-mllvm -target-abi");
  require(M.AssemblyLanguage.empty() && M.SplitDwarfFile.empty() &&
              M.AsSecureLogFile.empty() && M.IASSearchPaths.empty(),
          "assembler options");
  require(!M.EmitCompactUnwindNonCanonical,
          "-mllvm -emit-compact-unwind-non-canonical");
  require(!M.PPCUseFullRegisterNames, "full register names on PowerPC");
}

Expected<std::vector<std::string>>
dtlto::compilerArgs(const lto::Config &Conf, const Triple &TheTriple,
                    ArrayRef<std::string> LLVMOptions) {
  ArgsBuilder Builder(Conf, TheTriple);
  Builder.addTarget();
  Builder.addOptimization();
  Builder.addCodeGeneration();
  Builder.checkConfig();
  Builder.checkTargetOptions();
  Builder.checkMCOptions();
  Expected<std::vector<std::string>> Args = Builder.take();
  if (!Args)
    return Args.takeError();

  Expected<std::vector<std::string>> Forwarded =
      llvmOptionsForCompiler(LLVMOptions);
  if (!Forwarded)
    return Forwarded.takeError();
  for (std::string &Option : *Forwarded) {
    Args->push_back("-mllvm");
    Args->push_back(std::move(Option));
  }
  return Args;
}
