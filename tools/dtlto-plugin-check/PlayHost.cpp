//===- PlayHost.cpp - The host's functions --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Play.h"
#include "PlayParts.h"
#include <cstddef>
#include <cstdio>

using namespace dtlto::check;
using namespace std::chrono_literals;

static constexpr uint32_t MinResultSize =
    offsetof(dtlto_result, worker) + sizeof(const char *);

bool Play::lateCall(const char *Name) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Closed)
    fail("dtlto_plugin.close",
         std::string(Name) + "() was called after close() had returned",
         "close() is a barrier: join each thread that can call the host, or "
         "wait until it can't");
  return Closed;
}

/// Lets a callback take its time: until the link thread had its answer of
/// load().
void Play::holdUp(const char *Name) {
  if (!Entangled || std::this_thread::get_id() == LinkThread)
    return;
  std::unique_lock<std::mutex> Lock(Mutex);
  uint64_t Mine = ++LoadWanted;
  Changed.notify_all();
  if (!Changed.wait_for(Lock, W.callLimit() + 2s,
                        [&] { return LoadAnswered >= Mine || Closing; }))
    failAndExit("dtlto_plugin.load",
                std::string("while ") + Name +
                    "() was in the host, load() and submit() didn't come back",
                "hold no lock while you call the host");
}

/// \p Text, which \p Who gave the host, is one line without the plugin's name.
void Play::checkText(const char *Section, const std::string &Who,
                     const std::string &Text) {
  if (Text.find('\n') != std::string::npos)
    fail(Section, Who + " isn't one line: '" + Text + "'",
         "one line of text at a time; only a compiler's own words have more");
  std::string Prefix = std::string(P.name) + ":";
  if (Text.compare(0, Prefix.size(), Prefix) == 0)
    fail(Section,
         Who +
             " begins with the plugin's name, which people will see twice: '" +
             Text + "'",
         "leave the name away: the host adds it");
}

void Play::log(uint32_t Level, const char *Message) {
  if (lateCall("log"))
    return;
  std::string Text = Message ? Message : "";
  if (Text.empty())
    fail("dtlto_host.log", Message ? "a message is empty" : "a message is null",
         "give log() one line of text at a time");
  // A compiler's words may have several lines.
  if (Level != DTLTO_LOG_COMPILER)
    checkText("dtlto_host.log", "a message", Text);
  std::fprintf(stderr, "log %u: %s\n", Level, Text.c_str());
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    GaveUp |= !InOpen && Level == DTLTO_LOG_ERROR;
    if (InOpen && Level == DTLTO_LOG_ERROR)
      OpenErrors += (OpenErrors.empty() ? "" : "; ") + Text;
  }
  holdUp("log");
}

void Play::jobState(uint64_t Job, uint32_t, const char *) {
  if (lateCall("job_state"))
    return;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Job);
    if (I == Jobs.end() || I->second->Refused)
      fail("dtlto_host.job_state",
           "a state of " + jobName(Job) + ", which the plugin doesn't have",
           "report accepted jobs, under the id that submit() got, all 64 bits "
           "of it");
    ++NumSigns;
  }
  Changed.notify_all();
  holdUp("job_state");
}

