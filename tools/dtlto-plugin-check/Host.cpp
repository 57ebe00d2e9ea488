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
#include <cstddef>
#include <cstdio>

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
      Lent(*new Loan(
          "the dtlto_host",
          "close() is a barrier: it waits until no thread of yours can call "
          "the host any more; join them, or count their calls")) {
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
  return !expect(locked([&] { return Phase != Closed; }), "dtlto_plugin.close",
                 Twine(Name) + "() was called after close() had returned",
                 "close() is a barrier: join each thread that can call the "
                 "host, or wait until it no longer can");
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

void Host::checkText(const char *Section, const Twine &Who, StringRef Text) {
  expect(
      !Text.contains('\n'), Section, Who + " is not one line: '" + Text + "'",
      "one line of text at a time; only a compiler's own output may have more");
  expect(!Text.starts_with(std::string(ThePlugin.name) + ":"), Section,
         Who +
             " begins with the plugin's name, which users would see twice: '" +
             Text + "'",
         "omit the name: the host adds it");
}

void Host::log(uint32_t Level, const char *Message) {
  if (isLate("log"))
    return;
  std::string Text = Message ? Message : "";
  expect(!Text.empty(), "dtlto_host.log",
         Message ? "a message is empty" : "a message is null",
         "give log() one line of text at a time");
  // A compiler's message may have several lines.
  if (Level != DTLTO_LOG_COMPILER)
    checkText("dtlto_host.log", "a message", Text);
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
    expect(find(Job), "dtlto_host.job_state",
           "a state of " + jobName(Job) + ", which the plugin does not have",
           "report accepted jobs, under the id that submit() got, all 64 bits "
           "of it");
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
  StringRef Text = Name ? Name : "";
  expect(!Text.empty(), "dtlto_numbers", "a number has no name",
         "give each number a few words for a name");
  checkText("dtlto_numbers", "the name of a number", Text);
  waitForLoadAnswer("numbers");
}

void Host::jobNumber(uint64_t Job, const char *Name, uint32_t Unit,
                     uint64_t Value) {
  expect(locked([&] { return Phase == Closed || find(Job); }),
         "dtlto_numbers.job",
         "a number of " + jobName(Job) + ", which the plugin does not have",
         "report numbers of accepted jobs, under the id that submit() got");
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
  if (!expect(R.Buffer.size <= INT64_MAX, "dtlto_result.object",
              Job + " claims an object of " + Twine(R.Buffer.size) + " bytes",
              "`size` is the number of bytes at `data`"))
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
  HasNamelessResult |=
      Status == DTLTO_OK && (!Result.worker || !*Result.worker);
  expect(Status != DTLTO_OK || HasObject, "dtlto_result.object",
         Job + " is DTLTO_OK, with no object",
         "an exit code of 0 is not enough: without an object, report an "
         "infrastructure error");
  expect(Status == DTLTO_OK || !R.Buffer.size, "dtlto_result.object",
         Job + " has the status " + Twine(Status) + ", and an object",
         "leave `object` empty unless the status is DTLTO_OK");
  expect(Status != DTLTO_CANCELLED || R.Cancelled || Phase == Closing,
         "DTLTO_CANCELLED",
         Job + " was cancelled without a request from the host",
         "report DTLTO_ERROR_INFRASTRUCTURE for a job that the DBS stopped");
  expect(
      Status == DTLTO_OK || Status == DTLTO_CANCELLED || isError(Status),
      "Constants", Job + " ended with the status " + Twine(Status),
      "a job ends with DTLTO_OK, DTLTO_CANCELLED or one of the three errors");
  if (Status == DTLTO_ERROR_CALLER || Status == DTLTO_ERROR_INFRASTRUCTURE)
    checkText("dtlto_result.message", "the message of " + Job, R.Message);
}

void Host::jobDone(uint64_t Job, const dtlto_result *Result) {
  constexpr uint32_t MinSize =
      offsetof(dtlto_result, worker) + sizeof(const char *);
  if (isLate("job_done"))
    return;
  waitForLoadAnswer("job_done");
  std::unique_lock<std::mutex> Lock(Mutex);
  if (!isLinkThread())
    Changed.wait_for(Lock, Opts.jobLimit(),
                     [&] { return !HoldsResults || Phase == Closing; });
  JobRecord *R = find(Job);
  if (!R)
    return fail("dtlto_host.job_done",
                "a result for " + jobName(Job) +
                    ", which the plugin was never given",
                "report each accepted job once, under the id that submit() "
                "got, all 64 bits of it");
  if (!expect(!R->Done, "dtlto_host.job_done",
              "a second result for " + jobName(Job),
              "exactly one job_done() for each accepted job: decide under a "
              "lock who reports it"))
    return;
  expect(!InSubmit || !isLinkThread(), "dtlto_host.job_done",
         "job_done() was called from inside of submit()",
         "queue the job, and let a thread of the plugin report it");
  R->Done = true;
  if (JobInRoom == Job)
    JobInRoom = 0;
  ++NumEnded;
  ++NumSigns;
  if (expect(Result && Result->size >= MinSize, "dtlto_result.size",
             jobName(Job) + " has a result " +
                 (Result ? "of " + std::to_string(Result->size) + " bytes"
                         : "that is null"),
             "set `size` to sizeof(dtlto_result)") &&
      expect(Result->size <= sizeof(dtlto_result) ||
                 ThePlugin.abi_minor > DTLTO_ABI_MINOR,
             "dtlto_result.size",
             jobName(Job) + " has a result of " + Twine(Result->size) +
                 " bytes, but in ABI " + Twine(ThePlugin.abi_major) + "." +
                 Twine(ThePlugin.abi_minor) + " it has " +
                 Twine(sizeof(dtlto_result)),
             "set `size` to sizeof(dtlto_result): a later linker would read "
             "fields that do not exist"))
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
  if (!expect(R, "dtlto_host.check_result",
              "check_result() was called for " + jobName(Job) +
                  ", which has ended",
              "ask before the job_done()"))
    return DTLTO_ERROR_CALLER;
  if (!R->UsesBundle || Object.data == R->LocalObject)
    return DTLTO_OK;
  std::string Bytes(static_cast<const char *>(Object.data), Object.size);
  std::string Text = R->removeFrame(Bytes);
  if (Why && WhySize)
    std::snprintf(Why, WhySize, "%s", Text.c_str());
  return Text.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
}

void HostBuffer::release() {
  expect(++Releases != 2, "dtlto_buffer", What + " was released twice",
         "its last owner calls release() once; with job_done() that is the "
         "host");
}

HostBuffer &Host::addBuffer(const char *What, uint64_t Job) {
  Buffers.push_back(std::make_unique<HostBuffer>());
  Buffers.back()->What = What + (" of " + jobName(Job));
  return *Buffers.back();
}

int32_t Host::runLocally(uint64_t Job, dtlto_result *Result) {
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = findRunning(Job);
  Result->object = {};
  Result->worker = nullptr;
  Result->message = "no such job";
  if (!expect(R, "dtlto_local_codegen.run",
              "run() was called for " + jobName(Job) + ", which has ended",
              "run accepted jobs that have had no job_done() yet"))
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
  expect(Out->size >= sizeof(*Out), "dtlto_bundle_spans.size",
         "make() was called with a struct of " + Twine(Out->size) + " bytes",
         "set `size` to sizeof(dtlto_bundle_spans)");
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
  if (isLinkThread())
    failAndExit("dtlto_local_room.enter",
                "enter() was called from inside of the plugin's own function",
                "it waits for other jobs: call it on a thread of the plugin");
  waitForLoadAnswer("enter");
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!expect(R && JobInRoom != Job, "dtlto_local_room.enter",
              "enter() was called for " + jobName(Job) +
                  ", which has ended or has already entered",
              "enter once, before the job_done()"))
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
