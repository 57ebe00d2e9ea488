//===- GoldHooks.cpp - Taking over LLVMgold's calls of LLVM ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is linked with `--defsym=<symbol>=__wrap_<symbol>` for each
// function that LTOHooks.cpp and this file wrap. `__real_<symbol>`, defined
// here, calls the next definition: LLVM's.
//
//===----------------------------------------------------------------------===//

#include "gold/GoldHooks.h"
#include "Host/PluginGuard.h"
#include "LTO/Backend.h"
#include "LTOHooks.h"
#include "Support/Failure.h"
#include "LLVM/ThinBackend.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <dlfcn.h>

using namespace llvm;
using namespace dtlto;

template <typename Fn> static Fn *next(const char *Symbol) {
  void *Address = ::dlsym(RTLD_NEXT, Symbol);
  if (!Address)
    report_fatal_error(Twine("libLLVM has no symbol ") + Symbol);
  return reinterpret_cast<Fn *>(Address);
}

//===----------------------------------------------------------------------===//
// LLVM's functions
//===----------------------------------------------------------------------===//

lto::ThinBackend realCreateBackend(ThreadPoolStrategy Parallelism,
                                   lto::IndexWriteCallback OnWrite,
                                   bool ShouldEmitIndexFiles,
                                   bool ShouldEmitImportsFiles) {
  static auto *Fn = next<decltype(realCreateBackend)>(DTLTO_CREATE_BACKEND);
  return Fn(Parallelism, std::move(OnWrite), ShouldEmitIndexFiles,
            ShouldEmitImportsFiles);
}

InputFileOrError realCreateInput(MemoryBufferRef Buffer) {
  static auto *Fn = next<decltype(realCreateInput)>(DTLTO_CREATE_INPUT);
  return Fn(Buffer);
}

unsigned realMaxTasks(const lto::LTO *LTO) {
  static auto *Fn = next<decltype(realMaxTasks)>(DTLTO_MAX_TASKS);
  return Fn(LTO);
}

bool realPruneCache(StringRef Path, CachePruningPolicy Policy,
                    const BufferList &Files) {
  static auto *Fn = next<decltype(realPruneCache)>(DTLTO_PRUNE_CACHE);
  return Fn(Path, Policy, Files);
}

void realStartTrace(unsigned Granularity, StringRef ProcName, bool Verbose) {
  static auto *Fn = next<decltype(realStartTrace)>(DTLTO_START_TRACE);
  Fn(Granularity, ProcName, Verbose);
}

Error realWriteTrace(StringRef PreferredFileName, StringRef FallbackFileName) {
  static auto *Fn = next<decltype(realWriteTrace)>(DTLTO_WRITE_TRACE);
  return Fn(PreferredFileName, FallbackFileName);
}

//===----------------------------------------------------------------------===//
// The time of LTO
//===----------------------------------------------------------------------===//

SignalActions dtlto::exchangeSignals(const SignalActions *New) {
  SignalActions Old = {};
  for (int Signal = 1; Signal != NSIG; ++Signal)
    ::sigaction(Signal, New ? &(*New)[Signal] : nullptr, &Old[Signal]);
  return Old;
}

static SignalActions SignalsOfLTO;

void dtlto::setSignalsOfLTO(const SignalActions &Signals) {
  SignalsOfLTO = Signals;
}

DTLTO_WRAP(Error, Run, DTLTO_RUN, lto::LTO *, AddStreamFn, FileCache)

Error realRun(lto::LTO *LTO, AddStreamFn AddStream, FileCache Cache) {
  static auto *Fn = next<decltype(realRun)>(DTLTO_RUN);
  return Fn(LTO, std::move(AddStream), std::move(Cache));
}

/// Returns the output if the linker has created it already, as GNU ld does.
/// LTO's end by a signal must not leave an empty file.
static StringRef emptyOutput(const Options &Opts) {
  sys::fs::file_status Status;
  bool IsEmpty = !sys::fs::status(Opts.OutputFile, Status) &&
                 sys::fs::is_regular_file(Status) && Status.getSize() == 0;
  return IsEmpty ? StringRef(Opts.OutputFile) : StringRef();
}

/// The process is the linker's: it handles signals, and ends by exit().
Error wrapRun(lto::LTO *LTO, AddStreamFn AddStream, FileCache Cache) {
  Linker *TheLinker = hookedLinker();
  if (!TheLinker)
    return realRun(LTO, std::move(AddStream), std::move(Cache));
  const SignalActions SignalsOfLinker = exchangeSignals(&SignalsOfLTO);
  const StringRef Output = emptyOutput(TheLinker->Opts);
  if (!Output.empty())
    sys::RemoveFileOnSignal(Output);
  Error E = realRun(LTO, std::move(AddStream), std::move(Cache));
  if (!Output.empty())
    sys::DontRemoveFileOnSignal(Output);
  if (!E)
    finishLink(*TheLinker);
  endGuard();
  exchangeSignals(&SignalsOfLinker);
  return E;
}

//===----------------------------------------------------------------------===//
// LLVMgold.so
//===----------------------------------------------------------------------===//

std::string dtlto::libraryOf(void *Address) {
  Dl_info Info;
  return ::dladdr(Address, &Info) && Info.dli_fname ? Info.dli_fname : "";
}

Expected<void *> dtlto::loadLLVMgold(const std::string &Path) {
  void *Self =
      ::dlopen(libraryOf(reinterpret_cast<void *>(&loadLLVMgold)).c_str(),
               RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  if (!Self)
    return failure(StringRef(::dlerror()));
  const std::string Major =
      StringRef(LLVM_VERSION_STRING).split('.').first.str();
  const std::string ToInstall =
      "; install LLVM " + Major + "'s (Debian: llvm-" + Major +
      "-linker-tools), or name it by -plugin-opt=thinlto-dist-gold=<file>";
  void *Library = ::dlopen(Path.c_str(), RTLD_NOW);
  if (!Library)
    return failure("cannot load LLVM's plugin: " + StringRef(::dlerror()) +
                   ToInstall);
  // Looks only in the library and those that it needs.
  void *Theirs = ::dlsym(Library, DTLTO_CREATE_BACKEND);
  void *Ours = ::dlsym(RTLD_NEXT, DTLTO_CREATE_BACKEND);
  if (!Theirs)
    return failure(
        "'" + Path +
        "' does not call LLVM in libLLVM.so, so that its jobs cannot "
        "be distributed" +
        ToInstall);
  if (Theirs != Ours)
    return failure("'" + Path + "' uses " + libraryOf(Theirs) +
                   ", another LLVM than " + libraryOf(Ours) + ToInstall);
  void *OnLoad = ::dlsym(Library, "onload");
  if (!OnLoad)
    return failure("'" + Path + "' is not a plugin for linkers" + ToInstall);
  return OnLoad;
}
