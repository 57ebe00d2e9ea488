//===- ConfigFields.h - The fields of a configuration -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of ConfigJSON.cpp: its writer, its reader and the tests are
// visitors of the functions below. Each field of LLVM's structs is there
// exactly once, in the order of LLVM's headers, for the versions that have it.
// A visitor has these functions, where Name is the field's:
//
//   a field that travels, whose Value a reader sets:
//     flag(Name, bool &Value)
//     number(Name, int64_t &Value, int64_t Min, int64_t Max)
//     pair(Name, std::array<int64_t, 2> &Value, int64_t Min, int64_t Max)
//     optional(Name, std::optional<uint64_t> &Value, uint64_t Max)
//     text(Name, std::string &Value)
//     texts(Name, std::vector<std::string> &Value)
//   fixed(Name, bool IsFit, What)
//     a field with one value that can travel. A reader leaves it alone: it has
//     that value by itself.
//   unused(Name)
//     a field that lto::thinBackend doesn't look at, or not in a configuration
//     whose fixed fields are fit
//   require(bool IsFit, What)
//     what else must hold, of the field before it
//
// What names the linker's option, as the reasons of CompilerArgs.cpp do.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_CONFIGFIELDS_H
#define DTLTO_CONFIG_CONFIGFIELDS_H

#include "LLVM/Version.h"
#include "llvm/LTO/Config.h"
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace dtlto {

// The parameter O is the struct: const for a visitor that only looks. Most
// flags are bit-fields, so all values go through a copy.
#define DTLTO_SET(LEFT, RIGHT)                                                 \
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(O)>>)        \
  LEFT = RIGHT

