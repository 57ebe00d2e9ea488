//===- ReapiLinkTest.h - A linker and a server in a test --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_REAPI_REAPILINKTEST_H
#define DTLTO_UNITTESTS_REAPI_REAPILINKTEST_H

#include "MockServer.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/numbers.h"
#include "gtest/gtest.h"
#include <condition_variable>
#include <deque>
#include <list>

namespace dtlto::test {

/// A linker whose jobs are any bytes, and which accepts objects in <brackets>.
class ReapiLinkTest : public testing::Test {
protected:
  struct Done {
    int32_t Status = -1;
    std::string Object, Message, Worker;
  };

  void SetUp() override;
  void TearDown() override;

  /// Returns the server, which is started if necessary.
  MockServer &server();
  /// Opens a session with that server and \p Args.
  int32_t open(std::vector<std::string> Args = {});
  /// Offers a job with its own module, and with an import that all jobs share.
  uint64_t submit(const std::string &Module, const std::string &Import = "i");
  /// Reuses the memory of a module for another one of the same size.
  void overwrite(const std::string &Old, const std::string &New);
  Done wait(uint64_t Id);
  Done compile(const std::string &Module = "m") { return wait(submit(Module)); }
  void cancel(uint64_t Id) { dtlto_plugin_entry.cancel(Session, Id); }
  /// Tells the plugin that the result of a job was wrong.
  void refute(uint64_t Id, const std::string &Worker, int32_t Status);
  void close();
  std::string logText(uint32_t Level);
  bool wasReported(uint64_t Id, uint32_t State);
  /// Polls \p Until until it returns true. Returns false after a time limit.
  static bool waitUntil(const std::function<bool()> &Until);

  MockServer::Options ServerOptions;
  std::unique_ptr<MockServer> Server;
  uint32_t Timeout = 60;
  uint64_t ResultBytes = 0;
  std::string Avoid;                          // field of later jobs
  std::string Triple = "x86_64-pc-linux-gnu"; // field of later jobs
  dtlto_session *Session = nullptr;
  std::string Folder, Worker;

  std::mutex Mutex; // guards the members below

private:
  struct SubmittedJob {
    std::deque<std::string> Texts;
    dtlto_input Inputs[3] = {};
    const dtlto_input *Pointers[3];
    std::vector<dtlto_bundle_span> Spans;
    dtlto_job Job = {};
    std::vector<uint32_t> States;
  };
  static ReapiLinkTest &fromContext(dtlto_host_context *C) {
    return *reinterpret_cast<ReapiLinkTest *>(C);
  }

  dtlto_host Host = {};
  dtlto_bundle Bundler = {};
  dtlto_numbers NumberCalls = {};
  std::condition_variable Changed;
  std::map<uint64_t, std::unique_ptr<SubmittedJob>> Jobs;
  std::map<uint64_t, Done> Results;
  std::list<std::string> Modules;
  std::vector<std::pair<uint32_t, std::string>> Logs;
  bool Closed = false;

protected:
  std::map<uint64_t, std::vector<uint32_t>> States; // without repetitions
  std::map<uint64_t, unsigned> NumSending;          // number of reports
  using Number = std::pair<uint32_t, uint64_t>;     // unit and value
  std::map<std::string, Number> Numbers;            // of the session, by name
  std::map<uint64_t, std::map<std::string, Number>> JobNumbers;
  uint64_t LastId = 0; // of the last job
  unsigned Parts = 0;  // requested by the plugin
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_REAPI_REAPILINKTEST_H
