//===- CheckedHost.cpp - The functions of a checked plugin's host ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/CheckedSession.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace dtlto;

uint64_t CheckedBuffer::hash() const {
  return xxh3_64bits(
      ArrayRef(static_cast<const uint8_t *>(Raw.data), Raw.size));
}

void CheckedBuffer::release() {
  const unsigned N = ++NumReleases;
  TheRules.releasedOnce(N, What);
  if (N != 1)
    return; // the linker would crash
  TheRules.expect(Hash == 0 || Hash == hash(), "dtlto_buffer",
                  What + " was changed after its job_done()",
                  "the bytes are the host's from then on: free them in "
                  "release(), and nowhere else");
  if (Raw.release)
    Raw.release(Raw.owner, Raw.data, Raw.size);
}

void CheckedBuffer::wrap(dtlto_buffer &Buffer, const Rules &TheRules,
                         std::string What, bool IsPlugins) {
  if (!Buffer.data || Buffer.size == 0 || Buffer.size > INT64_MAX)
    return;
  auto *Checked = new CheckedBuffer(TheRules, std::move(What), Buffer);
  if (IsPlugins)
    Checked->Hash = Checked->hash();
  Buffer.owner = Checked;
  Buffer.release = [](void *Owner, const void *, uint64_t) {
    static_cast<CheckedBuffer *>(Owner)->release();
  };
}

/// A call of the host's \p Function. Becomes false if it must not be passed on.
struct CheckedSession::HostCall {
  HostCall(CheckedSession &S, const char *Function) {
    static thread_local const CheckedSession *Last = nullptr;
    S.Findings.addMisuses();
    if (Last != &S && !S.isLinkThread())
      S.locked([&] { S.Threads.addCaller(); });
    Last = &S;
    IsInTime =
        S.TheRules.isInTime(S.locked([&] { return !S.IsClosed; }), Function);
  }
  explicit operator bool() const { return IsInTime; }

  bool IsInTime;
  const ThreadName Name{ThreadName::Linker}; // it may start threads
};

void CheckedSession::log(uint32_t Level, const char *Message) {
  const HostCall Call(*this, "log");
  if (!Call)
    return;
  TheRules.log(Level, Message);
  if (Level == DTLTO_LOG_ERROR)
    locked([&] { OpenErrors += Message ? Message : ""; });
  Host.log(Host.context, Level, Message);
}

void CheckedSession::jobState(uint64_t Job, uint32_t State,
                              const char *Worker) {
  const HostCall Call(*this, "job_state");
  if (!Call)
    return;
  TheRules.state(locked([&] { return find(Job); }), nameOf(Job));
  Host.job_state(Host.context, Job, State, Worker);
}

void CheckedSession::jobDone(uint64_t Job, const dtlto_result *Result) {
  const HostCall Call(*this, "job_done");
  if (!Call)
    return;
  const std::string Name = nameOf(Job);
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = find(Job);
  const bool IsFirst = R && !R->Done;
  const bool MayBeCancelled = R && (R->Cancelled || IsClosing);
  const bool MayBeEmpty = R && R->MayBeEmpty;
  const bool IsInSubmit = InSubmit && isLinkThread();
  Loan *Memory = IsFirst ? R->Lent : nullptr;
  if (IsFirst) {
    R->Done = true;
    ++NumDone;
    LastDone = Clock::now();
  }
  Lock.unlock();
  dtlto_result Copy;
  if (TheRules.isDue(R, IsFirst, Name)) {
    TheRules.notInSubmit(IsInSubmit);
    if (TheRules.hasSize(Result, Name)) {
      TheRules.result(*Result, Name, MayBeCancelled, MayBeEmpty);
      if (isNameless(*Result))
        HasNamelessResult = true;
      Copy = *Result;
      CheckedBuffer::wrap(Copy.object, TheRules, "the object of " + Name,
                          /*IsPlugins=*/true);
      Result = &Copy;
    }
  }
  Host.job_done(Host.context, Job, Result);
  // The result's strings may be in the job.
  if (Memory)
    Memory->end("its job_done() was called");
}

void CheckedSession::loadChanged() {
  const HostCall Call(*this, "load_changed");
  if (!Call)
    return;
  locked([&] { ++RoomCount; });
  Host.load_changed(Host.context);
}

int32_t CheckedSession::checkResult(uint64_t Job, dtlto_span Object, char *Why,
                                    uint64_t WhySize) {
  const HostCall Call(*this, "check_result");
  if (!Call)
    return DTLTO_ERROR_CALLER;
  TheRules.checksRunningJob(isRunning(Job), nameOf(Job));
  return Host.check_result(Host.context, Job, Object, Why, WhySize);
}

const void *CheckedSession::hostExtension(const char *Id) {
  const HostCall Call(*this, "extension");
  if (!Call)
    return nullptr;
  const void *Own = Host.extension(Host.context, Id);
  if (!Own)
    return nullptr;
  return StringSwitch<const void *>(Id)
      .Case(DTLTO_EXT_LOCAL_CODEGEN, &Codegen)
      .Case(DTLTO_EXT_BUNDLE, &Bundle)
      .Case(DTLTO_EXT_LOCAL_ROOM, &Room)
      .Case(DTLTO_EXT_NUMBERS, &Numbers)
      .Default(Own);
}

