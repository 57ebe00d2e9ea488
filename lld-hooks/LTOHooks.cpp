//===- LTOHooks.cpp - Wrappers for LLVM's functions for LTO ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All drivers of LLD, and LLVMgold.so for other linkers, reach in-process
// ThinLTO by one function of libLLVM, lto::createInProcessThinBackend(), and
// read bitcode files by another, lto::InputFile::create(). Each of their calls
// becomes a call of `__wrap_<symbol>` in this file, and `__real_<symbol>` is
// LLVM's function: LLD is linked with `--wrap`, and gold/GoldHooks.cpp does the
// same for LLVMgold.so at run time. If modules are split, LTO::getMaxTasks()
// returns room for their parts, and pruneCache() gets the number of files that
// the link made instead of that bound.
//
// Two wrappers are for the time trace: they add the plugin's jobs to the file
// that LLVM's profiler writes (TraceEvents.h).
//
// CMakeLists.txt looks up the mangled names in LLD.
//
//===----------------------------------------------------------------------===//

#include "LTOHooks.h"
#include "Config/LLVMOptions.h"
#include "LTO/Backend.h"
#include "LTO/SplitPlan.h"
#include "LTO/TwoRounds.h"
#include "Report/TraceEvents.h"
#include "LLVM/CodegenData.h"
#include "LLVM/ThinBackend.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TimeProfiler.h"
#include <mutex>

using namespace llvm;
using namespace dtlto;

static Linker *TheLinker = nullptr;
static FatalFunction *Fatal = nullptr;
static bool WasBackendRequested = false;

void dtlto::installHooks(Linker &NewLinker, FatalFunction *NewFatal) {
  TheLinker = &NewLinker;
  Fatal = NewFatal;
}

Linker *dtlto::hookedLinker() { return TheLinker; }
bool dtlto::wasBackendRequested() { return WasBackendRequested; }

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
    Fatal("dtlto: " + toString(std::move(E)));
  bool HasTwoRounds = compilesTwice();
  if (HasTwoRounds && (!HasCodegenData || TheLinker->Opts.Split != 0)) {
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
  // Like the in-process backend: no index files and no OnWrite callback.
  if (HasTwoRounds)
    return createTwoRoundsBackend(*TheLinker, Parallelism);
  return createPluginThinBackend(*TheLinker, Parallelism, std::move(OnWrite),
                                 ShouldEmitIndexFiles, ShouldEmitImportsFiles,
                                 runInParts);
}

/// LLVMgold reads each file twice, first without a name to list its symbols.
/// The linker may reuse that memory.
InputFileOrError wrapCreateInput(MemoryBufferRef Buffer) {
  InputFileOrError File = realCreateInput(Buffer);
  if (TheLinker && File && !Buffer.getBufferIdentifier().empty())
    TheLinker->Inputs.add(Buffer, (*File)->getTargetTriple());
  return File;
}

/// Linkers make room for an object of each task. They call this once all files
/// are added, before the number of parts is known.
unsigned wrapMaxTasks(const lto::LTO *LTO) {
  unsigned NumTasks = realMaxTasks(LTO);
  if (!TheLinker || TheLinker->Opts.Split == 0)
    return NumTasks;
  TheLinker->NumTasks = NumTasks;
  TheLinker->NumSpareTasks = maxPartTasks(TheLinker->Inputs, TheLinker->Opts);
  return NumTasks + TheLinker->NumSpareTasks;
}

/// LLVM warns about a limit that one link alone exceeds, and counts tasks as
/// files. Count only parts that exist.
bool wrapPruneCache(StringRef Path, CachePruningPolicy Policy,
                    const BufferList &Files) {
  if (!TheLinker || Files.size() <= TheLinker->NumTasks ||
      TheLinker->NumSpareTasks == 0)
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

static TraceStart Trace;

/// Records the first call only; LLD's threads start their own profilers later.
void wrapStartTrace(unsigned Granularity, StringRef ProcName, bool Verbose) {
  static std::once_flag Once;
  std::call_once(Once, [&] {
    Trace = {std::chrono::steady_clock::now(), Granularity};
  });
  realStartTrace(Granularity, ProcName, Verbose);
}

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
