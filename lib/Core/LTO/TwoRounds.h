//===- TwoRounds.h - Links that generate code twice -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each module is a job of both rounds. The first round's result is the module's
// codegen data; the second round gets the merged data of all modules.
//
// LLVM's cache also has the results of the first round:
//
// - LLVM's own entries, if the module was compiled locally: the object and the
//   optimised module. Links without a plugin have and use the same.
// - The module's codegen data alone, under keys of ours: other machines send
//   nothing else. As with objects, one key is for data made or compared
//   locally, another one for the rest.
//
// Some of LLD's ports don't give LLVM the options that its keys are made of. If
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

/// Like createPluginThinBackend(), for a link that compiles each module twice
/// (LLVM/CodegenData.h). Hides that from LLVM until the backend's wait().
llvm::lto::ThinBackend
createTwoRoundsBackend(Linker &TheLinker, llvm::ThreadPoolStrategy Parallelism);

/// Checks the codegen data that LLVM is told to use (-codegen-data-use-path).
/// Fails, naming the file, if LLVM's reader isn't safe with it. Call this
/// before LLVM reads the file.
llvm::Error checkCodegenDataToUse();

/// The state of a link between its rounds. The optimised modules of the first
/// round are the input of the second. Thread-safe, except where noted.
class TwoRounds : public OptimizedModules {
public:
  /// \p TheLink outlives this object. Modules from other machines are limited
  /// to the memory of jobs in flight.
  explicit TwoRounds(const Link &TheLink);

  /// Keeps a copy of \p Sections, the codegen data of \p T's module
  /// (Bundle/CodegenData.h).
  void addSections(const Task &T, llvm::StringRef Sections);
  /// Keeps an optimised module from the cache. It may be unreadable, so it
  /// isn't sent.
  void keepCached(const Task &T, std::unique_ptr<llvm::MemoryBuffer> IR);

  /// The first round's result of \p T, if made in this process.
  struct LocalResult {
    llvm::SmallVector<char, 0> Object;
    llvm::StringRef IR; // lives as long as the TwoRounds
  };
  /// Returns the result of \p T once, then nothing.
  std::optional<LocalResult> takeLocalResult(const Task &T);

  /// Merges the codegen data, and passes it to code generation in this process.
  /// Call this between the rounds, when no local compile runs. Returns an empty
  /// file if no module had data. The result lives as long as this object.
  llvm::Expected<PriorCodegenData> merge();

  ModuleFile *forPlugin(const Task &T) override;
  std::optional<llvm::StringRef> forLocalCompile(const Task &T) override;
  bool wants(const Task &T, bool IsLocal) override;
  void keep(const Task &T, llvm::StringRef Optimized, bool IsLocal,
            llvm::SmallVector<char, 0> FirstObject = {}) override;
  void dropForLocalCompile(const Task &T, llvm::StringRef Why) override;
  const llvm::lto::Config &codegenConfig() const override {
    return TheLink.Jobs.Conf;
  }

private:
  struct IR {
    explicit IR(std::unique_ptr<llvm::MemoryBuffer> Bytes);

    std::unique_ptr<llvm::MemoryBuffer> Bytes;
    ModuleFile File; // refers to Bytes
    bool IsCached = false;
  };
  using IRMap = std::map<unsigned, IR>; // by task

  const Link &TheLink;
  const bool KeepsObjects; // because there is a cache
  /// Whether local compiles may use modules from other machines. Not if local
  /// results are compared with other machines' or cached as local ones.
  const bool UsesRemoteLocally;
  mutable std::mutex Mutex; // guards the following members
  uint64_t MemoryForIR;
  bool WantsIR = true;
  IRMap Local, Remote;
  // By task.
  std::map<unsigned, std::pair<std::string, std::string>>
      CodegenData; // with name
  std::map<unsigned, llvm::SmallVector<char, 0>> Objects;
  std::string Data;
};

/// The jobs of the first round.
class FirstRoundJobs : public LTOJobs {
public:
  /// \p TheLink and \p Rounds as in LTOJobs.
  FirstRoundJobs(const Link &TheLink, std::vector<Task> Tasks,
                 std::shared_ptr<TwoRounds> Rounds)
      : LTOJobs(TheLink, std::move(Tasks), Rounds), Rounds(*Rounds) {}

  llvm::Error check(size_t J, llvm::StringRef Object,
                    bool IsAsWritten) const override;
  llvm::Error deliver(size_t J, const JobResult &R, const SideFiles &Side,
                      const llvm::AddStreamFn &Out) override;

private:
  /// The streams that create LLVM's cache entries of a task; null if the entry
  /// exists or isn't wanted.
  struct Streams {
    llvm::AddStreamFn Object, IR;
  };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  find(const Task &T, llvm::StringRef Key, llvm::AddStreamFn &Out);
  bool addCachedSections(const Task &T, llvm::StringRef CodegenData);
  llvm::Error lookUpInCache(const Task &T, llvm::StringRef Key, bool IsSampled,
                            Event &E) override;
  llvm::Expected<bool> lookUpLLVMEntries(const Task &T, llvm::StringRef Key);
  llvm::Error store(const Task &T, llvm::StringRef CodegenData,
                    const llvm::AddStreamFn &Out);

  TwoRounds &Rounds;
  std::mutex Mutex;                    // guards the map
  std::map<unsigned, Streams> Missing; // by task
};

} // namespace dtlto

#endif // DTLTO_LTO_TWOROUNDS_H
