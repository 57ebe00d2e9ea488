//===- ClientLinkTest.h - A linker and a cluster in a test ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_ICECC_CLIENTLINKTEST_H
#define DTLTO_UNITTESTS_ICECC_CLIENTLINKTEST_H

#include "MockIcecream.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/local-codegen.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

namespace dtlto::test {

/// A linker whose jobs are any bytes, and a cluster.
class ClientLinkTest : public testing::Test {
protected:
  struct Completion {
    int32_t Status = -1;
    std::string Object, Message, Worker;
  };

  void SetUp() override;
  void TearDown() override;

  int32_t open(std::vector<const char *> Args = {});
  /// Returns whether the job was accepted.
  bool tryToSubmit(const std::string &Bundle, const std::string &Name = "");
  /// Submits a job until it is accepted. The default \p Name is unique.
  uint64_t submit(const std::string &Bundle, const std::string &Name = "");
  Completion wait(uint64_t Id);
  void cancel(uint64_t Id) { dtlto_plugin_entry.cancel(Session, Id); }
  void close();
  dtlto_load load();
  /// Waits for the next load_changed().
  bool waitForRoom();
  /// Submits a job, and waits for its end.
  Completion compile(const std::string &Bundle = "the bundle",
                     const std::string &Name = "") {
    return wait(submit(Bundle, Name));
  }
  bool hasLogged(uint32_t Level, const std::string &Text);
  bool waitForLog(uint32_t Level, const std::string &Text);
  unsigned numLogged(uint32_t Level);

  std::string Folder;
  std::unique_ptr<MockCluster> Cluster;
  bool OffersCodegen = true, OffersBundles = true, BundlesFail = false;
  /// The parts of bundles. If empty, a bundle has one part, the job's own text.
  struct Part {
    std::string Bytes;
    const dtlto_input *Input;
  };
  std::vector<Part> Parts;
  uint32_t Timeout = 30;
  size_t MostAccepted = 0; // at the same time
  dtlto_session *Session = nullptr;

private:
  static ClientLinkTest &fromContext(dtlto_host_context *C) {
    return *reinterpret_cast<ClientLinkTest *>(C);
  }
  static dtlto_buffer copy(const std::string &Text);

  dtlto_host Host = {};
  dtlto_local_codegen Codegen = {};
  dtlto_bundle Bundler = {};
  std::vector<dtlto_bundle_span> Spans;
  unsigned NumBundles = 0; // not released yet
  std::mutex Mutex;        // guards the members below
  std::condition_variable Changed;
  std::map<uint64_t, dtlto_job> Jobs; // used by the test's thread only
  std::map<uint64_t, std::string> Bundles;
  std::map<uint64_t, std::string> Names;
  std::map<uint64_t, Completion> Results;
  std::vector<std::pair<uint32_t, std::string>> Logs;
  std::set<uint64_t> Running;
  uint64_t LastId = 0;
  bool HasRoom = false, IsClosed = false;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_ICECC_CLIENTLINKTEST_H
