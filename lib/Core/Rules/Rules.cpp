//===- Rules.cpp - The rules of the ABI that can be checked ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules/Rules.h"
#include "dtlto/ext/bundle.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

static constexpr char OffThread[] =
    "all calls of a session share one thread, and the link waits for each: do "
    "slow work on a thread of the plugin";

std::string dtlto::statusName(int32_t Status) {
  switch (Status) {
  case DTLTO_OK:
    return "DTLTO_OK";
  case DTLTO_BUSY:
    return "DTLTO_BUSY";
  case DTLTO_CANCELLED:
    return "DTLTO_CANCELLED";
  case DTLTO_ERROR_CALLER:
    return "DTLTO_ERROR_CALLER";
  case DTLTO_ERROR_INFRASTRUCTURE:
    return "DTLTO_ERROR_INFRASTRUCTURE";
  case DTLTO_ERROR_COMPILER:
    return "DTLTO_ERROR_COMPILER";
  default:
    return std::to_string(Status);
  }
}

void Rules::text(StringRef Section, const Twine &Who, StringRef Text) const {
  expect(
      !Text.contains('\n'), Section, Who + " is not one line: '" + Text + "'",
      "one line of text at a time; only a compiler's own output may have more");
  expect(!Text.starts_with(std::string(Plugin.name) + ":"), Section,
         Who +
             " begins with the plugin's name, which users would see twice: '" +
             Text + "'",
         "omit the name: the host adds it");
  auto *Begin = reinterpret_cast<const UTF8 *>(Text.begin());
  expect(isLegalUTF8String(&Begin, reinterpret_cast<const UTF8 *>(Text.end())),
         Section, Who + " is not UTF-8: '" + Text + "'",
         "convert text of other machines: users would see \\xNN");
}

const char *dtlto::nullHint(uint32_t Needs) {
  if (Needs & DTLTO_JOB_ARGS)
    return "";
  if (Needs & (DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG))
    return "a job's `args` and `output` are null, since configure() asked for "
           "no DTLTO_JOB_ARGS";
  return "a job's `inputs`, `args` and `output` are null, since configure() "
         "asked for none of these DTLTO_JOB_...";
}

//===----------------------------------------------------------------------===//
// Functions of the host
//===----------------------------------------------------------------------===//

bool Rules::isInTime(bool IsOpen, StringRef Function) const {
  return expect(IsOpen, "dtlto_plugin.close",
                Function + "() was called after close() had returned",
                "close() is a barrier: join each thread that can call the "
                "host, or wait until it no longer can");
}

void Rules::log(uint32_t Level, const char *Message) const {
  expect(Message && *Message, "dtlto_host.log",
         Message ? "a message is empty" : "a message is null",
         "give log() one line of text at a time");
  // A compiler's message may have several lines.
  if (Message && Level != DTLTO_LOG_COMPILER)
    text("dtlto_host.log", "a message", Message);
}

void Rules::state(bool IsKnown, const Twine &Job) const {
  expect(IsKnown, "dtlto_host.job_state",
         "a state of " + Job + ", which the plugin does not have",
         "report accepted jobs, under the id that submit() got, all 64 bits "
         "of it");
}

void Rules::number(const char *Name) const {
  expect(Name && *Name, "dtlto_numbers", "a number has no name",
         "give each number a few words for a name");
  if (Name)
    text("dtlto_numbers", "the name of a number", Name);
}

void Rules::numberOfJob(bool IsKnown, const Twine &Job) const {
  expect(IsKnown, "dtlto_numbers.job",
         "a number of " + Job + ", which the plugin does not have",
         "report numbers of accepted jobs, under the id that submit() got");
}

bool Rules::isDue(bool IsKnown, bool IsFirst, const Twine &Job) const {
  return expect(
             IsKnown, "dtlto_host.job_done",
             "a result for " + Job + ", which the plugin was never given",
             "report each accepted job once, under the id that submit() got, "
             "all 64 bits of it") &&
         expect(IsFirst, "dtlto_host.job_done", "a second result for " + Job,
                "exactly one job_done() for each accepted job: decide under a "
                "lock who reports it");
}

void Rules::notInSubmit(bool IsInSubmit) const {
  expect(!IsInSubmit, "dtlto_host.job_done",
         "job_done() was called from inside of submit()",
         "queue the job, and let a thread of the plugin report it");
}

bool Rules::hasSize(const dtlto_result *Result, const Twine &Job) const {
  return expect(hasField(Result, &dtlto_result::worker), "dtlto_result.size",
                Job + " has a result " +
                    (Result ? "of " + std::to_string(Result->size) + " bytes"
                            : "that is null"),
                "set `size` to sizeof(dtlto_result)") &&
         expect(Result->size <= sizeof(dtlto_result) ||
                    Plugin.abi_minor > DTLTO_ABI_MINOR,
                "dtlto_result.size",
                Job + " has a result of " + Twine(Result->size) +
                    " bytes, but in ABI " + Twine(Plugin.abi_major) + "." +
                    Twine(Plugin.abi_minor) + " it has " +
                    Twine(sizeof(dtlto_result)),
                "set `size` to sizeof(dtlto_result): a later linker would read "
                "fields that do not exist");
}