void Play::jobDone(uint64_t Job, const dtlto_result *Result) {
  if (lateCall("job_done"))
    return;
  holdUp("job_done");
  auto Wrong = [&](const char *Section, const std::string &What,
                   const char *Mend) { fail(Section, What, Mend); };
  std::unique_lock<std::mutex> Lock(Mutex);
  if (std::this_thread::get_id() != LinkThread)
    Changed.wait_for(Lock, W.jobLimit(), [&] { return !Holding || Closing; });
  auto I = Jobs.find(Job);
  if (I == Jobs.end() || I->second->Refused)
    return Wrong(
        "dtlto_host.job_done",
        "a result for " + jobName(Job) + ", which the plugin was never given",
        "report each accepted job once, under the id that submit() got, all 64 "
        "bits of it");
  Record &R = *I->second;
  if (R.E.Done)
    return Wrong("dtlto_host.job_done", "a second result for " + jobName(Job),
                 "exactly one job_done() for each accepted job: decide under a "
                 "lock who reports it");
  if (InSubmit && std::this_thread::get_id() == LinkThread)
    Wrong("dtlto_host.job_done",
          "job_done() was called from inside of submit()",
          "queue the job, and let a thread of the plugin report it");
  R.E.Done = true;
  if (InRoom == Job)
    InRoom = 0;
  ++NumEnded;
  ++NumSigns;
  if (!Result || Result->size < MinResultSize) {
    Wrong("dtlto_result.size",
          jobName(Job) + " has a result " +
              (Result ? "of " + std::to_string(Result->size) + " bytes"
                      : "that is null"),
          "set `size` to sizeof(dtlto_result)");
  } else {
    R.E.Status = Result->status;
    R.E.Message = Result->message ? Result->message : "";
    R.Object = Result->object;
    if (R.Object.size > INT64_MAX) {
      Wrong("dtlto_result.object",
            jobName(Job) + " has an object of " +
                std::to_string(R.Object.size) + " bytes, as it says",
            "`size` is the number of bytes at `data`");
      R.Object = {};
    }
    bool Empty = !R.Object.data || R.Object.size == 0;
    std::string Status = std::to_string(R.E.Status);
    if (R.E.Status == DTLTO_OK && !Empty)
      R.E.Object.assign(static_cast<const char *>(R.Object.data),
                        R.Object.size);
    R.E.Made = R.E.Object;
    // That it was tried here doesn't tell where this object is from.
    if (R.E.Status == DTLTO_OK && !Empty && R.HasBundle &&
        R.Object.data != R.MadeHere) {
      if (std::string Why = takeFromFrame(*R.S, R.E.Made); !Why.empty())
        Wrong(
            "dtlto_job.config", jobName(Job) + ": " + Why,
            "hand on, as it is, what dtlto-codegen --frame makes of the job's "
            "bundle, or what run() gave you");
    }
    if (R.E.Status == DTLTO_OK && Empty)
      Wrong("dtlto_result.object",
            jobName(Job) + " is DTLTO_OK, with no object",
            "an exit code of 0 proves nothing: read the object first, else it "
            "is an infrastructure error");
    if (R.E.Status != DTLTO_OK && R.Object.size)
      Wrong("dtlto_result.object",
            jobName(Job) + " has the status " + Status + ", and an object",
            "leave `object` empty unless the status is DTLTO_OK");
    if (R.E.Status == DTLTO_CANCELLED && !R.Cancelled && !Closing)
      Wrong("DTLTO_CANCELLED",
            jobName(Job) + " was cancelled, and the host hasn't asked for it",
            "what the DBS stopped is DTLTO_ERROR_INFRASTRUCTURE");
    if (R.E.Status != DTLTO_OK && R.E.Status != DTLTO_CANCELLED &&
        (R.E.Status < DTLTO_ERROR_CALLER || R.E.Status > DTLTO_ERROR_COMPILER))
      Wrong("Constants", jobName(Job) + " ended with the status " + Status,
            "a job ends with DTLTO_OK, DTLTO_CANCELLED or one of the three "
            "errors");
    if (R.E.Status == DTLTO_ERROR_CALLER ||
        R.E.Status == DTLTO_ERROR_INFRASTRUCTURE)
      checkText("dtlto_result.message", "the message of " + jobName(Job),
                R.E.Message);
  }
  R.Lent.end("its job_done() was called");
  // The linker, too, has no use for it, and doesn't keep it until its end.
  dtlto_buffer Unwanted = {};
  if (R.Cancelled || Closing)
    std::swap(Unwanted, R.Object);
  NumReleasing += Unwanted.release != nullptr;
  Lock.unlock();
  Changed.notify_all();
  if (!Unwanted.release)
    return;
  Unwanted.release(Unwanted.owner, Unwanted.data, Unwanted.size);
  Lock.lock();
  --NumReleasing;
}

void Play::loadChanged() {
  if (lateCall("load_changed"))
    return;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++RoomCount;
  }
  Changed.notify_all();
  holdUp("load_changed");
}

const void *Play::extension(const char *Id) {
  std::string Name = Id ? Id : "";
  if (Name == DTLTO_EXT_LOCAL_CODEGEN)
    return &LocalCodegen;
  if (Name == DTLTO_EXT_BUNDLE)
    return &BundleExtension;
  if (Name == DTLTO_EXT_LOCAL_ROOM)
    return &LocalRoom;
  if (Name == DTLTO_EXT_NUMBERS)
    return &Numbers;
  return nullptr;
}

void Play::checkNumber(const char *Name, const uint64_t *Job) {
  if (lateCall("a function of dtlto.numbers/1"))
    return;
  std::string Text = Name ? Name : "";
  if (Text.empty())
    fail("dtlto_numbers", "a number has no name",
         "give each number a few words for a name");
  checkText("dtlto_numbers", "the name of a number", Text);
  if (Job) {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(*Job);
    if (I == Jobs.end() || I->second->Refused)
      fail("dtlto_numbers.job",
           "a number of " + jobName(*Job) + ", which the plugin doesn't have",
           "tell of accepted jobs, under the id that submit() got");
  }
  holdUp("numbers");
}

Play::HostBuffer &Play::lendMemory(const char *What, uint64_t Job,
                                   std::string Bytes) {
  auto New = std::make_unique<HostBuffer>();
  New->What = std::string(What) + " of " + jobName(Job);
  New->Bytes = std::move(Bytes);
  std::lock_guard<std::mutex> Lock(Mutex);
  Lent.push_back(std::move(New));
  return *Lent.back();
}

void Play::HostBuffer::release() {
  if (++Releases == 2)
    fail("dtlto_buffer", What + " was released twice",
         "its last owner calls release() once; with job_done() that is the "
         "host");
}

