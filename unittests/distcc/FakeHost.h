//===- FakeHost.h - A linker in a test --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host for unit tests, with jobs of the distcc plugin: modules are any
// bytes. A broken rule fails the test.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_DISTCC_FAKEHOST_H
#define DTLTO_UNITTESTS_DISTCC_FAKEHOST_H

#include "MockDistccd.h"
#include "Network.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/testing/Host.hpp"
#include "gtest/gtest.h"
#include <deque>

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

class FakeHost : public testing::Host {
public:
  FakeHost();
  ~FakeHost() override { close(); }

  /// Begins a session. \p Args has `hosts=` and others.
  int32_t open(const std::vector<std::string> &Args);
  /// Offers a job once. Sets \p Id if the job is accepted.
  int32_t tryToSubmit(const JobSpec &Spec, uint64_t &Id);
  /// Offers a job until it is accepted. Returns its id.
  uint64_t submit(const JobSpec &Spec);
  /// Tells the plugin that the result of a job was wrong.
  void refute(uint64_t Id);
  /// Ends the session. Fails the test for each rule that was broken.
  void close();

  using Completion = testing::Result;
  // These throw after a time limit, too.
  void waitForAll();
  /// Waits for a message that contains \p Text.
  void waitForLog(const std::string &Text);
  /// Waits for \p NumRunning concurrent local compiles.
  void waitForLocal(unsigned NumRunning);

  std::vector<std::string> warnings() { return messages(DTLTO_LOG_WARNING); }
  std::vector<std::string> errors() { return messages(DTLTO_LOG_ERROR); }
  /// Returns the states reported for a job.
  std::vector<uint32_t> states(uint64_t Id);
  using Host::states;
  unsigned mostLocal() {
    return locked([&] { return MostLocal; });
  }

  // Set these before open().
  uint64_t NumJobs = 1000;
  std::function<void(uint64_t)> OnLocal; // called before a local job ends

private:
  int32_t run(uint64_t Id, dtlto_result *Result);

  const dtlto_local_codegen Codegen;
  // Guarded by the mutex.
  std::vector<std::shared_ptr<const Module>> Modules;
  std::deque<std::string> LocalObjects;
  unsigned NumLocal = 0, MostLocal = 0;
};

/// Resets the plugin's environment variables. Checks that a test leaves no
/// files, sockets, threads or processes.
class PluginTest : public ::testing::Test {
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
