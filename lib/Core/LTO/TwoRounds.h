//===- TwoRounds.h - Links that generate code twice -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each module is a job of the first round, whose result is what code generation
// learns of the module, and of the second, which is given what was learnt of
// all.
//
// What the first round makes is in LLVM's cache, too:
//
// - LLVM's own entries, if the module was compiled here: the object and the
//   optimised module. Links without a plugin have and use the same.
// - What the module told, and no more, under keys of our own: another machine
//   sends nothing else. As with objects, one key is of what was made or
//   compared here, another one of the rest.
//
// Not all of LLD's ports give LLVM the options that its keys are made of. Where
// a key would be that of a link with one round, LLVM's entries aren't used.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_TWOROUNDS_H
#define DTLTO_LTO_TWOROUNDS_H

#include "LTO/LTOJobs.h"
#include "LTO/OptimizedModules.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <mutex>

namespace dtlto {

/// Whether this process can generate code twice by a plugin's jobs.
bool canDistributeTwoRounds(const Linker &TheLinker);

/// As createPluginThinBackend(), for a link that compiles each module twice
/// (LLVM/CodegenData.h). Hides that from LLVM until the backend is made.
llvm::lto::ThinBackend
createTwoRoundsBackend(Linker &TheLinker, llvm::ThreadPoolStrategy Parallelism);

/// Fails, naming the file, if LLVM's reader can't be trusted with what code
/// generation is told to use (-codegen-data-use-path). Before LLVM reads it.
llvm::Error checkCodegenDataToUse();

/// What a link knows between its rounds. The first round's optimised modules
/// are the second one's input. Any thread, but where it says otherwise.
class TwoRounds : public OptimizedModules {
public:
  /// \p TheLink outlives this. Modules that other machines send may take as
  /// much memory as its jobs.
  explicit TwoRounds(const Link &TheLink);

  /// Keeps a copy of \p Sections, what the module of \p T told
  /// (Bundle/CodegenData.h).
  void tell(const Task &T, llvm::StringRef Sections);
  /// Keeps an optimised module of the cache. Nobody knows whether it can be
  /// read, so it isn't sent.
  void keepCached(const Task &T, std::unique_ptr<llvm::MemoryBuffer> IR);

  /// What the first round made of \p T in this process.
  struct OwnResult {
    llvm::SmallVector<char, 0> Object;
    llvm::StringRef IR; // lives as long as this
  };
  /// Returns it once, or nothing.
  std::optional<OwnResult> takeOwn(const Task &T);

  /// Between the rounds, when nothing of the first runs here any more: merges
  /// what was told, and tells it to code generation in this process. Empty: no
  /// module had anything to tell. What is returned lives as long as this.
  llvm::Expected<LearntData> merge();

  ModuleFile *forPlugin(const Task &T) override;
  std::optional<llvm::StringRef> forHere(const Task &T) override;
  bool wants(const Task &T, bool IsHere) override;
  void keep(const Task &T, llvm::StringRef Optimized, bool IsHere,
            llvm::SmallVector<char, 0> FirstObject = {}) override;
  void dropHere(const Task &T, llvm::StringRef Why) override;
  std::string dropForPlugin(const Task &) override { return ""; }
  const llvm::lto::Config &codegenConfig() const override {
    return TheLink.Jobs.Conf;
  }
  std::string finish(size_t) override { return ""; }

private:
  struct IR {
    explicit IR(std::unique_ptr<llvm::MemoryBuffer> Bytes);

    std::unique_ptr<llvm::MemoryBuffer> Bytes;
    ModuleFile File; // of these
    bool IsCached = false;
  };
  using IRs = std::map<unsigned, IR>; // by task

  const Link &TheLink;
  const bool KeepsObjects; // somebody has a cache
  /// Code may be generated of what other machines sent here, too. That isn't so
  /// if what is made here is compared with what others made, or goes into a
  /// cache as ours.
  const bool UsesSentHere;
  mutable std::mutex Mutex; // guards what follows
  uint64_t RoomForIR;
  bool WantsIR = true;
  IRs Own, Sent;
  // By task.
  std::map<unsigned, std::pair<std::string, std::string>> Told; // and name
  std::map<unsigned, llvm::SmallVector<char, 0>> Objects;
  std::string Data;
};

/// The jobs of the first round.
class FirstRoundJobs : public LTOJobs {
public:
  /// \p TheLink and \p Both as in LTOJobs.
  FirstRoundJobs(const Link &TheLink, std::vector<Task> Tasks,
                 std::shared_ptr<TwoRounds> Both)
      : LTOJobs(TheLink, std::move(Tasks), Both), Both(*Both) {}

  llvm::Error check(size_t J, llvm::StringRef Object,
                    bool IsAsWritten) const override;
  llvm::Error deliver(size_t J, const JobResult &R, const SideFiles &Side,
                      const llvm::AddStreamFn &Out) override;

private:
  /// What LLVM's cache lacks of a task; null: it is there, or not wanted.
  struct Streams {
    llvm::AddStreamFn Object, IR;
  };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  find(const Task &T, llvm::StringRef Key, llvm::AddStreamFn &Out);
  bool take(const Task &T, llvm::StringRef Told);
  llvm::Error askCache(const Task &T, llvm::StringRef Key, bool IsSampled,
                       Event &E) override;
  llvm::Expected<bool> askLLVM(const Task &T, llvm::StringRef Key);
  llvm::Error store(const Task &T, llvm::StringRef Told,
                    const llvm::AddStreamFn &Out);

  TwoRounds &Both;
  std::mutex Mutex;                    // guards the map
  std::map<unsigned, Streams> Missing; // by task
};

} // namespace dtlto

#endif // DTLTO_LTO_TWOROUNDS_H
