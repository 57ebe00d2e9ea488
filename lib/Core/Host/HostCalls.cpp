//===- HostCalls.cpp - The functions that a plugin may call ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/ObjectFrame.h"
#include "Host/SessionState.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstdio>

using namespace llvm;
using namespace dtlto;

// Text of a plugin may come from any machine on the network. Make it safe for
// terminals here, for all code that shows it.
static std::string lineOf(const char *Text) {
  return sanitizedLine(Text ? Text : "");
}
static std::string nameOf(const char *Text) {
  return sanitizedLine(Text ? Text : "", 256);
}

void Session::Impl::makeHost() {
  Host.size = sizeof(Host);
  Host.abi_major = DTLTO_ABI_MAJOR;
  Host.abi_minor = DTLTO_ABI_MINOR;
  Host.name = "dtlto";
  Host.version = DTLTO_VERSION;
  Host.context = reinterpret_cast<dtlto_host_context *>(this);
  Host.log = Callback<&Impl::log>::call;
  Host.job_state = Callback<&Impl::jobState>::call;
  Host.job_done = Callback<&Impl::jobDone>::call;
  Host.load_changed = Callback<&Impl::loadChanged>::call;
  Host.check_result = Callback<&Impl::checkResult>::call;
  Host.extension = Callback<&Impl::extension>::call;
  LocalCodegen = {sizeof(LocalCodegen), Ctx.Parallelism,
                  Callback<&Impl::runLocally>::call};
  Bundle = {sizeof(Bundle), 0, Callback<&Impl::makeBundle>::call};
  LocalRoomCalls = {sizeof(LocalRoomCalls), 0, Callback<&Impl::enterRoom>::call,
                    Callback<&Impl::leaveRoom>::call};
  NumberCalls = {sizeof(NumberCalls), 0, Callback<&Impl::sessionNumber>::call,
                 Callback<&Impl::jobNumber>::call};
}

const void *Session::Impl::extension(const char *Id) {
  return StringSwitch<const void *>(Id ? Id : "")
      .Case(DTLTO_EXT_LOCAL_CODEGEN, &LocalCodegen)
      .Case(DTLTO_EXT_BUNDLE, &Bundle)
      .Case(DTLTO_EXT_LOCAL_ROOM, &LocalRoomCalls)
      .Case(DTLTO_EXT_NUMBERS, &NumberCalls)
      .Default(nullptr);
}

void Session::Impl::log(uint32_t Level, const char *Message) {
  Guard Lock(*this);
  if (IsClosed || !Message)
    return;
  // Most likely the reason why open() is going to fail: keep it for the message
  // about that.
  if (Level == DTLTO_LOG_ERROR && !Opened) {
    OpenErrors += (OpenErrors.empty() ? "" : "; ") + lineOf(Message);
    return;
  }
  if (Level == DTLTO_LOG_COMPILER) {
    Event E{Event::CompilerOutput};
    E.Message = withUserNames(sanitizedLines(Message), [this](StringRef Path) {
      return UserNames.lookup(Path);
    });
    return push(Lock, std::move(E));
  }
  MessageLevel To = MessageLevel::Note;
  if (Level == DTLTO_LOG_DEBUG)
    To = MessageLevel::Debug;
  else if (Level == DTLTO_LOG_WARNING)
    To = MessageLevel::Warning;
  else if (Level == DTLTO_LOG_ERROR) {
    Event E{Event::GaveUp};
    E.Message = lineOf(Message);
    return push(Lock, std::move(E));
  }
  Msg.emit(To, PluginName + ": " + lineOf(Message));
}

void Session::Impl::reportWorker(const dtlto_worker_status *W) {
  Guard Lock(*this);
  if (!hasField(W, &dtlto_worker_status::load_permille) || !W->name)
    return violation(Lock, 0, "reported a worker without a size or a name");
  Event E{Event::WorkerReported};
  E.StatusReport = std::make_unique<WorkerStatus>(
      WorkerStatus{nameOf(W->name), lineOf(W->compiler), lineOf(W->why),
                   W->state, W->slots, W->busy, W->load_permille});
  push(Lock, std::move(E));
}

void Session::Impl::violation(const Guard &Lock, uint64_t Job,
                              const Twine &What) {
  Event E{Event::Violation};
  E.Job = Job;
  E.Message = What.str();
  push(Lock, std::move(E));
}

void Session::Impl::jobState(uint64_t Job, uint32_t State, const char *Worker) {
  Guard Lock(*this);
  // Ignore state reports for finished jobs.
  if (Record *R = findRunning(Job); R && !R->IsForgotten)
    pushState(Lock, Job, State, R->HasRoom, nameOf(Worker));
}

