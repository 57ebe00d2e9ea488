//===- Credentials.cpp - Tokens and credential helpers --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Credentials.h"
#include "Guard.h"
#include "SettingsFile.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>
#include <poll.h>
#include <unistd.h>

using namespace dtlto::reapi;
using dtlto::quote;
namespace sdk = dtlto::sdk;
using namespace std::chrono_literals;
using google::protobuf::Value;
using Clock = std::chrono::system_clock;
using SteadyClock = std::chrono::steady_clock;

// Bazel's limit for credentials that don't expire.
static constexpr auto DefaultAge = 30min;
// Also for expired credentials, so that not every call runs the helper.
static constexpr auto MinAge = 1s;
static constexpr int MaxHeaders = 100;
// What servers accept in a call by default.
static constexpr size_t MaxHeaderBytes = 16384;
// Ends the retries of a call if the file keeps changing.
static constexpr unsigned MaxRefused = 2;
// Limits for a helper's standard output, and for its standard error in a
// message.
static constexpr size_t MaxAnswer = size_t(1) << 20, MaxErrorOutput = 500;
// How often to check whether a helper must be stopped.
static constexpr int SliceMs = 20;

//===----------------------------------------------------------------------===//
// A token in a file
//===----------------------------------------------------------------------===//

std::string TokenFile::read(const std::string &Name) {
  std::string Token = readSecretFile(Name, "token-file");
  return Token.empty() ? "" : "Bearer " + Token;
}

std::string TokenFile::header() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Header;
}

void TokenFile::onAccepted(const std::string &Used) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Used == Header)
    RefusalStreak = 0;
}

bool TokenFile::renew(const std::string &Used) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Used != Header) // another call has renewed it
    return RefusalStreak <= MaxRefused;
  if (++RefusalStreak > MaxRefused)
    return false;
  try {
    std::string New = read(Name);
    if (New.empty())
      return false;
    Header.swap(New);
    return Header != Used;
  } catch (const sdk::Error &) {
    return false; // another program may be renewing the file
  }
}

//===----------------------------------------------------------------------===//
// The output of a helper
//===----------------------------------------------------------------------===//

/// Adds the headers \p Name with \p Values. Returns what is wrong, or nothing.
static std::string addHeaders(Credentials &C, const std::string &Key,
                              const Value &Values) {
  std::string Name = lowerCase(Key);
  if (!isHeaderName(Name))
    return "one of its headers has an invalid name";
  if (isBinaryHeader(Name))
    return "its header " + quote(Name) +
           " has binary values, which cannot be set";
  if (!Values.has_list_value())
    return "its header " + quote(Name) + " is not a list";
  for (const Value &V : Values.list_value().values()) {
    if (V.kind_case() != Value::kStringValue)
      return "its header " + quote(Name) + " is not a list of strings";
    if (!dtlto::isPrintableAscii(V.string_value()))
      return "its header " + quote(Name) +
             " has characters other than printable ASCII";
    C.Headers.emplace_back(Name, V.string_value());
  }
  return "";
}

/// Fills \p C. Returns what is wrong with \p Text, or nothing.
static std::string read(std::string_view Text, Credentials &C) {
  google::protobuf::Struct All;
  // The parser treats an empty text as an empty object.
  if (Text.find_first_not_of(" \t\r\n") == Text.npos)
    return "it wrote nothing";
  if (!google::protobuf::util::JsonStringToMessage({Text.data(), Text.size()},
                                                   &All)
           .ok())
    return "its output is not a JSON object";
  if (auto It = All.fields().find("headers"); It != All.fields().end()) {
    if (!It->second.has_struct_value())
      return "its 'headers' is not an object";
    for (const auto &[Key, Values] : It->second.struct_value().fields())
      if (std::string Why = addHeaders(C, Key, Values); !Why.empty())
        return Why;
    size_t Size = 0;
    for (const auto &[Name, Text] : C.Headers)
      Size += Name.size() + Text.size();
    if (C.Headers.size() > MaxHeaders || Size > MaxHeaderBytes)
      return "its headers are longer than a server accepts";
  }
  if (auto It = All.fields().find("expires"); It != All.fields().end()) {
    google::protobuf::Timestamp T;
    if (It->second.kind_case() != Value::kStringValue ||
        !google::protobuf::util::TimeUtil::FromString(It->second.string_value(),
                                                      &T))
      return "its 'expires' is not a time such as 2030-01-31T12:00:00Z";
    // The clock counts nanoseconds in 64 bits. Clamp later times, which mean no
    // expiry, and earlier ones, which have passed.
    constexpr int64_t Latest = int64_t(1) << 33;
    C.Expires = Credentials::Time(
        std::chrono::seconds(std::clamp(T.seconds(), int64_t(0), Latest)));
  }
  return "";
}

