//===- FakePlugin.cpp - A plugin inside of a test -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakePlugin.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/refuted.h"
#include "llvm/ADT/Hashing.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

FakePlugin *FakePlugin::Instance = nullptr;

/// Checks a call of the host against the rules of the ABI.
struct FakePlugin::Call {
  Call(FakePlugin &P, const char *Name) : P(P) {
    std::lock_guard<std::mutex> Lock(P.Mutex);
    if (P.IsClosed)
      P.complain(std::string(Name) + "() was called after close()");
    if (P.IsInCall)
      P.complain(std::string(Name) + "() was called during another call");
    if (P.LinkThread == std::thread::id())
      P.LinkThread = std::this_thread::get_id();
    else if (P.LinkThread != std::this_thread::get_id())
      P.complain(std::string(Name) + "() was called on another thread");
    P.IsInCall = true;
  }
  ~Call() {
    std::lock_guard<std::mutex> Lock(P.Mutex);
    P.IsInCall = false;
    P.Changed.notify_all();
  }
  FakePlugin &P;
};

/// An object that the host received. It lives until the end, but without its
/// memory, so that a second release is detected.
struct FakePlugin::Owned {
  FakePlugin &P;
  std::unique_ptr<std::string> Data;
};

FakePlugin::FakePlugin() {
  if (Instance)
    abort();
  Instance = this;
  Entry.size = sizeof(Entry);
  Entry.abi_major = DTLTO_ABI_MAJOR;
  Entry.abi_minor = DTLTO_ABI_MINOR;
  Entry.name = "fake";
  Entry.version = "1";

  Entry.configure = [](const dtlto_session_params *Params,
                       dtlto_session_config *Config) {
    FakePlugin &P = *Instance;
    ++P.NumConfiguring;
    if (P.OnConfigure)
      P.OnConfigure(*Params);
    Config->needs = P.Needs;
    if (!P.NoFallback.empty())
      Config->no_fallback = P.NoFallback.c_str();
    --P.NumConfiguring;
  };
  Entry.open = [](const dtlto_host *Host, const dtlto_session_params *Params,
                  dtlto_session **Session) -> int32_t {
    FakePlugin &P = *Instance;
    Call C(P, "open");
    P.Host = Host;
    {
      std::lock_guard<std::mutex> Lock(P.Mutex);
      if (P.NumOpened++)
        P.complain("a second open()");
    }
    int32_t Status = P.OnOpen ? P.OnOpen(*Params) : DTLTO_OK;
    if (Status != DTLTO_OK)
      return Status;
    P.Worker = std::thread([&P] { P.work(); });
    std::lock_guard<std::mutex> Lock(P.Mutex);
    P.IsOpened = true;
    *Session = reinterpret_cast<dtlto_session *>(&P);
    return DTLTO_OK;
  };

  Entry.submit = [](dtlto_session *S, const dtlto_job *Raw) -> int32_t {
    FakePlugin &P = *reinterpret_cast<FakePlugin *>(S);
    Call C(P, "submit");
    Job J{Raw->id, Raw->name, Raw->cost, P.numSubmitted(Raw->name) + 1, Raw};
    {
      std::lock_guard<std::mutex> Lock(P.Mutex);
      P.Submitted.push_back(J);
      if (Raw->id == 0)
        P.complain("a job without an id");
      if (P.Accepted.count(Raw->id))
        P.complain("a job that was accepted before");
    }
    int32_t Status = P.OnSubmit ? P.OnSubmit(J) : DTLTO_OK;
    if (Status != DTLTO_OK)
      return Status;
    std::lock_guard<std::mutex> Lock(P.Mutex);
    if (!P.Done.count(J.Id)) {
      P.Accepted[J.Id] = {Raw, P.digestOf(*Raw)};
      P.Queue.push_back(J);
      P.Changed.notify_all();
    }
    return DTLTO_OK;
  };

  Entry.cancel = [](dtlto_session *S, uint64_t Id) {
    FakePlugin &P = *reinterpret_cast<FakePlugin *>(S);
    Call C(P, "cancel");
    bool Waits = false;
    {
      std::lock_guard<std::mutex> Lock(P.Mutex);
      P.Cancelled.push_back(Id);
      P.Changed.notify_all();
      auto It = std::find_if(P.Queue.begin(), P.Queue.end(),
                             [&](const Job &J) { return J.Id == Id; });
      if (!P.OnCancel && It != P.Queue.end()) {
        P.Queue.erase(It);
        Waits = true;
      }
    }
    if (P.OnCancel)
      P.OnCancel(Id);
    else if (Waits)
      P.done(Id, P.failure(DTLTO_CANCELLED));
  };

  Entry.load = [](dtlto_session *S, dtlto_load *Load) -> int32_t {
    FakePlugin &P = *reinterpret_cast<FakePlugin *>(S);
    Call C(P, "load");
    if (P.OnLoad)
      return P.OnLoad(*Load);
    Load->slots = 1;
    return DTLTO_OK;
  };

  Entry.close = [](dtlto_session *S) {
    FakePlugin &P = *reinterpret_cast<FakePlugin *>(S);
    {
      Call C(P, "close");
      P.close();
    }
    // The plugin may be destroyed afterwards.
    std::lock_guard<std::mutex> Lock(P.Mutex);
    P.IsClosed = true;
    P.Changed.notify_all();
  };

  Entry.extension = [](const char *Id) -> const void * {
    static const dtlto_refuted Refuted = {
        sizeof(dtlto_refuted), 0,
        [](dtlto_session *S, uint64_t Id, const char *Worker, int32_t Status) {
          FakePlugin &P = *reinterpret_cast<FakePlugin *>(S);
          Call C(P, "refuted");
          P.OnRefuted(Id, Worker, Status);
        }};
    bool IsIt = StringRef(Id) == DTLTO_EXT_REFUTED && Instance->OnRefuted;
    return IsIt ? &Refuted : nullptr;
  };
}

