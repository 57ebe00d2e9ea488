//===- HelperProcess.cpp - One run of a credential helper -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Credentials.h"
#include "Guard.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

using namespace dtlto::reapi;
using dtlto::quote;
namespace sdk = dtlto::sdk;
using SteadyClock = std::chrono::steady_clock;

static constexpr size_t MaxAnswer = size_t(1) << 20;
static constexpr size_t MaxComplaint = 500;
// Nobody wakes a thread that waits for a process.
static constexpr int SliceMs = 20;

namespace {
/// A helper, with a group of its own. It ends with this object, or with the
/// linker.
class Helper {
public:
  /// The errno of what can't be done, or 0. \p Input is less than a pipe holds.
  int start(const std::string &Program, const std::string &Input);
  /// Reads what is there, and waits for it for a moment.
  void listen();
  /// Whether it has ended. What it left open doesn't count.
  bool hasEnded() { return P.hasEnded(); }
  /// It ended otherwise than with 0, if that is known.
  std::string how() const { return P.how(); }

  // What is more than the most is dropped but for one byte, which tells of it.
  std::string Answer, Complaint;

private:
  /// Null: there is no shell, and the linker's end is not noticed.
  std::unique_ptr<dtlto::Guard> Guard;
  dtlto::Output Out, Err;
  dtlto::Process P;
};
} // namespace

int Helper::start(const std::string &Program, const std::string &Input) {
  dtlto::Descriptor In, Ours, TheirOut, TheirErr;
  if (int Why = dtlto::openPipe(In, Ours))
    return Why;
  // Before there is a reader that could go away: no SIGPIPE.
  ssize_t Written = ::write(Ours.get(), Input.data(), Input.size());
  if (Written != ssize_t(Input.size()))
    return Written < 0 ? errno : ENOSPC;
  if (int Why = Out.open(TheirOut))
    return Why;
  if (int Why = Err.open(TheirErr))
    return Why;
  int NoGuard = 0;
  Guard = dtlto::Guard::start(/*Folder=*/"", /*Lock=*/-1, NoGuard);
  dtlto::Process::Setup S;
  S.Args = {Program, "get"};
  S.In = In.get();
  S.Out = TheirOut.get();
  S.Err = TheirErr.get();
  S.Group = dtlto::Process::Setup::Own;
  return P.start(S, Guard.get());
}

void Helper::listen() {
  // Without any that is open, it only waits.
  pollfd Polled[2] = {{Out.fd(), POLLIN, 0}, {Err.fd(), POLLIN, 0}};
  ::poll(Polled, 2, SliceMs);
  Out.read(Answer, MaxAnswer + 1);
  Err.read(Complaint, MaxComplaint + 1);
}

/// \p Uri has no control characters.
static std::string request(const std::string &Uri) {
  std::string Text = "{\"uri\":\"";
  for (char C : Uri) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text + "\"}\n";
}

Fault dtlto::reapi::runHelper(Stop &Stopping, const std::string &Program,
                              const std::string &Uri,
                              std::chrono::milliseconds Limit, Credentials &C) {
  const SteadyClock::time_point End = SteadyClock::now() + Limit;
  auto Refused = [&](const std::string &Why) {
    Fault F;
    F.What = Fault::Refused;
    F.Code = grpc::StatusCode::UNAUTHENTICATED;
    F.Text = "credential-helper=: " + quote(Program) + " " + Why;
    return F;
  };
  Helper P;
  if (int Why = P.start(Program, request(Uri)))
    return Refused(std::string("can't be started: ") + std::strerror(Why));
  while (true) {
    P.listen();
    if (P.hasEnded())
      break;
    if (Stopping.raised()) {
      Fault F;
      F.What = Fault::Cancelled;
      F.Code = grpc::StatusCode::CANCELLED;
      F.Text = "cancelled";
      return F;
    }
    if (SteadyClock::now() >= End)
      return Refused("hasn't answered for " + Uri + " within " +
                     std::to_string(Limit.count() / 1000) + " seconds");
  }
  // All that it has written is there; what it has started may write more.
  P.listen();
  std::string Said = P.Complaint.substr(0, P.Complaint.find('\n'));
  Said = sdk::printable(Said.substr(0, MaxComplaint), ' ');
  if (!P.how().empty())
    return Refused(P.how() + " for " + Uri + (Said.empty() ? "" : ": " + Said));
  if (P.Answer.size() > MaxAnswer)
    return Refused("has written more than " + std::to_string(MaxAnswer) +
                   " bytes");
  std::string Error;
  if (!readCredentials(P.Answer, C, Error))
    return Refused("was of no use for " + Uri + ": " + Error);
  return {};
}
