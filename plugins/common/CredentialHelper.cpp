//===- CredentialHelper.cpp - Programs that print headers -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CredentialHelper.h"
#include "Guard.h"
#include "Text.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

using namespace dtlto;
using namespace std::chrono_literals;
using SystemClock = std::chrono::system_clock;
using nlohmann::json;

// Bazel's limit for credentials that don't expire.
static constexpr auto DefaultAge = 30min;
// Also for expired credentials, so that not every call runs the helper.
static constexpr auto MinAge = 1s;
static constexpr int MaxHeaders = 100;
// What servers accept in a call by default.
static constexpr size_t MaxHeaderBytes = 16384;
// Limits for a helper's standard output, and for its standard error in a
// message. The first also limits how deeply an answer is nested.
static constexpr size_t MaxAnswer = size_t(64) << 10, MaxErrorOutput = 500;
// How often to check whether a helper must be stopped.
static constexpr int SliceMs = 20;

bool dtlto::isHeaderName(std::string_view Name) {
  return !Name.empty() &&
         Name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
             Name.npos;
}

bool dtlto::isBinaryHeader(std::string_view Name) {
  return Name.size() > 4 && Name.substr(Name.size() - 4) == "-bin";
}

sdk::Argument dtlto::credentialHelperArgument(std::string &Program) {
  return sdk::textArgument(
      "credential-helper", "PROGRAM", Program,
      "A program that prints the headers of calls, as for Bazel's "
      "--credential_helper");
}

//===----------------------------------------------------------------------===//
// The output of a helper
//===----------------------------------------------------------------------===//

/// Whether \p Text is like \p Form, in which 0 means any digit.
static bool hasForm(std::string_view Text, std::string_view Form) {
  return std::equal(
      Text.begin(), Text.end(), Form.begin(), Form.end(),
      [](char C, char F) { return F == '0' ? C >= '0' && C <= '9' : C == F; });
}

/// Reads a time of RFC 3339, such as 2030-01-31T12:00:00.5+01:00, as seconds
/// since 1970. Returns false for any other text.
static bool readTime(std::string_view Text, int64_t &Seconds) {
  constexpr std::string_view Digits = "0123456789",
                             Form = "0000-00-00T00:00:00";
  auto Number = [&](size_t At, size_t Size = 2) {
    int N = 0;
    for (char C : Text.substr(At, Size))
      N = N * 10 + (C - '0');
    return N;
  };
  if (!hasForm(Text.substr(0, Form.size()), Form))
    return false;
  size_t Zone = Form.size();
  if (Zone < Text.size() && Text[Zone] == '.') {
    const size_t Fraction = Zone + 1;
    Zone = std::min(Text.find_first_not_of(Digits, Fraction), Text.size());
    if (Zone == Fraction)
      return false;
  }
  std::tm Local = {};
  Local.tm_year = Number(0, 4) - 1900;
  Local.tm_mon = Number(5) - 1;
  Local.tm_mday = Number(8);
  Local.tm_hour = Number(11);
  Local.tm_min = Number(14);
  Local.tm_sec = Number(17);
  // timegm() accepts February 30, and changes it to a day of March.
  std::tm Same = Local;
  Seconds = ::timegm(&Same);
  auto Fields = [](const std::tm &T) {
    return std::tuple(T.tm_mon, T.tm_mday, T.tm_hour, T.tm_min, T.tm_sec);
  };
  if (Fields(Same) != Fields(Local))
    return false;
  if (Text.substr(Zone) == "Z")
    return true;
  const bool IsEast = hasForm(Text.substr(Zone), "+00:00");
  if (!IsEast && !hasForm(Text.substr(Zone), "-00:00"))
    return false;
  const int Minutes = Number(Zone + 1) * 60 + Number(Zone + 4);
  Seconds -= (IsEast ? 60 : -60) * Minutes;
  return Minutes < 24 * 60 && Number(Zone + 4) < 60;
}

