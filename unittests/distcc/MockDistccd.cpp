//===- MockDistccd.cpp - A distccd in a test ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MockDistccd.h"
#include "Lzo.h"
#include "Request.h"
#include <algorithm>
#include <cstdio>
#include <sys/socket.h>
#include <unistd.h>

using namespace dtlto::test;
using dtlto::distcc::lzoCompress;
using dtlto::distcc::lzoDecompress;

void Gate::open() {
  std::lock_guard<std::mutex> Lock(Mutex);
  IsOpen = true;
  Changed.notify_all();
}

bool Gate::wait() {
  std::unique_lock<std::mutex> Lock(Mutex);
  return Changed.wait_for(Lock, MaxWait, [&] { return IsOpen; });
}

//===----------------------------------------------------------------------===//
// The protocol
//===----------------------------------------------------------------------===//

std::string dtlto::test::token(const char *Name, uint32_t Value) {
  char Buffer[13];
  snprintf(Buffer, sizeof(Buffer), "%.4s%08x", Name, Value);
  return Buffer;
}

std::string dtlto::test::packed(const std::string &Text) {
  std::vector<uint8_t> Bytes = lzoCompress(Text);
  return std::string(Bytes.begin(), Bytes.end());
}

std::string Answer::wire() const {
  std::string Wire = token("DONE", 3) + token("STAT", Status);
  auto Add = [&](const char *Name, const std::string &Text) {
    std::string Bytes = packed(Text);
    Wire += token(Name, static_cast<uint32_t>(Bytes.size())) + Bytes;
  };
  Add("SERR", Stderr);
  Add("SOUT", Stdout);
  Add("DOTO", Object);
  return Wire;
}

std::string dtlto::test::objectOf(const std::string &Output) {
  uint32_t Random = 1;
  for (char C : Output)
    Random = Random * 31 + static_cast<unsigned char>(C);
  // Most objects are small.
  size_t Size = Random % 8 ? Random % 700 : Random % 300000;
  std::string Object = "object of " + Output + "\n";
  while (Object.size() < Size) {
    Random = Random * 1664525 + 1013904223;
    // Runs of equal bytes, for compression.
    Object.append(1 + (Random >> 28), static_cast<char>(Random >> 20));
  }
  return Object;
}

bool WireRequest::isProbe() const {
  for (const std::string &Arg : Argv)
    if (Arg == "--version")
      return true;
  return false;
}

std::string WireRequest::output() const {
  for (size_t I = 0; I + 1 < Argv.size(); ++I)
    if (Argv[I] == "-o")
      return Argv[I + 1];
  return {};
}

//===----------------------------------------------------------------------===//
// Sockets
//===----------------------------------------------------------------------===//

std::string MockDistccd::Peer::receive(size_t Size) {
  std::string Bytes;
  char Buffer[65536];
  while (Bytes.size() != Size) {
    ssize_t N =
        ::recv(Fd, Buffer, std::min(sizeof(Buffer), Size - Bytes.size()), 0);
    if (N <= 0)
      break;
    Bytes.append(Buffer, static_cast<size_t>(N));
  }
  return Bytes;
}

bool MockDistccd::Peer::send(std::string_view Bytes) {
  while (!Bytes.empty()) {
    ssize_t N = ::send(Fd, Bytes.data(), Bytes.size(), MSG_NOSIGNAL);
    if (N <= 0)
      return false;
    Bytes.remove_prefix(static_cast<size_t>(N));
  }
  return true;
}

void MockDistccd::Peer::dribble(std::string_view Bytes) {
  for (size_t I = 0; I + 1 < Bytes.size() && send(Bytes.substr(I, 1)); ++I)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  waitForDisconnect();
}

bool MockDistccd::Peer::answerIfProbe() {
  auto Probe = dtlto::distcc::buildProbe("clang-19");
  size_t Size = 0;
  for (std::string_view S : Probe->Segments)
    Size += S.size();
  if (receive(Size).find("--version") == std::string::npos)
    return false;
  Answer Good;
  Good.Stdout = "clang version 19.1.7\n";
  send(Good.wire());
  return true;
}

void MockDistccd::Peer::close() {
  std::lock_guard<std::recursive_mutex> Lock(Mock.Mutex);
  if (Fd < 0)
    return;
  // Update the counters before the client can notice.
  if (!Request.Argv.empty() && !Request.isProbe())
    --Mock.RunningJobs;
  --Mock.Open;
  Mock.Server.leave(Fd, [this] { ::close(Fd); });
  Fd = -1;
  Mock.Changed.notify_all();
}

void MockDistccd::Peer::reset() {
  linger Hard = {1, 0};
  ::setsockopt(Fd, SOL_SOCKET, SO_LINGER, &Hard, sizeof(Hard));
  close();
}

