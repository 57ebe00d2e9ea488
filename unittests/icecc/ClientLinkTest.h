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
#include "dtlto/testing/Host.hpp"
#include "gtest/gtest.h"
#include <atomic>

namespace dtlto::test {

/// A linker whose jobs are any bytes, and a cluster.
class ClientLinkTest : public ::testing::Test, public testing::Host {
protected:
  using Completion = testing::Result;

  ClientLinkTest();
  void SetUp() override;
  void TearDown() override;

  int32_t open(const std::vector<std::string> &Args = {}) {
    return Host::open(Args, "19.1.7", /*NumJobs=*/1000);
  }
  /// Returns whether the job was accepted.
  bool tryToSubmit(const std::string &Bundle, const std::string &Name = "");
  /// Submits a job until it is accepted. The default \p Name is unique.
  uint64_t submit(const std::string &Bundle, const std::string &Name = "");
  Completion wait(uint64_t Id);
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
  size_t numLogged(uint32_t Level) { return messages(Level).size(); }

  std::string Folder;
  std::unique_ptr<MockCluster> Cluster;
  bool BundlesFail = false;
  /// The parts of bundles. If empty, a bundle has one part, the job's own text.
  struct Part {
    std::string Bytes;
    const dtlto_input *Input;
  };
  std::vector<Part> Parts;
  size_t MostAccepted = 0; // at the same time

private:
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t makeBundle(uint64_t Job, dtlto_bundle_spans *Out);
  static dtlto_buffer copy(const std::string &Text);

  const dtlto_local_codegen Codegen;
  const dtlto_bundle Bundler;
  std::atomic<unsigned> NumBundles{0}; // not released yet
  uint64_t NumRoomBefore = 0;          // the last submit() or load()
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_ICECC_CLIENTLINKTEST_H