/// Adds the headers \p Name with \p Values. Returns what is wrong, or nothing.
static std::string addHeaders(Credentials &C, const std::string &Key,
                              const json &Values) {
  std::string Name = lowerCase(Key);
  if (!isHeaderName(Name))
    return "one of its headers has an invalid name";
  if (isBinaryHeader(Name))
    return "its header " + quote(Name) +
           " has binary values, which cannot be set";
  if (!Values.is_array())
    return "its header " + quote(Name) + " is not a list";
  for (const json &V : Values) {
    if (!V.is_string())
      return "its header " + quote(Name) + " is not a list of strings";
    const auto &Value = V.get_ref<const std::string &>();
    if (!isPrintableAscii(Value))
      return "its header " + quote(Name) +
             " has characters other than printable ASCII";
    C.Headers.emplace_back(Name, Value);
  }
  return "";
}

/// Fills \p C. Returns what is wrong with \p Text, or nothing.
static std::string read(std::string_view Text, Credentials &C) {
  if (Text.find_first_not_of(" \t\r\n") == Text.npos)
    return "it wrote nothing";
  // The parser treats a NUL as the end. It isn't recursive.
  const json All =
      json::parse(Text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!All.is_object() || Text.find('\0') != Text.npos)
    return "its output is not a JSON object";
  if (auto It = All.find("headers"); It != All.end()) {
    if (!It->is_object())
      return "its 'headers' is not an object";
    for (const auto &[Key, Values] : It->items())
      if (std::string Why = addHeaders(C, Key, Values); !Why.empty())
        return Why;
    size_t Size = 0;
    for (const auto &[Name, Value] : C.Headers)
      Size += Name.size() + Value.size();
    if (C.Headers.size() > MaxHeaders || Size > MaxHeaderBytes)
      return "its headers are longer than a server accepts";
  }
  if (auto It = All.find("expires"); It != All.end()) {
    int64_t Seconds;
    if (!It->is_string() ||
        !readTime(It->get_ref<const std::string &>(), Seconds))
      return "its 'expires' is not a time such as 2030-01-31T12:00:00Z";
    // The clock counts nanoseconds in 64 bits. Clamp later times, which mean no
    // expiry, and earlier ones, which have passed.
    constexpr int64_t Latest = int64_t(1) << 33;
    C.Expires = Credentials::Time(
        std::chrono::seconds(std::clamp(Seconds, int64_t(0), Latest)));
  }
  return "";
}

