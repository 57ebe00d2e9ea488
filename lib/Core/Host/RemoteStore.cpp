//===- RemoteStore.cpp - A store that machines share ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/RemoteStore.h"
#include "Rules/Rules.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <future>
#include <optional>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// The limit of a call. The link goes on meanwhile.
static constexpr std::chrono::milliseconds CallLimit = 10s;
// How much memory may wait to be stored.
static constexpr uint64_t MaxPutBytes = uint64_t(256) << 20;
static constexpr unsigned MaxPutters = 8;

/// Calls \p Fn(memory for a reason, its size). Returns the reason of a failure.
template <typename F> static std::optional<std::string> failureOf(F Fn) {
  char Why[1024] = "";
  if (Fn(Why, sizeof(Why)) == DTLTO_OK)
    return std::nullopt;
  Why[sizeof(Why) - 1] = 0;
  return sanitizedLine(Why);
}

Expected<std::string> dtlto::storePlugin(StringRef URL) {
  auto [Scheme, Rest] = URL.split("://");
  auto IsName = [](char C) { return isAlnum(C) || C == '_'; };
  if (Scheme.empty() || Rest.empty() || !all_of(Scheme, IsName))
    return failure("'" + printable(URL) +
                   "' is not a URL such as http://host/path");
  if (Rest.split('/').first.contains('@'))
    return failure("the URL of a remote cache must not contain a user or a "
                   "password, since other users can see command lines");
  std::string Lower = Scheme.lower();
  StringRef Name = Lower;
  if (Name == "https" || Name == "grpcs" || Name == "rediss")
    Name = Name.drop_back();
  return ("store_" + Name).str();
}

Expected<std::shared_ptr<RemoteStore>>
RemoteStore::open(const dtlto_plugin &Plugin, const std::string &URL,
                  ArrayRef<std::string> Args, bool MayWrite, Messages &Msg) {
  auto *Calls =
      static_cast<const dtlto_store *>(Plugin.extension(DTLTO_EXT_STORE));
  if (!hasField(Calls, &dtlto_store::close) || !Calls->open || !Calls->get ||
      !Calls->put || !Calls->close)
    return failure("plugin '" + sanitizedLine(Plugin.name) +
                   "' has no store (" DTLTO_EXT_STORE ")");
  std::vector<const char *> Words;
  for (const std::string &Arg : Args)
    Words.push_back(Arg.c_str());
  dtlto_store_params Params = {
      sizeof(Params), static_cast<uint32_t>(Words.size()),
      URL.c_str(),    Words.data(),
      MaxCalls,       0};
  // The plugin's reasons name the server.
  const std::string Title =
      URL.empty() ? "the store of plugin '" + sanitizedLine(Plugin.name) + "'"
                  : "remote cache";
  const std::string Name = URL.empty() ? Title : Title + " " + printable(URL);
  std::shared_ptr<RemoteStore> Store(
      new RemoteStore(*Calls, Title, Name, MayWrite, Msg));
  auto Failure = failureOf([&](char *Why, uint64_t N) {
    return Calls->open(&Params, &Store->Client, Why, N);
  });
  if (!Failure)
    return Store;
  Store->Client = nullptr;
  return failure(Name + ": " + *Failure);
}

/// The last thread that uses the store ends it.
RemoteStore::~RemoteStore() {
  if (Client)
    Calls.close(Client);
}

/// Reports a failure, unless the link is over.
void RemoteStore::report(std::atomic<bool> &Failed, StringRef What,
                         StringRef Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Failed.exchange(true))
    return;
  // A server that fails reads will also fail writes: one warning is enough.
  if (!IsFinished)
    Msg.emit(HasGetFailed && HasPutFailed ? MessageLevel::Debug
                                          : MessageLevel::Warning,
             Title + ": " + Why + "; " + What);
}

Buffer RemoteStore::get(const Key &K, uint64_t MaxBytes) {
  if (HasGetFailed)
    return {};
  dtlto_buffer Raw = {};
  auto Failure = failureOf([&](char *Why, uint64_t N) {
    return Calls.get(Client, K.data(), MaxBytes, uint32_t(CallLimit.count()),
                     &Raw, Why, N);
  });
  Buffer Bytes(Raw);
  if (Failure) {
    report(HasGetFailed, "continuing without its objects", *Failure);
    return {};
  }
  return Bytes.bytes().size() <= MaxBytes ? std::move(Bytes) : Buffer();
}

Buffer RemoteStore::getWithin(const Key &K, uint64_t MaxBytes) {
  auto Answer = std::make_shared<std::promise<Buffer>>();
  std::future<Buffer> Bytes = Answer->get_future();
  if (!startThread([Self = shared_from_this(), Answer, K, MaxBytes] {
        Answer->set_value(Self->get(K, MaxBytes));
      }))
    return {};
  // The plugin has the same limit.
  if (Bytes.wait_for(CallLimit + CallLimit / 10) ==
      std::future_status::timeout) {
    report(HasGetFailed, "continuing without its objects",
           "no answer within " + std::to_string(CallLimit.count()) + " ms");
    return {};
  }
  return Bytes.get();
}

bool RemoteStore::put(const Key &K, uint64_t Size,
                      std::function<std::string()> Make) {
  if (!mayPut())
    return false;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (IsFinished || PutBytes + Size > MaxPutBytes) {
    ++NumLost;
    return false;
  }
  PutBytes += Size;
  Puts.push_back({K, Size, std::move(Make)});
  if (NumPutters < MaxPutters && NumPutters < Puts.size() &&
      startThread([Self = shared_from_this()] { Self->runPuts(); }))
    ++NumPutters;
  return NumPutters != 0;
}

void RemoteStore::runPuts() {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (!Puts.empty()) {
    Put P = std::move(Puts.front());
    Puts.pop_front();
    Lock.unlock();
    const bool IsTried = !HasPutFailed;
    std::optional<std::string> Failure;
    if (IsTried) {
      const std::string Bytes = P.Make();
      Failure = failureOf([&](char *Why, uint64_t N) {
        return Calls.put(Client, P.K.data(), {Bytes.data(), Bytes.size()},
                         uint32_t(CallLimit.count()), Why, N);
      });
    }
    if (Failure)
      report(HasPutFailed, "nothing more is stored there", *Failure);
    Lock.lock();
    PutBytes -= P.Size;
    ++(IsTried && !Failure ? NumStored : NumLost);
  }
  --NumPutters;
  Changed.notify_all();
}

void RemoteStore::finish(std::chrono::milliseconds Limit) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait_for(Lock, Limit, [&] { return NumPutters == 0; });
  if (!IsFinished && MayWrite)
    Msg.debug(Name + ": " + Twine(NumStored) + " entries stored, " +
              Twine(NumLost + Puts.size() + NumPutters) + " not");
  Puts.clear();
  IsFinished = true;
}
