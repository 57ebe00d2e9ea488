//===- SshProcess.cpp - A distccd that ssh starts -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SshProcess.h"
#include "Guard.h"
#include "Network.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The time from SIGTERM to SIGKILL: ssh restores a terminal.
static constexpr Clock::duration MaxTermination = 1s;
// Limits for the standard error of a process.
static constexpr off_t MaxMessages = 1 << 20;
static constexpr size_t MaxLastLine = 400;

struct SshProcess::Child {
  Descriptor Messages; // a file with its standard error
  Process Proc;
};

std::string SshProcess::lastLine() const {
  if (!TheChild)
    return {};
  std::string Text(static_cast<size_t>(MaxMessages), '\0');
  ssize_t N = ::pread(TheChild->Messages.get(), Text.data(), Text.size(), 0);
  // Bytes that were never written are zeros.
  Text.resize(
      std::min(Text.find('\0'), static_cast<size_t>(std::max<ssize_t>(N, 0))));
  size_t End = Text.find_last_not_of("\r\n\t .");
  if (End == std::string::npos)
    return {};
  Text.resize(End + 1);
  size_t Begin = Text.find_last_of("\r\n");
  return sdk::oneLine(
      Text.substr(Begin == std::string::npos ? 0 : Begin + 1, MaxLastLine));
}

/// Opens a file in memory of a fixed size, so that a process that writes
/// without end neither blocks nor fills the memory.
static Descriptor openMessages() {
  Descriptor D(::memfd_create("ssh", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (D.isOpen() && (::ftruncate(D.get(), MaxMessages) != 0 ||
                     ::fcntl(D.get(), F_ADD_SEALS, F_SEAL_GROW) != 0))
    D.reset();
  return D;
}

static std::vector<std::string>
commandLine(const std::vector<std::string> &SshCommand, const HostSpec &Host) {
  std::vector<std::string> Args = SshCommand;
  std::string_view Program = Args[0];
  if (Program.substr(Program.find_last_of('/') + 1) == "ssh") {
    // ssh takes the first of several values of an option.
    Args.insert(Args.begin() + 1, "-oBatchMode=yes");
    auto Limit =
        std::chrono::ceil<std::chrono::seconds>(TheNetworkLimits.Connect);
    Args.push_back("-oConnectTimeout=" + std::to_string(Limit.count()));
  }
  if (!Host.User.empty()) {
    Args.push_back("-l");
    Args.push_back(Host.User);
  }
  Args.push_back(Host.Name);
  Args.push_back(Host.Command.empty() ? "distccd" : Host.Command);
  Args.push_back("--inetd");
  Args.push_back("--enable-tcp-insecure");
  return Args;
}

int Reaper::start(const std::vector<std::string> &SshCommand,
                  const HostSpec &Host, SshProcess &Ssh) {
  int Errno = 0;
  if (!TheGuard)
    TheGuard = Guard::start("", -1, Errno);
  Ssh.TheChild = std::make_shared<SshProcess::Child>();
  Descriptor ParentEnd, ChildEnd, &Messages = Ssh.TheChild->Messages;
  if (!Errno && !(Messages = openMessages()).isOpen())
    Errno = errno;
  // Use one socket for both directions. Their end blocks, as ssh expects.
  if (!Errno)
    Errno = openStream(ParentEnd, ChildEnd);
  Process::Setup S;
  S.Args = commandLine(SshCommand, Host);
  // Prevent dialogs. ssh before 8.4 has only the second variable.
  S.Env = {"SSH_ASKPASS_REQUIRE=never", "SSH_ASKPASS=false"};
  S.In = S.Out = ChildEnd.get();
  S.Err = Messages.get();
  // A new session has no terminal that ssh could use.
  S.Group = Process::Setup::NewSession;
  if (!Errno)
    Errno = Ssh.TheChild->Proc.start(S, TheGuard.get());
  errno = Errno;
  return Errno ? -1 : ParentEnd.release();
}

void Reaper::end(SshProcess &Ssh) {
  if (Ssh.TheChild) {
    Ssh.TheChild->Proc.kill(SIGTERM);
    EndingProcesses.push_back(
        {std::move(Ssh.TheChild), Clock::now() + MaxTermination});
  }
}

void Reaper::reap() {
  auto HasEnded = [](EndingProcess &Entry) {
    if (Entry.TheChild->Proc.hasEnded())
      return true;
    if (Clock::now() >= Entry.KillAt)
      Entry.TheChild->Proc.kill(SIGKILL);
    return false;
  };
  EndingProcesses.erase(
      std::remove_if(EndingProcesses.begin(), EndingProcesses.end(), HasEnded),
      EndingProcesses.end());
}

Reaper::~Reaper() {
  for (auto Deadline = Clock::now() + MaxTermination;
       reap(), !EndingProcesses.empty() && Clock::now() < Deadline;)
    std::this_thread::sleep_for(2ms);
}