void Rules::result(const dtlto_result &Result, const Twine &Job,
                   bool MayBeCancelled, bool MayBeEmpty) const {
  const int32_t Status = Result.status;
  const dtlto_buffer &Object = Result.object;
  expect(Object.size <= INT64_MAX, "dtlto_result.object",
         Job + " claims an object of " + Twine(Object.size) + " bytes",
         "`size` is the number of bytes at `data`");
  expect(Status != DTLTO_OK || (Object.data && Object.size) || MayBeEmpty,
         "dtlto_result.object", Job + " is DTLTO_OK, with no object",
         "an exit code of 0 is not enough: without an object, report an "
         "infrastructure error");
  expect(Status == DTLTO_OK || !Object.size, "dtlto_result.object",
         Job + " has the status " + statusName(Status) + ", and an object",
         "leave `object` empty unless the status is DTLTO_OK");
  expect(Status != DTLTO_CANCELLED || MayBeCancelled, "DTLTO_CANCELLED",
         Job + " was cancelled without a request from the host",
         "report DTLTO_ERROR_INFRASTRUCTURE for a job that the DBS stopped");
  expect(
      Status == DTLTO_OK || Status == DTLTO_CANCELLED || isError(Status),
      "Constants", Job + " ended with the status " + statusName(Status),
      "a job ends with DTLTO_OK, DTLTO_CANCELLED or one of the three errors");
  if (Result.message &&
      (Status == DTLTO_ERROR_CALLER || Status == DTLTO_ERROR_INFRASTRUCTURE))
    text("dtlto_result.message", "the message of " + Job, Result.message);
  if (Result.worker)
    text("dtlto_result.worker", "the worker of " + Job, Result.worker);
}

bool Rules::checksRunningJob(bool IsRunning, const Twine &Job) const {
  return expect(IsRunning, "dtlto_host.check_result",
                "check_result() was called for " + Job + ", which has ended",
                "ask before the job_done()");
}

bool Rules::runsRunningJob(bool IsRunning, const Twine &Job) const {
  return expect(IsRunning, "dtlto_local_codegen.run",
                "run() was called for " + Job + ", which has ended",
                "run accepted jobs that have had no job_done() yet");
}

void Rules::bundleSize(uint32_t Size) const {
  expect(Size >= sizeof(dtlto_bundle_spans), "dtlto_bundle_spans.size",
         "make() was called with a struct of " + Twine(Size) + " bytes",
         "set `size` to sizeof(dtlto_bundle_spans)");
}

void Rules::entersOutside(bool IsInCall) const {
  expect(!IsInCall, "dtlto_local_room.enter",
         "enter() was called from inside of the plugin's own function",
         "it waits for other jobs: call it on a thread of the plugin");
}

bool Rules::entersOnce(bool IsRunning, const Twine &Job) const {
  return expect(IsRunning, "dtlto_local_room.enter",
                "enter() was called for " + Job +
                    ", which has ended or has already entered",
                "enter once, before the job_done()");
}

void Rules::releasedOnce(unsigned NumReleases, const Twine &What) const {
  expect(NumReleases < 2, "dtlto_buffer", What + " was released twice",
         "its last owner calls release() once; with job_done() that is the "
         "host");
}

void Rules::isReleased(unsigned NumReleases, const Twine &What) const {
  expect(NumReleases != 0, "dtlto_buffer", What + " was never released",
         "the last holder of a buffer calls release(owner, data, size) once");
}

//===----------------------------------------------------------------------===//
// Functions of the plugin
//===----------------------------------------------------------------------===//

