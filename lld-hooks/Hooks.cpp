//===- Hooks.cpp - Wrappers for functions of LLVM -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All drivers of LLD reach in-process ThinLTO by one function of libLLVM,
// lto::createInProcessThinBackend(), and read bitcode files by another,
// lto::InputFile::create(). The executable is linked with `--wrap` for both:
// each call in LLD's archives becomes a call of `__wrap_<symbol>` in this file,
// and `__real_<symbol>` is LLVM's function. If LLVM can distribute by itself,
// lto::createOutOfProcessThinBackend(), or its replacement since LLVM 23, is
// wrapped to refuse the use of both. If modules are split, LTO::getMaxTasks()
// returns room for their parts, and pruneCache() gets the number of files that
// the link made instead of that bound.
//
// Two wrappers are for --time-trace: they add the plugin's jobs to the file
// that LLVM's profiler writes (TraceEvents.h). One adds our options to the
// --help of LLD's drivers. One returns where LLVM is.
//
// CMakeLists.txt looks up the mangled names in LLD.
//
//===----------------------------------------------------------------------===//

#include "Hooks.h"
#include "Config/LLVMOptions.h"
#include "Host/PluginGuard.h"
#include "LTO/Backend.h"
#include "LTO/SplitPlan.h"
#include "LTO/TwoRounds.h"
#include "Report/TraceEvents.h"
#include "lld/Common/ErrorHandler.h"
#include "LLVM/CodegenData.h"
#include "LLVM/ThinBackend.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TimeProfiler.h"
#include <mutex>

using namespace llvm;
using namespace dtlto;

using InputFileOrError = Expected<std::unique_ptr<lto::InputFile>>;

lto::ThinBackend realCreateBackend(ThreadPoolStrategy, lto::IndexWriteCallback,
                                   bool,
                                   bool) asm("__real_" DTLTO_CREATE_BACKEND);
InputFileOrError
    realCreateInput(MemoryBufferRef) asm("__real_" DTLTO_CREATE_INPUT);
void realStartTrace(unsigned, StringRef, bool) asm("__real_" DTLTO_START_TRACE);
Error realWriteTrace(StringRef, StringRef) asm("__real_" DTLTO_WRITE_TRACE);

static Linker *TheLinker = nullptr;
static bool WasBackendRequested = false;

void dtlto::installHooks(Linker &NewLinker) { TheLinker = &NewLinker; }

lto::ThinBackend wrapCreateBackend(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles,
    bool ShouldEmitImportsFiles) asm("__wrap_" DTLTO_CREATE_BACKEND);

lto::ThinBackend wrapCreateBackend(ThreadPoolStrategy Parallelism,
                                   lto::IndexWriteCallback OnWrite,
                                   bool ShouldEmitIndexFiles,
                                   bool ShouldEmitImportsFiles) {
  if (!TheLinker)
    return realCreateBackend(Parallelism, std::move(OnWrite),
                             ShouldEmitIndexFiles, ShouldEmitImportsFiles);
  WasBackendRequested = true;
  TheLinker->Opts.LLVMOptions =
      filterParsedOptions(TheLinker->Opts.LLVMOptions);
  if (Error E = checkCodegenDataToUse())
    lld::fatal("dtlto: " + toString(std::move(E)));
  bool HasTwoRounds = compilesTwice();
  if (HasTwoRounds && !canDistributeTwoRounds(*TheLinker)) {
    TheLinker->HasBackend = true; // reported by the note below
    const char *Condition = HasCodegenData ? " with --thinlto-dist-split" : "";
    TheLinker->Msg->note(
        "plugin '" + Twine(TheLinker->Plugin->name) +
        "': all modules are compiled locally, since "
        "-mllvm -codegen-data-thinlto-two-rounds cannot be distributed" +
        Condition);
    return realCreateBackend(Parallelism, std::move(OnWrite),
                             ShouldEmitIndexFiles, ShouldEmitImportsFiles);
  }
  guardAgainstExit();
  // Like the in-process backend: no index files and no OnWrite callback.
  if (HasTwoRounds)
    return createTwoRoundsBackend(*TheLinker, Parallelism);
  return createPluginThinBackend(*TheLinker, Parallelism, std::move(OnWrite),
                                 ShouldEmitIndexFiles, ShouldEmitImportsFiles);
}