int32_t CheckedSession::runLocally(uint64_t Job, dtlto_result *Result) {
  const HostCall Call(*this, "run");
  if (!Call)
    return Result->status = DTLTO_ERROR_CALLER;
  const std::string Name = nameOf(Job);
  TheRules.runsRunningJob(isRunning(Job), Name);
  const int32_t Status = hostsOwn<dtlto_local_codegen>(DTLTO_EXT_LOCAL_CODEGEN)
                             ->run(Host.context, Job, Result);
  if (Status == DTLTO_CANCELLED)
    setCancelled(Job);
  if (Status == DTLTO_OK && Result->object.size == 0)
    locked([&] {
      if (JobRecord *R = find(Job))
        R->MayBeEmpty = true;
    });
  CheckedBuffer::wrap(Result->object, TheRules,
                      "the linker's own object of " + Name,
                      /*IsPlugins=*/false);
  return Status;
}

int32_t CheckedSession::makeBundle(uint64_t Job, dtlto_bundle_spans *Out) {
  const HostCall Call(*this, "make");
  if (!Call)
    return DTLTO_ERROR_CALLER;
  TheRules.bundleSize(Out->size);
  dtlto_bundle_spans Own = {sizeof(Own), 0, nullptr, nullptr, nullptr};
  const int32_t Status =
      hostsOwn<dtlto_bundle>(DTLTO_EXT_BUNDLE)->make(Host.context, Job, &Own);
  std::vector<dtlto_bundle_span> Spans(Own.spans, Own.spans + Own.num_spans);
  const std::string Name = nameOf(Job);
  std::lock_guard<std::mutex> Lock(Mutex);
  // Inputs are those that the plugin has.
  if (JobRecord *R = find(Job))
    for (dtlto_bundle_span &Span : Spans)
      if (auto I = llvm::find(R->Inputs, Span.input); I != R->Inputs.end()) {
        Span.input = R->LentInputs[I - R->Inputs.begin()];
        Span.bytes = Span.input->bytes;
      }
  *Out = Own;
  if (Status != DTLTO_OK)
    return Status;
  struct Owned {
    Loan *Memory;
    dtlto_bundle_spans Own;
  };
  const std::string What = "the bundle of " + Name;
  auto *Memory = new Loan(What, "read a bundle only until you release it",
                          4096 + Spans.size() * sizeof(Spans[0]));
  auto *O = new Owned{Memory, Own};
  Bundles.push_back(std::make_unique<CheckedBuffer>(
      TheRules, What,
      dtlto_buffer{nullptr, 0, O, [](void *Owner, const void *, uint64_t) {
                     auto *O = static_cast<Owned *>(Owner);
                     O->Memory->end("it was released");
                     if (O->Own.release)
                       O->Own.release(O->Own.owner);
                   }}));
  Out->spans = Memory->addArray(Spans);
  Memory->seal();
  Out->owner = Bundles.back().get();
  Out->release = [](void *Owner) {
    static_cast<CheckedBuffer *>(Owner)->release();
  };
  return Status;
}

int32_t CheckedSession::enterRoom(uint64_t Job) {
  const HostCall Call(*this, "enter");
  if (!Call)
    return DTLTO_ERROR_CALLER;
  TheRules.entersOutside(isLinkThread());
  TheRules.entersOnce(locked([&] {
                        JobRecord *R = find(Job);
                        return R && !R->Done &&
                               !std::exchange(R->Entered, true);
                      }),
                      nameOf(Job));
  const int32_t Status = hostsOwn<dtlto_local_room>(DTLTO_EXT_LOCAL_ROOM)
                             ->enter(Host.context, Job);
  if (Status == DTLTO_CANCELLED)
    setCancelled(Job);
  return Status;
}

void CheckedSession::leaveRoom(uint64_t Job, uint64_t Bytes) {
  const HostCall Call(*this, "leave");
  if (!Call)
    return;
  locked([&] {
    if (JobRecord *R = find(Job))
      R->Entered = false;
  });
  hostsOwn<dtlto_local_room>(DTLTO_EXT_LOCAL_ROOM)
      ->leave(Host.context, Job, Bytes);
}

void CheckedSession::sessionNumber(const char *Name, uint32_t Unit,
                                   uint64_t Value) {
  const HostCall Call(*this, "a function of dtlto.numbers/1");
  if (!Call)
    return;
  TheRules.number(Name);
  hostsOwn<dtlto_numbers>(DTLTO_EXT_NUMBERS)
      ->session(Host.context, Name, Unit, Value);
}

void CheckedSession::jobNumber(uint64_t Job, const char *Name, uint32_t Unit,
                               uint64_t Value) {
  const HostCall Call(*this, "a function of dtlto.numbers/1");
  if (!Call)
    return;
  TheRules.number(Name);
  TheRules.numberOfJob(locked([&] { return find(Job); }), nameOf(Job));
  hostsOwn<dtlto_numbers>(DTLTO_EXT_NUMBERS)
      ->job(Host.context, Job, Name, Unit, Value);
}