void Rules::keptSize(uint32_t Before, uint32_t After, StringRef Name,
                     StringRef Type) const {
  expect(Before == After, Type, Name + "() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
}

void Rules::config(const dtlto_session_config &Config) const {
  const char *Section = "dtlto_session_config";
  expect(Config.needs < 2 * DTLTO_JOB_WHOLE_IMPORTS ||
             Plugin.abi_minor > DTLTO_ABI_MINOR,
         Section, "`needs` has bits that this ABI does not have",
         "combine DTLTO_JOB_... of the header that you have");
  if (Config.no_fallback)
    text(Section, "`no_fallback`", Config.no_fallback);
}

bool Rules::opened(const dtlto_session *Session) const {
  return expect(Session, "dtlto_plugin.open",
                "open() returned DTLTO_OK and set no session",
                "set *session; your functions get it back");
}

void Rules::openFailed(int32_t Status, StringRef Errors) const {
  expect(isError(Status), "Constants", "open() returned " + statusName(Status),
         "return DTLTO_OK or one of the three errors");
  expect(!Errors.empty(), "dtlto_plugin.open",
         "open() failed with " + statusName(Status) + ", without a message",
         "report the reason with host->log(DTLTO_LOG_ERROR) before you return");
}

void Rules::submitReturned(int32_t Status, bool IsDone) const {
  if (Status == DTLTO_OK)
    return;
  expect(!IsDone, "dtlto_plugin.submit",
         "a job had its job_done(), and then submit() returned " +
             statusName(Status),
         "return DTLTO_OK for a job that you have taken");
  expect(Status == DTLTO_BUSY || isError(Status), "Constants",
         "submit() returned " + statusName(Status),
         "return DTLTO_OK, DTLTO_BUSY, or one of the three errors");
}

void Rules::load(int32_t Status, const dtlto_load &L,
                 uint64_t NumAccepted) const {
  expect(Status == DTLTO_OK, "dtlto_plugin.load",
         "load() returned " + statusName(Status),
         "return DTLTO_OK, and leave unknown numbers unchanged");
  auto Check = [&](uint32_t Number, uint64_t Max, const Twine &What,
                   const char *Fix) {
    expect(Number == UINT32_MAX || Max == UINT32_MAX || Number <= Max,
           "dtlto_load", "load() says that " + Twine(Number) + What, Fix);
  };
  const std::string OfSlots = " of " + std::to_string(L.slots) + " slots are ";
  Check(L.free, L.slots, OfSlots + "free",
        "`free` is the number of slots that are idle, at most `slots`");
  Check(L.queued, NumAccepted,
        " accepted jobs do not run yet, but only " + Twine(NumAccepted) +
            " were ever accepted",
        "`queued` counts jobs of this session that were accepted and wait");
  Check(L.local, L.slots, OfSlots + "this machine's",
        "`local` is how many of `slots` take this machine's cores");
}

void Rules::hasEnded(bool IsDone, const Twine &Job) const {
  expect(IsDone, "dtlto_host.job_done",
         Job + " was accepted and has no job_done(), although close() has "
               "returned",
         "each accepted job has exactly one job_done(), cancelled ones "
         "included; close() returns after the last one");
}

void Rules::reportsRoom(bool HasReported, uint64_t NumAccepted) const {
  expect(HasReported, "DTLTO_BUSY",
         "after " + Twine(NumAccepted) +
             " accepted jobs, submit() returned DTLTO_BUSY, but "
             "load_changed() was not called after it, although all jobs have "
             "ended",
         "remember that you returned DTLTO_BUSY, and call load_changed() when "
         "there is room");
}

void Rules::threadsEnded(bool HaveEnded, const Twine &What) const {
  expect(HaveEnded, "Memory", What, FixOfThreads);
}

bool Rules::tookTime(StringRef Name, std::chrono::nanoseconds Time) {
  constexpr std::chrono::milliseconds TooLong = 250ms;
  CallTimes T;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    CallTimes &Sum = Times[Name.str()];
    Sum.Sum += Time;
    Sum.Longest = std::max(Sum.Longest, Time);
    Sum.NumLong += Time >= TooLong;
    ++Sum.NumCalls;
    T = Sum;
  }
  // An occasional slow call may be this machine's fault.
  return expect(T.NumCalls < EnoughCalls || T.NumLong * 4 < T.NumCalls * 3,
                ("dtlto_plugin." + Name).str(),
                Name + "() took more than " + Twine(TooLong.count()) +
                    " ms in " + Twine(T.NumLong) + " of " + Twine(T.NumCalls) +
                    " calls",
                OffThread);
}

void Rules::hung(StringRef Name, std::chrono::nanoseconds Time,
                 const Twine &Detail) const {
  const auto Seconds = std::chrono::ceil<std::chrono::seconds>(Time).count();
  Report(("dtlto_plugin." + Name).str(),
         Name + "() had not returned after " + Twine(Seconds) + " s" + Detail,
         Name == "close"
             ? "stop jobs that run, join your threads, wait for nothing else"
             : "do slow work on a thread of the plugin; hold no lock while you "
               "call the host");
}

std::vector<std::string> Rules::slowCalls() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<std::string> Sentences;
  for (auto &[Name, T] : Times)
    if (auto Average = T.Sum / T.NumCalls;
        T.NumCalls >= EnoughCalls && Average > 5ms)
      Sentences.push_back(
          Name + "() took " +
          std::to_string(
              std::chrono::round<std::chrono::milliseconds>(Average).count()) +
          " ms on average, more than 5: " + OffThread);
  return Sentences;
}

std::vector<std::string> Rules::callTimes() const {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<std::string> Sentences;
  for (auto &[Name, T] : Times)
    Sentences.push_back(
        formatv("{0}() was called {1} times: {2:f3} ms on average, at most "
                "{3:f3} ms",
                Name, T.NumCalls, Milliseconds(T.Sum).count() / T.NumCalls,
                Milliseconds(T.Longest).count())
            .str());
  return Sentences;
}