InputFileOrError
wrapCreateInput(MemoryBufferRef Buffer) asm("__wrap_" DTLTO_CREATE_INPUT);

InputFileOrError wrapCreateInput(MemoryBufferRef Buffer) {
  InputFileOrError File = realCreateInput(Buffer);
  if (TheLinker && File)
    TheLinker->Inputs.add(Buffer, (*File)->getTargetTriple());
  return File;
}

unsigned realMaxTasks(const lto::LTO *) asm("__real_" DTLTO_MAX_TASKS);
unsigned wrapMaxTasks(const lto::LTO *) asm("__wrap_" DTLTO_MAX_TASKS);

/// LLD makes room for an object of each task. It calls this once all files are
/// added, before the number of parts is known.
unsigned wrapMaxTasks(const lto::LTO *LTO) {
  unsigned NumTasks = realMaxTasks(LTO);
  if (!TheLinker || TheLinker->Opts.Split == 0)
    return NumTasks;
  TheLinker->NumTasks = NumTasks;
  TheLinker->NumPartTasks =
      maxPartTasks(TheLinker->Inputs, TheLinker->Opts.Split);
  return NumTasks + TheLinker->NumPartTasks;
}

using BufferList = std::vector<std::unique_ptr<MemoryBuffer>>;

bool realPruneCache(StringRef, CachePruningPolicy,
                    const BufferList &) asm("__real_" DTLTO_PRUNE_CACHE);
bool wrapPruneCache(StringRef Path, CachePruningPolicy Policy,
                    const BufferList &Files) asm("__wrap_" DTLTO_PRUNE_CACHE);

/// LLVM warns about a limit that one link alone exceeds, and counts tasks as
/// files. Count only parts that exist.
bool wrapPruneCache(StringRef Path, CachePruningPolicy Policy,
                    const BufferList &Files) {
  if (!TheLinker || Files.size() <= TheLinker->NumTasks ||
      TheLinker->NumPartTasks == 0)
    return realPruneCache(Path, Policy, Files);
  BufferList ExistingFiles;
  for (size_t I = 0; I != Files.size(); ++I)
    if (Files[I])
      ExistingFiles.push_back(MemoryBuffer::getMemBuffer(
          Files[I]->getMemBufferRef(), /*RequiresNullTerminator=*/false));
    else if (I < TheLinker->NumTasks)
      ExistingFiles.emplace_back();
  return realPruneCache(Path, Policy, ExistingFiles);
}

/// Returns the error of a link that LLVM should distribute as well.
[[maybe_unused]] static lto::ThinBackend refuseTwoDistributors() {
  return createFailingThinBackend(
      "dtlto: both a plugin (" + TheLinker->Opts.Plugin +
      ") and --thinlto-distributor would run the jobs: remove one of them");
}

#ifdef DTLTO_CREATE_DISTRIBUTED
lto::ThinBackend
realCreateDistributed(ThreadPoolStrategy, lto::IndexWriteCallback, bool, bool,
                      StringRef, StringRef, ArrayRef<StringRef>, StringRef,
                      ArrayRef<StringRef>, ArrayRef<StringRef>,
                      bool) asm("__real_" DTLTO_CREATE_DISTRIBUTED);

lto::ThinBackend wrapCreateDistributed(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles, StringRef Output,
    StringRef Distributor, ArrayRef<StringRef> DistributorArgs,
    StringRef Compiler, ArrayRef<StringRef> FirstCompilerArgs,
    ArrayRef<StringRef> CompilerArgs,
    bool SaveTemps) asm("__wrap_" DTLTO_CREATE_DISTRIBUTED);

