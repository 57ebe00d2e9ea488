//===- FileJobs.h - Jobs whose modules are files ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The jobs of another linker or a build system; modules and index shards are
// files. A local compile runs the compiler in the list. A remote compile makes
// the same object from the job's command with portable names
// (Host/ModuleNames.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_FILEJOBS_H
#define DTLTO_FILES_FILEJOBS_H

#include "Files/Compiler.h"
#include "Files/JobList.h"
#include "Host/ModuleNames.h"
#include "Run/JobSource.h"
#include "Run/RunContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <mutex>

namespace dtlto {

class FileJobs : public JobSource {
public:
  /// \p Clang is the compiler of \p List. Objects are first written to \p
  /// Folder, which must exist and be used by this process only. \p Launcher, if
  /// not empty, runs local compiles: a program and words that precede the
  /// compiler's name and arguments.
  FileJobs(const RunContext &Ctx, JobList List, Compiler Clang,
           std::string Folder, std::vector<std::string> Launcher = {});

  size_t numJobs() const override { return List.Jobs.size(); }
  JobFacts facts(size_t J) const override;
  bool mustStayLocal(size_t) override { return Needs == 0; }
  bool needsThread(const plan::Action &A) const override {
    return A.ForPlugin && Needs != 0;
  }
  Event prepare(const plan::Action &A, size_t J, uint64_t Cost,
                llvm::StringRef Avoid) override;
  std::optional<ResultKey> resultKey(size_t J) override;
  CodegenResult compileLocally(size_t J,
                               const std::atomic<bool> *Stop) override;
  SideFiles sideFiles(size_t) const override { return {}; }
  llvm::Error check(size_t J, llvm::StringRef Object,
                    bool IsAsWritten) const override;
  llvm::Error compare(size_t J, const RemoteResult &Remote,
                      llvm::StringRef LocalObject) override;
  llvm::Error deliver(size_t J, const JobResult &R, const SideFiles &Side,
                      const llvm::AddStreamFn &Out) override;
  bool deliversToMemory() const override { return false; }
  bool mayHit() const override { return false; }

  /// Ends local compiles. No further compile or delivery of an object begins.
  void interrupt() { IsInterrupted = true; }
  /// The number of running compiles and deliveries.
  unsigned numRunning() const { return NumRunning; }

private:
  /// A file, mapped.
  struct File : ModuleFile {
    std::unique_ptr<llvm::MemoryBuffer> Buffer;
  };

  llvm::Expected<File *> open(const std::string &Path);
  llvm::Expected<std::unique_ptr<BuiltJob>>
  build(size_t J, uint64_t Id, uint64_t Cost, uint32_t Fields);
  llvm::Error addInputs(BuiltJob &Built, const FileJob &J);
  llvm::Error addArgs(BuiltJob &Built, const FileJob &J);
  std::vector<std::string> command(const FileJob &J) const;
  llvm::Error takeResult(size_t J, const CommandResult &Run,
                         const std::string &Object, CodegenResult &Result);

  const JobList List;
  const Compiler Clang;
  const std::string LLVMVersion;
  const std::string Folder; // for unfinished objects
  const std::vector<std::string> Launcher;
  const ModuleNames Names;
  std::vector<std::string> CommonPaths; // portable names of common inputs
  const uint32_t Needs;                 // DTLTO_JOB_..., the known ones
  std::atomic<bool> IsInterrupted = false;
  std::atomic<unsigned> NumRunning = 0, NumFiles = 0;
  std::mutex Mutex; // guards the map, not its values
  /// By name in the list.
  llvm::StringMap<std::unique_ptr<File>> Files;
};

} // namespace dtlto

#endif // DTLTO_FILES_FILEJOBS_H