bool dtlto::reapi::readCredentials(std::string_view Text, Credentials &C,
                                   std::string &Error) {
  C = Credentials();
  Error = read(Text, C);
  if (!Error.empty())
    C = Credentials();
  return Error.empty();
}

//===----------------------------------------------------------------------===//
// One run of a helper
//===----------------------------------------------------------------------===//

/// Returns the URI of a server as Bazel writes it, whatever the encryption:
/// helpers look at the host. It has no control character.
static std::string uriOf(const Endpoint &To) {
  if (To.Target.compare(0, 5, "unix:") == 0)
    return To.Target;
  std::string Uri = "https://" + To.Target;
  if (size_t Port = Uri.rfind(':'); Uri.compare(Port, Uri.npos, ":443") == 0)
    Uri.resize(Port);
  return Uri;
}

namespace {
/// A helper in its own process group, which ends with this object or with the
/// linker.
struct Helper {
  /// Starts the helper. Returns an errno, or 0. \p Input must fit in a pipe.
  int start(const std::string &Program, const std::string &Input);
  /// Waits a moment for output, and reads what is available.
  void listen();

  // Longer output is dropped, except for one byte.
  std::string Answer, ErrorOutput;
  std::unique_ptr<dtlto::Guard> Guard; // null: no shell could be started
  dtlto::Output Out, Err;
  dtlto::Process Child;
};
} // namespace

int Helper::start(const std::string &Program, const std::string &Input) {
  dtlto::Descriptor In, InWriter, OutWriter, ErrWriter;
  int Why = dtlto::openPipe(In, InWriter);
  // Holding the pipe's other end prevents SIGPIPE.
  if (!Why && ::write(InWriter.get(), Input.data(), Input.size()) !=
                  ssize_t(Input.size()))
    Why = errno ? errno : ENOSPC;
  if (!Why)
    Why = Out.open(OutWriter);
  if (!Why)
    Why = Err.open(ErrWriter);
  if (Why)
    return Why;
  int NoGuard = 0;
  Guard = dtlto::Guard::start(/*Folder=*/"", /*Lock=*/-1, NoGuard);
  dtlto::Process::Setup S;
  S.Args = {Program, "get"};
  S.In = In.get();
  S.Out = OutWriter.get();
  S.Err = ErrWriter.get();
  S.Group = dtlto::Process::Setup::NewGroup;
  return Child.start(S, Guard.get());
}

void Helper::listen() {
  pollfd Polled[2] = {{Out.fd(), POLLIN, 0}, {Err.fd(), POLLIN, 0}};
  ::poll(Polled, 2, SliceMs);
  Out.read(Answer, MaxAnswer + 1);
  Err.read(ErrorOutput, MaxErrorOutput + 1);
}

