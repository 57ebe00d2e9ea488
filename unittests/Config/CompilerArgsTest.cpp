//===- CompilerArgsTest.cpp - Each field of the configuration -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table in this file lists all fields of lto::Config and of its members.
// For each field, it says what happens if the value isn't LLD's default. A
// field of ConfigFields.h that is missing from the table fails a test, and so
// does a field of LLVM's headers that is missing from ConfigFields.h
// (ConfigJSONTest.cpp). Each new field needs a decision about fidelity.
//
//===----------------------------------------------------------------------===//

#include "Config/CompilerArgs.h"
#include "ConfigVisitors.h"
#include "LLVM/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

/// Returns LLD's configuration for ELF without any option.
lto::Config plainConfig() {
  lto::Config Conf;
  Conf.RelocModel = Reloc::PIC_;
  Conf.Options.UseInitArray = true;
  Conf.Options.NoTrappingFPMath = false;
  Conf.Options.EmitAddrsig = true;
  Conf.PTO.LoopVectorization = Conf.PTO.SLPVectorization = true;
  Conf.DisableVerify = true;
  Conf.DiagHandler = [](const DiagnosticInfo &) {};
  return Conf;
}

enum Fate {
  Option, // Text: words that the command line gets.
  Reason, // Text: part of the reason for compiling in the linker.
  Same    // Text: why the object doesn't depend on it.
};

struct Field {
  StringLiteral Struct;
  StringLiteral Name;
  Fate What;
  StringLiteral Text;
  void (*Change)(lto::Config &);
};

constexpr StringLiteral Itself = "has a part of the table to itself";

#define CHANGE(...) [](lto::Config &C) { C.__VA_ARGS__; }
#define CONTAINS(STRUCT, NAME)                                                 \
  {                                                                            \
    STRUCT, NAME, Same, Itself, [](lto::Config &) {}                           \
  }
