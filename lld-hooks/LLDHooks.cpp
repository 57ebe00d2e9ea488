//===- LLDHooks.cpp - Wrappers for functions that only LLD calls ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LTOHooks.cpp has those that other linkers call, too. If LLVM can distribute
// by itself, lto::createOutOfProcessThinBackend(), or its replacement since
// LLVM 23, is wrapped to refuse the use of both. One wrapper adds our options
// to the --help of LLD's drivers, one returns where LLVM is, and one notices
// the end of a link.
//
//===----------------------------------------------------------------------===//

#include "Host/PluginInfo.h"
#include "LTO/Backend.h"
#include "LTOHooks.h"
#include "LLVM/ThinBackend.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

/// Returns the error of a link that LLVM should distribute as well.
[[maybe_unused]] static lto::ThinBackend refuseTwoDistributors() {
  return createFailingThinBackend(
      "dtlto: both a plugin (" + hookedLinker()->Opts.Plugin +
      ") and --thinlto-distributor would run the jobs: remove one of them");
}

#ifdef DTLTO_CREATE_DISTRIBUTED
DTLTO_WRAP(lto::ThinBackend, CreateDistributed, DTLTO_CREATE_DISTRIBUTED,
           ThreadPoolStrategy, lto::IndexWriteCallback, bool, bool, StringRef,
           StringRef, ArrayRef<StringRef>, StringRef, ArrayRef<StringRef>,
           ArrayRef<StringRef>, bool)

lto::ThinBackend wrapCreateDistributed(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles, StringRef Output,
    StringRef Distributor, ArrayRef<StringRef> DistributorArgs,
    StringRef Compiler, ArrayRef<StringRef> FirstCompilerArgs,
    ArrayRef<StringRef> CompilerArgs, bool SaveTemps) {
  if (hookedLinker())
    return refuseTwoDistributors();
  return realCreateDistributed(Parallelism, std::move(OnWrite),
                               ShouldEmitIndexFiles, ShouldEmitImportsFiles,
                               Output, Distributor, DistributorArgs, Compiler,
                               FirstCompilerArgs, CompilerArgs, SaveTemps);
}
#endif

#ifdef DTLTO_CREATE_INDEX_WRITER
DTLTO_WRAP(lto::ThinBackend, CreateIndexWriter, DTLTO_CREATE_INDEX_WRITER,
           ThreadPoolStrategy, std::string, std::string, std::string, bool,
           raw_fd_ostream *, lto::IndexWriteCallback)

/// lto::DTLTO calls this without OnWrite, LLD's --thinlto-index-only with it.
/// No other call shows that LLD distributes the link itself.
lto::ThinBackend wrapCreateIndexWriter(ThreadPoolStrategy Parallelism,
                                       std::string OldPrefix,
                                       std::string NewPrefix,
                                       std::string NativeObjectPrefix,
                                       bool ShouldEmitImportsFiles,
                                       raw_fd_ostream *LinkedObjectsFile,
                                       lto::IndexWriteCallback OnWrite) {
  if (hookedLinker() && !OnWrite)
    return refuseTwoDistributors();
  return realCreateIndexWriter(
      Parallelism, std::move(OldPrefix), std::move(NewPrefix),
      std::move(NativeObjectPrefix), ShouldEmitImportsFiles, LinkedObjectsFile,
      std::move(OnWrite));
}
#endif

#ifdef DTLTO_MAIN_EXECUTABLE
DTLTO_WRAP(std::string, MainExecutable, DTLTO_MAIN_EXECUTABLE, const char *,
           void *)

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

DTLTO_WRAP(void, PrintHelp, DTLTO_PRINT_HELP, const opt::OptTable *,
           raw_ostream &, const char *, const char *, bool, bool,
           opt::Visibility DTLTO_SUBCOMMAND_PARAMETER)

void wrapPrintHelp(const opt::OptTable *Table, raw_ostream &OS,
                   const char *Usage, const char *Title, bool ShowHidden,
                   bool ShowAllAliases,
                   opt::Visibility Mask DTLTO_SUBCOMMAND_PARAMETER) {
  realPrintHelp(Table, OS, Usage, Title, ShowHidden, ShowAllAliases,
                Mask DTLTO_SUBCOMMAND);
  printHelp(OS, HelpIsForCOFF);
  if (Linker *TheLinker = hookedLinker(); TheLinker && TheLinker->Plugin) {
    Expected<PluginInfo> Info = readPluginInfo(*TheLinker->Plugin);
    if (Info)
      OS << "\nPLUGIN "
         << pluginHelp(*Info, HelpIsForCOFF ? "/thinlto-dist-plugin-arg"
                                            : "--thinlto-dist-plugin-arg");
    else
      consumeError(Info.takeError());
  }
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
  return !HelpIsPrinted &&
         (wasBackendRequested() || !hookedLinker()->Opts.MayNotLink);
}

void wrapExitLLD(int Code) {
  Linker *TheLinker = hookedLinker();
  if (TheLinker && TheLinker->Plugin && Code == 0 && hasLinked())
    finishLink(*TheLinker);
  realExitLLD(Code);
}
