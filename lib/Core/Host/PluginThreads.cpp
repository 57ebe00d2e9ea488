//===- PluginThreads.cpp - Threads and faults of a plugin -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginThreads.h"
#ifdef __linux__
#include "Rules/Loan.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

namespace {
struct Record {
  Misuse M;
  const void *Code; // the instruction; null: unknown
  std::atomic<bool> IsComplete{false};
};
} // namespace

// The same mistake is one finding, however often it is made.
static Record Records[64];
static std::atomic<unsigned> NumRecords{0};
static std::atomic<const std::string *> NullNote{nullptr};
static struct sigaction PreviousAction;

static const void *instruction(const void *Context) {
  [[maybe_unused]] auto &Registers =
      static_cast<const ucontext_t *>(Context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void *>(Registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void *>(Registers.pc);
#else
  return nullptr;
#endif
}

/// Calls only async-signal-safe functions.
static void onFault(int Signal, siginfo_t *Info, void *Context) {
  const int Errno = errno;
  if (std::optional<Misuse> M = Loan::judge(Info->si_addr)) {
    if (unsigned I = NumRecords++; I < std::size(Records)) {
      Records[I].M = *M;
      Records[I].Code = instruction(Context);
      Records[I].IsComplete = true;
    }
    const bool IsPossible = Loan::reopen(Info->si_addr);
    errno = Errno;
    if (IsPossible)
      return; // repeats the access
  }
  const std::string *Note = NullNote;
  if (Note && reinterpret_cast<uintptr_t>(Info->si_addr) < 4096)
    (void)!::write(STDERR_FILENO, Note->data(), Note->size());
  if (PreviousAction.sa_flags & SA_SIGINFO)
    PreviousAction.sa_sigaction(Signal, Info, Context);
  else if (PreviousAction.sa_handler == SIG_DFL ||
           PreviousAction.sa_handler == SIG_IGN)
    ::signal(Signal, SIG_DFL); // repeats the access, and ends
  else
    PreviousAction.sa_handler(Signal);
}

void dtlto::recordMisuses() {
  struct sigaction Action = {}, Current;
  Action.sa_sigaction = onFault;
  // Some runtimes give their threads a signal stack.
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, nullptr, &Current);
  if (Current.sa_flags & SA_SIGINFO && Current.sa_sigaction == onFault)
    return;
  PreviousAction = Current;
  ::sigaction(SIGSEGV, &Action, nullptr);
}

void dtlto::noteNullPointer(const std::string &Note) { NullNote = &Note; }

std::optional<RecordedMisuse> dtlto::takeMisuse() {
  static unsigned NumTaken = 0;
  if (NumTaken == std::size(Records) || !Records[NumTaken].IsComplete)
    return std::nullopt;
  const Record &R = Records[NumTaken++];
  RecordedMisuse Taken{"", R.M.Fix};
  for (const char *Piece : R.M.What)
    Taken.What += Piece;
  if (Dl_info Info; R.Code && ::dladdr(R.Code, &Info) && Info.dli_fname)
    Taken.What +=
        (" (in " + Twine(Info.dli_fname) + " at 0x" +
         Twine::utohexstr(reinterpret_cast<uintptr_t>(R.Code) -
                          reinterpret_cast<uintptr_t>(Info.dli_fbase)) +
         ")")
            .str();
  return Taken;
}

// Of Linux, at most 15 characters.
static constexpr const char *OwnerNames[] = {"dtlto", "dtlto-plugin"};

ThreadName::ThreadName(Owner Of) {
  ::prctl(PR_GET_NAME, Previous);
  ::prctl(PR_SET_NAME, OwnerNames[Of]);
}

ThreadName::~ThreadName() { ::prctl(PR_SET_NAME, Previous); }

static std::string readOfThread(int Thread, const char *File) {
  auto Text = MemoryBuffer::getFileAsStream("/proc/self/task/" + Twine(Thread) +
                                            "/" + File);
  return Text ? (*Text)->getBuffer().str() : "";
}

/// Returns when a thread began, or "" if it has ended.
static std::string beginOf(int Thread) {
  const std::string Stat = readOfThread(Thread, "stat");
  // The name, which is in parentheses, may have spaces.
  SmallVector<StringRef, 64> Fields;
  StringRef(Stat).rsplit(") ").second.split(Fields, ' ');
  return Fields.size() < 20 || Fields[0] == "Z" || Fields[0] == "X"
             ? ""
             : Fields[19].str();
}

void PluginThreads::addCaller() {
  Callers.insert({::gettid(), beginOf(::gettid())});
}

unsigned PluginThreads::count() const {
  unsigned N = 0;
  std::error_code EC;
  for (sys::fs::directory_iterator I("/proc/self/task", EC), E; I != E && !EC;
       I.increment(EC)) {
    int Thread = 0;
    sys::path::filename(I->path()).getAsInteger(10, Thread);
    const std::string Begin = beginOf(Thread);
    N += !Begin.empty() && (Callers.count({Thread, Begin}) ||
                            StringRef(readOfThread(Thread, "comm")).trim() ==
                                OwnerNames[ThreadName::Plugin]);
  }
  return N;
}

#else

using namespace dtlto;

void dtlto::recordMisuses() {}
void dtlto::noteNullPointer(const std::string &) {}
std::optional<RecordedMisuse> dtlto::takeMisuse() { return std::nullopt; }
ThreadName::ThreadName(Owner) { (void)Previous; }
ThreadName::~ThreadName() {}
void PluginThreads::addCaller() {}
unsigned PluginThreads::count() const { return 0; }

#endif