/// Runs \p Program for \p Uri. Blocks for at most \p Limit, or until \p
/// Stopping is raised. The helper has ended in any case.
static Fault runHelper(Stop &Stopping, const std::string &Program,
                       const std::string &Uri, std::chrono::milliseconds Limit,
                       Credentials &C) {
  const SteadyClock::time_point End = SteadyClock::now() + Limit;
  auto Refused = [&](const std::string &Why) {
    return Fault(Fault::Refused,
                 "credential-helper=: " + quote(Program) + " " + Why,
                 grpc::StatusCode::UNAUTHENTICATED);
  };
  std::string Request = "{\"uri\":\"";
  for (char Ch : Uri)
    Request += (Ch == '"' || Ch == '\\' ? "\\" : "") + std::string(1, Ch);
  Helper H;
  if (int Why = H.start(Program, Request + "\"}\n"))
    return Refused(std::string("cannot be started: ") + std::strerror(Why));
  for (H.listen(); !H.Child.hasEnded(); H.listen()) {
    if (Stopping.raised())
      return Fault::cancelled();
    if (SteadyClock::now() >= End)
      return Refused("has not answered for " + Uri + " within " +
                     std::to_string(Limit.count() / 1000) + " seconds");
  }
  // All output of the helper has arrived. Processes that it left running may
  // write more.
  H.listen();
  std::string ErrorText = H.ErrorOutput.substr(0, H.ErrorOutput.find('\n'));
  ErrorText = sdk::printable(ErrorText.substr(0, MaxErrorOutput), ' ');
  if (std::string How = H.Child.describeExit(); !How.empty())
    return Refused(How + " for " + Uri +
                   (ErrorText.empty() ? "" : ": " + ErrorText));
  if (H.Answer.size() > MaxAnswer)
    return Refused("wrote more than " + std::to_string(MaxAnswer) + " bytes");
  std::string Error;
  if (!readCredentials(H.Answer, C, Error))
    return Refused("gave an invalid answer for " + Uri + ": " + Error);
  return {};
}

//===----------------------------------------------------------------------===//
// All runs of a helper
//===----------------------------------------------------------------------===//

Fault CredentialHelper::run(Stop &Stopping, const Endpoint &To,
                            std::unique_lock<std::mutex> &Lock) {
  assert(Lock.owns_lock() && !IsRunning);
  IsRunning = true;
  Lock.unlock();
  Credentials New;
  Fault F = runHelper(Stopping, Program, uriOf(To), Limit, New);
  Lock.lock();
  IsRunning = false;
  HelperEntry &K = All[To.Target];
  if (F && F.What != Fault::Cancelled) {
    K.LastFault = F;
    ++K.NumFailed;
  }
  if (!F) {
    Credentials::Time Now = Clock::now();
    K.ValidUntil =
        New.Expires ? std::max(*New.Expires, Now + MinAge) : Now + DefaultAge;
    K.Now = std::move(New);
    K.Stamp = ++LastStamp;
  }
  Changed.notify_all();
  return F;
}

Fault CredentialHelper::get(
    Stop &Stopping, const Endpoint &To,
    std::vector<std::pair<std::string, std::string>> &Headers, uint64_t &Stamp,
    bool MayWait) {
  std::unique_lock<std::mutex> Lock(Mutex);
  HelperEntry &K = All[To.Target];
  const uint64_t NumFailed = K.NumFailed;
  while (true) {
    if (K.Stamp && Clock::now() < K.ValidUntil) {
      Headers.insert(Headers.end(), K.Now.Headers.begin(), K.Now.Headers.end());
      Stamp = K.Stamp;
      return {};
    }
    if (K.NumFailed != NumFailed)
      return K.LastFault;
    if (!MayWait || Stopping.raised())
      return Fault::cancelled();
    // Raising Stopping does not notify Changed.
    if (IsRunning)
      Changed.wait_for(Lock, 50ms);
    else if (Fault F = run(Stopping, To, Lock))
      return F;
  }
}

void CredentialHelper::onAccepted(const Endpoint &To, uint64_t Stamp) {
  std::lock_guard<std::mutex> Lock(Mutex);
  HelperEntry &K = All[To.Target];
  if (K.Stamp == Stamp)
    K.RefusalStreak = 0;
}

bool CredentialHelper::renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp,
                             Fault &Why) {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (IsRunning) {
    if (Stopping.raised())
      return false;
    Changed.wait_for(Lock, 50ms);
  }
  HelperEntry &K = All[To.Target];
  // Another call has renewed them.
  if (K.Stamp != Stamp)
    return K.RefusalStreak < 2;
  if (++K.RefusalStreak > 1)
    return false;
  auto Old = K.Now.Headers;
  if (Fault F = run(Stopping, To, Lock)) {
    Why = std::move(F);
    return false;
  }
  return K.Now.Headers != Old;
}
