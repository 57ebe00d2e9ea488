//===- Loan.cpp - Memory that is lent to the plugin -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules/Loan.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace dtlto;

// Loans that are over keep this much memory, for plugins that still read it.
// Older ones keep only their addresses.
static constexpr size_t MaxKept = 64 << 20;

static std::atomic<Loan *> LastLoan{nullptr};

#ifdef _WIN32
static const size_t PageSize = 4096;
enum { PROT_NONE, PROT_READ, PROT_WRITE };
static void protect(char *, size_t, int) {}
static void drop(char *, size_t) {}
static char *newPages(size_t Size) {
  return static_cast<char *>(std::calloc(1, Size));
}
#else
static const auto PageSize = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
static void protect(char *Begin, size_t Size, int Access) {
  ::mprotect(Begin, Size, Access);
}
static void drop(char *Begin, size_t Size) {
  ::madvise(Begin, Size, MADV_DONTNEED);
}
static char *newPages(size_t Size) {
  void *Pages = ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Pages == MAP_FAILED ? nullptr : static_cast<char *>(Pages);
}
#endif

Loan *Loan::find(const void *Address) {
  auto *At = static_cast<const char *>(Address);
  Loan *L = LastLoan;
  while (L && (At < L->Begin || At >= L->Begin + L->Size + PageSize))
    L = L->Previous;
  return L;
}

std::optional<Misuse> Loan::judge(const void *Address) {
  const Loan *L = find(Address);
  if (!L)
    return std::nullopt;
  const char *Name = L->Name.c_str();
  if (const char *Why = L->EndReason)
    return Misuse{{"touched ", Name, " after the loan was over: ", Why},
                  L->Fix.c_str()};
  if (Address < L->Begin + L->Size) // reading is possible
    return Misuse{{"wrote to ", Name, "", ""},
                  "the memory is only for reading, and others read it as well: "
                  "change a copy"};
  return Misuse{{"touched ", Name, " past its `size`", ""},
                "read a field only if it lies within the struct's own size"};
}

bool Loan::reopen(const void *Address) {
  Loan *L = find(Address);
  if (!L)
    return false;
  if (Address >= L->Begin + L->Size)
    protect(L->Begin + L->Size, PageSize, PROT_READ | PROT_WRITE);
  else if (L->IsReadable.exchange(true)) // so it was a write
    protect(L->Begin, L->Size, PROT_READ | PROT_WRITE);
  else
    protect(L->Begin, L->Size, PROT_READ);
  return true;
}

Loan::Loan(std::string Name, std::string Fix, size_t Bytes)
    : Name(std::move(Name)), Fix(std::move(Fix)),
      Size((Bytes + PageSize - 1) / PageSize * PageSize),
      Begin(newPages(Size + PageSize)), Next(Begin), End(Begin + Size),
      Previous(LastLoan) {
  if (!Begin)
    llvm::report_bad_alloc_error("no memory to lend to the plugin");
  protect(End, PageSize, PROT_NONE);
  while (!LastLoan.compare_exchange_weak(Previous, this)) {
  }
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

void Loan::seal() { protect(Begin, Size, PROT_READ); }

void Loan::end(const char *Why) {
  static std::mutex Mutex; // guards the other two
  static std::deque<Loan *> Kept;
  static size_t KeptBytes = 0;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (EndReason)
    return;
  IsReadable = false;
  EndReason = Why;
  protect(Begin, Size, PROT_NONE);
  Kept.push_back(this);
  KeptBytes += Size;
  for (; KeptBytes > MaxKept; Kept.pop_front()) {
    drop(Kept.front()->Begin, Kept.front()->Size);
    KeptBytes -= Kept.front()->Size;
  }
}
