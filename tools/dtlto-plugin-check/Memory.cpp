//===- Memory.cpp - Memory that tells who touches it ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dtlto::check;

namespace {

/// What a signal handler can read: entries are written once, before Count.
struct Region {
  uintptr_t Begin, End;
  const char *Name, *Mend;            // live for ever
  std::atomic<const char *> *WhyOver; // likewise; null: it isn't
};
constexpr unsigned MaxRegions = 1 << 16;
Region Regions[MaxRegions];
std::atomic<unsigned> Count{0};
int CrashFd = 2;
std::atomic<const char *> WhyNull{""};

void write(const char *Text) {
  [[maybe_unused]] ssize_t N = ::write(CrashFd, Text, std::strlen(Text));
}

size_t pageSize() {
  static const size_t Size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return Size;
}

void crashed(int Signal, siginfo_t *Info, void *) {
  // The first thread has the word, and ends the process.
  static std::atomic_flag Told = ATOMIC_FLAG_INIT;
  while (Told.test_and_set())
    ::pause();
  auto Address = reinterpret_cast<uintptr_t>(Info->si_addr);
  write("fail\tMemory\t");
  bool Known = false;
  if (Signal == SIGSEGV || Signal == SIGBUS)
    for (unsigned I = 0; I != Count && !Known; ++I) {
      const Region &R = Regions[I];
      if (Address < R.Begin || Address >= R.End)
        continue;
      Known = true;
      // Who reads a sealed page doesn't get here.
      bool Wrote = !*R.WhyOver && Address < R.End - pageSize();
      write(Wrote ? "the plugin wrote to " : "the plugin touched ");
      write(R.Name);
      if (const char *Why = *R.WhyOver) {
        write(" after the loan was over: ");
        write(Why);
        write("\t");
        write(R.Mend);
        write("\n");
      } else if (Wrote) {
        write("\tit is lent to be read, and others read it, too: change a "
              "copy\n");
      } else {
        write(" past its `size`\tread a field only if it lies within the "
              "struct's own size\n");
      }
    }
  if (!Known) {
    char Digits[3] = {char('0' + Signal / 10), char('0' + Signal % 10), 0};
    write("the plugin crashed with signal ");
    write(Digits);
    write(Signal == SIGABRT ? " (abort: an exception or a panic?)" : "");
    const char *Why = WhyNull;
    if (Signal == SIGSEGV && Address < pageSize() && *Why) {
      write(" at a null pointer; ");
      write(Why);
    }
    write("\tlook at it in a debugger: --only=CASE --debug\n");
  }
  ::_exit(1);
}

} // namespace

void dtlto::check::catchCrashes(int Fd) {
  CrashFd = Fd;
  // Threads without a stack to spare are served on their own.
  static char Stack[64 << 10];
  stack_t Alternative = {};
  Alternative.ss_sp = Stack;
  Alternative.ss_size = sizeof(Stack);
  ::sigaltstack(&Alternative, nullptr);
  struct sigaction Action = {};
  Action.sa_sigaction = crashed;
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int Signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(Signal, &Action, nullptr);
}

void dtlto::check::explainNull(const char *Why) { WhyNull = Why; }

Loan::Loan(std::string Name, std::string Mend)
    : Name(std::move(Name)), Mend(std::move(Mend)) {}

char *Loan::map(size_t Size) {
  size_t Page = pageSize();
  size_t Rounded = (Size + Page - 1) / Page * Page;
  void *Begin = ::mmap(nullptr, Rounded + Page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Begin == MAP_FAILED) {
    std::perror("dtlto-plugin-check: mmap");
    std::abort();
  }
  auto *Bytes = static_cast<char *>(Begin);
  ::mprotect(Bytes + Rounded, Page, PROT_NONE);
  All.push_back({Bytes, Rounded});
  unsigned I = Count;
  if (I != MaxRegions) {
    auto *WhyOver = new std::atomic<const char *>(nullptr);
    Regions[I] = {reinterpret_cast<uintptr_t>(Bytes),
                  reinterpret_cast<uintptr_t>(Bytes) + Rounded + Page,
                  ::strdup(Name.c_str()), ::strdup(Mend.c_str()), WhyOver};
    Count = I + 1;
  }
  return Bytes;
}

void *Loan::addStruct(const void *Bytes, size_t Size) {
  char *Begin = map(Size);
  size_t Rounded = All.back().Size;
  return std::memcpy(Begin + Rounded - Size, Bytes, Size);
}

void *Loan::addBytes(const void *Bytes, size_t Size) {
  size_t Wanted = (Size + 15) / 16 * 16 + 16;
  if (Wanted > Left) {
    size_t Room = Wanted > 4096 ? Wanted : 4096;
    Next = map(Room);
    Left = Room;
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
  for (const Pages &P : All)
    ::mprotect(P.Begin, P.Size, PROT_READ);
  Left = 0; // what comes next needs pages that can be written to
}

void Loan::end(const char *Why) {
  for (unsigned I = 0; I != Count; ++I)
    for (const Pages &P : All)
      if (Regions[I].Begin == reinterpret_cast<uintptr_t>(P.Begin))
        *Regions[I].WhyOver = Why;
  for (const Pages &P : All)
    ::mprotect(P.Begin, P.Size, PROT_NONE);
}
