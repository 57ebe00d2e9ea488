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

/// The C function that calls a member of Host.
template <typename R, typename... Args, R (Host::*Fn)(Args...)>
struct Host::Callback<Fn> {
  static R call(dtlto_host_context *Context, Args... A) {
    return (reinterpret_cast<Host *>(Context)->*Fn)(A...);
  }
};

Host::Host(const dtlto_plugin &ThePlugin, const Options &Opts, uint32_t More)
    : ThePlugin(ThePlugin), Opts(Opts), More(More),
      Lent(*new Loan("the dtlto_host", FixOfHost)) {
  dtlto_host H = {};
  H.size = static_cast<uint32_t>(sizeof(H) + More);
  H.abi_major = DTLTO_ABI_MAJOR;
  H.abi_minor = More ? 99 : DTLTO_ABI_MINOR;
  H.name = Lent.addString("dtlto");
  H.version = Lent.addString("plugin-check");
  H.context = reinterpret_cast<dtlto_host_context *>(this);
  H.log = Callback<&Host::log>::call;
  H.job_state = Callback<&Host::jobState>::call;
  H.job_done = Callback<&Host::jobDone>::call;
  H.load_changed = Callback<&Host::loadChanged>::call;
  H.check_result = Callback<&Host::checkResult>::call;
  H.extension = Callback<&Host::extension>::call;
  Raw = Lent.addStruct(H, More);
  Lent.seal();
}

const void *Host::extension(const char *Id) {
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
  static const std::map<std::string, const void *> All = {
      {DTLTO_EXT_LOCAL_CODEGEN, &Codegen},
      {DTLTO_EXT_BUNDLE, &Bundle},
      {DTLTO_EXT_LOCAL_ROOM, &Room},
      {DTLTO_EXT_NUMBERS, &Numbers}};
  auto I = All.find(Id ? Id : "");
  return I == All.end() ? nullptr : I->second;
}

JobRecord *Host::find(uint64_t Job) {
  auto I = Jobs.find(Job);
  return I == Jobs.end() || I->second.Refused ? nullptr : &I->second;
}

JobRecord *Host::findRunning(uint64_t Job) {
  JobRecord *R = Phase == Closed ? nullptr : find(Job);
  return R && !R->Done ? R : nullptr;
}

std::vector<uint64_t> Host::accepted() {
  Guard Lock(Mutex);
  std::vector<uint64_t> Ids;
  for (auto &[Id, R] : Jobs)
    if (R.Accepted)
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
        return LoadAnswered >= Request || Phase == Closing;
      }))
    failAndExit("dtlto_plugin.load",
                Twine("while ") + Name +
                    "() was in the host, load() and submit() did not return",
                "hold no lock while you call the host");
}

void Host::log(uint32_t Level, const char *Message) {
  if (isLate("log"))
    return;
  std::string Text = Message ? Message : "";
  TheRules.log(Level, Message);
  std::fprintf(stderr, "log %u: %s\n", Level, Text.c_str());
  if (Level == DTLTO_LOG_ERROR) {
    Guard Lock(Mutex);
    if (Phase == Opening)
      OpenErrors += (OpenErrors.empty() ? "" : "; ") + Text;
    else
      HasGivenUp = true;
  }
  waitForLoadAnswer("log");
}

void Host::jobState(uint64_t Job, uint32_t, const char *) {
  if (isLate("job_state"))
    return;
  change([&] {
    TheRules.state(find(Job), jobName(Job));
    ++NumSigns;
  });
  waitForLoadAnswer("job_state");
}

void Host::loadChanged() {
  if (isLate("load_changed"))
    return;
  change([&] { ++RoomCount; });
  waitForLoadAnswer("load_changed");
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
                       jobName(Job));
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

