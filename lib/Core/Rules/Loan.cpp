//===- Loan.cpp - Memory that is lent to the plugin -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules/Loan.h"
#include "llvm/Support/MemAlloc.h"
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace dtlto;

// The loans that are over and still kept. A process may have 65,530 mappings,
// and a loan is up to three.
static constexpr size_t MaxKept = 8192, MaxKeptBytes = 64 << 20;

static std::atomic<Loan *> LastLoan{nullptr};

#ifdef _WIN32
static const size_t PageSize = 4096;
enum { PROT_NONE, PROT_READ, PROT_WRITE };
static bool setAccess(char *, size_t, int) { return true; }
static char *mapPages(size_t) { return nullptr; }
static void unmapPages(char *, size_t) {}
#else
static const auto PageSize = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
static bool setAccess(char *Begin, size_t Size, int Access) {
  return ::mprotect(Begin, Size, Access) == 0;
}
static char *mapPages(size_t Size) {
  void *Pages = ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Pages == MAP_FAILED ? nullptr : static_cast<char *>(Pages);
}
static void unmapPages(char *Begin, size_t Size) { ::munmap(Begin, Size); }
#endif

Loan *Loan::find(const void *Address) {
  auto *At = static_cast<const char *>(Address);
  Loan *L = LastLoan;
  while (L &&
         (!L->IsMapped || At < L->Begin || At >= L->Begin + L->Size + PageSize))
    L = L->Previous;
  return L;
}

bool Loan::protect(size_t From, size_t To, int Access) const {
  return IsMapped && setAccess(Begin + From, To - From, Access);
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
    return L->protect(L->Size, L->Size + PageSize, PROT_READ | PROT_WRITE);
  const bool IsWrite = L->IsReadable.exchange(true);
  return L->protect(0, L->Size, IsWrite ? PROT_READ | PROT_WRITE : PROT_READ);
}

Loan::Loan(std::string Name, std::string Fix, size_t Bytes)
    : Name(std::move(Name)), Fix(std::move(Fix)),
      Size((Bytes + PageSize - 1) / PageSize * PageSize),
      Begin(mapPages(Size + PageSize)), IsMapped(Begin != nullptr),
      Previous(LastLoan) {
  if (!Begin) // too many mappings
    Begin = static_cast<char *>(llvm::safe_calloc(1, Size + PageSize));
  Next = Begin;
  End = Begin + Size;
  protect(Size, Size + PageSize, PROT_NONE);
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

void Loan::seal() { protect(0, Size, PROT_READ); }

void Loan::end(const char *Why) {
  static std::mutex Mutex; // guards the other two
  static std::deque<Loan *> Kept;
  static size_t KeptBytes = 0;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (EndReason)
    return;
  IsReadable = false;
  EndReason = Why;
  protect(0, Size, PROT_NONE);
  Kept.push_back(this);
  KeptBytes += Size;
  for (; Kept.size() > MaxKept || KeptBytes > MaxKeptBytes; Kept.pop_front()) {
    Loan *Oldest = Kept.front();
    KeptBytes -= Oldest->Size;
    if (Oldest->IsMapped.exchange(false))
      unmapPages(Oldest->Begin, Oldest->Size + PageSize);
    else
      std::free(Oldest->Begin);
  }
}
