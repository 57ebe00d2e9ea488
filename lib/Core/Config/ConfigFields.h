//===- ConfigFields.h - The fields of a configuration -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only table of how each field is handled: as text (ConfigJSON.cpp) and on
// clang's command line (CompilerArgs.cpp). These two and the tests are visitors
// (FieldVisitor.h) of the functions below. The functions list each field of
// LLVM's structs exactly once, in the order of LLVM's headers, for each version
// that has the field.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_CONFIGFIELDS_H
#define DTLTO_CONFIG_CONFIGFIELDS_H

#include "Config/FieldVisitor.h"
#include "Config/LLVMOptions.h"
#include "LLVM/Version.h"
#include "llvm/LTO/Config.h"
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dtlto {

// O is the struct; it is const for visitors that only read. Values are copied
// because most flags are bit-fields. CLANG is a ClangSetting, VISIT a call of
// the visitor.
#define IF_SETTING if constexpr (!std::is_const_v<T>)

#define FIELD(TYPE, NAME, CLANG, VISIT)                                        \
  {                                                                            \
    TYPE Value = static_cast<TYPE>(O.NAME);                                    \
    Visit.clang(CLANG, O.NAME == Default.NAME, Value);                         \
    Visit.VISIT;                                                               \
    IF_SETTING O.NAME = static_cast<decltype(O.NAME)>(std::move(Value));       \
  }
#define FLAG(NAME, CLANG) FIELD(bool, NAME, CLANG, flag(#NAME, Value))
#define TEXT(NAME, CLANG) FIELD(std::string, NAME, CLANG, text(#NAME, Value))
#define TEXTS(NAME, CLANG)                                                     \
  FIELD(std::vector<std::string>, NAME, CLANG, texts(#NAME, Value))
#define NUMBER(NAME, MIN, MAX, CLANG)                                          \
  FIELD(int64_t, NAME, CLANG,                                                  \
        number(#NAME, Value, static_cast<int64_t>(MIN),                        \
               static_cast<int64_t>(MAX)))
/// \p TYPE is an integer type whose full range is allowed.
#define ANY_NUMBER(NAME, TYPE, CLANG)                                          \
  static_assert(std::is_same_v<decltype(O.NAME), TYPE>);                       \
  NUMBER(NAME, std::numeric_limits<TYPE>::min(),                               \
         std::numeric_limits<TYPE>::max(), CLANG)
/// Allows the enumerators from 0 to \p LAST, which have no gaps.
#define ENUM(NAME, LAST, CLANG)                                                \
  static_assert(                                                               \
      std::is_same_v<decltype(O.NAME), std::remove_cv_t<decltype(LAST)>>);     \
  NUMBER(NAME, 0, LAST, CLANG)
#define OPTIONAL(NAME, TYPE, MAX, CLANG)                                       \
  {                                                                            \
    std::optional<uint64_t> Value;                                             \
    if (O.NAME)                                                                \
      Value = static_cast<uint64_t>(*O.NAME);                                  \
    Visit.clang(CLANG, O.NAME == Default.NAME, Value);                         \
    Visit.optional(#NAME, Value, static_cast<uint64_t>(MAX));                  \
    IF_SETTING O.NAME =                                                        \
        Value ? std::optional<TYPE>(static_cast<TYPE>(*Value)) : std::nullopt; \
  }
#define DENORMAL(NAME, CLANG)                                                  \
  {                                                                            \
    llvm::DenormalMode Mode = O.getRaw##NAME();                                \
    std::array<int64_t, 2> Value = {Mode.Output, Mode.Input};                  \
    Visit.clang(CLANG, Mode == Default.getRaw##NAME());                        \
    Visit.pair(#NAME, Value, llvm::DenormalMode::Invalid,                      \
               llvm::DenormalMode::Dynamic);                                   \
    using Kind = llvm::DenormalMode::DenormalModeKind;                         \
    IF_SETTING O.set##NAME(                                                    \
        {static_cast<Kind>(Value[0]), static_cast<Kind>(Value[1])});           \
  }
#define FOR_CLANG(NAME, CLANG) Visit.clang(CLANG, isUnset(O.NAME, 0));
#define FIXED(NAME, WHAT)                                                      \
  Visit.fixed(#NAME, isUnset(O.NAME, 0), WHAT);                                \
  FOR_CLANG(NAME, same(WHAT))
#define FIXED_AS_TEXT(NAME, WHAT) Visit.fixed(#NAME, isUnset(O.NAME, 0), WHAT);
#define UNUSED(NAME) Visit.unused(#NAME);
#define ONLY_CODEGEN(...)                                                      \
  if (Visit.wantsCodegenFields()) {                                            \
    __VA_ARGS__                                                                \
  }

constexpr const char *SaveTempsHooks = "--save-temps or --lto-emit-llvm";

/// The second half of llvm/LTO/Config.h: files and hooks.
template <class Visitor, class T> void visitFiles(Visitor &Visit, T &O) {
  const T Default{};
  // A file that LLVM reads. With RunCSIRInstr, the file that the program will
  // write; LLVM puts its name into the object.
  TEXT(CSIRProfile, same("--lto-cs-profile-file"))
  Visit.require(O.CSIRProfile.empty() || O.RunCSIRInstr,
                "--lto-cs-profile-file");
  FIXED(SampleProfile, "--lto-sample-profile")
  FIXED(ProfileRemapping, "a profile remapping file")
  ONLY_CODEGEN(FIXED(DwoDir, "--plugin-opt=dwo_dir="))
  FIXED(SplitDwarfFile, "split DWARF")
  FIXED(SplitDwarfOutput, "split DWARF")
  FIXED(RemarksFilename, "--opt-remarks-filename")
  TEXT(RemarksPasses, Any)
  // These two also matter without a file, since LLVM computes the hotness of
  // diagnostics.
  FLAG(RemarksWithHotness, Any)
  OPTIONAL(RemarksHotnessThreshold, uint64_t,
           std::numeric_limits<uint64_t>::max(), Any)
  TEXT(RemarksFormat, Any)
  // For other formats, LLVM puts the file's absolute path into the object.
  Visit.require(O.RemarksFilename.empty() || O.RemarksFormat.empty() ||
                    O.RemarksFormat == "yaml",
                "--opt-remarks-format other than yaml");
  FIXED(DebugPassManager, "--lto-debug-pass-manager")
  // LTO::run() opens the file, but the counters are those of the process.
  FIXED(StatsFile, "--plugin-opt=stats-file=")
  // Only the thin link uses this: modules not listed have no job.
  UNUSED(ThinLTOModulesToCompile)
  // LTO.cpp sets these up when it starts a backend.
  UNUSED(TimeTraceEnabled)
  UNUSED(TimeTraceGranularity)
  FLAG(ShouldDiscardValueNames, Any)
  // Belongs to the LLVMContext, which is our own.
  UNUSED(DiagHandler)
  FLAG(AddFSDiscriminator, same("flow-sensitive discriminators"))
  // Only the thin link uses this.
  UNUSED(ResolutionFile)
  FIXED(PreOptModuleHook, SaveTempsHooks)
  FIXED(PostPromoteModuleHook, SaveTempsHooks)
  FIXED(PostInternalizeModuleHook, SaveTempsHooks)
  FIXED_AS_TEXT(PostImportModuleHook, SaveTempsHooks)
  FIXED(PostOptModuleHook, SaveTempsHooks)
  FIXED(PreCodeGenModuleHook, SaveTempsHooks)
  // Only the thin link uses this.
  UNUSED(CombinedIndexHook)
  // Only other backends use these, to write index files.
#if LLVM_VERSION_MAJOR >= 23
  UNUSED(GetSummaryIndexOutputStream)
  UNUSED(GetImportsListOutputArray)
  UNUSED(GetCacheKeyOutputString)
#endif
}

/// llvm/LTO/Config.h, except Options and PTO, which have their own functions.
/// \p T is an lto::Config.
template <class Visitor, class T> void visitConfig(Visitor &Visit, T &O) {
  const T Default{};
  TEXT(CPU, frontend("-target-cpu"))
  TEXTS(MAttrs, frontend("-target-feature"))
  // Only affects cache keys: LLVM has already read these options.
  UNUSED(MllvmArgs)
#if LLVM_VERSION_MAJOR < 23
  FIXED(PassPlugins, "--load-pass-plugin")
#else
  FIXED(LoadedPassPlugins, "--load-pass-plugin")
  FIXED(PassPluginFilenames, "--load-pass-plugin")
#endif
  FIXED(PreCodeGenPassesHook,
        "passes that the linker adds before code generation")
  // Without a model, each module's own flags decide. Clang always sets a model.
  OPTIONAL(
      RelocModel, llvm::Reloc::Model, llvm::Reloc::ROPI_RWPI,
      frontend("-mrelocation-model",
               {"static", "pic", "dynamic-no-pic", "ropi", "rwpi", "ropi-rwpi"},
               "the lack of a relocation model (-r)"))
  OPTIONAL(
      CodeModel, llvm::CodeModel::Model, llvm::CodeModel::Large,
      frontend("-mcmodel=", {"tiny", "small", "kernel", "medium", "large"}))
  ENUM(CGOptLevel, llvm::CodeGenOptLevel::Aggressive, Any)
  // Clang has one level and LLD two: --lto-O1 alone gives (1, 2).
  const unsigned CodeGenLevel = static_cast<unsigned>(O.CGOptLevel);
  const std::string Levels = "different optimization levels, --lto-O" +
                             std::to_string(O.OptLevel) + " and --lto-CGO" +
                             std::to_string(CodeGenLevel);
  Visit.clang(same(Levels.c_str()), O.OptLevel == CodeGenLevel);
  // Null isn't allowed, since a job makes an object.
  ENUM(CGFileType, llvm::CodeGenFileType::ObjectFile, same("--lto-emit-asm"))
  // LLVM expects one of these levels.
  NUMBER(OptLevel, 0, 3, words({"-O0", "-O1", "-O2", "-O3"}))
  FLAG(VerifyEach, same("verification after each pass"))
  FLAG(DisableVerify, Any)
  FLAG(Freestanding, same("freestanding code generation"))
  FLAG(CodeGenOnly, same("code generation without optimization"))
  FLAG(RunCSIRInstr, same("--lto-cs-profile-generate"))
  FLAG(PGOWarnMismatch, Any)
  // Only the thin link uses these: LTO.cpp reads them, LTOBackend.cpp doesn't.
  // Their effect on a module is in the index.
  UNUSED(HasWholeProgramVisibility)
  UNUSED(ValidateAllVtablesHaveTypeInfos)
  UNUSED(AllVtablesHaveTypeInfos)
  UNUSED(AlwaysEmitRegularLTOObj)
  UNUSED(VisibilityScheme)
#if LLVM_VERSION_MAJOR >= 21
  UNUSED(KeepSymbolNameCopies)
#endif
  // Only affects cache keys; LLVM's own distributing backend sets it.
#if LLVM_VERSION_MAJOR >= 22
  UNUSED(Dtlto)
#endif
  TEXT(OptPipeline, same("--lto-newpm-passes"))
  TEXT(AAPipeline, same("--lto-aa-pipeline"))
  Visit.require(isPlainPipeline(O.OptPipeline) && isPlainPipeline(O.AAPipeline),
                "a pipeline with passes that may do more than change code");
  TEXT(OverrideTriple, same("another target triple"))
  TEXT(DefaultTriple, Any)
  visitFiles(Visit, O);
}

/// llvm/Passes/PassBuilder.h. \p T is a PipelineTuningOptions.
template <class Visitor, class T> void visitTuning(Visitor &Visit, T &O) {
  const T Default{};
  constexpr ClangSetting Same = same("tuning of the optimization pipeline");
  FLAG(LoopInterleaving, Any)
  FLAG(LoopVectorization, words({"-fno-vectorize", "-fvectorize"}))
  FLAG(SLPVectorization, words({"-fno-slp-vectorize", "-fslp-vectorize"}))
  FLAG(LoopUnrolling, words({"-fno-unroll-loops", "-funroll-loops"}))
  Visit.clang(same("loop interleaving"), O.LoopInterleaving == O.LoopUnrolling);
  // On by default in LLD since LLVM 23, but not in clang.
#if LLVM_VERSION_MAJOR >= 21
  FLAG(LoopInterchange, words({"-fno-loop-interchange", "-floop-interchange"}))
#endif
#if LLVM_VERSION_MAJOR >= 22
  FLAG(LoopFusion, Same)
#endif
  FLAG(ForgetAllSCEVInLoopUnroll, Same)
  ANY_NUMBER(LicmMssaOptCap, unsigned, Same)
  ANY_NUMBER(LicmMssaNoAccForPromotionCap, unsigned, Same)
  FLAG(CallGraphProfile, Same)
  FLAG(UnifiedLTO, Same)
  FLAG(MergeFunctions, Same)
  ANY_NUMBER(InlinerThreshold, int, Same)
  FLAG(EagerlyInvalidateAnalyses, Same)
#if LLVM_VERSION_MAJOR >= 22
  FLAG(DevirtualizeSpeculatively, Same)
#endif
}

/// The flags in the middle of llvm/Target/TargetOptions.h: sections, debug
/// information, and more.
template <class Visitor, class T> void visitTargetFlags(Visitor &Visit, T &O) {
  const T Default{};
  constexpr ClangSetting Targets =
      same("target options that targets set themselves");
  FLAG(UseInitArray, frontend("", {"-fno-use-init-array", ""}))
  FLAG(DisableIntegratedAS, same("-mllvm -no-integrated-as"))
  ONLY_CODEGEN(FLAG(FunctionSections,
                    words({"-fno-function-sections", "-ffunction-sections"})))
  ONLY_CODEGEN(
      FLAG(DataSections, words({"-fno-data-sections", "-fdata-sections"})))
  FLAG(IgnoreXCOFFVisibility, same("XCOFF options"))
  FLAG(XCOFFTracebackTable, same("XCOFF options"))
  ONLY_CODEGEN(FLAG(UniqueSectionNames, words({"-fno-unique-section-names",
                                               "-funique-section-names"})))
  ONLY_CODEGEN(FLAG(UniqueBasicBlockSectionNames,
                    words({"", "-funique-basic-block-section-names"})))
  ONLY_CODEGEN(
      FLAG(SeparateNamedSections, same("-mllvm -separate-named-sections")))
  FLAG(TrapUnreachable, same("traps for unreachable code"))
  FLAG(NoTrapAfterNoreturn, same("traps for unreachable code"))
  NUMBER(TLSSize, 0, 255, same("-mllvm -tls-size"))
  FLAG(EmulatedTLS, words({"-fno-emulated-tls", "-femulated-tls"}))
  FLAG(EnableTLSDESC, same("-mllvm -enable-tlsdesc"))
  FLAG(EnableIPRA, Targets)
  ONLY_CODEGEN(FLAG(EmitStackSizeSection, words({"", "-fstack-size-section"})))
  FLAG(EnableMachineOutliner, Targets)
  ONLY_CODEGEN(FLAG(EnableMachineFunctionSplitter,
                    same("-mllvm -split-machine-functions")))
#if LLVM_VERSION_MAJOR >= 21
  ONLY_CODEGEN(FLAG(EnableStaticDataPartitioning,
                    same("-mllvm -partition-static-data-sections")))
#endif
  FLAG(SupportsDefaultOutlining, Targets)
  ONLY_CODEGEN(FLAG(EmitAddrsig, words({"-fno-addrsig", "-faddrsig"})))
  ONLY_CODEGEN(FLAG(BBAddrMap, frontend("", {"", "-fbasic-block-address-map"})))
  constexpr const char *List =
      "--lto-basic-block-sections with a list of functions";
  ONLY_CODEGEN(ENUM(
      BBSections, llvm::BasicBlockSection::None,
      frontend("-fbasic-block-sections=",
               {"all", nullptr, LLVM_VERSION_MAJOR < 20 ? "labels" : nullptr},
               List)))
  if (Visit.wantsCodegenFields())
    Visit.require(O.BBSections != llvm::BasicBlockSection::List, List);
  ONLY_CODEGEN(FIXED_AS_TEXT(BBSectionsFuncListBuf, List))
#if LLVM_VERSION_MAJOR >= 22
  FLAG(EmitCallGraphSection, same("-mllvm -call-graph-section"))
#endif
  FLAG(EmitCallSiteInfo, same("-mllvm -emit-call-site-info"))
  FLAG(SupportsDebugEntryValues, Targets)
  FLAG(EnableDebugEntryValues, same("-mllvm -debug-entry-values"))
  FLAG(ValueTrackingVariableLocations, Targets)
  ONLY_CODEGEN(
      FLAG(ForceDwarfFrameSection, same("-mllvm -force-dwarf-frame-section")))
  ONLY_CODEGEN(FLAG(XRayFunctionIndex, same("-mllvm -xray-function-index")))
  FLAG(DebugStrictDwarf, same("-mllvm -strict-dwarf"))
  FLAG(Hotpatch, same("hot patching"))
  FLAG(PPCGenScalarMASSEntries, same("scalar MASS entries"))
  FLAG(JMCInstrument, same("-mllvm -enable-jmc-instrument"))
  FLAG(EnableCFIFixup, Targets)
  FLAG(MisExpect, same("misexpect diagnostics"))
  FLAG(XCOFFReadOnlyPointers, same("XCOFF options"))
#if LLVM_VERSION_MAJOR >= 21
  FLAG(VerifyArgABICompliance,
       same("arguments that are not checked against the ABI"))
#endif
}

/// llvm/Target/TargetOptions.h, except MCOptions. \p T is a TargetOptions.
template <class Visitor, class T> void visitTarget(Visitor &Visit, T &O) {
  const T Default{};
  constexpr ClangSetting Selector = same("another instruction selector");
  std::array<int64_t, 2> Binutils = {O.BinutilsVersion.first,
                                     O.BinutilsVersion.second};
  Visit.clang(same("another version of binutils"),
              O.BinutilsVersion == Default.BinutilsVersion);
  Visit.pair("BinutilsVersion", Binutils, std::numeric_limits<int>::min(),
             std::numeric_limits<int>::max());
  IF_SETTING O.BinutilsVersion = {static_cast<int>(Binutils[0]),
                                  static_cast<int>(Binutils[1])};
#if LLVM_VERSION_MAJOR < 22
  FLAG(UnsafeFPMath, same("-mllvm -enable-unsafe-fp-math"))
#endif
#if LLVM_VERSION_MAJOR < 23
  FLAG(NoInfsFPMath, same("-mllvm -enable-no-infs-fp-math"))
  FLAG(NoNaNsFPMath, same("-mllvm -enable-no-nans-fp-math"))
#endif
  // LLD sets false and clang true; only Arm's build attributes show it.
  FLAG(NoTrappingFPMath, Any)
  Visit.clang(same("floating-point traps on Arm"), !O.NoTrappingFPMath);
#if LLVM_VERSION_MAJOR < 23
  FLAG(NoSignedZerosFPMath, same("-mllvm -enable-no-signed-zeros-fp-math"))
#endif
#if LLVM_VERSION_MAJOR < 22
  FLAG(ApproxFuncFPMath, same("-mllvm -enable-approx-func-fp-math"))
#endif
  FLAG(EnableAIXExtendedAltivecABI, same("-mllvm -vec-extabi"))
  FLAG(HonorSignDependentRoundingFPMathOption,
       same("-mllvm -enable-sign-dependent-rounding-fp-math"))
  FLAG(NoZerosInBSS, same("-mllvm -nozero-initialized-in-bss"))
  FLAG(GuaranteedTailCallOpt, same("-mllvm -tailcallopt"))
  FLAG(StackSymbolOrdering, same("-mllvm -stack-symbol-ordering"))
  FLAG(EnableFastISel, Selector)
  FLAG(EnableGlobalISel, Selector)
  ENUM(GlobalISelAbort, llvm::GlobalISelAbortMode::DisableWithDiag, Selector)
  ENUM(SwiftAsyncFramePointer, llvm::SwiftAsyncFramePointerMode::Never,
       same("-mllvm -swift-async-fp"))
  visitTargetFlags(Visit, O);
#if LLVM_VERSION_MAJOR < 23
  FIXED(StackUsageOutput, "stack usage files")
#else
  FIXED(StackUsageFile, "stack usage files")
#endif
  ONLY_CODEGEN(ANY_NUMBER(LoopAlignment, unsigned, same("-mllvm -align-loops")))
  ENUM(FloatABIType, llvm::FloatABI::Hard, same("-mllvm -float-abi"))
  ENUM(AllowFPOpFusion, llvm::FPOpFusion::Strict, same("-mllvm -fp-contract"))
  ENUM(ThreadModel, llvm::ThreadModel::Single, same("-mllvm -thread-model"))
  // Unknown means Default.
  ENUM(EABIVersion, llvm::EABI::GNU, words({""}, "-mllvm -meabi"))
  ENUM(DebuggerTuning, llvm::DebuggerKind::DBX,
       frontend("-debugger-tuning=", {"", "gdb", "lldb", "sce", "dbx"}))
#if LLVM_VERSION_MAJOR < 22
  DENORMAL(FPDenormalMode, same("-mllvm -denormal-fp-math"))
  DENORMAL(FP32DenormalMode, Any)
#else
  ENUM(VecLib, llvm::VectorLibrary::AMDLIBM, same("-mllvm -vector-library"))
#endif
  ENUM(ExceptionModel, llvm::ExceptionHandling::ZOS,
       same("-mllvm -exception-model"))
  // The backend sets it from its output stream.
  UNUSED(ObjectFilenameForDebug)
  FOR_CLANG(ObjectFilenameForDebug, same("an object's name for debuggers"))
}

/// llvm/MC/MCTargetOptions.h. \p T is an MCTargetOptions.
template <class Visitor, class T> void visitMC(Visitor &Visit, T &O) {
  const T Default{};
  constexpr ClangSetting Assembler = same("assembler options"),
                         TimeStamp = {"-mllvm -incremental-linker-compatible",
                                      {"-mno-incremental-linker-compatible",
                                       "-mincremental-linker-compatible"},
                                      nullptr,
                                      /*IsForCOFF=*/true};
  FLAG(MCRelaxAll, same("-mllvm -mc-relax-all"))
  FLAG(MCNoExecStack, Assembler)
  FLAG(MCFatalWarnings, same("-mllvm -fatal-warnings"))
  FLAG(MCNoWarn, same("-mllvm -no-warn"))
  FLAG(MCNoDeprecatedWarn, same("-mllvm -no-warn"))
  FLAG(MCNoTypeCheck, same("-mllvm -no-warn"))
  FLAG(MCSaveTempLabels, same("-mllvm -save-temp-labels"))
  FLAG(MCIncrementalLinkerCompatible, TimeStamp)
  FLAG(FDPIC, same("-mllvm -fdpic"))
  FLAG(ShowMCEncoding, Assembler)
  FLAG(ShowMCInst, same("-mllvm -asm-show-inst"))
  FLAG(AsmVerbose, Assembler)
  FLAG(PreserveAsmComments, Assembler)
  FLAG(Dwarf64, same("-mllvm -dwarf64"))
  ONLY_CODEGEN(FLAG(Crel, same("-mllvm -crel")))
  // LLVMgold clears it.
  ONLY_CODEGEN(
      FLAG(X86RelaxRelocations, frontend("", {"-mrelax-relocations=no", ""})))
  FLAG(X86Sse2Avx, same("-mllvm -x86-sse2avx"))
#if LLVM_VERSION_MAJOR >= 23
  ENUM(RelocSectionSym, llvm::RelocSectionSymType::None,
       same("-mllvm -reloc-section-sym"))
#endif
#if LLVM_VERSION_MAJOR >= 21
  FLAG(ImplicitMapSyms, same("-mllvm -implicit-mapsyms"))
  OPTIONAL(OutputAsmVariant, unsigned, std::numeric_limits<unsigned>::max(),
           Assembler)
#endif
  ENUM(EmitDwarfUnwind, llvm::EmitDwarfUnwindType::Default,
       same("-mllvm -emit-dwarf-unwind"))
  ANY_NUMBER(DwarfVersion, int, same("-mllvm -dwarf-version"))
  ENUM(MCUseDwarfDirectory, llvm::MCTargetOptions::DefaultDwarfDirectory, Any)
  // The bytes depend on the compression library of the machine.
  FIXED(CompressDebugSections, "compressed debug sections in objects")
  TEXT(ABIName, same("-mllvm -target-abi"))
  TEXT(AssemblyLanguage, Assembler)
  // The backend sets it from the fields SplitDwarfFile and DwoDir of Config.
  UNUSED(SplitDwarfFile)
  FOR_CLANG(SplitDwarfFile, Assembler)
  FIXED_AS_TEXT(AsSecureLogFile, "-mllvm -as-secure-log-file")
  FOR_CLANG(AsSecureLogFile, Assembler)
  // Pointers to the words of the process's command line, for CodeView.
  constexpr const char *Words =
      "the compiler's command line in debug information";
  FIXED_AS_TEXT(Argv0, Words)
#if LLVM_VERSION_MAJOR < 21
  FIXED_AS_TEXT(CommandLineArgs, Words)
#else
  FIXED_AS_TEXT(CommandlineArgs, Words)
#endif
  FIXED_AS_TEXT(IASSearchPaths, "folders for the assembler's .include")
  FOR_CLANG(IASSearchPaths, Assembler)
#if LLVM_VERSION_MAJOR >= 21
  TEXTS(InstPrinterOptions, Assembler)
#endif
  FLAG(EmitCompactUnwindNonCanonical,
       same("-mllvm -emit-compact-unwind-non-canonical"))
  FLAG(PPCUseFullRegisterNames, same("full register names on PowerPC"))
#if LLVM_VERSION_MAJOR >= 22
  FLAG(EmitSFrameUnwind, same("-mllvm -gsframe"))
#endif
#if LLVM_VERSION_MAJOR >= 23
  FLAG(LargeEHEncoding, same("-mllvm -large-eh-encoding"))
#endif
}

#undef IF_SETTING
#undef FIELD
#undef FLAG
#undef NUMBER
#undef ANY_NUMBER
#undef ENUM
#undef OPTIONAL
#undef TEXT
#undef TEXTS
#undef DENORMAL
#undef FOR_CLANG
#undef FIXED
#undef FIXED_AS_TEXT
#undef UNUSED
#undef ONLY_CODEGEN

} // namespace dtlto

#endif // DTLTO_CONFIG_CONFIGFIELDS_H