void Session::Impl::pushState(const Guard &Lock, uint64_t Job, uint32_t State,
                              bool IsLocal, std::string Worker) {
  Event E{Event::State};
  E.Job = Job;
  E.Status = static_cast<int32_t>(State);
  E.RanLocally = IsLocal;
  E.Worker = std::move(Worker);
  push(Lock, std::move(E));
}

void Session::Impl::sessionNumber(const char *Name, uint32_t Unit,
                                  uint64_t Value) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Numbers.set(Name, Unit, Value);
}

void Session::Impl::jobNumber(uint64_t Job, const char *Name, uint32_t Unit,
                              uint64_t Value) {
  Guard Lock(*this);
  if (Record *R = findRunning(Job))
    R->Numbers.set(Name, Unit, Value);
}

int32_t Session::Impl::checkResult(uint64_t Job, dtlto_span Object, char *Why,
                                   uint64_t WhySize) {
  Record *R = nullptr;
  const StringRef Bytes(static_cast<const char *>(Object.data), Object.size);
  std::optional<BundleId> Frame;
  bool MayBeCut = false;
  {
    Guard Lock(*this);
    R = IsClosed ? nullptr : findRunning(Job);
    if (R) {
      // The check reads data of the link.
      beginLocalRun(Lock, *R);
      Frame = R->isLocalObject(Bytes) ? std::nullopt : R->Bundle;
      // A plugin that reads objects from files may see an incomplete one.
      MayBeCut = !R->Bundle && R->Built &&
                 R->Built->Job.fields & DTLTO_JOB_WHOLE_IMPORTS &&
                 R->Local.Check;
    }
  }
  std::string Text = "no such job";
  if (R) {
    StringRef Diagnostics;
    Expected<StringRef> Result =
        Frame ? readFrame(Bytes, *Frame, &Diagnostics) : Bytes;
    Error Invalid = !Result    ? Result.takeError()
                    : MayBeCut ? R->Local.Check(*Result)
                               : Error::success();
    {
      Guard Lock(*this);
      if (Frame && !Invalid) {
        R->CheckedFrame = Bytes;
        R->CheckedFrameHead =
            Bytes.drop_back(Result->size() + Diagnostics.size()).str();
      }
      endLocalRun(Lock, *R);
    }
    if (!Invalid)
      return DTLTO_OK;
    Text = toString(std::move(Invalid));
  }
  if (Why && WhySize)
    std::snprintf(Why, WhySize, "%s", Text.c_str());
  return R ? DTLTO_ERROR_INFRASTRUCTURE : DTLTO_ERROR_CALLER;
}

/// Converts \p Result to an event.
static Event doneEvent(uint64_t Job, const dtlto_result &Result) {
  Event E{Event::Done};
  E.Job = Job;
  E.Object = Buffer(Result.object);
  E.Status = Result.status;
  // The compiler's output has several lines.
  bool HasLines = E.Status == DTLTO_OK || E.Status == DTLTO_ERROR_COMPILER;
  E.Message = HasLines && Result.message ? sanitizedLines(Result.message)
                                         : lineOf(Result.message);
  E.Worker = nameOf(Result.worker);
  // No memory is that large.
  if (uint64_t Size = E.Object.bytes().size(); Size > INT64_MAX) {
    E.Object.take();
    E.Status = DTLTO_ERROR_INFRASTRUCTURE;
    E.Message = "it claims an object of " + std::to_string(Size) + " bytes";
  }
  return E;
}

void Session::Impl::jobDone(uint64_t Job, const dtlto_result *Result) {
  if (!hasField(Result, &dtlto_result::worker))
    Result = nullptr;
  Event E{Event::Done};
  E.Job = Job;
  if (Result)
    E = doneEvent(Job, *Result);

  Guard Lock(*this);
  Record *R = find(Job);
  // The memory of an unexpected result may be in use, or released: leak it;
  // releasing twice would be worse.
  if (!R || R->Done)
    E.Object.take();
  if (IsClosed)
    return;
  if (!R)
    return violation(Lock, 0,
                     "reported a result for job " + Twine(Job) +
                         ", which it was never given");
  if (R->Done)
    return violation(Lock, Job,
                     "reported a second result for module '" + R->Local.Name +
                         "'");
  takeResult(Lock, *R, Result, E);
  if (!R->IsForgotten)
    push(Lock, std::move(E));
}

