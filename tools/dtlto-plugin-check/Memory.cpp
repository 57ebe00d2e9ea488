//===- Memory.cpp - Memory that is lent to the plugin ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace dtlto::check;

static const auto PageSize = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
static std::atomic<Loan *> LastLoan{nullptr};
static int CrashFd = 2;
std::atomic<const char *> dtlto::check::NullReason{""};

static void writeTexts(std::initializer_list<const char *> Texts) {
  for (const char *Text : Texts)
    if (::write(CrashFd, Text, std::strlen(Text)) < 0)
      return;
}

void Loan::onCrash(int Signal, siginfo_t *Info, void *) {
  // The first thread reports, and ends the process.
  static std::atomic_flag Reported = ATOMIC_FLAG_INIT;
  while (Reported.test_and_set())
    ::pause();
  auto *Address = static_cast<const char *>(Info->si_addr);
  const Loan *TouchedLoan =
      Signal == SIGSEGV || Signal == SIGBUS ? LastLoan.load() : nullptr;
  while (TouchedLoan &&
         (Address < TouchedLoan->Begin ||
          Address >= TouchedLoan->Begin + TouchedLoan->Size + PageSize))
    TouchedLoan = TouchedLoan->Previous;
  writeTexts({"fail\tMemory\tthe plugin "});
  if (!TouchedLoan) {
    char Digits[3] = {char('0' + Signal / 10), char('0' + Signal % 10), 0};
    bool IsNull = Signal == SIGSEGV && *NullReason &&
                  reinterpret_cast<uintptr_t>(Address) < PageSize;
    writeTexts({"crashed with signal ", Digits,
                Signal == SIGABRT ? " (abort: an exception or a panic?)" : "",
                IsNull ? " at a null pointer; " : "",
                IsNull ? NullReason.load() : "",
                "\tlook at it in a debugger: --only=CASE --debug\n"});
  } else if (const char *Why = TouchedLoan->EndReason) {
    writeTexts({"touched ", TouchedLoan->Name.c_str(),
                " after the loan was over: ", Why, "\t",
                TouchedLoan->Fix.c_str(), "\n"});
  } else if (Address <
             TouchedLoan->Begin + TouchedLoan->Size) { // reading can't crash
    writeTexts({"wrote to ", TouchedLoan->Name.c_str(),
                "\tthe memory is only for reading, and others read it as well: "
                "change a copy\n"});
  } else {
    writeTexts({"touched ", TouchedLoan->Name.c_str(),
                " past its `size`\tread a field only if it lies within the "
                "struct's own size\n"});
  }
  ::_exit(1);
}

void dtlto::check::catchCrashes(int Fd) {
  CrashFd = Fd;
  struct sigaction Action = {};
  Action.sa_sigaction = Loan::onCrash;
  // Some runtimes give their threads a signal stack.
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int Signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(Signal, &Action, nullptr);
}

Loan::Loan(std::string Name, std::string Fix, size_t Bytes)
    : Name(std::move(Name)), Fix(std::move(Fix)),
      Size((Bytes + PageSize - 1) / PageSize * PageSize) {
  [[maybe_unused]] static const auto Maker = std::this_thread::get_id();
  assert(std::this_thread::get_id() == Maker && "loans are made on one thread");
  void *Pages = ::mmap(nullptr, Size + PageSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Pages == MAP_FAILED) {
    std::perror("dtlto-plugin-check: mmap");
    std::abort();
  }
  Begin = Next = static_cast<char *>(Pages);
  End = Begin + Size;
  ::mprotect(End, PageSize, PROT_NONE);
  Previous = LastLoan;
  LastLoan = this;
}

void *Loan::reserve(size_t Bytes) {
  End -= Bytes;
  if (Next > End)
    std::abort(); // Size was too small
  return std::memset(End, Filler, Bytes);
}

void *Loan::addBytes(const void *Bytes, size_t Size) {
  char *At = Next;
  Next += room(Size);
  if (Next > End)
    std::abort();
  return Size ? std::memcpy(At, Bytes, Size) : At;
}

const char *const *Loan::addStrings(const std::vector<std::string> &Texts) {
  std::vector<const char *> Pointers;
  for (const std::string &Text : Texts)
    Pointers.push_back(addString(Text));
  Pointers.push_back(nullptr);
  return addArray(Pointers);
}

void Loan::seal() { ::mprotect(Begin, Size, PROT_READ); }

void Loan::end(const char *Why) {
  EndReason = Why;
  ::mprotect(Begin, Size, PROT_NONE);
}