lto::ThinBackend wrapCreateDistributed(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles, StringRef Output,
    StringRef Distributor, ArrayRef<StringRef> DistributorArgs,
    StringRef Compiler, ArrayRef<StringRef> FirstCompilerArgs,
    ArrayRef<StringRef> CompilerArgs, bool SaveTemps) {
  if (TheLinker)
    return refuseTwoDistributors();
  return realCreateDistributed(Parallelism, std::move(OnWrite),
                               ShouldEmitIndexFiles, ShouldEmitImportsFiles,
                               Output, Distributor, DistributorArgs, Compiler,
                               FirstCompilerArgs, CompilerArgs, SaveTemps);
}
#endif

#ifdef DTLTO_CREATE_INDEX_WRITER
lto::ThinBackend realCreateIndexWriter(
    ThreadPoolStrategy, std::string, std::string, std::string, bool,
    raw_fd_ostream *,
    lto::IndexWriteCallback) asm("__real_" DTLTO_CREATE_INDEX_WRITER);

lto::ThinBackend wrapCreateIndexWriter(
    ThreadPoolStrategy Parallelism, std::string OldPrefix,
    std::string NewPrefix, std::string NativeObjectPrefix,
    bool ShouldEmitImportsFiles, raw_fd_ostream *LinkedObjectsFile,
    lto::IndexWriteCallback OnWrite) asm("__wrap_" DTLTO_CREATE_INDEX_WRITER);

/// lto::DTLTO calls this without OnWrite, LLD's --thinlto-index-only with it.
/// No other call shows that LLD distributes the link itself.
lto::ThinBackend wrapCreateIndexWriter(ThreadPoolStrategy Parallelism,
                                       std::string OldPrefix,
                                       std::string NewPrefix,
                                       std::string NativeObjectPrefix,
                                       bool ShouldEmitImportsFiles,
                                       raw_fd_ostream *LinkedObjectsFile,
                                       lto::IndexWriteCallback OnWrite) {
  if (TheLinker && !OnWrite)
    return refuseTwoDistributors();
  return realCreateIndexWriter(
      Parallelism, std::move(OldPrefix), std::move(NewPrefix),
      std::move(NativeObjectPrefix), ShouldEmitImportsFiles, LinkedObjectsFile,
      std::move(OnWrite));
}
#endif

static TraceStart Trace;

void wrapStartTrace(unsigned Granularity, StringRef ProcName,
                    bool Verbose) asm("__wrap_" DTLTO_START_TRACE);

/// Records the first call only; LLD's threads start their own profilers later.
void wrapStartTrace(unsigned Granularity, StringRef ProcName, bool Verbose) {
  static std::once_flag Once;
  std::call_once(Once, [&] {
    Trace = {std::chrono::steady_clock::now(), Granularity};
  });
  realStartTrace(Granularity, ProcName, Verbose);
}

Error wrapWriteTrace(
    StringRef PreferredFileName,
    StringRef FallbackFileName) asm("__wrap_" DTLTO_WRITE_TRACE);

Error wrapWriteTrace(StringRef PreferredFileName, StringRef FallbackFileName) {
  if (!TheLinker || TheLinker->Timelines.empty())
    return realWriteTrace(PreferredFileName, FallbackFileName);
  SmallVector<char, 0> Bytes;
  raw_svector_ostream BytesOS(Bytes);
  timeTraceProfilerWrite(BytesOS);
  std::string Text(Bytes.begin(), Bytes.end());
  if (Error E = addTraceEvents(Text, TheLinker->Timelines, Trace))
    TheLinker->Msg->warning(toString(std::move(E)));

  // Name and message are the same as LLVM's.
  std::string Path = PreferredFileName.str();
  if (Path.empty()) {
    Path = FallbackFileName == "-" ? "out" : FallbackFileName.str();
    Path += ".time-trace";
  }
  std::error_code EC;
  raw_fd_ostream OS(Path, EC, sys::fs::OF_TextWithCRLF);
  if (EC)
    return createStringError(EC, "Could not open " + Path);
  OS << Text;
  return Error::success();
}

