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
//   m.src.foo-o              a module, under the name that it has in all jobs
//   m.src.foo-o.thinlto.bc   its index shard
//   m.src.foo-o.native.o     the object
//   m.src.foo-o.native.o.words  what the compiler has said, if the plugin can
//                            tell the program to write it
//   m.src.foo-o.i            the bundle instead, if the compiler is
//                            dtlto-codegen
//
// A batch is what the linker has for the plugin at a time (dtlto.batch/1). When
// it is complete, the plugin describes it to a program and starts that. Each
// object is taken as soon as its file was closed or moved into place and the
// linker finds it whole; what isn't there when the program has ended has
// failed. A job runs as soon as somebody reads its index.
//
// One thread does all but what the linker asks for, which arrives in its
// mailbox.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_FOLDERSESSION_H
#define DTLTO_PLUGINS_FOLDERSESSION_H

#include "FolderSettings.h"
#include "Mailbox.h"
#include "Program.h"
#include "dtlto/sdk/Plugin.hpp"
#include <map>
#include <set>

namespace dtlto {

/// A job as files. Names are relative to the folder.
struct FolderJob {
  std::string Name;                // of the module, for people
  std::vector<std::string> Args;   // without the compiler
  std::vector<std::string> Inputs; // the module, the index, then all others
  std::string Output;

  // What the compiler has said, while and if it fails; and the same once it has
  // succeeded, which ends the job.
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
  /// Whether that is of no interest to the link's user.
  virtual bool isNoise(const std::string &Line) const {
    (void)Line;
    return false;
  }
  /// As of Program.
  virtual std::vector<std::string> environment() { return {}; }
  /// Why the program can't run any job on this machine; empty if it can.
  virtual std::string launcherProblem() const { return ""; }

  /// Jobs that somebody has begun.
  uint32_t numRunning() const { return NumRunning; }

  const FolderSettings S;
  const std::string Output; // of the link

private:
  using Clock = std::chrono::steady_clock;
  struct Run {
    std::unique_ptr<Program> P;
    std::set<std::string> Outputs;   // that it may write to
    size_t NumLeft = 0;              // jobs without a result
    std::string LastLine, LastError; // that it said, and as an error
    std::string ErrorWords;          // all of these
    std::string NewWords; // those that the linker hasn't had, of any job
    size_t NumNotes = 0;
    bool HasCancelled = false; // it works on what nobody needs
    bool IsAsked = false;      // to end
    Clock::time_point LastSign{}, LastResult{}, LastWords{};
  };
  struct Entry {
    std::shared_ptr<sdk::Job> J;
    FolderJob Files;
    std::string Base;        // of its names, which no other has meanwhile
    std::string Begins;      // the file that is read when the job begins
    std::string Ends;        // the file that is complete when the job ends
    std::shared_ptr<Run> On; // null: it waits
    bool IsRunning = false;
    // Size and time of the object at the last look, and of one that is no good.
    std::pair<uint64_t, uint64_t> Seen{}, Refused{};
  };

  void work();
  void turn();
  void shutDown();
  void add(std::shared_ptr<sdk::Job> J);
  void writeFiles(Entry &E);
  void writeInput(const std::string &Path, std::string_view Bytes);
  void watchFolderOf(const std::string &Name);
  void startRuns();
  void start(const std::vector<uint64_t> &Batch);
  std::string compilerProblem(std::chrono::seconds Limit,
                              std::string &Line) const;
  int32_t runCompiler(std::chrono::seconds Limit, std::string &Words) const;
  void readEvents();
  void scan();
  bool take(uint64_t Id, std::string &Why, bool HasEnded = false);
  void listen(Run &R);
  void handOnWords(Run &R);
  void showSigns(Run &R);
  void runEnded(const std::shared_ptr<Run> &R);
  std::string wordsOf(const Entry &E, bool IsAlone, bool &HasFailed);
  static bool hasError(const std::string &Words);
  void finish(uint64_t Id, sdk::Result Res);

  const std::string LlvmVersion, Suffix;
  const bool HasJobs;
  std::atomic<bool> IsStopping{false};
  sdk::ResultMemory Results;

  Mailbox Box;

  // The thread's.
  std::unique_ptr<JobFolder> Folder;
  Descriptor Notify;                  // inotify
  std::map<int, std::string> Watched; // prefixes of names
  std::map<std::string, std::pair<const void *, uint64_t>> Written; // inputs
  std::map<uint64_t, Entry> Jobs;
  std::map<std::string, uint64_t> ByName; // what ends and what begins a job
  std::vector<std::shared_ptr<Run>> Runs;
  std::vector<uint64_t> Waiting;
  bool IsComplete = false; // nothing is added to what waits
  bool Closing = false, ToolsAreChecked = false;
  std::string CompilerWhy; // it is of no use
  unsigned NumRuns = 0;
  std::atomic<uint32_t> NumRunning{0};
  Clock::time_point NextScan{};
  std::string ProgramPath;
  std::thread Thread;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_FOLDERSESSION_H
