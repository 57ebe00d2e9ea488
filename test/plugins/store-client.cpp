// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses a store's library as the linker does:
//
//   store-client LIBRARY [OPTION...] URL COMMAND...
//
//   put KEY FILE        puts the file's bytes under a key, a number
//   get KEY FILE        writes what is under the key to the file
//   parallel N KEY FILE puts and gets the file under N keys from KEY on, each
//   on
//                       its own thread, and compares
//
//   --arg=NAME=VALUE    an argument of the store
//   --max-bytes=N       the limit of get() (default: 64 MiB)
//   --timeout=MS        the limit of each call (default: 20000)
//   --max-memory=MIB    fails if the process has used more
//
// Prints one line for each command. The exit code is 1 after an error.

#include "dtlto/ext/store.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

static const dtlto_store *Functions;
static dtlto_store_client *Client;
static uint64_t MaxBytes = uint64_t(64) << 20;
static uint32_t TimeoutMs = 20000;

namespace {
struct Key {
  explicit Key(unsigned Number) { std::memcpy(Bytes, &Number, sizeof(Number)); }
  uint8_t Bytes[32] = {};
};

/// A status and its reason.
struct Answer {
  int32_t Status = DTLTO_OK;
  char Why[500] = "";

  bool isError() const { return Status != DTLTO_OK; }
  std::string text() const {
    return std::string("error ") +
           (Status == DTLTO_ERROR_CALLER           ? "of the caller"
            : Status == DTLTO_ERROR_INFRASTRUCTURE ? "of the store"
                                                   : "of another kind") +
           ": " + Why;
  }
};
} // namespace

static Answer get(unsigned Number, std::string &To) {
  Answer A;
  dtlto_buffer Bytes = {};
  A.Status = Functions->get(Client, Key(Number).Bytes, MaxBytes, TimeoutMs,
                            &Bytes, A.Why, sizeof(A.Why));
  To.assign(static_cast<const char *>(Bytes.data), Bytes.size);
  if (Bytes.release)
    Bytes.release(Bytes.owner, Bytes.data, Bytes.size);
  return A;
}

static Answer put(unsigned Number, const std::string &Bytes) {
  Answer A;
  A.Status =
      Functions->put(Client, Key(Number).Bytes, {Bytes.data(), Bytes.size()},
                     TimeoutMs, A.Why, sizeof(A.Why));
  return A;
}

static unsigned number(const char *Text) {
  return unsigned(std::strtoul(Text, nullptr, 10));
}

static std::string read(const char *Name) {
  std::ifstream File(Name, std::ios::binary);
  if (!File) {
    std::cerr << "cannot read " << Name << "\n";
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(File), {}};
}

static bool runParallel(unsigned Count, unsigned First, const char *File) {
  const std::string Bytes = read(File);
  std::atomic<unsigned> NumWrong{0};
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I != Count; ++I)
    Threads.emplace_back([&, I] {
      std::string Own = Bytes + std::to_string(I), Back;
      bool IsSame = !put(First + I, Own).isError() &&
                    !get(First + I, Back).isError() && Back == Own;
      NumWrong += !IsSame;
    });
  for (std::thread &T : Threads)
    T.join();
  std::cout << "parallel " << Count << ": " << NumWrong << " wrong\n";
  return NumWrong == 0;
}

/// Runs one command and moves \p Args behind it. Returns false after an error.
static bool runCommand(char **&Args) {
  const std::string Name = *Args++;
  const unsigned Number = number(*Args++);
  if (Name == "parallel") {
    Args += 2;
    return runParallel(Number, number(Args[-2]), Args[-1]);
  }
  const char *File = *Args++;
  std::string Bytes = Name == "put" ? read(File) : "";
  Answer A = Name == "put" ? put(Number, Bytes) : get(Number, Bytes);
  if (Name == "get" && !A.isError())
    std::ofstream(File, std::ios::binary) << Bytes;
  std::cout << Name << " " << Number << ": "
            << (A.isError() ? A.text()
                : Name == "get" && Bytes.empty()
                    ? "miss"
                    : std::to_string(Bytes.size()) + " bytes")
            << std::endl;
  return !A.isError();
}

int main(int, char **Args) {
  std::vector<const char *> Own;
  long MaxMemory = 0;
  auto Option = [&](const char *Name) -> const char * {
    size_t Size = std::strlen(Name);
    return std::strncmp(*Args, Name, Size) ? nullptr : *Args + Size;
  };
  const char *File = *++Args;
  for (++Args; *Args && **Args == '-'; ++Args) {
    if (const char *Value = Option("--arg="))
      Own.push_back(Value);
    else if (const char *Value = Option("--max-bytes="))
      MaxBytes = std::strtoull(Value, nullptr, 10);
    else if (const char *Value = Option("--timeout="))
      TimeoutMs = number(Value);
    else if (const char *Value = Option("--max-memory="))
      MaxMemory = number(Value);
    else
      return std::cerr << "unknown option " << *Args << "\n", 2;
  }
  void *Library = ::dlopen(File, RTLD_NOW);
  if (!Library)
    return std::cerr << ::dlerror() << "\n", 2;
  auto *Plugin =
      static_cast<const dtlto_plugin *>(::dlsym(Library, "dtlto_plugin_entry"));
  Functions = static_cast<const dtlto_store *>(
      Plugin->extension ? Plugin->extension(DTLTO_EXT_STORE) : nullptr);
  if (!Functions)
    return std::cerr << "no " DTLTO_EXT_STORE "\n", 2;

  dtlto_store_params Params = {};
  Params.size = sizeof(Params);
  Params.url = *Args++;
  Params.args = Own.data();
  Params.num_args = uint32_t(Own.size());
  Params.max_calls = 8;
  Answer A;
  A.Status = Functions->open(&Params, &Client, A.Why, sizeof(A.Why));
  if (A.isError())
    return std::cout << "open: " << A.text() << "\n", 1;
  bool IsGood = true;
  while (*Args)
    IsGood = runCommand(Args) && IsGood;
  Functions->close(Client);

  rusage Usage = {};
  ::getrusage(RUSAGE_SELF, &Usage);
  if (MaxMemory && Usage.ru_maxrss > MaxMemory * 1024) {
    std::cout << "memory: " << Usage.ru_maxrss << " KiB\n";
    IsGood = false;
  }
  return IsGood ? 0 : 1;
}