#define FLAG(NAME)                                                             \
  {                                                                            \
    bool Value = O.NAME;                                                       \
    Visit.flag(#NAME, Value);                                                  \
    DTLTO_SET(O.NAME, Value);                                                  \
  }
#define NUMBER(NAME, MIN, MAX)                                                 \
  {                                                                            \
    int64_t Value = static_cast<int64_t>(O.NAME);                              \
    Visit.number(#NAME, Value, static_cast<int64_t>(MIN),                      \
                 static_cast<int64_t>(MAX));                                   \
    DTLTO_SET(O.NAME, static_cast<decltype(O.NAME)>(Value));                   \
  }
/// \p TYPE is the whole range of an integer type.
#define ANY_NUMBER(NAME, TYPE)                                                 \
  static_assert(std::is_same_v<decltype(O.NAME), TYPE>);                       \
  NUMBER(NAME, std::numeric_limits<TYPE>::min(),                               \
         std::numeric_limits<TYPE>::max())
/// Enumerators from 0 to \p LAST without a gap.
#define ENUM(NAME, LAST)                                                       \
  static_assert(                                                               \
      std::is_same_v<decltype(O.NAME), std::remove_cv_t<decltype(LAST)>>);     \
  NUMBER(NAME, 0, LAST)
#define OPTIONAL(NAME, TYPE, MAX)                                              \
  {                                                                            \
    std::optional<uint64_t> Value;                                             \
    if (O.NAME)                                                                \
      Value = static_cast<uint64_t>(*O.NAME);                                  \
    Visit.optional(#NAME, Value, static_cast<uint64_t>(MAX));                  \
    DTLTO_SET(O.NAME, Value ? std::optional<TYPE>(static_cast<TYPE>(*Value))   \
                            : std::nullopt);                                   \
  }
#define TEXT(NAME)                                                             \
  {                                                                            \
    std::string Value = O.NAME;                                                \
    Visit.text(#NAME, Value);                                                  \
    DTLTO_SET(O.NAME, std::move(Value));                                       \
  }
#define TEXTS(NAME)                                                            \
  {                                                                            \
    std::vector<std::string> Value = O.NAME;                                   \
    Visit.texts(#NAME, Value);                                                 \
    DTLTO_SET(O.NAME, std::move(Value));                                       \
  }
#define DENORMAL(NAME)                                                         \
  {                                                                            \
    llvm::DenormalMode Mode = O.getRaw##NAME();                                \
    std::array<int64_t, 2> Value = {Mode.Output, Mode.Input};                  \
    Visit.pair(#NAME, Value, llvm::DenormalMode::Invalid,                      \
               llvm::DenormalMode::Dynamic);                                   \
    using Kind = llvm::DenormalMode::DenormalModeKind;                         \
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(O)>>)      \
      O.set##NAME({static_cast<Kind>(Value[0]), static_cast<Kind>(Value[1])}); \
  }
#define FIXED(NAME, IS_FIT, WHAT) Visit.fixed(#NAME, IS_FIT, WHAT);
#define UNUSED(NAME) Visit.unused(#NAME);

/// llvm/LTO/Config.h, but for Options and PTO, which have their own functions.
/// \p Conf is an lto::Config.
template <class Visitor, class Conf> void visitConfig(Visitor &Visit, Conf &O) {
  TEXT(CPU)
  TEXTS(MAttrs)
  // A part of cache keys only. LLVM has long read its options.
  UNUSED(MllvmArgs)
#if LLVM_VERSION_MAJOR < 23
  FIXED(PassPlugins, O.PassPlugins.empty(), "--load-pass-plugin")
#else
  FIXED(LoadedPassPlugins, O.LoadedPassPlugins.empty(), "--load-pass-plugin")
  FIXED(PassPluginFilenames, O.PassPluginFilenames.empty(),
        "--load-pass-plugin")
#endif
  FIXED(PreCodeGenPassesHook, !O.PreCodeGenPassesHook,
        "passes that the linker adds before code generation")
  OPTIONAL(RelocModel, llvm::Reloc::Model, llvm::Reloc::ROPI_RWPI)
  OPTIONAL(CodeModel, llvm::CodeModel::Model, llvm::CodeModel::Large)
  ENUM(CGOptLevel, llvm::CodeGenOptLevel::Aggressive)
  // Not Null: a job has an object.
  ENUM(CGFileType, llvm::CodeGenFileType::ObjectFile)
  // LLVM takes for granted that there is no other level.
  NUMBER(OptLevel, 0, 3)
  FLAG(VerifyEach)
  FLAG(DisableVerify)
  FLAG(Freestanding)
  FLAG(CodeGenOnly)
  FLAG(RunCSIRInstr)
  FLAG(PGOWarnMismatch)
  // Of the thin link: LTO.cpp reads them, LTOBackend.cpp doesn't. What they do
  // to a module is in its index.
  UNUSED(HasWholeProgramVisibility)
  UNUSED(ValidateAllVtablesHaveTypeInfos)
  UNUSED(AllVtablesHaveTypeInfos)
  UNUSED(AlwaysEmitRegularLTOObj)
  UNUSED(VisibilityScheme)
#if LLVM_VERSION_MAJOR >= 21
  UNUSED(KeepSymbolNameCopies)
#endif
  // A part of cache keys: set where LLVM's own backend distributes jobs.
#if LLVM_VERSION_MAJOR >= 22
  UNUSED(Dtlto)
#endif
  TEXT(OptPipeline)
  TEXT(AAPipeline)
  TEXT(OverrideTriple)
  TEXT(DefaultTriple)
  // A file that is read; but with RunCSIRInstr, the name of one that the
  // program will write, which LLVM puts into the object.
  TEXT(CSIRProfile)
  Visit.require(O.CSIRProfile.empty() || O.RunCSIRInstr,
                "--lto-cs-profile-file");
  FIXED(SampleProfile, O.SampleProfile.empty(), "--lto-sample-profile")
  FIXED(ProfileRemapping, O.ProfileRemapping.empty(),
        "a profile remapping file")
  FIXED(DwoDir, O.DwoDir.empty(), "--plugin-opt=dwo_dir=")
  FIXED(SplitDwarfFile, O.SplitDwarfFile.empty(), "split DWARF")
  FIXED(SplitDwarfOutput, O.SplitDwarfOutput.empty(), "split DWARF")
  FIXED(RemarksFilename, O.RemarksFilename.empty(), "--opt-remarks-filename")
  TEXT(RemarksPasses)
  // These two count without a file, too: LLVM computes the hotness of
  // diagnostics.
  FLAG(RemarksWithHotness)
  OPTIONAL(RemarksHotnessThreshold, uint64_t,
           std::numeric_limits<uint64_t>::max())
  TEXT(RemarksFormat)
  // With the others, LLVM puts the file's absolute path into the object.
  Visit.require(O.RemarksFilename.empty() || O.RemarksFormat.empty() ||
                    O.RemarksFormat == "yaml",
                "--opt-remarks-format other than yaml");
  FIXED(DebugPassManager, !O.DebugPassManager, "--lto-debug-pass-manager")
  // LTO::run() opens it, but the counters are those of the process.
  FIXED(StatsFile, O.StatsFile.empty(), "--plugin-opt=stats-file=")
  // Of the thin link: a module that isn't among them is no job.
  UNUSED(ThinLTOModulesToCompile)
  // Set up by who starts the backend, in LTO.cpp.
  UNUSED(TimeTraceEnabled)
  UNUSED(TimeTraceGranularity)
  FLAG(ShouldDiscardValueNames)
  // Of the LLVMContext. Who starts the backend brings his own.
  UNUSED(DiagHandler)
  FLAG(AddFSDiscriminator)
  // Of the thin link.
  UNUSED(ResolutionFile)
  constexpr const char *Hooks = "--save-temps or --lto-emit-llvm";
  FIXED(PreOptModuleHook, !O.PreOptModuleHook, Hooks)
  FIXED(PostPromoteModuleHook, !O.PostPromoteModuleHook, Hooks)
  FIXED(PostInternalizeModuleHook, !O.PostInternalizeModuleHook, Hooks)
  FIXED(PostImportModuleHook, !O.PostImportModuleHook, Hooks)
  FIXED(PostOptModuleHook, !O.PostOptModuleHook, Hooks)
  FIXED(PreCodeGenModuleHook, !O.PreCodeGenModuleHook, Hooks)
  // Of the thin link.
  UNUSED(CombinedIndexHook)
  // Of other backends, those that write index files.
#if LLVM_VERSION_MAJOR >= 23
  UNUSED(GetSummaryIndexOutputStream)
  UNUSED(GetImportsListOutputArray)
  UNUSED(GetCacheKeyOutputString)
#endif
}

/// llvm/Passes/PassBuilder.h. \p Tuning is a PipelineTuningOptions.
template <class Visitor, class Tuning>
void visitTuning(Visitor &Visit, Tuning &O) {
  FLAG(LoopInterleaving)
  FLAG(LoopVectorization)
  FLAG(SLPVectorization)
  FLAG(LoopUnrolling)
#if LLVM_VERSION_MAJOR >= 21
  FLAG(LoopInterchange)
#endif
#if LLVM_VERSION_MAJOR >= 22
  FLAG(LoopFusion)
#endif
  FLAG(ForgetAllSCEVInLoopUnroll)
  ANY_NUMBER(LicmMssaOptCap, unsigned)
  ANY_NUMBER(LicmMssaNoAccForPromotionCap, unsigned)
  FLAG(CallGraphProfile)
  FLAG(UnifiedLTO)
  FLAG(MergeFunctions)
  ANY_NUMBER(InlinerThreshold, int)
  FLAG(EagerlyInvalidateAnalyses)
#if LLVM_VERSION_MAJOR >= 22
  FLAG(DevirtualizeSpeculatively)
#endif
}

/// llvm/Target/TargetOptions.h, but for MCOptions. \p Target is a
/// TargetOptions.
template <class Visitor, class Target>
void visitTarget(Visitor &Visit, Target &O) {
  {
    std::array<int64_t, 2> Value = {O.BinutilsVersion.first,
                                    O.BinutilsVersion.second};
    Visit.pair("BinutilsVersion", Value, std::numeric_limits<int>::min(),
               std::numeric_limits<int>::max());
    DTLTO_SET(O.BinutilsVersion, std::make_pair(static_cast<int>(Value[0]),
                                                static_cast<int>(Value[1])));
  }
#if LLVM_VERSION_MAJOR < 22
  FLAG(UnsafeFPMath)
#endif
#if LLVM_VERSION_MAJOR < 23
  FLAG(NoInfsFPMath)
  FLAG(NoNaNsFPMath)
#endif
  FLAG(NoTrappingFPMath)
#if LLVM_VERSION_MAJOR < 23
  FLAG(NoSignedZerosFPMath)
#endif
#if LLVM_VERSION_MAJOR < 22
  FLAG(ApproxFuncFPMath)
#endif
  FLAG(EnableAIXExtendedAltivecABI)
  FLAG(HonorSignDependentRoundingFPMathOption)
  FLAG(NoZerosInBSS)
  FLAG(GuaranteedTailCallOpt)
  FLAG(StackSymbolOrdering)
  FLAG(EnableFastISel)
  FLAG(EnableGlobalISel)
  ENUM(GlobalISelAbort, llvm::GlobalISelAbortMode::DisableWithDiag)
  ENUM(SwiftAsyncFramePointer, llvm::SwiftAsyncFramePointerMode::Never)
  FLAG(UseInitArray)
  FLAG(DisableIntegratedAS)
  FLAG(FunctionSections)
  FLAG(DataSections)
  FLAG(IgnoreXCOFFVisibility)
  FLAG(XCOFFTracebackTable)
  FLAG(UniqueSectionNames)
  FLAG(UniqueBasicBlockSectionNames)
  FLAG(SeparateNamedSections)
  FLAG(TrapUnreachable)
  FLAG(NoTrapAfterNoreturn)
  NUMBER(TLSSize, 0, 255)
  FLAG(EmulatedTLS)
  FLAG(EnableTLSDESC)
  FLAG(EnableIPRA)
  FLAG(EmitStackSizeSection)
  FLAG(EnableMachineOutliner)
  FLAG(EnableMachineFunctionSplitter)
#if LLVM_VERSION_MAJOR >= 21
  FLAG(EnableStaticDataPartitioning)
#endif
  FLAG(SupportsDefaultOutlining)
  FLAG(EmitAddrsig)
  FLAG(BBAddrMap)
  constexpr const char *List =
      "--lto-basic-block-sections with a list of functions";
  ENUM(BBSections, llvm::BasicBlockSection::None)
  Visit.require(O.BBSections != llvm::BasicBlockSection::List, List);
  FIXED(BBSectionsFuncListBuf, !O.BBSectionsFuncListBuf, List)
#if LLVM_VERSION_MAJOR >= 22
  FLAG(EmitCallGraphSection)
#endif
  FLAG(EmitCallSiteInfo)
  FLAG(SupportsDebugEntryValues)
  FLAG(EnableDebugEntryValues)
  FLAG(ValueTrackingVariableLocations)
  FLAG(ForceDwarfFrameSection)
  FLAG(XRayFunctionIndex)
  FLAG(DebugStrictDwarf)
  FLAG(Hotpatch)
  FLAG(PPCGenScalarMASSEntries)
  FLAG(JMCInstrument)
  FLAG(EnableCFIFixup)
  FLAG(MisExpect)
  FLAG(XCOFFReadOnlyPointers)
#if LLVM_VERSION_MAJOR >= 21
  FLAG(VerifyArgABICompliance)
#endif
#if LLVM_VERSION_MAJOR < 23
  FIXED(StackUsageOutput, O.StackUsageOutput.empty(), "stack usage files")
#else
  FIXED(StackUsageFile, O.StackUsageFile.empty(), "stack usage files")
#endif
  ANY_NUMBER(LoopAlignment, unsigned)
  ENUM(FloatABIType, llvm::FloatABI::Hard)
  ENUM(AllowFPOpFusion, llvm::FPOpFusion::Strict)
  ENUM(ThreadModel, llvm::ThreadModel::Single)
  ENUM(EABIVersion, llvm::EABI::GNU)
  ENUM(DebuggerTuning, llvm::DebuggerKind::DBX)
#if LLVM_VERSION_MAJOR < 22
  DENORMAL(FPDenormalMode)
  DENORMAL(FP32DenormalMode)
#else
  ENUM(VecLib, llvm::VectorLibrary::AMDLIBM)
#endif
  ENUM(ExceptionModel, llvm::ExceptionHandling::ZOS)
  // The backend sets it, from the stream that it writes to.
  UNUSED(ObjectFilenameForDebug)
}

/// llvm/MC/MCTargetOptions.h. \p MC is an MCTargetOptions.
template <class Visitor, class MC> void visitMC(Visitor &Visit, MC &O) {
  FLAG(MCRelaxAll)
  FLAG(MCNoExecStack)
  FLAG(MCFatalWarnings)
  FLAG(MCNoWarn)
  FLAG(MCNoDeprecatedWarn)
  FLAG(MCNoTypeCheck)
  FLAG(MCSaveTempLabels)
  FLAG(MCIncrementalLinkerCompatible)
  FLAG(FDPIC)
  FLAG(ShowMCEncoding)
  FLAG(ShowMCInst)
  FLAG(AsmVerbose)
  FLAG(PreserveAsmComments)
  FLAG(Dwarf64)
  FLAG(Crel)
  FLAG(X86RelaxRelocations)
  FLAG(X86Sse2Avx)
#if LLVM_VERSION_MAJOR >= 23
  ENUM(RelocSectionSym, llvm::RelocSectionSymType::None)
#endif
#if LLVM_VERSION_MAJOR >= 21
  FLAG(ImplicitMapSyms)
  OPTIONAL(OutputAsmVariant, unsigned, std::numeric_limits<unsigned>::max())
#endif
  ENUM(EmitDwarfUnwind, llvm::EmitDwarfUnwindType::Default)
  ANY_NUMBER(DwarfVersion, int)
  ENUM(MCUseDwarfDirectory, llvm::MCTargetOptions::DefaultDwarfDirectory)
  // The bytes are those of the machine's own compression library.
  FIXED(CompressDebugSections,
        O.CompressDebugSections == llvm::DebugCompressionType::None,
        "compressed debug sections in objects")
  TEXT(ABIName)
  TEXT(AssemblyLanguage)
  // The backend sets it, from Config's field of that name and DwoDir.
  UNUSED(SplitDwarfFile)
  FIXED(AsSecureLogFile, O.AsSecureLogFile.empty(),
        "-mllvm -as-secure-log-file")
  // Pointers to the words of a process, for CodeView.
  constexpr const char *Words =
      "the compiler's command line in debug information";
#if LLVM_VERSION_MAJOR < 21
  FIXED(Argv0, !O.Argv0, Words)
  FIXED(CommandLineArgs, O.CommandLineArgs.empty(), Words)
#else
  FIXED(Argv0, O.Argv0.empty(), Words)
  FIXED(CommandlineArgs, O.CommandlineArgs.empty(), Words)
#endif
  FIXED(IASSearchPaths, O.IASSearchPaths.empty(),
        "folders for the assembler's .include")
#if LLVM_VERSION_MAJOR >= 21
  TEXTS(InstPrinterOptions)
#endif
  FLAG(EmitCompactUnwindNonCanonical)
  FLAG(PPCUseFullRegisterNames)
#if LLVM_VERSION_MAJOR >= 22
  FLAG(EmitSFrameUnwind)
#endif
#if LLVM_VERSION_MAJOR >= 23
  FLAG(LargeEHEncoding)
#endif
}

#undef DTLTO_SET
#undef FLAG
#undef NUMBER
#undef ANY_NUMBER
#undef ENUM
#undef OPTIONAL
#undef TEXT
#undef TEXTS
#undef DENORMAL
#undef FIXED
#undef UNUSED

} // namespace dtlto

#endif // DTLTO_CONFIG_CONFIGFIELDS_H