dtlto_buffer Play::lend(const char *What, uint64_t Job, std::string Bytes) {
  HostBuffer *B = &lendMemory(What, Job, std::move(Bytes));
  return {B->Bytes.data(), B->Bytes.size(), B,
          [](void *Owner, const void *Data, uint64_t Size) {
            auto *B = static_cast<HostBuffer *>(Owner);
            B->release();
            if (Data != B->Bytes.data() || Size != B->Bytes.size())
              fail("dtlto_buffer",
                   B->What + " was released with other arguments than its own",
                   "call buffer.release(buffer.owner, buffer.data, "
                   "buffer.size)");
          }};
}

int32_t Play::runLocally(uint64_t Job, dtlto_result *Result) {
  Result->object = {};
  Result->worker = nullptr;
  Result->message = "no such job";
  const Sample *S = nullptr;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Job);
    if (Closed || I == Jobs.end() || I->second->E.Done) {
      fail("dtlto_local_codegen.run",
           "run() was called for " + jobName(Job) + ", which has ended",
           "run accepted jobs that have had no job_done() yet");
      return Result->status = DTLTO_ERROR_CALLER;
    }
    S = I->second->S;
    ++NumSigns;
  }
  Changed.notify_all();
  Result->message = nullptr;
  Result->worker = "this machine";
  if (S->Object.empty()) {
    Result->message = "the module can't be read";
    return Result->status = DTLTO_ERROR_COMPILER;
  }
  Result->object = lend("the linker's own object", Job, S->Object);
  std::lock_guard<std::mutex> Lock(Mutex);
  Jobs[Job]->MadeHere = Result->object.data;
  return Result->status = DTLTO_OK;
}

/// Null: the job has no bundle, or not any more.
Play::Record *Play::recordForBundle(uint64_t Job) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto I = Jobs.find(Job);
  if (Closed || I == Jobs.end() || I->second->E.Done ||
      !(Needs & DTLTO_JOB_CONFIG))
    return nullptr;
  I->second->HasBundle = true;
  return I->second.get();
}

int32_t Play::checkResult(uint64_t Job, dtlto_span Object, char *Why,
                          uint64_t WhySize) {
  const Sample *S = nullptr;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Job);
    if (Closed || I == Jobs.end() || I->second->E.Done) {
      fail("dtlto_host.check_result",
           "check_result() was called for " + jobName(Job) +
               ", which has ended",
           "ask before the job_done()");
      return DTLTO_ERROR_CALLER;
    }
    if (!I->second->HasBundle || Object.data == I->second->MadeHere)
      return DTLTO_OK;
    S = I->second->S;
  }
  std::string Bytes(static_cast<const char *>(Object.data), Object.size);
  std::string Text = takeFromFrame(*S, Bytes);
  if (Why && WhySize)
    std::snprintf(Why, WhySize, "%s", Text.c_str());
  return Text.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
}

/// There is room for one job at a time.
int32_t Play::enterRoom(uint64_t Job) {
  if (std::this_thread::get_id() == LinkThread)
    failAndExit("dtlto_local_room.enter",
                "enter() was called from inside of the plugin's own function",
                "it waits for other jobs: call it on a thread of the plugin");
  holdUp("enter");
  std::unique_lock<std::mutex> Lock(Mutex);
  auto I = Jobs.find(Job);
  if (Closed || I == Jobs.end() || I->second->E.Done || InRoom == Job) {
    fail("dtlto_local_room.enter",
         "enter() was called for " + jobName(Job) +
             ", which has ended or is in already",
         "enter once, before the job_done()");
    return DTLTO_ERROR_CALLER;
  }
  Changed.wait(Lock,
               [&] { return InRoom == 0 || I->second->Cancelled || Closing; });
  if (InRoom != 0)
    return DTLTO_CANCELLED;
  InRoom = Job;
  return DTLTO_OK;
}

void Play::leaveRoom(uint64_t Job) {
  if (lateCall("leave"))
    return;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (InRoom == Job)
      InRoom = 0;
  }
  Changed.notify_all();
}

int32_t Play::bundle(uint64_t Job, dtlto_bundle_spans *Out) {
  if (Out->size < sizeof(*Out))
    fail("dtlto_bundle_spans.size",
         "make() was called with a struct of " + std::to_string(Out->size) +
             " bytes",
         "set `size` to sizeof(dtlto_bundle_spans)");
  *Out = {sizeof(*Out), 0, nullptr, nullptr, nullptr};
  Record *R = recordForBundle(Job);
  if (!R)
    return DTLTO_ERROR_CALLER;
  HostBuffer &B = lendMemory("the bundle", Job, "");
  B.Spans = makeBundleSpans(*R->S, *R->Raw, B.Bytes);
  if (B.Spans.empty()) {
    B.release(); // the plugin has nothing to release
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  Out->num_spans = static_cast<uint32_t>(B.Spans.size());
  Out->spans = B.Spans.data();
  Out->owner = &B;
  Out->release = [](void *Owner) {
    static_cast<HostBuffer *>(Owner)->release();
  };
  return DTLTO_OK;
}
