//===- Memory.cpp - Memory that reports who touches it --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dtlto::check;

/// Pages of a loan, and the one behind them. A signal handler reads it, so it
/// lives forever, and only WhyOver changes.
struct Loan::Region {
  char *const Begin;
  const size_t Size; // without the page behind
  const std::string Name, Mend;
  Region *const Previous;
  std::atomic<const char *> WhyOver{nullptr}; // null: it isn't

  static std::atomic<Region *> Last;
};
std::atomic<Loan::Region *> Loan::Region::Last{nullptr};

static size_t pageSize() {
  static const auto Size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return Size;
}

static int CrashFd = 2;
static std::atomic<const char *> WhyNull{""};

static void write(std::initializer_list<const char *> Texts) {
  for (const char *Text : Texts)
    if (::write(CrashFd, Text, std::strlen(Text)) < 0)
      return;
}

void Loan::crashed(int Signal, siginfo_t *Info, void *) {
  // The first thread reports, and ends the process.
  static std::atomic_flag Reported = ATOMIC_FLAG_INIT;
  while (Reported.test_and_set())
    ::pause();
  auto *Address = static_cast<const char *>(Info->si_addr);
  write({"fail\tMemory\t"});
  const Region *R = nullptr;
  if (Signal == SIGSEGV || Signal == SIGBUS)
    for (R = Region::Last; R; R = R->Previous)
      if (Address >= R->Begin && Address < R->Begin + R->Size + pageSize())
        break;
  if (!R) {
    char Digits[3] = {char('0' + Signal / 10), char('0' + Signal % 10), 0};
    const char *Why = WhyNull;
    bool IsNull = Signal == SIGSEGV && *Why &&
                  reinterpret_cast<uintptr_t>(Address) < pageSize();
    write({"the plugin crashed with signal ", Digits,
           Signal == SIGABRT ? " (abort: an exception or a panic?)" : "",
           IsNull ? " at a null pointer; " : "", IsNull ? Why : "",
           "\tlook at it in a debugger: --only=CASE --debug\n"});
  } else if (const char *Why = R->WhyOver) {
    write({"the plugin touched ", R->Name.c_str(),
           " after the loan was over: ", Why, "\t", R->Mend.c_str(), "\n"});
  } else if (Address < R->Begin + R->Size) { // to read it is no crash
    write(
        {"the plugin wrote to ", R->Name.c_str(),
         "\tit is lent to be read, and others read it, too: change a copy\n"});
  } else {
    write({"the plugin touched ", R->Name.c_str(),
           " past its `size`\tread a field only if it lies within the struct's "
           "own size\n"});
  }
  ::_exit(1);
}

void dtlto::check::catchCrashes(int Fd) {
  CrashFd = Fd;
  // Threads without a stack to spare are served on their own.
  static char Stack[64 << 10];
  stack_t Alternative = {};
  Alternative.ss_sp = Stack;
  Alternative.ss_size = sizeof(Stack);
  ::sigaltstack(&Alternative, nullptr);
  struct sigaction Action = {};
  Action.sa_sigaction = Loan::crashed;
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int Signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(Signal, &Action, nullptr);
}

void dtlto::check::explainNull(const char *Why) { WhyNull = Why; }

Loan::Loan(std::string Name, std::string Mend)
    : Name(std::move(Name)), Mend(std::move(Mend)) {}

Loan::Region &Loan::map(size_t Size) {
  const size_t Page = pageSize(), Rounded = (Size + Page - 1) / Page * Page;
  void *Begin = ::mmap(nullptr, Rounded + Page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Begin == MAP_FAILED) {
    std::perror("dtlto-plugin-check: mmap");
    std::abort();
  }
  auto *Bytes = static_cast<char *>(Begin);
  ::mprotect(Bytes + Rounded, Page, PROT_NONE);
  auto *R = new Region{Bytes, Rounded, Name, Mend, Region::Last};
  Region::Last = R; // loans are made on one thread
  All.push_back(R);
  return *R;
}

void *Loan::addGuarded(const void *Bytes, size_t Size) {
  Region &R = map(Size);
  return std::memcpy(R.Begin + R.Size - Size, Bytes, Size);
}

void *Loan::addBytes(const void *Bytes, size_t Size) {
  size_t Wanted = (Size + 15) / 16 * 16 + 16;
  if (Wanted > Left) {
    Left = std::max<size_t>(Wanted, 4096);
    Next = map(Left).Begin;
  }
  char *Place = Next;
  Next += Wanted;
  Left -= Wanted;
  return Size ? std::memcpy(Place, Bytes, Size) : Place;
}

const char *Loan::addString(const std::string &Text) {
  return static_cast<const char *>(addBytes(Text.c_str(), Text.size() + 1));
}

void Loan::seal() {
  for (const Region *R : All)
    ::mprotect(R->Begin, R->Size, PROT_READ);
  Left = 0; // what comes next needs pages that can be written to
}

void Loan::end(const char *Why) {
  for (Region *R : All) {
    R->WhyOver = Why;
    ::mprotect(R->Begin, R->Size, PROT_NONE);
  }
}
