//===- PluginCheckTest.cpp - The layer that checks a plugin ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginCheck.h"
#include "TestLink.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/local-codegen.h"
#include "gtest/gtest.h"
#include <cstring>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

// The layer never destroys what a thread of the plugin may still use.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

namespace {

/// A host above the layer, and a plugin below it.
class PluginCheckTest : public testing::Test {
protected:
  PluginCheckTest() {
    Current = this;
    Plugin = {sizeof(Plugin),
              DTLTO_ABI_MAJOR,
              DTLTO_ABI_MINOR,
              0,
              "test",
              "1",
              [](const dtlto_session_params *, dtlto_session_config *Config) {
                Config->needs = DTLTO_JOB_INPUTS;
              },
              [](const dtlto_host *Host, const dtlto_session_params *,
                 dtlto_session **Session) {
                Current->Below = Host;
                *Session = reinterpret_cast<dtlto_session *>(Current);
                return int32_t(DTLTO_OK);
              },
              [](dtlto_session *, const dtlto_job *Job) {
                Current->Job = Job;
                return Current->SubmitStatus;
              },
              [](dtlto_session *, uint64_t) {},
              [](dtlto_session *, dtlto_load *) { return int32_t(DTLTO_OK); },
              [](dtlto_session *) {},
              [](const char *Id) -> const void * {
                return StringRef(Id) == DTLTO_EXT_BATCH ? &Current->Batch
                                                        : nullptr;
              }};
    Batch = {sizeof(Batch), 0, [](dtlto_session *Session) {
               EXPECT_EQ(Session, reinterpret_cast<dtlto_session *>(Current));
             }};
    Host.size = sizeof(Host);
    Host.abi_major = DTLTO_ABI_MAJOR;
    Host.name = "host";
    Host.version = "1";
    Host.context = reinterpret_cast<dtlto_host_context *>(this);
    Host.job_done = [](dtlto_host_context *, uint64_t,
                       const dtlto_result *Result) {
      Current->Result = *Result;
    };
    Host.load_changed = [](dtlto_host_context *) { ++Current->NumRoomCalls; };
    Host.extension = [](dtlto_host_context *Context,
                        const char *Id) -> const void * {
      EXPECT_EQ(Context, Current->Host.context);
      return StringRef(Id) == DTLTO_EXT_BUNDLE ? &Current->Bundle : nullptr;
    };
    Bundle = {sizeof(Bundle), 0,
              [](dtlto_host_context *, uint64_t, dtlto_bundle_spans *Spans) {
                *Spans = {sizeof(*Spans), 2, Current->Spans, nullptr,
                          [](void *) { ++Current->NumReleases; }};
                return int32_t(DTLTO_OK);
              }};
    Inputs[0] = {
        sizeof(dtlto_input), DTLTO_ROLE_PRIMARY, "m.o", {"bits", 4}, {}};
    Inputs[1] = {
        sizeof(dtlto_input), DTLTO_ROLE_INDEX, "m.index", {"ix", 2}, {}};
    Spans[0] = {{"head", 4}, nullptr};
    Spans[1] = {Inputs[1].bytes, &Inputs[1]};
    Above = checkedPlugin(Plugin, /*AreErrors=*/false);
    showFindings(Msg);
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    Params.llvm_version = "1.2.3";
    Params.output = "";
    EXPECT_EQ(Above->open(&Host, &Params, &Session), DTLTO_OK);
  }
  ~PluginCheckTest() override { countFindings(); }

  int32_t submit(uint64_t Id) {
    OwnJob = {};
    OwnJob.size = sizeof(OwnJob);
    OwnJob.id = Id;
    OwnJob.name = "main.o";
    OwnJob.triple = "x86_64";
    OwnJob.inputs = Pointers;
    OwnJob.num_inputs = 2;
    return Above->submit(Session, &OwnJob);
  }
  /// Ends the job \p Id, with \p Bytes for its object.
  void done(uint64_t Id, StringRef Bytes) {
    dtlto_result R = {};
    R.size = sizeof(R);
    R.object = {Bytes.data(), Bytes.size(), nullptr, nullptr};
    R.worker = "node";
    Below->job_done(Below->context, Id, &R);
  }
  void close() { Above->close(Session); }
  void release() {
    Result.object.release(Result.object.owner, Result.object.data,
                          Result.object.size);
  }
  /// Expects one finding, with \p Text.
  void expectFinding(StringRef Text) {
    EXPECT_EQ(Msg.warnings().size(), 1u);
    EXPECT_TRUE(Msg.has(MessageLevel::Warning, {"plugin 'test': ", Text}));
  }

  static PluginCheckTest *Current;
  RecordingMessages &Msg = *new RecordingMessages; // threads may be late
  dtlto_plugin Plugin;
  dtlto_batch Batch;
  dtlto_host Host = {};
  dtlto_bundle Bundle;
  dtlto_input Inputs[2];
  const dtlto_input *const Pointers[2] = {&Inputs[0], &Inputs[1]};
  dtlto_bundle_span Spans[2];
  dtlto_job OwnJob;
  const dtlto_plugin *Above; // the layer
  const dtlto_host *Below = nullptr;
  dtlto_session *Session = nullptr;
  const dtlto_job *Job = nullptr; // as the plugin got it
  int32_t SubmitStatus = DTLTO_OK;
  dtlto_result Result = {}; // as the host got it
  unsigned NumRoomCalls = 0, NumReleases = 0;
};

PluginCheckTest *PluginCheckTest::Current = nullptr;

} // namespace