#define CONFIG(NAME, WHAT, TEXT, ...)                                          \
  { "Config", #NAME, WHAT, TEXT, CHANGE(NAME __VA_ARGS__) }
#define TARGET(NAME, WHAT, TEXT, ...)                                          \
  { "TargetOptions", #NAME, WHAT, TEXT, CHANGE(Options.NAME __VA_ARGS__) }
#define MC(NAME, WHAT, TEXT, ...)                                              \
  {                                                                            \
    "MCTargetOptions", #NAME, WHAT, TEXT,                                      \
        CHANGE(Options.MCOptions.NAME __VA_ARGS__)                             \
  }
#define PTO(NAME, WHAT, TEXT, ...)                                             \
  { "PipelineTuningOptions", #NAME, WHAT, TEXT, CHANGE(PTO.NAME __VA_ARGS__) }

const lto::Config::ModuleHookFn Hook = [](unsigned, const Module &) {
  return true;
};

[[maybe_unused]] std::vector<std::string> &imports(size_t) {
  static std::vector<std::string> None;
  return None;
}
[[maybe_unused]] std::string &cacheKeyText(size_t) {
  static std::string Key;
  return Key;
}

constexpr StringLiteral ThinLink = "the thin link is over";
constexpr StringLiteral Alone = "means nothing without a field with a reason";
constexpr StringLiteral Text = "for assembly text only";

const Field Fields[] = {
    // lto::Config, in the order of llvm/LTO/Config.h
    CONFIG(CPU, Option, "-Xclang -target-cpu -Xclang skylake", = "skylake"),
    CONTAINS("Config", "Options"),
    CONFIG(MAttrs, Option,
           "-Xclang -target-feature -Xclang +avx -Xclang -target-feature "
           "-Xclang -sse3",
           = {"+avx", "-sse3"}),
    CONFIG(MllvmArgs, Same, "are a parameter of their own", = {"-x"}),
    CONFIG(
        PreCodeGenPassesHook, Reason, "passes that the linker adds",
        = [](legacy::PassManager &) {}),
    CONFIG(RelocModel, Option, "-Xclang -mrelocation-model -Xclang static",
           = Reloc::Static),
    CONFIG(RelocModel, Option, "-Xclang -mrelocation-model -Xclang pic",
           = Reloc::PIC_),
    CONFIG(RelocModel, Option,
           "-Xclang -mrelocation-model -Xclang dynamic-no-pic",
           = Reloc::DynamicNoPIC),
    CONFIG(RelocModel, Option, "-Xclang -mrelocation-model -Xclang ropi",
           = Reloc::ROPI),
    CONFIG(RelocModel, Option, "-Xclang -mrelocation-model -Xclang rwpi",
           = Reloc::RWPI),
    CONFIG(RelocModel, Option, "-Xclang -mrelocation-model -Xclang ropi-rwpi",
           = Reloc::ROPI_RWPI),
    CONFIG(RelocModel, Reason, "relocation model (-r)", = std::nullopt),
    CONFIG(CodeModel, Option, "-Xclang -mcmodel=tiny", = CodeModel::Tiny),
    CONFIG(CodeModel, Option, "-Xclang -mcmodel=small", = CodeModel::Small),
    CONFIG(CodeModel, Option, "-Xclang -mcmodel=kernel", = CodeModel::Kernel),
    CONFIG(CodeModel, Option, "-Xclang -mcmodel=medium", = CodeModel::Medium),
    CONFIG(CodeModel, Option, "-Xclang -mcmodel=large", = CodeModel::Large),
    CONFIG(CGOptLevel, Reason, "--lto-CGO3", = CodeGenOptLevel::Aggressive),
    CONFIG(CGFileType, Reason, "--lto-emit-asm",
           = CodeGenFileType::AssemblyFile),
    CONFIG(CGFileType, Reason, "--lto-emit-asm", = CodeGenFileType::Null),
    CONFIG(OptLevel, Reason, "--lto-O1", = 1),
    CONFIG(VerifyEach, Reason, "verification", = true),
    CONFIG(DisableVerify, Same, "finds errors of LLVM's own", = false),
    CONFIG(Freestanding, Reason, "freestanding", = true),
    CONFIG(CodeGenOnly, Reason, "without optimization", = true),
    CONFIG(RunCSIRInstr, Reason, "--lto-cs-profile-generate", = true),
    CONFIG(PGOWarnMismatch, Same, Alone, = false),
    CONFIG(HasWholeProgramVisibility, Same, ThinLink, = true),
    CONFIG(ValidateAllVtablesHaveTypeInfos, Same, ThinLink, = true),
    CONFIG(AllVtablesHaveTypeInfos, Same, ThinLink, = true),
    CONFIG(AlwaysEmitRegularLTOObj, Same, "for regular LTO", = true),
    CONFIG(VisibilityScheme, Same, ThinLink, = lto::Config::ELF),
    CONFIG(OptPipeline, Reason, "--lto-newpm-passes", = "globaldce"),
    CONFIG(AAPipeline, Reason, "--lto-aa-pipeline", = "basic-aa"),
    CONFIG(OverrideTriple, Reason, "another target triple", = "i386-linux"),
    CONFIG(DefaultTriple, Same, "is a parameter of its own", = "i386-linux"),
    CONFIG(CSIRProfile, Reason, "--lto-cs-profile-file", = "x.profdata"),
    CONFIG(SampleProfile, Reason, "--lto-sample-profile", = "x.prof"),
    CONFIG(ProfileRemapping, Reason, "profile remapping", = "x"),
    CONFIG(DwoDir, Reason, "dwo_dir", = "x"),
    CONFIG(SplitDwarfFile, Reason, "split DWARF", = "x.dwo"),
    CONFIG(SplitDwarfOutput, Reason, "split DWARF", = "x.dwo"),
    CONFIG(RemarksFilename, Reason, "--opt-remarks-filename", = "x.yaml"),
    CONFIG(RemarksPasses, Same, Alone, = "inline"),
    CONFIG(RemarksWithHotness, Same, Alone, = true),
    CONFIG(RemarksHotnessThreshold, Same, Alone, = 7),
    CONFIG(RemarksFormat, Same, Alone, = "bitstream"),
    CONFIG(DebugPassManager, Reason, "--lto-debug-pass-manager", = true),
    CONFIG(StatsFile, Reason, "stats-file", = "x.json"),
    CONFIG(ThinLTOModulesToCompile, Same, ThinLink, = {"x.o"}),
    CONFIG(TimeTraceEnabled, Same, "is of this process", = true),
    CONFIG(TimeTraceGranularity, Same, "is of this process", = 1),
    CONFIG(ShouldDiscardValueNames, Same, "names of values are not in objects",
           = false),
    CONFIG(DiagHandler, Same, "messages come back as text", = nullptr),
    CONFIG(AddFSDiscriminator, Reason, "flow-sensitive discriminators", = true),
    CONFIG(ResolutionFile, Same, ThinLink,
           = std::make_unique<raw_null_ostream>()),
    CONTAINS("Config", "PTO"),
    CONFIG(PreOptModuleHook, Reason, "--save-temps", = Hook),
    CONFIG(PostPromoteModuleHook, Reason, "--save-temps", = Hook),
    CONFIG(PostInternalizeModuleHook, Reason, "--save-temps", = Hook),
    CONFIG(PostImportModuleHook, Reason, "--save-temps", = Hook),
    CONFIG(PostOptModuleHook, Reason, "--save-temps", = Hook),
    CONFIG(PreCodeGenModuleHook, Reason, "--save-temps", = Hook),
    CONFIG(
        CombinedIndexHook, Same, ThinLink,
        = [](const ModuleSummaryIndex &,
             const DenseSet<GlobalValue::GUID> &) { return true; }),

    // PipelineTuningOptions, in the order of llvm/Passes/PassBuilder.h
    PTO(LoopInterleaving, Reason, "loop interleaving", = false),
    PTO(LoopVectorization, Option, "-fno-vectorize", = false),
    PTO(LoopVectorization, Option, "-fvectorize", = true),
    PTO(SLPVectorization, Option, "-fno-slp-vectorize", = false),
    PTO(SLPVectorization, Option, "-fslp-vectorize", = true),
    // Clang sets interleaving together with unrolling.
    PTO(LoopUnrolling, Reason, "loop interleaving", = false),
    PTO(LoopUnrolling, Option, "-funroll-loops", = true),
    PTO(ForgetAllSCEVInLoopUnroll, Reason, "tuning", = true),
    PTO(LicmMssaOptCap, Reason, "tuning", = 1),
    PTO(LicmMssaNoAccForPromotionCap, Reason, "tuning", = 1),
    PTO(CallGraphProfile, Reason, "tuning", = false),
    PTO(UnifiedLTO, Reason, "tuning", = true),
    PTO(MergeFunctions, Reason, "tuning", = true),
    PTO(InlinerThreshold, Reason, "tuning", = 1),
    PTO(EagerlyInvalidateAnalyses, Reason, "tuning", = false),

    // TargetOptions, in the order of llvm/Target/TargetOptions.h
    TARGET(BinutilsVersion, Reason, "binutils", = {2, 20}),
    TARGET(NoTrappingFPMath, Reason, "floating-point traps", = true),
    TARGET(EnableAIXExtendedAltivecABI, Reason, "-vec-extabi", = true),
    TARGET(HonorSignDependentRoundingFPMathOption, Reason,
           "-enable-sign-dependent-rounding-fp-math", = true),
    TARGET(NoZerosInBSS, Reason, "-nozero-initialized-in-bss", = true),
    TARGET(GuaranteedTailCallOpt, Reason, "-tailcallopt", = true),
    TARGET(StackSymbolOrdering, Reason, "-stack-symbol-ordering", = false),
    TARGET(EnableFastISel, Reason, "instruction selector", = true),
    TARGET(EnableGlobalISel, Reason, "instruction selector", = true),
    TARGET(GlobalISelAbort, Reason, "instruction selector",
           = GlobalISelAbortMode::Disable),
    TARGET(SwiftAsyncFramePointer, Reason, "-swift-async-fp",
           = SwiftAsyncFramePointerMode::Never),
    TARGET(UseInitArray, Option, "-Xclang -fno-use-init-array", = false),
    TARGET(DisableIntegratedAS, Reason, "-no-integrated-as", = true),
    TARGET(FunctionSections, Option, "-ffunction-sections", = true),
    TARGET(FunctionSections, Option, "-fno-function-sections", = false),
    TARGET(DataSections, Option, "-fdata-sections", = true),
    TARGET(DataSections, Option, "-fno-data-sections", = false),
    TARGET(IgnoreXCOFFVisibility, Reason, "XCOFF", = true),
    TARGET(XCOFFTracebackTable, Reason, "XCOFF", = false),
    TARGET(UniqueSectionNames, Option, "-fno-unique-section-names", = false),
    TARGET(UniqueSectionNames, Option, "-funique-section-names", = true),
    TARGET(UniqueBasicBlockSectionNames, Option,
           "-funique-basic-block-section-names", = true),
    TARGET(SeparateNamedSections, Reason, "-separate-named-sections", = true),
    TARGET(TrapUnreachable, Reason, "unreachable code", = true),
    TARGET(NoTrapAfterNoreturn, Reason, "unreachable code", = true),
    TARGET(TLSSize, Reason, "-tls-size", = 24),
    TARGET(EmulatedTLS, Option, "-femulated-tls", = true),
    TARGET(EmulatedTLS, Option, "-fno-emulated-tls", = false),
    TARGET(EnableTLSDESC, Reason, "-enable-tlsdesc", = true),
    TARGET(EnableIPRA, Reason, "target options", = true),
    TARGET(EmitStackSizeSection, Option, "-fstack-size-section", = true),
    TARGET(EnableMachineOutliner, Reason, "target options", = true),
    TARGET(EnableMachineFunctionSplitter, Reason, "-split-machine-functions",
           = true),
    TARGET(SupportsDefaultOutlining, Reason, "target options", = true),
    TARGET(EmitAddrsig, Option, "-fno-addrsig", = false),
    TARGET(EmitAddrsig, Option, "-faddrsig", = true),
    TARGET(BBAddrMap, Option, "-Xclang -fbasic-block-address-map", = true),
    TARGET(BBSections, Option, "-Xclang -fbasic-block-sections=all",
           = BasicBlockSection::All),
    TARGET(BBSections, Reason, "--lto-basic-block-sections",
           = BasicBlockSection::List),
    TARGET(BBSections, Reason, "--lto-basic-block-sections",
           = BasicBlockSection::Preset),
    TARGET(BBSectionsFuncListBuf, Same, Alone,
           = std::shared_ptr<MemoryBuffer>(MemoryBuffer::getMemBuffer("x"))),
    TARGET(EmitCallSiteInfo, Reason, "-emit-call-site-info", = true),
    TARGET(SupportsDebugEntryValues, Reason, "target options", = true),
    TARGET(EnableDebugEntryValues, Reason, "-debug-entry-values", = true),
    TARGET(ValueTrackingVariableLocations, Reason, "target options", = true),
    TARGET(ForceDwarfFrameSection, Reason, "-force-dwarf-frame-section",
           = true),
    TARGET(XRayFunctionIndex, Reason, "-xray-function-index", = false),
    TARGET(DebugStrictDwarf, Reason, "-strict-dwarf", = true),
    TARGET(Hotpatch, Reason, "hot patching", = true),
    TARGET(PPCGenScalarMASSEntries, Reason, "MASS", = true),
    TARGET(JMCInstrument, Reason, "-enable-jmc-instrument", = true),
    TARGET(EnableCFIFixup, Reason, "target options", = true),
    TARGET(MisExpect, Reason, "misexpect", = true),
    TARGET(XCOFFReadOnlyPointers, Reason, "XCOFF", = true),
    TARGET(LoopAlignment, Reason, "-align-loops", = 32),
    TARGET(FloatABIType, Reason, "-float-abi", = FloatABI::Soft),
    TARGET(AllowFPOpFusion, Reason, "-fp-contract", = FPOpFusion::Fast),
    TARGET(ThreadModel, Reason, "-thread-model", = ThreadModel::Single),
    TARGET(EABIVersion, Reason, "-meabi", = EABI::EABI5),
    TARGET(DebuggerTuning, Option, "-Xclang -debugger-tuning=gdb",
           = DebuggerKind::GDB),
    TARGET(DebuggerTuning, Option, "-Xclang -debugger-tuning=lldb",
           = DebuggerKind::LLDB),
    TARGET(DebuggerTuning, Option, "-Xclang -debugger-tuning=sce",
           = DebuggerKind::SCE),
    TARGET(DebuggerTuning, Option, "-Xclang -debugger-tuning=dbx",
           = DebuggerKind::DBX),
    TARGET(ExceptionModel, Reason, "-exception-model",
           = ExceptionHandling::SjLj),
    CONTAINS("TargetOptions", "MCOptions"),
    TARGET(ObjectFilenameForDebug, Reason, "object's name", = "x.o"),

    // MCTargetOptions, in the order of llvm/MC/MCTargetOptions.h
    MC(MCRelaxAll, Reason, "-mc-relax-all", = true),
    MC(MCNoExecStack, Reason, "assembler options", = true),
    MC(MCFatalWarnings, Reason, "-fatal-warnings", = true),
    MC(MCNoWarn, Reason, "-no-warn", = true),
    MC(MCNoDeprecatedWarn, Reason, "-no-warn", = true),
    MC(MCNoTypeCheck, Reason, "-no-warn", = true),
    MC(MCSaveTempLabels, Reason, "-save-temp-labels", = true),
    MC(MCIncrementalLinkerCompatible, Reason, "-incremental-linker-compatible",
       = true),
    MC(FDPIC, Reason, "-fdpic", = true),
    MC(ShowMCEncoding, Reason, "assembler options", = true),
    MC(ShowMCInst, Reason, "-asm-show-inst", = true),
    MC(AsmVerbose, Reason, "assembler options", = true),
    MC(PreserveAsmComments, Reason, "assembler options", = false),
    MC(Dwarf64, Reason, "-dwarf64", = true),
    MC(Crel, Reason, "-crel", = true),
    MC(X86RelaxRelocations, Option, "-Xclang -mrelax-relocations=no", = false),
    MC(X86Sse2Avx, Reason, "-x86-sse2avx", = true),
    MC(EmitDwarfUnwind, Reason, "-emit-dwarf-unwind",
       = EmitDwarfUnwindType::Always),
    MC(DwarfVersion, Reason, "-dwarf-version", = 4),
    MC(MCUseDwarfDirectory, Same, Text,
       = MCTargetOptions::EnableDwarfDirectory),
    MC(CompressDebugSections, Reason, "compressed debug sections",
       = DebugCompressionType::Zlib),
    MC(ABIName, Reason, "-target-abi", = "lp64d"),
    MC(AssemblyLanguage, Reason, "assembler options", = "masm"),
    MC(SplitDwarfFile, Reason, "assembler options", = "x.dwo"),
    MC(AsSecureLogFile, Reason, "assembler options", = "x"),
    // Command lines tell clang not to set Argv0 and CommandLineArgs.
    MC(Argv0, Same, "no field of a linker's", = "clang"),
    MC(IASSearchPaths, Reason, "assembler options", = {"x"}),
    MC(EmitCompactUnwindNonCanonical, Reason,
       "-emit-compact-unwind-non-canonical", = true),
    MC(PPCUseFullRegisterNames, Reason, "full register names", = true),

// Fields of some LLVM versions only.
//
// clang-format off
#if LLVM_VERSION_MAJOR < 21
    TARGET(BBSections, Option, "-Xclang -fbasic-block-sections=labels",
           = BasicBlockSection::Labels),
    MC(CommandLineArgs, Same, "no field of a linker's", = {}),
#endif
#if LLVM_VERSION_MAJOR < 22
    TARGET(UnsafeFPMath, Reason, "-enable-unsafe-fp-math", = true),
    TARGET(ApproxFuncFPMath, Reason, "-enable-approx-func-fp-math", = true),
    {"TargetOptions", "FPDenormalMode", Reason, "-denormal-fp-math",
     CHANGE(Options.setFPDenormalMode(DenormalMode::getPreserveSign()))},
    {"TargetOptions", "FP32DenormalMode", Same, "nothing in LLVM reads it",
     CHANGE(Options.setFP32DenormalMode(DenormalMode::getPreserveSign()))},
#endif
#if LLVM_VERSION_MAJOR >= 21
    CONFIG(KeepSymbolNameCopies, Same, ThinLink, = false),
#if LLVM_VERSION_MAJOR < 23
    PTO(LoopInterchange, Option, "-floop-interchange", ^= true),
#else
    PTO(LoopInterchange, Option, "-fno-loop-interchange", ^= true),
#endif
    TARGET(EnableStaticDataPartitioning, Reason,
           "-partition-static-data-sections", = true),
    TARGET(VerifyArgABICompliance, Reason, "against the ABI", = false),
    MC(ImplicitMapSyms, Reason, "-implicit-mapsyms", = true),
    MC(OutputAsmVariant, Reason, "assembler options", = 1),
    MC(CommandlineArgs, Same, "no field of a linker's", = "x"),
    MC(InstPrinterOptions, Reason, "assembler options", = {"x"}),
#endif
#if LLVM_VERSION_MAJOR >= 22
    CONFIG(Dtlto, Same, "for cache keys only", = true),
    PTO(LoopFusion, Reason, "tuning", = true),
    PTO(DevirtualizeSpeculatively, Reason, "tuning", = true),
    TARGET(EmitCallGraphSection, Reason, "-call-graph-section", = true),
    TARGET(VecLib, Reason, "-vector-library", = VectorLibrary::SVML),
    MC(EmitSFrameUnwind, Reason, "-gsframe", = true),
#endif
#if LLVM_VERSION_MAJOR < 23
    CONFIG(PassPlugins, Reason, "--load-pass-plugin", = {"x.so"}),
    TARGET(NoInfsFPMath, Reason, "-enable-no-infs-fp-math", = true),
    TARGET(NoNaNsFPMath, Reason, "-enable-no-nans-fp-math", = true),
    TARGET(NoSignedZerosFPMath, Reason, "-enable-no-signed-zeros-fp-math",
           = true),
    TARGET(StackUsageOutput, Reason, "stack usage", = "x.su"),
#else
    CONFIG(LoadedPassPlugins, Reason, "--load-pass-plugin", = {nullptr}),
    CONFIG(PassPluginFilenames, Reason, "--load-pass-plugin", = {"x.so"}),
    CONFIG(GetSummaryIndexOutputStream, Same, ThinLink,
           = [](size_t) { return nullptr; }),
    CONFIG(GetImportsListOutputArray, Same, ThinLink, = imports),
    CONFIG(GetCacheKeyOutputString, Same, ThinLink, = cacheKeyText),
    TARGET(StackUsageFile, Reason, "stack usage", = "x.su"),
    MC(RelocSectionSym, Reason, "-reloc-section-sym",
       = RelocSectionSymType::None),
    MC(LargeEHEncoding, Reason, "-large-eh-encoding", = true),
#endif
    // clang-format on
};

/// Returns the words, with a space around each, or `error: ` and the reason.
std::string argsFor(const lto::Config &Conf,
                    StringRef TheTriple = "x86_64-pc-linux-gnu",
                    ArrayRef<std::string> LLVMOptions = {}) {
  Expected<std::vector<std::string>> Args =
      compilerArgs(Conf, Triple(TheTriple), LLVMOptions);
  if (!Args)
    return "error: " + toString(Args.takeError());
  return " " + join(*Args, " ") + " ";
}

/// Used by GoogleTest's messages.
void PrintTo(const Field &F, std::ostream *OS) {
  *OS << F.Struct.str() << "::" << F.Name.str();
}

class CompilerArgsFieldTest : public testing::TestWithParam<Field> {};

std::string nameOf(const testing::TestParamInfo<Field> &Info) {
  return (Info.param.Struct + "_" + Info.param.Name + "_" +
          Twine(unsigned(Info.index)))
      .str();
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Table, CompilerArgsFieldTest,
                         testing::ValuesIn(Fields), nameOf);

TEST_P(CompilerArgsFieldTest, Fate) {
  const Field &F = GetParam();
  lto::Config Conf = plainConfig();
  F.Change(Conf);
  std::string Args = argsFor(Conf);
  switch (F.What) {
  case Option:
    EXPECT_NE(Args.find((" " + F.Text + " ").str()), std::string::npos) << Args;
    break;
  case Reason:
    EXPECT_EQ(Args.find("error: "), 0u) << "forgotten, or an option by now";
    EXPECT_NE(Args.find(F.Text), std::string::npos) << Args;
    EXPECT_EQ(Args.find('\n'), std::string::npos);
    break;
  case Same:
    EXPECT_EQ(Args, argsFor(plainConfig())) << F.Text.str();
    break;
  }
}

TEST(CompilerArgsTest, TheTableIsComplete) {
  // Both ways: each field is in the table, and each row names a field.
  const std::pair<StringRef, StringRef> Structs[] = {
      {"config", "Config"},
      {"tuning", "PipelineTuningOptions"},
      {"target", "TargetOptions"},
      {"mc", "MCTargetOptions"}};
  const lto::Config Conf;
  for (auto [Section, Struct] : Structs) {
    std::set<std::string> Known;
    for (const Field &F : Fields)
      if (F.Struct == Struct && F.Text != Itself)
        Known.insert(F.Name.str());
    Names N;
    visitSection(N, Conf, Section);
    std::multiset<std::string> All = N.all();
    EXPECT_EQ(Known, std::set<std::string>(All.begin(), All.end()))
        << Struct.str();
  }
}

//===----------------------------------------------------------------------===//
// The command line as a whole
//===----------------------------------------------------------------------===//

TEST(CompilerArgsTest, APlainLink) {
  std::string Args = argsFor(plainConfig());
  EXPECT_EQ(Args.find("error: "), std::string::npos) << Args;
  for (StringRef Part :
       {" --target=x86_64-pc-linux-gnu ",
        " -Xclang -triple -Xclang x86_64-pc-linux-gnu ", " -O2 ",
        " -fvectorize ", " -fslp-vectorize ", " -funroll-loops ",
        " -fno-function-sections ", " -fno-data-sections ", " -faddrsig ",
        " -Xclang -mrelocation-model -Xclang pic "})
    EXPECT_NE(Args.find(Part), std::string::npos) << Part.str();
  // The job decides these, not the configuration.
  for (StringRef Part :
       {" -o ", " -c ", " -x ", " -fthinlto-index", " clang ", "-mcmodel"})
    EXPECT_EQ(Args.find(Part), std::string::npos) << Part.str();
}

TEST(CompilerArgsTest, Levels) {
  for (unsigned Level : {0u, 1u, 2u, 3u}) {
    lto::Config Conf = plainConfig();
    Conf.OptLevel = Level;
    Conf.CGOptLevel = static_cast<CodeGenOptLevel>(Level);
    EXPECT_NE(argsFor(Conf).find(" -O" + std::to_string(Level) + " "),
              std::string::npos);
    Conf.CGOptLevel = static_cast<CodeGenOptLevel>(Level ^ 1);
    std::string Why = argsFor(Conf);
    EXPECT_EQ(Why.find("error: "), 0u);
    EXPECT_NE(Why.find("--lto-O" + std::to_string(Level)), std::string::npos);
    EXPECT_NE(Why.find("--lto-CGO" + std::to_string(Level ^ 1)),
              std::string::npos);
  }
}

TEST(CompilerArgsTest, NoUnrolling) {
  // /opt:lldlto and others set both fields together.
  lto::Config Conf = plainConfig();
  Conf.PTO.LoopUnrolling = Conf.PTO.LoopInterleaving = false;
  EXPECT_NE(argsFor(Conf).find(" -fno-unroll-loops "), std::string::npos);
}

TEST(CompilerArgsTest, TheTripleIsTheModules) {
  for (StringRef T : {
         "x86_64-pc-linux-gnu", "aarch64-unknown-linux-gnu",
             "wasm32-unknown-unknown", "arm64-apple-macosx12.0.0",
#if LLVM_VERSION_MAJOR < 21
             "riscv64-unknown-linux-gnu",
#endif
             "x86_64-pc-windows-msvc19.33.0"
       }) {
    lto::Config Conf = plainConfig();
    std::string Args = argsFor(Conf, T);
    EXPECT_NE(Args.find((" --target=" + T + " ").str()), std::string::npos)
        << Args;
    EXPECT_NE(Args.find((" -Xclang -triple -Xclang " + T + " ").str()),
              std::string::npos);
  }
}

TEST(CompilerArgsTest, TargetsThatClangAddsTo) {
  // Either an option or a reason; nothing is dropped silently.
  for (StringRef T :
       {"mips64el-unknown-linux-gnuabi64", "armv7-unknown-linux-gnueabihf",
        "loongarch64-unknown-linux-gnu"})
    EXPECT_EQ(argsFor(plainConfig(), T).find("error: "), 0u) << T.str();
  lto::Config Conf = plainConfig();
  Conf.CPU = "sifive-u74";
  EXPECT_EQ(argsFor(Conf, "riscv64-unknown-linux-gnu").find("error: "), 0u);
}

TEST(CompilerArgsTest, CoffHasNoTimeStamp) {
  lto::Config Conf = plainConfig();
  StringRef T = "x86_64-pc-windows-msvc";
  EXPECT_NE(argsFor(Conf, T).find(" -mno-incremental-linker-compatible "),
            std::string::npos);
  Conf.Options.MCOptions.MCIncrementalLinkerCompatible = true;
  EXPECT_NE(argsFor(Conf, T).find(" -mincremental-linker-compatible "),
            std::string::npos);
  // No command line of the compiler either (Argv0, CommandLineArgs).
  EXPECT_NE(argsFor(Conf, T).find(" -gno-codeview-command-line "),
            std::string::npos);
}

TEST(CompilerArgsTest, LLVMOptionsFollow) {
  std::string Args = argsFor(plainConfig(), "x86_64-pc-linux-gnu",
                             {"-inline-threshold=7", "-unroll-count", "word"});
  EXPECT_NE(Args.find(" -mllvm -inline-threshold=7 -mllvm -unroll-count -mllvm "
                      "word "),
            std::string::npos)
      << Args;
}

TEST(CompilerArgsTest, LLVMOptionsThatCannotFollow) {
  EXPECT_EQ(argsFor(plainConfig(), "x86_64-pc-linux-gnu", {"-stats"}),
            "error: -mllvm -stats");
}

TEST(CompilerArgsTest, TheFirstReasonIsTold) {
  lto::Config Conf = plainConfig();
  Conf.RelocModel = std::nullopt;
  Conf.VerifyEach = true;
  std::string Why = argsFor(Conf);
  EXPECT_NE(Why.find("relocation model"), std::string::npos);
  EXPECT_EQ(Why.find("verification"), std::string::npos);
}

TEST(CompilerArgsTest, TheSameEveryTime) {
  EXPECT_EQ(argsFor(plainConfig()), argsFor(plainConfig()));
}
