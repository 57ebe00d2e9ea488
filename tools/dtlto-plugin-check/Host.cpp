//===- Host.cpp - The host's functions ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/ObjectFrame.h"
#include "Session.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include <cstdio>
#include <unistd.h>

using namespace llvm;
using namespace dtlto::check;
using Guard = std::lock_guard<std::mutex>;

template <auto Fn>
using Callback =
    dtlto::sdk::Callback<dtlto::testing::BasicHost<dtlto::Rules, JobRecord>,
                         Fn>;

Host::Host(const dtlto_plugin &ThePlugin, const Options &Opts, uint32_t More)
    : BasicHost(ThePlugin, ThePlugin, fail), Opts(Opts), More(More),
      Lent(*new Loan("the dtlto_host", FixOfHost)) {
  Raw.size += More;
  Raw.abi_minor = More ? 99 : DTLTO_ABI_MINOR;
  Raw.name = Lent.addString("dtlto");
  Raw.version = Lent.addString("plugin-check");
  GivenHost = Lent.addStruct(Raw, More);
  Lent.seal();
  static const dtlto_local_codegen Codegen = {
      sizeof(Codegen), 2, Callback<&Host::runLocally>::call};
  static const dtlto_bundle Bundle = {sizeof(Bundle), 0,
                                      Callback<&Host::bundle>::call};
  static const dtlto_local_room Room = {sizeof(Room), 0,
                                        Callback<&Host::enterRoom>::call,
                                        Callback<&Host::leaveRoom>::call};
  static const dtlto_numbers Numbers = {sizeof(Numbers), 0,
                                        Callback<&Host::sessionNumber>::call,
                                        Callback<&Host::jobNumber>::call};
  Extensions = {{DTLTO_EXT_LOCAL_CODEGEN, &Codegen},
                {DTLTO_EXT_BUNDLE, &Bundle},
                {DTLTO_EXT_LOCAL_ROOM, &Room},
                {DTLTO_EXT_NUMBERS, &Numbers}};
}

std::vector<uint64_t> Host::accepted() {
  Guard Lock(Mutex);
  std::vector<uint64_t> Ids;
  for (auto &[Id, R] : Jobs)
    Ids.push_back(Id);
  return Ids;
}

bool Host::isLate(const char *Name) {
  return !TheRules.isInTime(locked([&] { return Phase != Closed; }), Name);
}

/// Blocks a callback until the link's thread has got an answer from load().
void Host::waitForLoadAnswer(const char *Name) {
  if (!WaitsForLoad || isLinkThread())
    return;
  std::unique_lock<std::mutex> Lock(Mutex);
  uint64_t Request = ++LoadWanted;
  Changed.notify_all();
  if (!Changed.wait_for(Lock, Opts.callLimit() + 2s, [&] {
        return LoadAnswered >= Request || Phase >= Closing;
      }))
    failAndExit("dtlto_plugin.load",
                Twine("while ") + Name +
                    "() was in the host, load() and submit() did not return",
                "hold no lock while you call the host");
}

void Host::enter(const char *Function) {
  waitForLoadAnswer(Function);
  std::unique_lock<std::mutex> Lock(Mutex);
  if (StringRef(Function) == "job_done" && !isLinkThread())
    Changed.wait_for(Lock, Opts.jobLimit(),
                     [&] { return !HoldsResults || Phase >= Closing; });
}

void Host::onMessage(uint32_t Level, const std::string &Text) {
  std::fprintf(stderr, "log %u: %s\n", Level, Text.c_str());
}

void Host::sessionNumber(const char *Name, uint32_t, uint64_t) {
  if (isLate("a function of dtlto.numbers/1"))
    return;
  TheRules.number(Name);
  waitForLoadAnswer("numbers");
}

void Host::jobNumber(uint64_t Job, const char *Name, uint32_t Unit,
                     uint64_t Value) {
  TheRules.numberOfJob(locked([&] { return Phase == Closed || find(Job); }),
                       nameOf(Job));
  sessionNumber(Name, Unit, Value);
}

std::string JobRecord::removeFrame(std::string &Bytes) const {
  if (!BundleError.empty())
    return BundleError;
  Expected<StringRef> Result = dtlto::readFrame(Bytes, Bundle.Id);
  if (!Result)
    return toString(Result.takeError());
  Bytes = Result->str();
  return {};
}