/// Stores and checks \p Result, the first one of \p R.
void Host::storeResult(JobRecord &R, const dtlto_result &Result) {
  const std::string Job = jobName(R.Id);
  const int32_t Status = R.Status = Result.status;
  R.Message = Result.message ? Result.message : "";
  R.Buffer = Result.object;
  TheRules.result(Result, Job, R.Cancelled || Phase == Closing);
  if (R.Buffer.size > INT64_MAX)
    R.Buffer = {};
  const bool HasObject = R.Buffer.data && R.Buffer.size;
  if (Status == DTLTO_OK && HasObject) {
    R.Object.assign(static_cast<const char *>(R.Buffer.data), R.Buffer.size);
    R.Unframed = R.Object;
    // The object of a run() doesn't show its origin.
    if (R.UsesBundle && R.Buffer.data != R.LocalObject) {
      std::string Why = R.removeFrame(R.Unframed);
      expect(Why.empty(), "dtlto_job.config", Job + ": " + Why,
             "return unchanged what dtlto-codegen --frame makes of the job's "
             "bundle, or what run() returned");
    }
  }
  HasNamelessResult |= isNameless(Result);
}

void Host::jobDone(uint64_t Job, const dtlto_result *Result) {
  if (isLate("job_done"))
    return;
  waitForLoadAnswer("job_done");
  std::unique_lock<std::mutex> Lock(Mutex);
  if (!isLinkThread())
    Changed.wait_for(Lock, Opts.jobLimit(),
                     [&] { return !HoldsResults || Phase == Closing; });
  JobRecord *R = find(Job);
  if (!TheRules.isDue(R, R && !R->Done, jobName(Job)))
    return;
  TheRules.notInSubmit(InSubmit && isLinkThread());
  R->Done = true;
  if (JobInRoom == Job)
    JobInRoom = 0;
  ++NumEnded;
  ++NumSigns;
  if (TheRules.hasSize(Result, jobName(Job)))
    storeResult(*R, *Result);
  R->Lent.end("its job_done() was called");
  // The linker doesn't need it either, and releases it at once.
  dtlto_buffer Unwanted = {};
  if (R->Cancelled || Phase == Closing)
    std::swap(Unwanted, R->Buffer);
  NumReleasing += Unwanted.release != nullptr;
  Lock.unlock();
  Changed.notify_all();
  if (!Unwanted.release)
    return;
  Unwanted.release(Unwanted.owner, Unwanted.data, Unwanted.size);
  Lock.lock();
  --NumReleasing;
}

int32_t Host::checkResult(uint64_t Job, dtlto_span Object, char *Why,
                          uint64_t WhySize) {
  Guard Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!TheRules.checksRunningJob(R, jobName(Job)))
    return DTLTO_ERROR_CALLER;
  if (!R->UsesBundle || Object.data == R->LocalObject)
    return DTLTO_OK;
  std::string Bytes(static_cast<const char *>(Object.data), Object.size);
  std::string Text = R->removeFrame(Bytes);
  if (Why && WhySize)
    std::snprintf(Why, WhySize, "%s", Text.c_str());
  return Text.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
}

void HostBuffer::release() { TheRules.releasedOnce(++Releases, What); }

HostBuffer &Host::addBuffer(const char *What, uint64_t Job) {
  Buffers.push_back(
      std::make_unique<HostBuffer>(TheRules, What + (" of " + jobName(Job))));
  return *Buffers.back();
}

int32_t Host::runLocally(uint64_t Job, dtlto_result *Result) {
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = findRunning(Job);
  Result->object = {};
  Result->worker = nullptr;
  Result->message = "no such job";
  if (!TheRules.runsRunningJob(R, jobName(Job)))
    return Result->status = DTLTO_ERROR_CALLER;
  ++NumSigns;
  Changed.notify_all();
  Result->worker = "this machine";
  if (R->S.IsLong) {
    Changed.wait(Lock, [&] { return R->Cancelled || Phase == Closing; });
    return Result->status = DTLTO_CANCELLED;
  }
  static const std::string Error =
      std::string("error: invalid instruction '") + RefusedWord + "'";
  Result->message = Error.c_str();
  if (R->S.Object.empty())
    return Result->status = DTLTO_ERROR_COMPILER;
  Result->message = nullptr;
  HostBuffer &B = addBuffer("the linker's own object", Job);
  B.Bytes = R->S.Object;
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
  if (!R || !(Needs & DTLTO_JOB_CONFIG))
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
  if (!TheRules.entersOnce(R && JobInRoom != Job, jobName(Job)))
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
