//===- Rounds.h - Two rounds of code generation -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a link knows that generates code twice. Each module is a job of the
// first round, whose result is what code generation learns of the module, and
// of the second, which is given what was learnt of all.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_ROUNDS_H
#define DTLTO_JOB_ROUNDS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace dtlto {

/// What \p Object, of a first round, tells of its module (packSections()).
llvm::Expected<llvm::SmallVector<char, 0>> toldBy(llvm::StringRef Object);

class Rounds {
public:
  /// 1, and 2 after merge().
  unsigned current() const { return Current; }

  /// \p MaxSentIR: how many bytes of optimised modules other machines may
  /// send, altogether. \p UsesSentHere: code may be generated of these here,
  /// too. That isn't so if what is made here is compared with what others made,
  /// or goes into a cache as ours. Before anything else.
  void setUp(uint64_t MaxSentIR, bool UsesSentHere);

  /// Keeps a copy of \p Sections, what the module \p Name with the task
  /// \p Number told (Bundle/CodegenData.h). Any thread.
  void keep(unsigned Number, llvm::StringRef Name, llvm::StringRef Sections);

  /// Keeps the optimised module of a task that was compiled here (\p IsCached:
  /// in an earlier link). Any thread.
  void keepIR(unsigned Number, std::unique_ptr<llvm::MemoryBuffer> IR,
              bool IsCached = false);
  /// Keeps a copy of what another machine sent, if there is room. Any thread.
  void keepSentIR(unsigned Number, llvm::StringRef IR);
  /// Whether a job of the first round is to send its optimised module. Any
  /// thread.
  bool wantsIR() const;

  /// What was kept, which stays; or nothing. Any thread.
  std::optional<llvm::StringRef> ownIR(unsigned Number) const;
  /// The same for code generation here.
  std::optional<llvm::StringRef> irHere(unsigned Number) const;
  /// The same for a job of the second round. Nobody knows whether what a cache
  /// had can be read, so that isn't sent.
  std::optional<llvm::StringRef> irToSend(unsigned Number) const;

  /// From now on, objects that the first round makes here are kept until they
  /// are taken: somebody has a cache.
  void keepObjects() { KeepsObjects = true; }
  /// Any thread.
  void keepObject(unsigned Number, llvm::SmallVector<char, 0> Object);
  std::optional<llvm::SmallVector<char, 0>> takeObject(unsigned Number);

  /// Between the rounds, when nothing of the first runs here any more: merges
  /// what was told, and tells it to code generation in this process.
  llvm::Error merge();

  /// A file of LLVM's, for the jobs of the second round. Empty: no module had
  /// anything to tell.
  llvm::StringRef data() const { return Data; }
  /// Depends on all that was told; for LLVM's keys.
  uint64_t hash() const { return Hash; }

private:
  unsigned Current = 1;
  bool KeepsObjects = false, UsesSentHere = true;
  mutable std::mutex Mutex; // guards the maps, and
  uint64_t RoomForIR = 0;
  bool WantsIR = true;
  // By task.
  std::map<unsigned, std::pair<std::string, std::string>> Told; // and name
  struct KeptIR {
    std::unique_ptr<llvm::MemoryBuffer> Bytes;
    bool IsCached;
  };
  std::map<unsigned, KeptIR> OwnIRs;
  std::map<unsigned, std::string> SentIRs;
  std::map<unsigned, llvm::SmallVector<char, 0>> Objects;
  std::string Data;
  uint64_t Hash = 0;
};

} // namespace dtlto

#endif // DTLTO_JOB_ROUNDS_H