void Host::onResult(JobRecord &R, const dtlto_result &Result) {
  BasicHost::onResult(R, Result);
  if (R.Buffer.size > INT64_MAX)
    R.Buffer = {};
  R.Unframed = R.Object;
  // The object of a run() doesn't show its origin.
  if (R.Status == DTLTO_OK && !R.Object.empty() && R.UsesBundle &&
      R.Buffer.data != R.LocalObject) {
    std::string Why = R.removeFrame(R.Unframed);
    expect(Why.empty(), "dtlto_job.config", nameOf(R.Raw.id) + ": " + Why,
           "return unchanged what dtlto-codegen --frame makes of the job's "
           "bundle, or what run() returned");
  }
  HasNamelessResult |= isNameless(Result);
}

void Host::onEnd(JobRecord &R, const char *Why) {
  if (JobInRoom == R.Raw.id)
    JobInRoom = 0;
  R.Lent->end(Why);
}

void Host::release(const dtlto_buffer &B) {
  locked([&] { ++NumReleasing; });
  BasicHost::release(B);
  locked([&] { --NumReleasing; });
}

std::string Host::check(JobRecord &R, dtlto_span Object) {
  if (!R.UsesBundle || Object.data == R.LocalObject)
    return {};
  std::string Bytes(static_cast<const char *>(Object.data), Object.size);
  return R.removeFrame(Bytes);
}

void HostBuffer::release() { TheRules.releasedOnce(++Releases, What); }

HostBuffer &Host::addBuffer(const char *What, uint64_t Job) {
  Buffers.push_back(
      std::make_unique<HostBuffer>(TheRules, What + (" of " + nameOf(Job))));
  return *Buffers.back();
}

int32_t Host::runLocally(uint64_t Job, dtlto_result *Result) {
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = findRunning(Job);
  Result->object = {};
  Result->worker = nullptr;
  Result->message = "no such job";
  if (!TheRules.runsRunningJob(R, nameOf(Job)))
    return Result->status = DTLTO_ERROR_CALLER;
  ++NumLocal;
  Changed.notify_all();
  Result->worker = "this machine";
  if (R->S->IsLong) {
    Changed.wait(Lock, [&] { return R->Cancelled || Phase == Closing; });
    return Result->status = DTLTO_CANCELLED;
  }
  static const std::string Error =
      std::string("error: invalid instruction '") + RefusedWord + "'";
  Result->message = Error.c_str();
  if (R->S->Object.empty())
    return Result->status = DTLTO_ERROR_COMPILER;
  Result->message = nullptr;
  HostBuffer &B = addBuffer("the linker's own object", Job);
  B.Bytes = R->S->Object;
  R->LocalObject = B.Bytes.data();
  Result->object = {
      B.Bytes.data(), B.Bytes.size(), &B,
      [](void *Owner, const void *Data, uint64_t Size) {
        auto *B = static_cast<HostBuffer *>(Owner);
        B->release();
        expect(Data == B->Bytes.data() && Size == B->Bytes.size(),
               "dtlto_buffer",
               B->What + " was released with other arguments than its own",
               "call buffer.release(buffer.owner, buffer.data, buffer.size)");
      }};
  return Result->status = DTLTO_OK;
}

int32_t Host::bundle(uint64_t Job, dtlto_bundle_spans *Out) {
  TheRules.bundleSize(Out->size);
  *Out = {sizeof(*Out), 0, nullptr, nullptr, nullptr};
  Guard Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!R || !(needs() & DTLTO_JOB_CONFIG))
    return DTLTO_ERROR_CALLER;
  R->UsesBundle = true;
  if (!R->BundleError.empty())
    return DTLTO_ERROR_INFRASTRUCTURE;
  Out->num_spans = static_cast<uint32_t>(R->Bundle.Spans.size());
  Out->spans = R->Bundle.Spans.data();
  Out->owner = &addBuffer("the bundle", Job);
  Out->release = [](void *Owner) {
    static_cast<HostBuffer *>(Owner)->release();
  };
  return DTLTO_OK;
}

/// There is room for one job at a time.
int32_t Host::enterRoom(uint64_t Job) {
  TheRules.entersOutside(isLinkThread());
  if (isLinkThread())
    ::_exit(1);
  waitForLoadAnswer("enter");
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!TheRules.entersOnce(R && JobInRoom != Job, nameOf(Job)))
    return DTLTO_ERROR_CALLER;
  Changed.wait(
      Lock, [&] { return JobInRoom == 0 || R->Cancelled || Phase == Closing; });
  if (JobInRoom != 0)
    return DTLTO_CANCELLED;
  JobInRoom = Job;
  return DTLTO_OK;
}

void Host::leaveRoom(uint64_t Job, uint64_t) {
  if (isLate("leave"))
    return;
  change([&] {
    if (JobInRoom == Job)
      JobInRoom = 0;
  });
}