FakePlugin::~FakePlugin() {
  waitForEnd();
  while (NumConfiguring != 0)
    std::this_thread::yield();
  Instance = nullptr;
}

void FakePlugin::waitForEnd() {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait(Lock, [&] { return !IsInCall && (!IsOpened || IsClosed); });
}

void FakePlugin::complain(const std::string &What) {
  Complaints.push_back(What);
}

/// Returns a hash of everything that \p Job points to in the host's memory.
uint64_t FakePlugin::digestOf(const dtlto_job &Job) const {
  hash_code Hash = hash_combine(Job.id, StringRef(Job.name),
                                StringRef(Job.triple), Job.cost, Job.fields);
  for (uint32_t I = 0; I != Job.num_inputs; ++I) {
    const dtlto_input &In = *Job.inputs[I];
    Hash = hash_combine(
        Hash, In.role, StringRef(In.path),
        StringRef(static_cast<const char *>(In.bytes.data), In.bytes.size));
  }
  for (uint32_t I = 0; I != Job.num_args; ++I)
    Hash = hash_combine(Hash, StringRef(Job.args[I]));
  return Hash;
}

void FakePlugin::work() {
  while (true) {
    Job J;
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      Changed.wait(Lock, [&] { return IsClosing || !Queue.empty(); });
      if (IsClosing)
        return;
      J = Queue.front();
      Queue.pop_front();
      if (!Done.count(J.Id) && Accepted[J.Id].Digest != digestOf(*J.Raw))
        complain("an accepted job has changed");
    }
    if (OnRun)
      OnRun(J);
    else
      done(J.Id, codegen(J.Id));
  }
}

void FakePlugin::close() {
  std::deque<Job> Dropped;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (IsClosing)
      complain("a second close()");
    IsClosing = true;
    // Another thread may have reported some of them.
    for (const Job &J : Queue)
      if (!Done.count(J.Id))
        Dropped.push_back(J);
    Queue.clear();
    Changed.notify_all();
  }
  Worker.join();
  for (const Job &J : Dropped)
    done(J.Id, failure(DTLTO_CANCELLED));
  if (OnClose)
    OnClose();
}

//===----------------------------------------------------------------------===//
// The host's functions
//===----------------------------------------------------------------------===//

dtlto_result FakePlugin::codegen(uint64_t Id) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  const auto *Codegen = static_cast<const dtlto_local_codegen *>(
      Host->extension(Host->context, DTLTO_EXT_LOCAL_CODEGEN));
  Codegen->run(Host->context, Id, &Result);
  return Result;
}

dtlto_result FakePlugin::object(StringRef Object) {
  auto *O = new Owned{*this, std::make_unique<std::string>(Object)};
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Objects.emplace_back(O);
  }
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.object = {O->Data->data(), O->Data->size(), O,
                   [](void *Owner, const void *Data, uint64_t Size) {
                     auto *O = static_cast<Owned *>(Owner);
                     std::lock_guard<std::mutex> Lock(O->P.Mutex);
                     if (!O->Data)
                       return O->P.complain("an object was released twice");
                     if (Data != O->Data->data() || Size != O->Data->size())
                       O->P.complain(
                           "an object was released with another's address");
                     O->Data.reset();
                   }};
  return Result;
}

void FakePlugin::doneTooOften(uint64_t Id, const dtlto_result &Result) {
  done(Id, Result);
  Result.object.release(Result.object.owner, Result.object.data,
                        Result.object.size);
}

dtlto_result FakePlugin::failure(int32_t Status, const char *Message,
                                 const char *Worker) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.status = Status;
  Result.message = Message;
  Result.worker = Worker;
  return Result;
}

void FakePlugin::done(uint64_t Id, const dtlto_result &Result) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Accepted.find(Id);
    // The host must not change the job's memory before the result.
    if (Done.insert(Id).second && It != Accepted.end() &&
        It->second.Digest != digestOf(*It->second.Raw))
      complain("a job has changed before it was done");
  }
  Host->job_done(Host->context, Id, &Result);
}

void FakePlugin::log(uint32_t Level, const char *Message) {
  Host->log(Host->context, Level, Message);
}

void FakePlugin::state(uint64_t Id, uint32_t State, const char *Worker) {
  Host->job_state(Host->context, Id, State, Worker);
}

void FakePlugin::loadChanged() { Host->load_changed(Host->context); }

//===----------------------------------------------------------------------===//
// Records of the host's calls
//===----------------------------------------------------------------------===//

std::vector<FakePlugin::Job> FakePlugin::submitted() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Submitted;
}

std::vector<uint64_t> FakePlugin::cancelled() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Cancelled;
}

unsigned FakePlugin::numSubmitted(StringRef Name) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return std::count_if(Submitted.begin(), Submitted.end(),
                       [&](const Job &J) { return J.Name == Name; });
}

unsigned FakePlugin::numOpened() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return NumOpened;
}

bool FakePlugin::isClosed() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return IsClosed;
}

std::vector<std::string> FakePlugin::complaints() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Complaints;
}

size_t FakePlugin::numObjectsAlive() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return std::count_if(Objects.begin(), Objects.end(),
                       [](const auto &O) { return O->Data != nullptr; });
}

size_t FakePlugin::numObjectsCreated() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Objects.size();
}