/// Ends the job of \p R with \p E, made from \p Result, which is null if it had
/// no size.
void Session::Impl::takeResult(Guard &Lock, Record &R,
                               const dtlto_result *Result, Event &E) {
  R.Done = true;
  R.Status = E.Status;
  E.Object = wrapBuffer(E.Object.take());
  if (Result && Result->worker)
    R.Worker = Result->worker; // as the plugin spells it
  ++RoomCount;
  if (R.IsInSubmit && isInCall() && std::this_thread::get_id() == CallThreadId)
    violation(Lock, E.Job,
              "reported the result for module '" + R.Local.Name +
                  "' from inside of submit()");
  if (!Result)
    violation(Lock, E.Job,
              "reported a result without a size for module '" + R.Local.Name +
                  "'");
  E.Message = withUserNames(E.Message, *R.Built);
  // Show our own compiler's output as in a plain link.
  bool HasLocalMessage = R.RanLocally && Result && Result->message &&
                         R.LocalMessage == Result->message;
  bool HasLocalObject = R.isLocalObject(E.Object.bytes());
  if (HasLocalMessage || HasLocalObject)
    E.Messages = std::move(R.LocalMessages);
  E.IsFromLinker =
      HasLocalObject && (E.Status != DTLTO_ERROR_COMPILER || HasLocalMessage);
  if (HasLocalMessage) {
    E.Message = R.LocalMessage;
    E.Errors = R.LocalErrors;
    if (E.Object.bytes().empty())
      E.Object = std::move(R.ObjectWithErrors);
  }
  E.RanLocally = R.RanLocally;
  if (E.Status == DTLTO_OK)
    E.RanLocally = E.IsFromLinker;
  else if (E.Status == DTLTO_ERROR_COMPILER)
    E.RanLocally = HasLocalMessage;
  E.NoObject = R.NoObject;
  if (std::exchange(R.HasRoom, false)) // the plugin didn't call leave()
    Room->leave(R.RoomBytes);
  E.Numbers = R.Numbers.take();
  E.Bytes = R.LocalBytes;
  E.Seconds = R.LocalSeconds;
  E.IsBundleResult = !E.IsFromLinker && R.Bundle;
  if (E.IsBundleResult && E.Status == DTLTO_OK && !R.IsForgotten)
    openFrame(Lock, R, E);
  else
    dropIfUnused(R);
}

/// Takes the object and the worker's messages out of their frame.
void Session::Impl::openFrame(Guard &Lock, Record &R, Event &E) {
  const BundleId Id = *R.Bundle; // another thread may make the bundle again
  const bool IsChecked = R.isFrameChecked(E.Object.bytes());
  beginLocalRun(Lock, R); // R.Built is read without the lock
  Lock.unlock();          // since readFrame() may read all of the object
  StringRef Diagnostics;
  Expected<StringRef> Payload =
      readFrame(E.Object.bytes(), Id, &Diagnostics, /*Hashes=*/!IsChecked);
  for (StringRef Rest = Diagnostics; !Rest.empty();) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\0');
    bool IsWarning = Line.consume_front("warning: ");
    if (!IsWarning)
      Line = Line.split(": ").second; // a remark or a note
    E.Messages.push_back(
        {IsWarning ? MessageLevel::Diagnostic : MessageLevel::Remark,
         withUserNames(sanitizedLines(Line), *R.Built)});
  }
  if (!Payload) {
    E.Object.reset();
    E.Status = DTLTO_ERROR_INFRASTRUCTURE;
    E.Message = toString(Payload.takeError());
    post([this, Job = E.Job] { doRefute(Job); }, /*IsMandatory=*/true);
  } else {
    E.HasDigest = true;
    E.Object = Buffer::part(std::move(E.Object), *Payload);
  }
  Lock.lock();
  endLocalRun(Lock, R);
}

void Session::Impl::loadChanged() {
  Guard Lock(*this);
  ++RoomCount;
  push(Lock, Event{Event::LoadChanged});
}

int32_t Session::Impl::makeBundle(uint64_t Id, dtlto_bundle_spans *Out) {
  *Out = {Out->size, 0, nullptr, nullptr, nullptr};
  Record *R = nullptr;
  {
    Guard Lock(*this);
    R = findRunning(Id);
    if (IsClosed || !R || !R->Built ||
        !(R->Built->Job.fields & DTLTO_JOB_CONFIG))
      return DTLTO_ERROR_CALLER;
    // Another thread of the plugin may report a result meanwhile.
    beginLocalRun(Lock, *R);
  }
  Expected<BundleSpans> BundleOrError =
      makeBundleSpans(bundledJob(R->Built->Job));
  {
    Guard Lock(*this);
    if (BundleOrError)
      R->Bundle = BundleOrError->Id;
    endLocalRun(Lock, *R);
  }
  if (!BundleOrError) {
    log(DTLTO_LOG_WARNING, toString(BundleOrError.takeError()).c_str());
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  auto *Owner = new BundleSpans(std::move(*BundleOrError));
  Out->num_spans = static_cast<uint32_t>(Owner->Spans.size());
  Out->spans = Owner->Spans.data();
  Out->owner = Owner;
  Out->release = [](void *O) { delete static_cast<BundleSpans *>(O); };
  return DTLTO_OK;
}
