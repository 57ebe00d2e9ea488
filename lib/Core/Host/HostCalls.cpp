//===- HostCalls.cpp - What a plugin may call -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Host/SessionState.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstddef>

using namespace llvm;
using namespace dtlto;

void Session::Impl::makeHost() {
  Host.size = sizeof(Host);
  Host.abi_major = DTLTO_ABI_MAJOR;
  Host.abi_minor = DTLTO_ABI_MINOR;
  Host.name = "dtlto";
  Host.version = DTLTO_VERSION;
  Host.context = reinterpret_cast<dtlto_host_context *>(this);
  Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Message) {
    from(C).log(Level, Message);
  };
  Host.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t State,
                      const char *Worker) {
    from(C).jobState(Job, State, Worker);
  };
  Host.job_done = [](dtlto_host_context *C, uint64_t Job,
                     const dtlto_result *R) { from(C).jobDone(Job, R); };
  Host.load_changed = [](dtlto_host_context *C) { from(C).loadChanged(); };
  Host.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
    Impl &I = from(C);
    return StringSwitch<const void *>(Id ? Id : "")
        .Case(DTLTO_EXT_LOCAL_CODEGEN, &I.LocalCodegen)
        .Case(DTLTO_EXT_FALLBACK, &I.Fallback)
        .Case(DTLTO_EXT_NEEDS, &I.Needs)
        .Case(DTLTO_EXT_BUNDLE, &I.Bundle)
        .Case(DTLTO_EXT_BUNDLE_2, &I.Bundle2)
        .Default(nullptr);
  };

  LocalCodegen.size = sizeof(LocalCodegen);
  LocalCodegen.slots = L.Parallelism;
  LocalCodegen.run = [](dtlto_host_context *C, uint64_t Job, dtlto_result *R) {
    return from(C).runLocally(Job, R);
  };

  Fallback.size = sizeof(Fallback);
  Fallback.forbid = [](dtlto_host_context *C, const char *Why) {
    from(C).tell(Event::FallbackForbidden, Why);
  };

  Needs.size = sizeof(Needs);
  Needs.set = [](dtlto_host_context *C, uint32_t Parts) {
    from(C).SessionNeeds = Parts;
  };
  Bundle.size = sizeof(Bundle);
  Bundle.make = [](dtlto_host_context *C, uint64_t Job, dtlto_buffer *B) {
    return from(C).makeBundle(Job, B);
  };
  Bundle2.size = sizeof(Bundle2);
  Bundle2.make = [](dtlto_host_context *C, uint64_t Job,
                    dtlto_bundle_spans *B) {
    return from(C).makeBundleSpans(Job, B);
  };
}

void Session::Impl::log(uint32_t Level, const char *Message) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Closed || !Message)
    return;
  // Why open() is going to fail, most likely: for the one message that tells
  // of it.
  if (Level == DTLTO_LOG_ERROR && !Opened) {
    OpenErrors += (OpenErrors.empty() ? "" : "; ") + std::string(Message);
    return;
  }
  MessageLevel To = MessageLevel::Note;
  if (Level == DTLTO_LOG_DEBUG)
    To = MessageLevel::Debug;
  else if (Level == DTLTO_LOG_WARNING)
    To = MessageLevel::Warning;
  else if (Level == DTLTO_LOG_ERROR) {
    Event E{Event::GaveUp};
    E.Message = Message;
    return push(std::move(E));
  }
  Msg.emit(To, PluginName + ": " + Message);
}

void Session::Impl::workerTold(const dtlto_worker_status *W) {
  constexpr uint32_t Size_1_3 =
      offsetof(dtlto_worker_status, load_permille) + sizeof(uint32_t);
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!W || W->size < Size_1_3 || !W->name)
    return violation(0, "told of a worker without a size or a name");
  auto Text = [](const char *T) { return std::string(T ? T : ""); };
  Event E{Event::WorkerTold};
  E.Told = std::make_unique<WorkerStatus>(
      WorkerStatus{W->name, Text(W->compiler), Text(W->why), W->state, W->slots,
                   W->busy, W->load_permille});
  push(std::move(E));
}

void Session::Impl::violation(uint64_t Job, const Twine &What) {
  Event E{Event::Violation};
  E.Job = Job;
  E.Message = What.str();
  push(std::move(E));
}

void Session::Impl::tell(Event::KindTy Kind, const char *Message) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Event E{Kind};
  E.Message = Message ? Message : "";
  push(std::move(E));
}

void Session::Impl::jobState(uint64_t Job, uint32_t State, const char *Worker) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Jobs.find(Job);
  // Late news of a job that has ended is no harm.
  if (It == Jobs.end() || It->second.Done || It->second.Forgotten)
    return;
  Event E{Event::State};
  E.Job = Job;
  E.Status = static_cast<int32_t>(State);
  E.Worker = Worker ? Worker : "";
  push(std::move(E));
}