TEST_F(PluginCheckTest, PassesOn) {
  EXPECT_EQ(submit(1), DTLTO_OK);
  EXPECT_NE(Job, &OwnJob);
  EXPECT_EQ(Job->id, 1u);
  EXPECT_STREQ(Job->name, "main.o");
  EXPECT_EQ(Job->config, nullptr);
  EXPECT_EQ(Job->args, nullptr);
  // All jobs share the memory of a module.
  EXPECT_EQ(Job->inputs[0]->bytes.data, Inputs[0].bytes.data);
  EXPECT_NE(Job->inputs[1]->bytes.data, Inputs[1].bytes.data);
  EXPECT_EQ(std::memcmp(Job->inputs[1]->bytes.data, "ix", 2), 0);
  auto *Wrapped =
      static_cast<const dtlto_batch *>(Above->extension(DTLTO_EXT_BATCH));
  Wrapped->complete(Session);
  EXPECT_EQ(Above->extension("other"), nullptr);
  done(1, "object");
  EXPECT_EQ(StringRef(static_cast<const char *>(Result.object.data),
                      Result.object.size),
            "object");
  close();
  release();
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
}

TEST_F(PluginCheckTest, LateAccessIsPossible) {
  submit(1);
  const char *Name = Job->name;
  done(1, "object");
  EXPECT_STREQ(Name, "main.o");
  const_cast<char *>(Name)[0] = 'M';
  EXPECT_STREQ(Name, "Main.o");
  close();
  expectFinding("touched the dtlto_job (or what it points at) of job 1");
}

TEST_F(PluginCheckTest, ObjectThatChanges) {
  char Object[] = "object";
  submit(1);
  done(1, Object);
  Object[0] = 'O';
  release();
  expectFinding("the object of job 1 (main.o) was changed");
  close();
}

TEST_F(PluginCheckTest, BundleHasThePluginsInputs) {
  submit(1);
  auto *Own = static_cast<const dtlto_bundle *>(
      Below->extension(Below->context, DTLTO_EXT_BUNDLE));
  dtlto_bundle_spans S = {sizeof(S), 0, nullptr, nullptr, nullptr};
  EXPECT_EQ(Own->make(Below->context, 1, &S), DTLTO_OK);
  EXPECT_EQ(S.num_spans, 2u);
  EXPECT_EQ(S.spans[0].input, nullptr);
  EXPECT_EQ(S.spans[1].input, Job->inputs[1]);
  EXPECT_EQ(S.spans[1].bytes.data, Job->inputs[1]->bytes.data);
  done(1, "object");
  S.release(S.owner);
  S.release(S.owner);
  EXPECT_EQ(NumReleases, 1u);
  close();
  expectFinding("the bundle of job 1 (main.o) was released twice");
}

TEST_F(PluginCheckTest, LateCallsAreNotPassedOn) {
  close();
  Below->load_changed(Below->context);
  EXPECT_EQ(NumRoomCalls, 0u);
  Below->load_changed(Below->context);
  // Reading the host is one finding, the call another.
  EXPECT_EQ(Msg.warnings().size(), 2u);
  EXPECT_TRUE(Msg.has(MessageLevel::Warning,
                      {"load_changed() was called after close()"}));
}

TEST_F(PluginCheckTest, ExtensionsThatAreIncomplete) {
  Batch.complete = nullptr;
  EXPECT_EQ(Above->extension(DTLTO_EXT_BATCH), nullptr);
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
  Batch.size = 4;
  EXPECT_EQ(Above->extension(DTLTO_EXT_BATCH), nullptr);
  close();
  expectFinding("the `size` of dtlto.batch/1 is 4 (dtlto_plugin.extension: ");
}

TEST_F(PluginCheckTest, EmptyObjectOfTheLinker) {
  Host.extension = [](dtlto_host_context *, const char *) -> const void * {
    static const dtlto_local_codegen Codegen = {
        sizeof(Codegen), 1,
        [](dtlto_host_context *, uint64_t Job, dtlto_result *Result) {
          Result->object = {};
          return Result->status = Job == 1 ? DTLTO_OK : DTLTO_CANCELLED;
        }};
    return &Codegen;
  };
  for (uint64_t Id : {1, 2}) {
    submit(Id);
    dtlto_result R = {};
    R.size = sizeof(R);
    static_cast<const dtlto_local_codegen *>(
        Below->extension(Below->context, DTLTO_EXT_LOCAL_CODEGEN))
        ->run(Below->context, Id, &R);
    Below->job_done(Below->context, Id, &R);
  }
  close();
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
}

/// Loans must not use up the mappings that a process may have (65530).
TEST_F(PluginCheckTest, ManyCalls) {
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  for (unsigned I = 0; I != 70000; ++I)
    ASSERT_EQ(Above->load(Session, &Load), DTLTO_OK);
  close();
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
}

TEST_F(PluginCheckTest, RoomThatIsNeverReported) {
  submit(1);
  SubmitStatus = DTLTO_BUSY;
  submit(2);
  done(1, "object");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  close();
  expectFinding("load_changed() was not called after it");
}

TEST_F(PluginCheckTest, RoomThatIsReported) {
  submit(1);
  SubmitStatus = DTLTO_BUSY;
  submit(2);
  done(1, "object");
  Below->load_changed(Below->context);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  close();
  EXPECT_EQ(Msg.warnings(), std::vector<std::string>());
}
