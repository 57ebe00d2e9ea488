//===- FakeHost.h - A linker in a test --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's side of the ABI for the distcc plugin, without a linker: jobs are
// any bytes. Records the plugin's calls, and complains of violations:
//
//   - a job_done() that is missing, comes twice, for a job that was not
//     accepted, or from inside of submit();
//   - any call after close();
//   - a status that the ABI doesn't know, an object with another status than
//     DTLTO_OK;
//   - a read of a job's memory after its job_done(), which frees the memory.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_DISTCC_FAKEHOST_H
#define DTLTO_UNITTESTS_DISTCC_FAKEHOST_H

#include "MockDistccd.h"
#include "Network.h"
#include "dtlto/PluginAPI.h"
#include "gtest/gtest.h"
#include <deque>
#include <set>

namespace dtlto::test {

/// A module to compile or import. Lives as long as the session.
struct Module {
  std::string Path, Bytes;
};

/// dtlto.check/1 refuses objects that begin with this text.
inline const char Damaged[] = "damaged";

/// A test's description of a job.
struct JobSpec {
  std::shared_ptr<const Module> Primary;
  std::vector<std::shared_ptr<const Module>> Imports;
  std::string Output;
  std::string Index = "the index shard";
  std::vector<std::string> Args = {"-O2", "-x", "ir", "a b"};
  std::string Avoid = {};
  uint64_t Cost = 0; // 0: the module's size
};

/// Returns a job that has its own small module and writes \p Output.
JobSpec smallJob(const std::string &Output);
/// Returns a job whose module has \p Size incompressible bytes.
JobSpec largeJob(const std::string &Output, size_t Size);

class FakeHost {
public:
  FakeHost();
  ~FakeHost(); // closes the session
  FakeHost(const FakeHost &) = delete;

  /// Begins a session. \p Args has `hosts=` and others.
  int32_t open(std::vector<std::string> Args);
  /// Offers a job once. Sets \p Id if the job is accepted.
  int32_t tryToSubmit(const JobSpec &Spec, uint64_t &Id);
  /// Offers a job until it is accepted. Returns its id.
  uint64_t submit(const JobSpec &Spec);
  void cancel(uint64_t Id);
  /// Tells the plugin that the result of a job was wrong.
  void refute(uint64_t Id);
  dtlto_load load();
  /// Ends the session and checks what the ABI promises for its end.
  void close();

  struct Completion {
    int32_t Status = -1; // no job_done() yet
    std::string Object, Message, Worker;
  };
  /// Waits for the end of a job.
  Completion wait(uint64_t Id);
  void waitForAll();
  /// Wait for a report of \p State, for a message that contains \p Text, or for
  /// \p NumRunning concurrent local compiles. All fail the test after a time
  /// limit.
  void waitForState(uint64_t Id, uint32_t State);
  void waitForLog(const std::string &Text);
  void waitForLocal(unsigned NumRunning);

  /// Returns the messages of a level, in order.
  std::vector<std::string> log(uint32_t Level) const;
  std::vector<std::string> warnings() const { return log(DTLTO_LOG_WARNING); }
  std::vector<std::string> errors() const { return log(DTLTO_LOG_ERROR); }
  /// Returns the states reported for a job.
  std::vector<uint32_t> states(uint64_t Id) const;
  /// Returns the states reported for all jobs, in order.
  std::vector<std::pair<uint64_t, uint32_t>> allStates() const;
  unsigned numDone() const;
  unsigned numLoadChanged() const;
  unsigned mostLocal() const;
  /// The result of configure().
  const dtlto_session_config &config() const { return Config; }

  // Set these before open().
  uint64_t NumJobs = 1000;
  bool OffersCodegen = true;
  const char *Linker = nullptr;          // the linker's version
  std::function<void(uint64_t)> OnLocal; // called before a local job ends

  // Functions of extensions.
  static FakeHost &fromContext(dtlto_host_context *C) {
    return *reinterpret_cast<FakeHost *>(C);
  }
  int32_t run(uint64_t Id, dtlto_result &Result);

private:
  struct OwnedJob;
  bool waitFor(std::function<bool()> What); // \p What may read all members
  void check(const char *Call);
  void addComplaint(std::string Text);
  void onJobDone(uint64_t Id, const dtlto_result &Result);

  dtlto_host Host = {};
  dtlto_session_config Config = {};
  dtlto_session *Session = nullptr;
  mutable std::mutex Mutex; // guards the members below
  std::condition_variable Changed;
  std::vector<std::string> Complaints;
  std::map<uint64_t, std::unique_ptr<OwnedJob>> Jobs; // not done yet
  std::map<uint64_t, Completion> Results;
  std::set<uint64_t> Accepted;
  std::vector<std::shared_ptr<const Module>> Modules;
  std::vector<std::pair<uint32_t, std::string>> Logs;
  std::vector<std::pair<uint64_t, uint32_t>> States;
  std::deque<std::string> LocalObjects;
  std::thread::id SubmittingThread;
  uint64_t LastId = 0;
  unsigned LoadChanges = 0, NumLocal = 0, MostLocal = 0;
  bool IsClosed = false;
};

/// Resets the plugin's environment variables. Checks that a test leaves no
/// files, sockets, threads or processes.
class PluginTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  std::string Folder; // a new folder, also $DISTCC_DIR
  size_t NumFiles = 0, NumThreads = 0;
};

size_t numOpenFiles();
size_t numThreads();

/// Returns "hosts=..." with \p Options such as "/limit" after each host.
std::string hosts(std::initializer_list<const MockDistccd *> Mocks,
                  const std::string &Options = "");

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_DISTCC_FAKEHOST_H
