//===- Host.cpp - The host's functions ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include <cstddef>
#include <cstdio>

using namespace dtlto::check;
using namespace std::chrono_literals;
using Guard = std::lock_guard<std::mutex>;

static constexpr uint32_t MinResultSize =
    offsetof(dtlto_result, worker) + sizeof(const char *);

Milliseconds Options::callLimit() const {
  return std::min<Milliseconds>(10s, CaseLimit / 4);
}
Milliseconds Options::closeLimit() const { // as the linker
  return std::min<Milliseconds>(10s, CaseLimit / 3);
}
Milliseconds Options::jobLimit() const { return CaseLimit / 3; }

std::string dtlto::check::jobName(uint64_t Id) {
  return "job " + std::to_string(Id);
}

/// The C function for a member of Host.
template <typename R, typename... Args, R (Host::*Fn)(Args...)>
struct Host::Callback<Fn> {
  static R call(dtlto_host_context *Context, Args... A) {
    return (reinterpret_cast<Host *>(Context)->*Fn)(A...);
  }
};

Host::Host(const dtlto_plugin &P, const Options &O, const HostAge &Age)
    : P(P), O(O), Age(Age),
      Lent(*new Loan(
          "the dtlto_host",
          "close() is a barrier: it waits until no thread of yours can call "
          "the host any more; join them, or count their calls")) {
  dtlto_host H = {};
  H.size = static_cast<uint32_t>(sizeof(H) + Age.More);
  H.abi_major = DTLTO_ABI_MAJOR;
  H.abi_minor = Age.Minor;
  H.name = Lent.addString("dtlto");
  H.version = Lent.addString("plugin-check");
  H.context = reinterpret_cast<dtlto_host_context *>(this);
  H.log = Callback<&Host::log>::call;
  H.job_state = Callback<&Host::jobState>::call;
  H.job_done = Callback<&Host::jobDone>::call;
  H.load_changed = Callback<&Host::loadChanged>::call;
  H.check_result = Callback<&Host::checkResult>::call;
  H.extension = Callback<&Host::extension>::call;
  Raw = Lent.addStruct(H, Age.More);
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

bool Host::isLate(const char *Name) {
  Guard Lock(Mutex);
  if (Phase == Closed)
    fail("dtlto_plugin.close",
         std::string(Name) + "() was called after close() had returned",
         "close() is a barrier: join each thread that can call the host, or "
         "wait until it can't");
  return Phase == Closed;
}

/// Lets a callback take its time: until the link's thread had its answer of
/// load().
void Host::holdUp(const char *Name) {
  if (!Entangled || std::this_thread::get_id() == LinkThread)
    return;
  std::unique_lock<std::mutex> Lock(Mutex);
  uint64_t Mine = ++LoadWanted;
  Changed.notify_all();
  if (!Changed.wait_for(Lock, O.callLimit() + 2s, [&] {
        return LoadAnswered >= Mine || Phase == Closing;
      }))
    failAndExit("dtlto_plugin.load",
                std::string("while ") + Name +
                    "() was in the host, load() and submit() didn't come back",
                "hold no lock while you call the host");
}

void Host::checkText(const char *Section, const std::string &Who,
                     const std::string &Text) {
  if (Text.find('\n') != std::string::npos)
    fail(Section, Who + " isn't one line: '" + Text + "'",
         "one line of text at a time; only a compiler's own words have more");
  if (Text.rfind(std::string(P.name) + ":", 0) == 0)
    fail(Section,
         Who +
             " begins with the plugin's name, which people will see twice: '" +
             Text + "'",
         "leave the name away: the host adds it");
}

void Host::log(uint32_t Level, const char *Message) {
  if (isLate("log"))
    return;
  std::string Text = Message ? Message : "";
  if (Text.empty())
    fail("dtlto_host.log", Message ? "a message is empty" : "a message is null",
         "give log() one line of text at a time");
  // A compiler's words may have several lines.
  if (Level != DTLTO_LOG_COMPILER)
    checkText("dtlto_host.log", "a message", Text);
  std::fprintf(stderr, "log %u: %s\n", Level, Text.c_str());
  if (Level == DTLTO_LOG_ERROR) {
    Guard Lock(Mutex);
    if (Phase == Opening)
      OpenErrors += (OpenErrors.empty() ? "" : "; ") + Text;
    else
      GaveUp = true;
  }
  holdUp("log");
}

void Host::jobState(uint64_t Job, uint32_t, const char *) {
  if (isLate("job_state"))
    return;
  {
    Guard Lock(Mutex);
    if (!find(Job))
      fail("dtlto_host.job_state",
           "a state of " + jobName(Job) + ", which the plugin doesn't have",
           "report accepted jobs, under the id that submit() got, all 64 bits "
           "of it");
    ++NumSigns;
  }
  Changed.notify_all();
  holdUp("job_state");
}

/// Keeps what \p Result, the first of \p R, has, and checks it.
void Host::takeResult(JobRecord &R, const dtlto_result *Result) {
  auto Check = [&](bool IsWrong, const char *Section, const std::string &What,
                   const char *Mend) {
    if (IsWrong)
      fail(Section, jobName(R.Id) + What, Mend);
  };
  if (!Result || Result->size < MinResultSize)
    return Check(true, "dtlto_result.size",
                 " has a result " +
                     (Result ? "of " + std::to_string(Result->size) + " bytes"
                             : "that is null"),
                 "set `size` to sizeof(dtlto_result)");
  const int32_t Status = R.Status = Result->status;
  R.Message = Result->message ? Result->message : "";
  R.Buffer = Result->object;
  if (R.Buffer.size > INT64_MAX) {
    Check(true, "dtlto_result.object",
          " has an object of " + std::to_string(R.Buffer.size) +
              " bytes, as it says",
          "`size` is the number of bytes at `data`");
    R.Buffer = {};
  }
  const bool HasObject = R.Buffer.data && R.Buffer.size;
  if (Status == DTLTO_OK && HasObject) {
    R.Object.assign(static_cast<const char *>(R.Buffer.data), R.Buffer.size);
    R.Made = R.Object;
    // That it was tried here doesn't tell where this object is from.
    if (R.HasBundle && R.Buffer.data != R.MadeHere) {
      std::string Why = takeFromFrame(R.Known, R.Made);
      Check(!Why.empty(), "dtlto_job.config", ": " + Why,
            "hand on, as it is, what dtlto-codegen --frame makes of the job's "
            "bundle, or what run() gave you");
    }
  }
  Check(Status == DTLTO_OK && !HasObject, "dtlto_result.object",
        " is DTLTO_OK, with no object",
        "an exit code of 0 proves nothing: read the object first, else it is "
        "an infrastructure error");
  Check(Status != DTLTO_OK && R.Buffer.size, "dtlto_result.object",
        " has the status " + std::to_string(Status) + ", and an object",
        "leave `object` empty unless the status is DTLTO_OK");
  Check(Status == DTLTO_CANCELLED && !R.Cancelled && Phase != Closing,
        "DTLTO_CANCELLED", " was cancelled, and the host hasn't asked for it",
        "what the DBS stopped is DTLTO_ERROR_INFRASTRUCTURE");
  Check(Status != DTLTO_OK && Status != DTLTO_CANCELLED &&
            (Status < DTLTO_ERROR_CALLER || Status > DTLTO_ERROR_COMPILER),
        "Constants", " ended with the status " + std::to_string(Status),
        "a job ends with DTLTO_OK, DTLTO_CANCELLED or one of the three errors");
  if (Status == DTLTO_ERROR_CALLER || Status == DTLTO_ERROR_INFRASTRUCTURE)
    checkText("dtlto_result.message", "the message of " + jobName(R.Id),
              R.Message);
}

void Host::jobDone(uint64_t Job, const dtlto_result *Result) {
  if (isLate("job_done"))
    return;
  holdUp("job_done");
  std::unique_lock<std::mutex> Lock(Mutex);
  if (std::this_thread::get_id() != LinkThread)
    Changed.wait_for(Lock, O.jobLimit(),
                     [&] { return !Holding || Phase == Closing; });
  JobRecord *R = find(Job);
  if (!R)
    return fail("dtlto_host.job_done",
                "a result for " + jobName(Job) +
                    ", which the plugin was never given",
                "report each accepted job once, under the id that submit() "
                "got, all 64 bits of it");
  if (R->Done)
    return fail("dtlto_host.job_done", "a second result for " + jobName(Job),
                "exactly one job_done() for each accepted job: decide under a "
                "lock who reports it");
  if (InSubmit && std::this_thread::get_id() == LinkThread)
    fail("dtlto_host.job_done", "job_done() was called from inside of submit()",
         "queue the job, and let a thread of the plugin report it");
  R->Done = true;
  if (InRoom == Job)
    InRoom = 0;
  ++NumEnded;
  ++NumSigns;
  takeResult(*R, Result);
  R->Lent.end("its job_done() was called");
  // The linker, too, has no use for it, and doesn't keep it until its end.
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

const JobRecord *Host::job(uint64_t Id) {
  Guard Lock(Mutex);
  return find(Id);
}

std::vector<uint64_t> Host::accepted() {
  Guard Lock(Mutex);
  std::vector<uint64_t> Ids;
  for (auto &[Id, R] : Jobs)
    if (R.Accepted)
      Ids.push_back(Id);
  return Ids;
}

uint64_t Host::roomCount() {
  Guard Lock(Mutex);
  return RoomCount;
}

bool Host::hasGivenUp() {
  Guard Lock(Mutex);
  return GaveUp;
}

void Host::holdResults(bool Hold) {
  {
    Guard Lock(Mutex);
    Holding = Hold;
  }
  Changed.notify_all();
}

void Host::loadChanged() {
  if (isLate("load_changed"))
    return;
  {
    Guard Lock(Mutex);
    ++RoomCount;
  }
  Changed.notify_all();
  holdUp("load_changed");
}

void Host::sessionNumber(const char *Name, uint32_t, uint64_t) {
  if (isLate("a function of dtlto.numbers/1"))
    return;
  std::string Text = Name ? Name : "";
  if (Text.empty())
    fail("dtlto_numbers", "a number has no name",
         "give each number a few words for a name");
  checkText("dtlto_numbers", "the name of a number", Text);
  holdUp("numbers");
}

void Host::jobNumber(uint64_t Job, const char *Name, uint32_t Unit,
                     uint64_t Value) {
  {
    Guard Lock(Mutex);
    if (Phase != Closed && !find(Job))
      fail("dtlto_numbers.job",
           "a number of " + jobName(Job) + ", which the plugin doesn't have",
           "tell of accepted jobs, under the id that submit() got");
  }
  sessionNumber(Name, Unit, Value);
}

static void release(HostBuffer &B) {
  if (++B.Releases == 2)
    fail("dtlto_buffer", B.What + " was released twice",
         "its last owner calls release() once; with job_done() that is the "
         "host");
}

HostBuffer &Host::lendBuffer(const char *What, uint64_t Job) {
  Buffers.push_back(std::make_unique<HostBuffer>());
  Buffers.back()->What = What + (" of " + jobName(Job));
  return *Buffers.back();
}

int32_t Host::runLocally(uint64_t Job, dtlto_result *Result) {
  Guard Lock(Mutex);
  JobRecord *R = findRunning(Job);
  Result->object = {};
  Result->worker = nullptr;
  Result->message = "no such job";
  if (!R) {
    fail("dtlto_local_codegen.run",
         "run() was called for " + jobName(Job) + ", which has ended",
         "run accepted jobs that have had no job_done() yet");
    return Result->status = DTLTO_ERROR_CALLER;
  }
  ++NumSigns;
  Changed.notify_all();
  Result->worker = "this machine";
  if (R->S.Object.empty()) {
    Result->message = "the module can't be read";
    return Result->status = DTLTO_ERROR_COMPILER;
  }
  Result->message = nullptr;
  HostBuffer &B = lendBuffer("the linker's own object", Job);
  B.Bytes = R->S.Object;
  R->MadeHere = B.Bytes.data();
  Result->object = {
      B.Bytes.data(), B.Bytes.size(), &B,
      [](void *Owner, const void *Data, uint64_t Size) {
        auto *B = static_cast<HostBuffer *>(Owner);
        release(*B);
        if (Data != B->Bytes.data() || Size != B->Bytes.size())
          fail("dtlto_buffer",
               B->What + " was released with other arguments than its own",
               "call buffer.release(buffer.owner, buffer.data, buffer.size)");
      }};
  return Result->status = DTLTO_OK;
}

int32_t Host::checkResult(uint64_t Job, dtlto_span Object, char *Why,
                          uint64_t WhySize) {
  Guard Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!R) {
    fail("dtlto_host.check_result",
         "check_result() was called for " + jobName(Job) + ", which has ended",
         "ask before the job_done()");
    return DTLTO_ERROR_CALLER;
  }
  if (!R->HasBundle || Object.data == R->MadeHere)
    return DTLTO_OK;
  std::string Bytes(static_cast<const char *>(Object.data), Object.size);
  std::string Text = takeFromFrame(R->Known, Bytes);
  if (Why && WhySize)
    std::snprintf(Why, WhySize, "%s", Text.c_str());
  return Text.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
}

int32_t Host::bundle(uint64_t Job, dtlto_bundle_spans *Out) {
  if (Out->size < sizeof(*Out))
    fail("dtlto_bundle_spans.size",
         "make() was called with a struct of " + std::to_string(Out->size) +
             " bytes",
         "set `size` to sizeof(dtlto_bundle_spans)");
  *Out = {sizeof(*Out), 0, nullptr, nullptr, nullptr};
  Guard Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!R || !(Needs & DTLTO_JOB_CONFIG))
    return DTLTO_ERROR_CALLER;
  R->HasBundle = true;
  JobBundle Made = makeBundle(R->Known);
  if (Made.Spans.empty())
    return DTLTO_ERROR_INFRASTRUCTURE;
  for (dtlto_bundle_span &Span : Made.Spans)
    if (Span.input)
      Span.input = R->Raw->inputs[Span.input - R->KnownInputs.data()];
  HostBuffer &B = lendBuffer("the bundle", Job);
  B.Bundle = std::move(Made);
  Out->num_spans = static_cast<uint32_t>(B.Bundle.Spans.size());
  Out->spans = B.Bundle.Spans.data();
  Out->owner = &B;
  Out->release = [](void *Owner) {
    release(*static_cast<HostBuffer *>(Owner));
  };
  return DTLTO_OK;
}

/// There is room for one job at a time.
int32_t Host::enterRoom(uint64_t Job) {
  if (std::this_thread::get_id() == LinkThread)
    failAndExit("dtlto_local_room.enter",
                "enter() was called from inside of the plugin's own function",
                "it waits for other jobs: call it on a thread of the plugin");
  holdUp("enter");
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = findRunning(Job);
  if (!R || InRoom == Job) {
    fail("dtlto_local_room.enter",
         "enter() was called for " + jobName(Job) +
             ", which has ended or is in already",
         "enter once, before the job_done()");
    return DTLTO_ERROR_CALLER;
  }
  Changed.wait(Lock,
               [&] { return InRoom == 0 || R->Cancelled || Phase == Closing; });
  if (InRoom != 0)
    return DTLTO_CANCELLED;
  InRoom = Job;
  return DTLTO_OK;
}

void Host::leaveRoom(uint64_t Job, uint64_t) {
  if (isLate("leave"))
    return;
  {
    Guard Lock(Mutex);
    if (InRoom == Job)
      InRoom = 0;
  }
  Changed.notify_all();
}