bool dtlto::readCredentials(std::string_view Text, Credentials &C,
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

namespace {
/// A helper in its own process group, which ends with this object or with the
/// linker.
struct HelperProcess {
  /// Starts the helper, which reads \p Input. Returns an errno, or 0.
  int start(const std::string &Program, const std::string &Input);
  /// Waits a moment for output, and reads what is available.
  void listen();

  // Longer output is dropped, except for one byte.
  std::string Answer, ErrorOutput;
  std::unique_ptr<Guard> TheGuard; // null: no shell could be started
  Output Out, Err;
  Process Child;
};
} // namespace

int HelperProcess::start(const std::string &Program, const std::string &Input) {
  Descriptor In, InWriter, OutWriter, ErrWriter;
  // Nothing reads yet: more would block if the pipe is as small as it may be.
  if (Input.size() > PIPE_BUF)
    return E2BIG;
  int Why = openPipe(In, InWriter);
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
  TheGuard = Guard::start(/*Folder=*/"", /*Lock=*/-1, NoGuard);
  Process::Setup S;
  S.Args = {Program, "get"};
  S.In = In.get();
  S.Out = OutWriter.get();
  S.Err = ErrWriter.get();
  S.Group = Process::Setup::NewGroup;
  return Child.start(S, TheGuard.get());
}

void HelperProcess::listen() {
  pollfd Polled[2] = {{Out.fd(), POLLIN, 0}, {Err.fd(), POLLIN, 0}};
  ::poll(Polled, 2, SliceMs);
  Out.read(Answer, MaxAnswer + 1);
  Err.read(ErrorOutput, MaxErrorOutput + 1);
}

/// Returns what a helper reads.
static std::string requestFor(const std::string &Uri) {
  std::string Request = "{\"uri\":\"";
  for (char C : Uri)
    Request += (C == '"' || C == '\\' ? "\\" : "") + std::string(1, C);
  return Request + "\"}\n";
}

static bool isCancelled(const CredentialHelper::Patience &P) {
  return P.IsCancelled && P.IsCancelled();
}

/// Runs \p Program for \p Uri. Blocks as long as \p P allows. The helper has
/// ended in any case.
static CredentialHelper::Failure runHelper(const CredentialHelper::Patience &P,
                                           const std::string &Program,
                                           const std::string &Uri,
                                           Credentials &C) {
  using Clock = CredentialHelper::Clock;
  using Failure = CredentialHelper::Failure;
  const Clock::time_point Begin = Clock::now();
  auto Failed = [&](const std::string &Why) {
    return Failure{Failure::Failed,
                   "credential-helper=: " + quote(Program) + " " + Why};
  };
  HelperProcess H;
  if (int Why = H.start(Program, requestFor(Uri)))
    return Failed(std::string("cannot be started: ") + std::strerror(Why));
  for (H.listen(); !H.Child.hasEnded(); H.listen()) {
    if (isCancelled(P))
      return {Failure::Cancelled};
    if (Clock::now() >= P.End)
      return Failed(
          "has not answered for " + Uri + " within " +
          std::to_string(
              std::chrono::ceil<std::chrono::seconds>(P.End - Begin).count()) +
          " s");
  }
  // All output of the helper has arrived. Processes that it left running may
  // write more.
  H.listen();
  std::string ErrorText = H.ErrorOutput.substr(0, H.ErrorOutput.find('\n'));
  ErrorText = sdk::printable(ErrorText.substr(0, MaxErrorOutput), ' ');
  if (std::string How = H.Child.describeExit(); !How.empty())
    return Failed(How + " for " + Uri +
                  (ErrorText.empty() ? "" : ": " + ErrorText));
  if (H.Answer.size() > MaxAnswer)
    return Failed("wrote more than " + std::to_string(MaxAnswer) + " bytes");
  std::string Error;
  if (!readCredentials(H.Answer, C, Error))
    return Failed("gave an invalid answer for " + Uri + ": " + Error);
  return {};
}

//===----------------------------------------------------------------------===//
// All runs of a helper
//===----------------------------------------------------------------------===//

CredentialHelper::Failure
CredentialHelper::run(const Patience &P, const std::string &Uri,
                      std::unique_lock<std::mutex> &Lock) {
  assert(Lock.owns_lock() && !IsRunning);
  IsRunning = true;
  Lock.unlock();
  Credentials New;
  Failure F = runHelper(P, Program, Uri, New);
  Lock.lock();
  IsRunning = false;
  Entry &E = All[Uri];
  if (F.What == Failure::Failed) {
    E.LastFailure = F;
    ++E.NumFailed;
  }
  if (!F) {
    Credentials::Time Now = SystemClock::now();
    E.ValidUntil =
        New.Expires ? std::max(*New.Expires, Now + MinAge) : Now + DefaultAge;
    E.Now = std::move(New);
    E.Stamp = ++LastStamp;
  }
  Changed.notify_all();
  return F;
}

CredentialHelper::Failure CredentialHelper::get(const Patience &P,
                                                const std::string &Uri,
                                                HeaderList &To, uint64_t &Stamp,
                                                bool MayWait) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Entry &E = All[Uri];
  const uint64_t NumFailed = E.NumFailed;
  while (true) {
    if (E.Stamp && SystemClock::now() < E.ValidUntil) {
      To.insert(To.end(), E.Now.Headers.begin(), E.Now.Headers.end());
      Stamp = E.Stamp;
      return {};
    }
    if (E.NumFailed != NumFailed)
      return E.LastFailure;
    if (!MayWait || isCancelled(P))
      return {Failure::Cancelled};
    // P does not notify Changed.
    if (IsRunning)
      Changed.wait_for(Lock, 50ms);
    else if (Failure F = run(P, Uri, Lock))
      return F;
  }
}

void CredentialHelper::onAccepted(const std::string &Uri, uint64_t Stamp) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Entry &E = All[Uri];
  if (E.Stamp == Stamp)
    E.RefusalStreak = 0;
}

bool CredentialHelper::renew(const Patience &P, const std::string &Uri,
                             uint64_t Stamp, Failure &F) {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (IsRunning) {
    if (isCancelled(P))
      return false;
    Changed.wait_for(Lock, 50ms);
  }
  Entry &E = All[Uri];
  // Another call has renewed them.
  if (E.Stamp != Stamp)
    return E.RefusalStreak < 2;
  if (++E.RefusalStreak > 1)
    return false;
  auto Old = E.Now.Headers;
  F = run(P, Uri, Lock);
  return !F && E.Now.Headers != Old;
}
