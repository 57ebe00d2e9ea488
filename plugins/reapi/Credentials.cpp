//===- Credentials.cpp - Headers from a credential helper -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Credentials.h"
#include "Text.h"
#include <algorithm>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

using namespace dtlto::reapi;
using dtlto::quote;
using namespace std::chrono_literals;
using Clock = std::chrono::system_clock;

// As Bazel keeps what has no end.
static constexpr auto DefaultAge = 30min;
// Also of what has ended already: the helper isn't run for each call.
static constexpr auto MinAge = 1s;
static constexpr int MaxHeaders = 100;
// All that servers take in a call, by default.
static constexpr size_t MaxHeaderBytes = 16384;

//===----------------------------------------------------------------------===//
// What a helper says
//===----------------------------------------------------------------------===//

bool dtlto::reapi::readCredentials(std::string_view Text, Credentials &C,
                                   std::string &Error) {
  C = Credentials();
  auto Wrong = [&](std::string Why) {
    C = Credentials();
    Error = std::move(Why);
    return false;
  };
  google::protobuf::Struct All;
  // Its parser takes an empty text for an empty object.
  if (Text.find_first_not_of(" \t\r\n") == Text.npos)
    return Wrong("it has written nothing");
  if (!google::protobuf::util::JsonStringToMessage({Text.data(), Text.size()},
                                                   &All)
           .ok())
    return Wrong("what it has written is no JSON object");
  size_t Size = 0;
  if (auto It = All.fields().find("headers"); It != All.fields().end()) {
    if (!It->second.has_struct_value())
      return Wrong("its 'headers' are no object");
    for (const auto &[Key, Values] : It->second.struct_value().fields()) {
      std::string Name = Key;
      for (char &L : Name)
        if (L >= 'A' && L <= 'Z')
          L = char(L - 'A' + 'a');
      if (!isHeaderName(Name))
        return Wrong("one of its headers has no good name");
      if (Name.size() > 4 && Name.substr(Name.size() - 4) == "-bin")
        return Wrong("its header " + quote(Name) +
                     " has binary values, which can't be set");
      if (!Values.has_list_value())
        return Wrong("its header " + quote(Name) + " is no list");
      for (const auto &V : Values.list_value().values()) {
        if (V.kind_case() != google::protobuf::Value::kStringValue)
          return Wrong("its header " + quote(Name) + " is no list of texts");
        if (!isHeaderValue(V.string_value()))
          return Wrong("its header " + quote(Name) +
                       " has other characters than ASCII's printable ones");
        Size += Name.size() + V.string_value().size();
        C.Headers.emplace_back(Name, V.string_value());
      }
    }
    if (C.Headers.size() > MaxHeaders || Size > MaxHeaderBytes)
      return Wrong("its headers are longer than a server takes");
  }
  if (auto It = All.fields().find("expires"); It != All.fields().end()) {
    google::protobuf::Timestamp T;
    if (It->second.kind_case() != google::protobuf::Value::kStringValue ||
        !google::protobuf::util::TimeUtil::FromString(It->second.string_value(),
                                                      &T))
      return Wrong("its 'expires' is no time as in 2030-01-31T12:00:00Z");
    // The clock counts nanoseconds. What is later than it can say has no end,
    // and what is earlier has ended.
    constexpr int64_t Latest = int64_t(1) << 33;
    C.Expires = Credentials::Time(
        std::chrono::seconds(std::clamp(T.seconds(), int64_t(0), Latest)));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// For whom, and for how long
//===----------------------------------------------------------------------===//

/// As Bazel names a server to its helper, whatever the encryption: helpers look
/// at the host.
static std::string uriOf(const Endpoint &To) {
  if (To.Target.compare(0, 5, "unix:") == 0)
    return To.Target;
  std::string Uri = "https://" + To.Target;
  constexpr std::string_view Default = ":443";
  if (Uri.size() > Default.size() &&
      Uri.compare(Uri.size() - Default.size(), Default.size(), Default) == 0)
    Uri.resize(Uri.size() - Default.size());
  return Uri;
}

Fault CredentialHelper::run(Stop &Stopping, const Endpoint &To,
                            std::unique_lock<std::mutex> &Lock) {
  IsRunning = true;
  Lock.unlock();
  Credentials New;
  Fault F = runHelper(Stopping, Program, uriOf(To), Limit, New);
  Lock.lock();
  IsRunning = false;
  Known &K = All[To.Target];
  if (F && F.What != Fault::Cancelled) {
    K.Failed = F;
    ++K.NumFailed;
  }
  if (!F) {
    Credentials::Time Now = Clock::now();
    K.Until =
        New.Expires ? std::max(*New.Expires, Now + MinAge) : Now + DefaultAge;
    K.Now = std::move(New);
    K.Stamp = ++LastStamp;
  }
  Changed.notify_all();
  return F;
}

static Fault cancelled() {
  Fault F;
  F.What = Fault::Cancelled;
  F.Code = grpc::StatusCode::CANCELLED;
  F.Text = "cancelled";
  return F;
}

Fault CredentialHelper::get(
    Stop &Stopping, const Endpoint &To,
    std::vector<std::pair<std::string, std::string>> &Headers, uint64_t &Stamp,
    bool MayWait) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Known &K = All[To.Target];
  const uint64_t NumFailed = K.NumFailed;
  while (true) {
    if (K.Stamp && Clock::now() < K.Until) {
      Headers.insert(Headers.end(), K.Now.Headers.begin(), K.Now.Headers.end());
      Stamp = K.Stamp;
      return {};
    }
    if (K.NumFailed != NumFailed)
      return K.Failed;
    if (!MayWait || Stopping.raised())
      return cancelled();
    // Whoever stops it has no way to wake this one.
    if (IsRunning)
      Changed.wait_for(Lock, 50ms);
    else if (Fault F = run(Stopping, To, Lock))
      return F;
  }
}

void CredentialHelper::taken(const Endpoint &To, uint64_t Stamp) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Known &K = All[To.Target];
  if (K.Stamp == Stamp)
    K.RefusedInRow = 0;
}

bool CredentialHelper::renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp,
                             Fault &Why) {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (IsRunning) {
    if (Stopping.raised())
      return false;
    Changed.wait_for(Lock, 50ms);
  }
  Known &K = All[To.Target];
  // Another call has seen to it.
  if (K.Stamp != Stamp)
    return K.RefusedInRow < 2;
  if (++K.RefusedInRow > 1)
    return false;
  auto Old = K.Now.Headers;
  if (Fault F = run(Stopping, To, Lock)) {
    Why = std::move(F);
    return false;
  }
  return K.Now.Headers != Old;
}
