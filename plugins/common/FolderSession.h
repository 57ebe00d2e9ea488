//===- FolderSession.h - Jobs as files, for a program to run ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that the plugins distributor and make share. The jobs of a link are
// files in one folder (JobFolder.h), where a program runs many of them at a
// time:
//
//   m.src.foo-o              a module, under its name in all jobs
//   m.src.foo-o.thinlto.bc   its index shard
//   m.src.foo-o.native.o     the object
//   m.src.foo-o.native.o.words  the compiler's output, if the plugin can make
//                            the program save it
//   m.src.foo-o.i            the bundle instead, if the compiler is
//                            dtlto-codegen
//
// A batch is the set of jobs that the linker has for the plugin at a time
// (dtlto.batch/1). When the batch is complete, the plugin describes it to a
// program and starts the program (ProgramRuns). The plugin takes an object once
// its file was closed or moved into place (ObjectWatch) and the linker accepts
// it. Jobs without an object at the end of the program have failed. A job
// counts as running once its index was read.
//
// One thread does all this. The linker's requests arrive in its mailbox.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_FOLDERSESSION_H
#define DTLTO_PLUGINS_FOLDERSESSION_H

#include "Mailbox.h"
#include "ObjectWatch.h"
#include "Program.h"
#include "dtlto/sdk/Plugin.hpp"

namespace dtlto {

/// How a FolderSession runs jobs.
struct FolderSettings {
  std::string Program;  // a path, or a name in PATH
  std::string Compiler; // a path or name; the first word of each command
  std::vector<std::string> CompilerFirst, CompilerLast; // further arguments
  std::string Folder;                                   // empty: next to output
  bool Keep = false;
  uint32_t Batch = UINT32_MAX; // most jobs for one program
  uint32_t Programs = 1;       // most programs at a time
  bool Fresh = true;           // ignore objects of earlier links
  bool SavesStderr = false;    // the program writes FolderJob::words()

  bool isWorker() const; // whether the compiler is dtlto-codegen
};

/// Returns \p Own and the arguments that all such plugins have. \p Suffix is
/// that of FolderSession.
sdk::ArgumentTable folderArguments(FolderSettings &S, sdk::ArgumentTable Own,
                                   const std::string &Suffix);

/// Sets the arguments, and then defaults. Throws sdk::Error if an argument is
/// invalid.
void readArguments(const dtlto_session_params &Params,
                   const sdk::ArgumentTable &Table, FolderSettings &S);

/// A job as files. Names are relative to the folder.
struct FolderJob {
  std::string Name;                // of the module, for messages
  std::vector<std::string> Args;   // without the compiler
  std::vector<std::string> Inputs; // the module, the index, then all others
  std::string Output;

  // The files with the compiler's standard error: the first while it runs and
  // if it fails, the second once it has succeeded. The second ends the job.
  std::string wordsOfFailure() const { return Output + ".err"; }
  std::string words() const { return Output + ".words"; }
};

class FolderSession : public sdk::Session {
public:
  void begin() override;
  bool submit(std::shared_ptr<sdk::Job> TheJob) override;
  void cancel(sdk::Job &TheJob) override;
  void batchComplete() override;
  void stop() override;
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit) override;

protected:
  /// \p Suffix ends the folder's name if the user has set none.
  FolderSession(const dtlto_host &Host, const dtlto_session_params &Params,
                FolderSettings S, std::string Suffix);
  /// Returns the needs for configure(), DTLTO_JOB_...
  static uint32_t needs(const FolderSettings &S);

  /// Describes the jobs of a batch in the folder. Returns the command that runs
  /// them in the folder, without the program. \p Number counts batches from 1.
  virtual std::vector<std::string>
  describe(JobFolder &Folder, const std::vector<const FolderJob *> &Jobs,
           unsigned Number) = 0;
  /// Whether an error line doesn't matter to the user.
  virtual bool isNoise(const std::string &) const { return false; }
  /// Changes of the program's environment, as in Process::Setup.
  virtual std::vector<std::string> environment() { return {}; }
  /// Why the program can't run any job on this machine; empty if it can.
  virtual std::string launcherProblem() const { return ""; }

  /// The number of jobs that have begun and not ended. Any thread.
  uint32_t numRunning() const { return NumRunning; }

  const FolderSettings S;
  const std::string Output; // of the link

private:
  struct Entry {
    std::shared_ptr<sdk::Job> TheJob;
    FolderJob Files;
    std::string Base; // prefix of its files, unique while it runs
    std::shared_ptr<ProgramRun> Run; // null while it waits
    bool IsRunning = false;
  };

  bool isSessionThread() const {
    return std::this_thread::get_id() == Thread.get_id();
  }
  // These run on the session's thread.
  void work();
  void turn();
  void add(std::shared_ptr<sdk::Job> TheJob);
  std::string uniqueBase(const std::string &Primary) const;
  std::vector<std::string> command(const sdk::Job &TheJob, const FolderJob &F,
                                   const std::string &Index) const;
  void writeFiles(Entry &E);
  void writeInput(const std::string &Path, std::string_view Bytes);
  void startRuns();
  void start(const std::vector<uint64_t> &Batch);
  void onJobBegin(uint64_t Id);
  bool take(uint64_t Id, std::string &Why, bool HasEnded = false);
  void reportProgress(ProgramRun &R);
  void onRunEnd(const ProgramRun &R);
  std::string compilerOutput(const Entry &E, bool IsAlone,
                             bool &HasFailed) const;
  void finish(uint64_t Id, sdk::Result Res);

  // Also called on the linker's thread, for the status.
  std::string compilerProblem(std::chrono::seconds Limit,
                              std::string &Line) const;
  int32_t runCompiler(std::chrono::seconds Limit,
                      std::string &CompilerOutput) const;

  const std::string LlvmVersion, Suffix;
  const bool HasJobs;
  std::atomic<bool> IsStopping{false};
  std::atomic<uint32_t> NumRunning{0};
  sdk::ResultMemory Results;
  Mailbox Box;
  std::string ProgramPath;
  std::unique_ptr<JobFolder> Folder;

  // Used by the session's thread only.
  std::unique_ptr<ObjectWatch> Watch;
  ProgramRuns Runs;
  std::map<std::string, std::pair<const void *, uint64_t>> Written; // inputs
  std::map<uint64_t, Entry> Jobs;
  std::vector<uint64_t> Waiting;
  bool IsComplete = false; // the waiting batch is complete
  bool IsClosing = false, IsCompilerChecked = false;
  std::string CompilerError; // why the compiler can't be used
  unsigned NumRuns = 0;
  std::thread Thread;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_FOLDERSESSION_H