void Session::Impl::jobDone(uint64_t Job, const dtlto_result *Result) {
  constexpr uint32_t ResultSize_1_0 =
      offsetof(dtlto_result, worker) + sizeof(const char *);
  Event E{Event::Done};
  E.Job = Job;
  if (Result && Result->size >= ResultSize_1_0) {
    E.Object = Buffer(Result->object);
    E.Status = Result->status;
    E.Message = Result->message ? Result->message : "";
    E.Worker = Result->worker ? Result->worker : "";
  }

  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Jobs.find(Job);
  // The object of a result that nobody waits for may be one that is in use, or
  // released: rather lose its memory than release it again.
  if (It == Jobs.end() || It->second.Done)
    E.Object.take();
  if (Closed)
    return;
  if (It == Jobs.end())
    return violation(0, "reported a result for job " + Twine(Job) +
                            ", which it was never given");
  Record &R = It->second;
  if (R.Done)
    return violation(Job, "reported a second result for module '" +
                              R.T->name() + "'");
  R.Done = true;
  ++RoomCount;
  if (R.InSubmit && Current && std::this_thread::get_id() == CallThreadId)
    violation(Job, "reported the result for module '" + R.T->name() +
                       "' from inside of submit()");
  if (!Result || Result->size < ResultSize_1_0)
    violation(Job, "reported a result without a size for module '" +
                       R.T->name() + "'");
  E.RanHere = R.RanHere;
  // It may have been tried here, and then come from elsewhere.
  E.IsOurs = R.RanHere && E.Object.bytes().data() == R.ObjectHere;
  E.NoObject = R.NoObject;
  E.Seconds = R.SecondsHere;
  dropIfUnused(R);
  if (!R.Forgotten)
    push(std::move(E));
}

void Session::Impl::loadChanged() {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++RoomCount;
  push(Event{Event::LoadChanged});
}

int32_t Session::Impl::runLocally(uint64_t Job, dtlto_result *Result) {
  Result->status = DTLTO_ERROR_CALLER;
  Result->object = {};
  Result->message = "no such job";
  Result->worker = nullptr;
  Record *R;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Jobs.find(Job);
    if (It == Jobs.end() || It->second.Done)
      return Result->status;
    R = &It->second;
    if (Closed || R->Forgotten) {
      Result->message = nullptr;
      return Result->status = DTLTO_CANCELLED;
    }
    ++R->RunsHere;
    ++RunsHere;
    Event E{Event::State};
    E.Job = Job;
    E.Status = DTLTO_STATE_LOCAL;
    push(std::move(E));
  }

  Clock::time_point Begin = Clock::now();
  CodegenResult Code = runLocalCodegen(L, *R->T);

  std::lock_guard<std::mutex> Lock(Mutex);
  --R->RunsHere;
  --RunsHere;
  R->LastRunHere = LastRunHere = Clock::now();
  Changed.notify_all();
  R->RanHere = true;
  R->SecondsHere = secondsSince(Begin);
  R->NoObject = !Code.Produced;
  Result->message = nullptr;
  Result->worker = ThisMachine;
  if (Code.Failed) {
    R->LocalErrors = std::move(Code.Errors);
    Result->message = R->LocalErrors.c_str();
    return Result->status = DTLTO_ERROR_COMPILER;
  }
  Result->object = Buffer::own(std::move(Code.Object)).take();
  R->ObjectHere = Result->object.data;
  return Result->status = DTLTO_OK;
}

const dtlto_job *Session::Impl::jobForBundle(uint64_t Id) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Jobs.find(Id);
  if (Closed || It == Jobs.end() || !It->second.Built || It->second.Done)
    return nullptr;
  // The plugin has the job, so it lives.
  const dtlto_job &Job = It->second.Built->Job;
  return Job.parts & DTLTO_PART_CONFIG ? &Job : nullptr;
}

int32_t Session::Impl::noBundle(Error Why) {
  log(DTLTO_LOG_WARNING, toString(std::move(Why)).c_str());
  return DTLTO_ERROR_INFRASTRUCTURE;
}

int32_t Session::Impl::makeBundle(uint64_t Id, dtlto_buffer *Bytes) {
  *Bytes = {};
  const dtlto_job *Job = jobForBundle(Id);
  if (!Job)
    return DTLTO_ERROR_CALLER;
  Expected<SmallVector<char, 0>> Made = writeBundle(*Job);
  if (!Made)
    return noBundle(Made.takeError());
  *Bytes = Buffer::own(std::move(*Made)).take();
  return DTLTO_OK;
}

int32_t Session::Impl::makeBundleSpans(uint64_t Id, dtlto_bundle_spans *Out) {
  *Out = {sizeof(*Out), 0, nullptr, nullptr, nullptr};
  const dtlto_job *Job = jobForBundle(Id);
  if (!Job)
    return DTLTO_ERROR_CALLER;
  Expected<BundleSpans> Made = dtlto::makeBundleSpans(*Job);
  if (!Made)
    return noBundle(Made.takeError());
  auto *Owner = new BundleSpans(std::move(*Made));
  Out->num_spans = static_cast<uint32_t>(Owner->Spans.size());
  Out->spans = Owner->Spans.data();
  Out->owner = Owner;
  Out->release = [](void *O) { delete static_cast<BundleSpans *>(O); };
  return DTLTO_OK;
}
