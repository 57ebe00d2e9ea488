//===- FolderSession.h - Jobs as files, for a program to run ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the plugins distributor and make share. The jobs of a link lie in one
// folder (JobFolder.h), where a program runs many of them at a time:
//
//   m.src.foo-o              a module, under its name in all jobs
//   m.src.foo-o.thinlto.bc   its index shard
//   m.src.foo-o.native.o     the object
//   m.src.foo-o.native.o.words  what the compiler wrote, if the plugin can have
//                            the program keep it
//   m.src.foo-o.i            the bundle instead, if the compiler is
//                            dtlto-codegen
//
// A batch is what the linker has for the plugin at a time (dtlto.batch/1). When
// the batch is complete, the plugin describes it to a program and starts that
// (ProgramRuns). Each object is taken when its file was closed or moved into
// place (ObjectWatch) and the linker accepts it. Jobs without an object at the
// end of the program have failed. A job runs from when its index is read.
//
// One thread does all this. The linker's requests arrive in its mailbox.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_FOLDERSESSION_H
#define DTLTO_PLUGINS_FOLDERSESSION_H

#include "Arguments.h"
#include "Mailbox.h"
#include "ObjectWatch.h"
#include "Program.h"
#include "dtlto/sdk/Plugin.hpp"

namespace dtlto {

/// How a FolderSession runs jobs.
struct FolderSettings {
  std::string Program;  // a path, or a name in PATH
  std::string Compiler; // the same, as the first word of jobs' commands
  std::vector<std::string> CompilerFirst, CompilerLast; // further words of them
  std::string Folder;                                   // empty: by the output
  bool Keep = false;
  uint32_t Batch = UINT32_MAX; // jobs that a program gets at most
  uint32_t Programs = 1;       // that run at the same time
  bool Fresh = true;           // objects of earlier links don't count
  bool KeepsWords = false;     // FolderJob::words() are written

  bool isWorker() const; // the compiler is dtlto-codegen
};

/// The arguments that all such plugins have, after \p Own.
ArgumentTable folderArguments(FolderSettings &S, ArgumentTable Own);

/// Sets the arguments, and then defaults. Throws sdk::Error, with \p Expected,
/// for a wrong one.
void readArguments(const dtlto_session_params &Params,
                   const ArgumentTable &Known, const std::string &Expected,
                   FolderSettings &S);

/// A job as files. Names are relative to the folder.
struct FolderJob {
  std::string Name;                // of the module, for people
  std::vector<std::string> Args;   // without the compiler
  std::vector<std::string> Inputs; // the module, the index, then all others
  std::string Output;

  // The compiler's standard error while it runs and if it fails; and once it
  // has succeeded, which ends the job.
  std::string wordsOfFailure() const { return Output + ".err"; }
  std::string words() const { return Output + ".words"; }
};

class FolderSession : public sdk::Session {
public:
  void begin() override;
  bool submit(std::shared_ptr<sdk::Job> J) override;
  void cancel(sdk::Job &J) override;
  void batchComplete() override;
  void stop() override;
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit) override;

protected:
  /// \p Suffix: of the folder's name, if the user has named none.
  FolderSession(const dtlto_host &Host, const dtlto_session_params &Params,
                FolderSettings S, std::string Suffix);
  /// DTLTO_JOB_..., for configure().
  static uint32_t needs(const FolderSettings &S);

  /// Describes the jobs of a batch in the folder. Returns the command that runs
  /// them there, without the program. \p Number: 1, 2...
  virtual std::vector<std::string>
  describe(JobFolder &Folder, const std::vector<const FolderJob *> &Jobs,
           unsigned Number) = 0;
  /// Whether an error line is of no interest to the link's user.
  virtual bool isNoise(const std::string &) const { return false; }
  /// Changes of the program's environment, as of Process::Setup.
  virtual std::vector<std::string> environment() { return {}; }
  /// Why the program can't run any job on this machine; empty if it can.
  virtual std::string launcherProblem() const { return ""; }

  /// Jobs that have begun and not ended. Any thread.
  uint32_t numRunning() const { return NumRunning; }

  const FolderSettings S;
  const std::string Output; // of the link

private:
  struct Entry {
    std::shared_ptr<sdk::Job> J;
    FolderJob Files;
    std::string Base; // of its names, which no other has meanwhile
    std::shared_ptr<ProgramRun> On; // null: it waits
    bool IsRunning = false;
  };

  bool isOwnThread() const {
    return std::this_thread::get_id() == Thread.get_id();
  }
  // On the session's thread.
  void work();
  void turn();
  void add(std::shared_ptr<sdk::Job> J);
  std::string freeBase(const std::string &Primary) const;
  std::vector<std::string> command(const sdk::Job &J, const FolderJob &F,
                                   const std::string &Index) const;
  void writeFiles(Entry &E);
  void writeInput(const std::string &Path, std::string_view Bytes);
  void startRuns();
  void start(const std::vector<uint64_t> &Batch);
  void begun(uint64_t Id);
  bool take(uint64_t Id, std::string &Why, bool HasEnded = false);
  void showSigns(ProgramRun &R);
  void runEnded(const ProgramRun &R);
  std::string wordsOf(const Entry &E, bool IsAlone, bool &HasFailed) const;
  void finish(uint64_t Id, sdk::Result Res);

  // Also on the linker's thread, for the status.
  std::string compilerProblem(std::chrono::seconds Limit,
                              std::string &Line) const;
  int32_t runCompiler(std::chrono::seconds Limit, std::string &Words) const;

  const std::string LlvmVersion, Suffix;
  const bool HasJobs;
  std::atomic<bool> IsStopping{false};
  std::atomic<uint32_t> NumRunning{0};
  sdk::ResultMemory Results;
  Mailbox Box;
  std::string ProgramPath;
  std::unique_ptr<JobFolder> Folder;

  // The thread's.
  std::unique_ptr<ObjectWatch> Watch;
  ProgramRuns Runs;
  std::map<std::string, std::pair<const void *, uint64_t>> Written; // inputs
  std::map<uint64_t, Entry> Jobs;
  std::vector<uint64_t> Waiting;
  bool IsComplete = false; // the batch that waits
  bool Closing = false, ToolsAreChecked = false;
  std::string CompilerWhy; // the compiler can't be used
  unsigned NumRuns = 0;
  std::thread Thread;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_FOLDERSESSION_H