void MockDistccd::Peer::waitForDisconnect() {
  char Buffer[65536];
  while (::recv(Fd, Buffer, sizeof(Buffer), 0) > 0)
    ;
  std::lock_guard<std::recursive_mutex> Lock(Mock.Mutex);
  if (!Mock.IsStopping)
    ++Mock.LeftClients;
  Mock.Changed.notify_all();
}

void MockDistccd::Peer::hang() {
  std::unique_lock<std::recursive_mutex> Lock(Mock.Mutex);
  Mock.Changed.wait(Lock, [&] { return Mock.IsStopping; });
}

bool MockDistccd::Peer::readRequest() {
  // Returns the value of the next token, which must be Name.
  auto Token = [&](const char *Name) -> uint32_t {
    std::string Text = receive(12);
    if (Text.size() == 12 && Text.compare(0, 4, Name) == 0)
      return static_cast<uint32_t>(std::stoul(Text.substr(4), nullptr, 16));
    if (Request.Wrong.empty())
      Request.Wrong = "'" + Text + "' instead of " + Name;
    return 0;
  };
  if (Token("DIST") != 3)
    return false;
  Request.Cdir = receive(Token("CDIR"));
  uint32_t NumArgs = Token("ARGC");
  for (uint32_t I = 0; I != NumArgs && Request.Wrong.empty(); ++I)
    Request.Argv.push_back(receive(Token("ARGV")));
  uint32_t NumFiles = Token("NFIL");
  for (uint32_t I = 0; I != NumFiles && Request.Wrong.empty(); ++I) {
    std::string Name = receive(Token("NAME"));
    std::string Bytes = receive(Token("FILE"));
    dtlto::sdk::Buffer Plain;
    std::string Error;
    if (!lzoDecompress(Bytes, size_t(1) << 30, Plain, Error))
      Request.Wrong = Name + ": " + Error;
    std::string Text(Plain.data(), Plain.size());
    if (!Request.Files.emplace(Name, std::move(Text)).second)
      Request.Wrong = Name + " comes twice";
  }
  return Request.Wrong.empty();
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

MockDistccd::MockDistccd(std::string Version, const char *Address,
                         uint16_t Port)
    : Version(std::move(Version)),
      Server(
          [this](int Fd) {
            Peer *P;
            {
              std::lock_guard<std::recursive_mutex> Lock(Mutex);
              ++Connections;
              ++Open;
              Changed.notify_all();
              P = Peers.emplace_back(std::make_unique<Peer>(*this, Fd)).get();
            }
            serve(*P);
            P->close();
          },
          "", 500, {Address, Port}) {}

MockDistccd::~MockDistccd() { stop(); }

void MockDistccd::stop() {
  {
    std::lock_guard<std::recursive_mutex> Lock(Mutex);
    IsStopping = true;
    Changed.notify_all();
  }
  Server.stop();
}

void MockDistccd::onConnect(Act A) {
  std::lock_guard<std::recursive_mutex> Lock(Mutex);
  Connect = std::move(A);
}
void MockDistccd::onProbe(Act A) {
  std::lock_guard<std::recursive_mutex> Lock(Mutex);
  Probe = std::move(A);
}
void MockDistccd::onJob(Act A) {
  std::lock_guard<std::recursive_mutex> Lock(Mutex);
  Job = std::move(A);
}

std::vector<WireRequest> MockDistccd::requests() const {
  std::lock_guard<std::recursive_mutex> Lock(Mutex);
  return Requests;
}

bool MockDistccd::waitFor(std::function<bool()> Done) {
  std::unique_lock<std::recursive_mutex> Lock(Mutex);
  return Changed.wait_for(Lock, MaxWait, Done);
}

void MockDistccd::serve(Peer &P) {
  std::unique_lock<std::recursive_mutex> Lock(Mutex);
  if (Act A = Connect) {
    Lock.unlock();
    return A(P);
  }
  Lock.unlock();
  bool Good = P.readRequest();
  Lock.lock();
  if (!Good && P.Request.Argv.empty())
    return; // the client left
  Act A;
  if (P.Request.isProbe()) {
    ++Probes;
    A = Probe;
  } else {
    MaxRunningJobs = std::max(MaxRunningJobs, ++RunningJobs);
    Requests.push_back(P.Request);
    if (!Good)
      return;
    ++Jobs;
    A = Job;
  }
  Changed.notify_all();
  Lock.unlock();
  Answer DefaultAnswer;
  if (P.Request.isProbe())
    DefaultAnswer.Stdout =
        "Debian clang version " + Version + " (3+b1)\nTarget: x\n";
  else
    DefaultAnswer.Object = objectOf(P.Request.output());
  if (A)
    A(P);
  else
    P.send(DefaultAnswer.wire());
}