#ifdef DTLTO_MAIN_EXECUTABLE
std::string realMainExecutable(const char *,
                               void *) asm("__real_" DTLTO_MAIN_EXECUTABLE);
std::string wrapMainExecutable(const char *Argv0,
                               void *Of) asm("__wrap_" DTLTO_MAIN_EXECUTABLE);

/// LLD for COFF passes no address, and looks for clang's libraries next to its
/// own executable. They are next to LLVM's.
std::string wrapMainExecutable(const char *Argv0, void *Of) {
  std::string Executable = realMainExecutable(Argv0, Of);
  SmallString<256> Clang(
      sys::path::parent_path(sys::path::parent_path(Executable)));
  sys::path::append(Clang, "lib", "clang");
  if (Of || sys::fs::exists(Clang) || !sys::fs::exists(DTLTO_LLVM_TOOLS))
    return Executable;
  SmallString<256> LLVMExecutable(DTLTO_LLVM_TOOLS);
  sys::path::append(LLVMExecutable, sys::path::filename(Executable));
  return LLVMExecutable.str().str();
}
#endif

static bool HelpIsForCOFF = false;
static bool HelpIsPrinted = false;

void dtlto::setHelp(bool IsCOFF) { HelpIsForCOFF = IsCOFF; }

// A member function takes the object as its first argument. Later versions of
// LLVM have one more parameter.
#ifdef DTLTO_HELP_HAS_SUBCOMMAND
#define DTLTO_SUBCOMMAND_PARAMETER , StringRef SubCommand
#define DTLTO_SUBCOMMAND , SubCommand
#else
#define DTLTO_SUBCOMMAND_PARAMETER
#define DTLTO_SUBCOMMAND
#endif

void realPrintHelp(
    const opt::OptTable *, raw_ostream &, const char *, const char *, bool,
    bool,
    opt::Visibility DTLTO_SUBCOMMAND_PARAMETER) asm("__real_" DTLTO_PRINT_HELP);

void wrapPrintHelp(
    const opt::OptTable *Table, raw_ostream &OS, const char *Usage,
    const char *Title, bool ShowHidden, bool ShowAllAliases,
    opt::Visibility Mask
        DTLTO_SUBCOMMAND_PARAMETER) asm("__wrap_" DTLTO_PRINT_HELP);

void wrapPrintHelp(const opt::OptTable *Table, raw_ostream &OS,
                   const char *Usage, const char *Title, bool ShowHidden,
                   bool ShowAllAliases,
                   opt::Visibility Mask DTLTO_SUBCOMMAND_PARAMETER) {
  realPrintHelp(Table, OS, Usage, Title, ShowHidden, ShowAllAliases,
                Mask DTLTO_SUBCOMMAND);
  printHelp(OS, HelpIsForCOFF);
  HelpIsPrinted = true;
}

//===----------------------------------------------------------------------===//
// The end of a link
//===----------------------------------------------------------------------===//

[[noreturn]] void realExitLLD(int Code) asm("__real__ZN3lld7exitLldEi");
[[noreturn]] void wrapExitLLD(int Code) asm("__wrap__ZN3lld7exitLldEi");

/// Whether a link has ended that could have had ThinLTO backends. Some of LLD's
/// ports create one in each link.
static bool hasLinked() {
  return !HelpIsPrinted && (WasBackendRequested || !TheLinker->Opts.MayNotLink);
}

void wrapExitLLD(int Code) {
  if (TheLinker && TheLinker->Plugin && Code == 0 && hasLinked())
    finishLinkWithoutModules(*TheLinker);
  realExitLLD(Code);
}
