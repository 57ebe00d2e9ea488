//===- MockIcecream.cpp - A cluster in a test -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MockIcecream.h"
#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

using namespace dtlto::test;

MockServer::MockServer(const std::string &Path, Session Serve)
    : SocketServer(
          [this, Serve = std::move(Serve)](int Fd) {
            sockaddr_in Nobody = {};
            Nobody.sin_family = AF_INET;
            std::unique_ptr<MsgChannel> C(Service::createChannel(
                Fd, reinterpret_cast<sockaddr *>(&Nobody), sizeof(Nobody)));
            if (C)
              Serve(*C);
            leave(Fd, [&] { C.reset(); });
          },
          Path, 10) {} // iceccd's backlog

MockCluster::MockCluster(const std::string &Folder)
    : Socket(Folder + "/iceccd.socket") {
  Node =
      std::make_unique<MockServer>("", [this](MsgChannel &C) { serveJob(C); });
  Daemon = std::make_unique<MockServer>(
      Socket, [this](MsgChannel &C) { serveClient(C); });
}

MockCluster::~MockCluster() {
  Daemon.reset();
  Node.reset();
}

void MockCluster::expect(std::vector<Behaviour> B) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Next = std::move(B);
}
void MockCluster::expectBatches(std::vector<Behaviour> B) {
  std::lock_guard<std::mutex> Lock(Mutex);
  NextBatches = std::move(B);
}

template <typename T> bool MockCluster::waitFor(T What) {
  std::unique_lock<std::mutex> Lock(Mutex);
  return Changed.wait_for(Lock, MaxWait, What);
}
bool MockCluster::waitForRequests(unsigned N) {
  return waitFor([&] { return TheRecords.Requests >= N; });
}
bool MockCluster::waitForJobs(unsigned N) {
  return waitFor([&] { return TheRecords.Jobs >= N; });
}
bool MockCluster::waitForClosed() {
  auto End = std::chrono::steady_clock::now() + MaxWait;
  while (numOpen() && std::chrono::steady_clock::now() < End)
    std::this_thread::yield();
  return numOpen() == 0;
}
MockCluster::Records MockCluster::records() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return TheRecords;
}

static constexpr std::chrono::milliseconds DribblePause(2);

/// Reads a little at a time until the client hangs up.
static void readSlowly(MsgChannel &C) {
  char Buffer[10000];
  for (ssize_t N = 1; N != 0; std::this_thread::sleep_for(DribblePause)) {
    N = ::recv(C.fd, Buffer, sizeof(Buffer), MSG_DONTWAIT);
    if (N < 0 && errno != EAGAIN)
      return;
  }
}

/// Sends part of a message, byte by byte, until the client hangs up.
static void dribble(MsgChannel &C) {
  const unsigned char Length[4] = {0, 1, 0, 0}; // of 65536 bytes
  for (size_t I = 0; I != 65536; ++I, std::this_thread::sleep_for(DribblePause))
    if (::send(C.fd, &Length[I < 4 ? I : 3], 1, MSG_NOSIGNAL) != 1)
      return;
}

/// Sends a chunk of 240 bytes, compressed with LZO, whose size field says 8.
static void sendWrongSize(MsgChannel &C) {
  const std::string Packed("\2xxxxx \xbb\x10\0\xcxxxxxxxxxxxxxxx\x11\0\0", 29);
  std::string M;
  for (size_t N : {16 + Packed.size(), size_t(M_FILE_CHUNK), size_t(8),
                   Packed.size(), size_t(C_LZO)})
    M += {0, 0, 0, static_cast<char>(N)};
  M += Packed;
  (void)!::send(C.fd, M.data(), M.size(), MSG_NOSIGNAL);
}

/// Returns the next message; null at the end.
static std::unique_ptr<Msg> receive(MsgChannel &C) {
  return std::unique_ptr<Msg>(C.get_msg(30, true));
}

void MockCluster::serveClient(MsgChannel &C) {
  while (std::unique_ptr<Msg> M = receive(C)) {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (M->type == M_GET_CS) {
      auto &Request = static_cast<GetCSMsg &>(*M);
      ++TheRecords.Requests;
      TheRecords.Files.push_back(Request.filename);
      TheRecords.Preferred.push_back(Request.preferred_host);
      unsigned Id = ++NextJob;
      Grants Grant = Answer;
      if (NumFails) {
        --NumFails;
        Grant = Grants::Hangup;
      }
      unsigned Port = Node->port();
      if (Grant == Grants::Nodes && NumDead) {
        --NumDead;
        Port = 1;
      }
      if (Grant == Grants::Nodes)
        C.send_msg(UseCSMsg("x86_64", "127.0.0.1", Port, Id, HasEnvironment,
                            Request.client_id, 0));
      else if (Grant == Grants::Local)
        C.send_msg(UseCSMsg("x86_64", "127.0.0.1", 0, Id, true, 1, 0));
      else if (Grant == Grants::LocalByNoCS)
        C.send_msg(NoCSMsg(Id, 1));
      else if (Grant == Grants::Text)
        C.send_msg(StatusTextMsg("go away"));
      else if (Grant == Grants::Hangup)
        break;
    } else if (M->type == M_END) {
      ++TheRecords.Ends;
    } else if (M->type == M_BLACKLIST_HOST_ENV) {
      ++TheRecords.Blacklisted;
    } else if (M->type == M_COMPILE_FILE) {
      std::unique_ptr<CompileJob> J(
          static_cast<CompileFileMsg &>(*M).takeJob());
      TheRecords.ClientJobs += J->environmentVersion() == "__client";
    } else if (M->type == M_JOB_DONE) {
      TheRecords.LocalDone += !static_cast<JobDoneMsg &>(*M).is_from_server();
    }
    Changed.notify_all();
  }
}

void MockCluster::serveJob(MsgChannel &C) {
  bool InJob = false, Slow = false, IsBatch = false;
  Behaviour B = Behaviour::Good;
  std::string Bytes;
  while (std::unique_ptr<Msg> M = receive(C)) {
    if (M->type == M_TRANFER_ENV) {
      Bytes.clear();
      std::lock_guard<std::mutex> Lock(Mutex);
      if (!Next.empty() && Next.front() == Behaviour::SlowEnvironment) {
        Next.erase(Next.begin());
        Slow = true;
        break;
      }
    } else if (M->type == M_FILE_CHUNK) {
      auto &Chunk = static_cast<FileChunkMsg &>(*M);
      Bytes.append(reinterpret_cast<char *>(Chunk.buffer), Chunk.len);
      std::lock_guard<std::mutex> Lock(Mutex);
      TheRecords.LargestChunk = std::max(TheRecords.LargestChunk, Chunk.len);
      if (!InJob && Bytes.size() == Chunk.len)
        TheRecords.EnvironmentHead = Chunk.len;
      TheRecords.Chunks.push_back(Chunk.len);
    } else if (M->type == M_END && !InJob) {
      std::lock_guard<std::mutex> Lock(Mutex);
      ++TheRecords.Environments;
      TheRecords.EnvironmentBytes = Bytes.size();
    } else if (M->type == M_VERIFY_ENV) {
      C.send_msg(VerifyEnvResultMsg(Verifies));
    } else if (M->type == M_COMPILE_FILE) {
      std::unique_ptr<CompileJob> J(
          static_cast<CompileFileMsg &>(*M).takeJob());
      InJob = true;
      Bytes.clear();
      std::lock_guard<std::mutex> Lock(Mutex);
      TheRecords.Chunks.clear();
      for (const std::string &Flag : J->allFlags()) {
        TheRecords.Flags.push_back(Flag);
        IsBatch |= Flag == "--batch";
      }
      TheRecords.Compilers.push_back(J->compilerName());
      std::vector<Behaviour> &Behaviours = IsBatch ? NextBatches : Next;
      if (!Behaviours.empty()) {
        B = Behaviours.front();
        Behaviours.erase(Behaviours.begin());
      }
      Slow = B == Behaviour::SlowReader;
      if (B == Behaviour::Deaf || Slow) {
        ++TheRecords.Jobs;
        Changed.notify_all();
        break;
      }
    } else if (M->type == M_END) {
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        ++TheRecords.Jobs;
        TheRecords.Batches += IsBatch;
      }
      Changed.notify_all();
      if (!answer(C, B, Bytes, IsBatch))
        return;
    }
  }
  if (Slow)
    readSlowly(C);
  if (B != Behaviour::Deaf)
    return;
  // Wait until the client hangs up.
  pollfd P = {C.fd, POLLRDHUP, 0}; // or an error
  ::poll(&P, 1, 30000);
}

/// Returns the bundles of a batch.
static std::vector<std::string> split(const std::string &Batch) {
  std::vector<std::string> Bundles;
  for (size_t At = 0; At + 8 <= Batch.size();) {
    uint64_t Size = 0;
    for (size_t I = 8; I-- != 0;)
      Size = Size << 8 | static_cast<unsigned char>(Batch[At + I]);
    Bundles.push_back(Batch.substr(At + 8, Size));
    At += 8 + Size;
  }
  return Bundles;
}

/// Returns false to hang up.
bool MockCluster::answer(MsgChannel &C, Behaviour B, const std::string &Bundle,
                         bool IsBatch) {
  CompileResultMsg Result;
  // The test's linker accepts this as a frame.
  std::string F = "<" + Bundle + ">";
  if (IsBatch) {
    F.clear();
    for (const std::string &One : split(Bundle)) {
      for (uint64_t Number : {One.size() + 2, size_t(1)}) // a microsecond
        for (unsigned I = 0; I != 8; ++I)
          F += static_cast<char>(Number >> 8 * I);
      F += "<" + One + ">";
      std::lock_guard<std::mutex> Lock(Mutex);
      TheRecords.Bundles.push_back(One);
    }
    if (B == Behaviour::WrongEntry)
      F[16] = 'x'; // no frame
  }
  switch (B) {
  case Behaviour::Good:
  case Behaviour::WrongEntry:
    break;
  case Behaviour::Silent:
  case Behaviour::Deaf:
  case Behaviour::SlowReader:
  case Behaviour::SlowEnvironment:
    return true;
  case Behaviour::DribbledResult:
    dribble(C);
    return false;
  case Behaviour::Close:
    return false;
  case Behaviour::CutObject:
  case Behaviour::ShortObject:
    F.resize(F.size() / 2);
    break;
  case Behaviour::LongObject:
    F += "x";
    break;
  case Behaviour::NoObject:
    F.clear();
    break;
  case Behaviour::OddMessage:
    C.send_msg(PingMsg());
    return true;
  case Behaviour::OddObject:
  case Behaviour::WrongChunkSize:
  case Behaviour::DribbledObject:
    break;
  case Behaviour::Text:
    C.send_msg(StatusTextMsg("environment is gone"));
    return true;
  case Behaviour::Crash:
    Result.status = 105;
    break;
  case Behaviour::CompileError:
    Result.status = 1;
    Result.err = "error: no registers left\n";
    break;
  case Behaviour::WorkerError:
    Result.status = 1;
    Result.err = "dtlto-codegen: error: no bundle\n";
    break;
  }
  if (B == Behaviour::Good && !IsBatch)
    Result.err = "warning: all is well\n";
  C.send_msg(Result);
  if (Result.status != 0)
    return true;
  if (B == Behaviour::OddObject) {
    C.send_msg(PingMsg());
    return true;
  }
  if (B == Behaviour::WrongChunkSize) {
    sendWrongSize(C);
    C.send_msg(EndMsg());
    return true;
  }
  if (B == Behaviour::DribbledObject) {
    while (C.send_msg(
        FileChunkMsg(reinterpret_cast<unsigned char *>(F.data()), 1)))
      std::this_thread::sleep_for(DribblePause);
    return false;
  }
  for (size_t I = 0; I < F.size(); I += 100000)
    C.send_msg(FileChunkMsg(reinterpret_cast<unsigned char *>(F.data() + I),
                            std::min<size_t>(100000, F.size() - I)));
  if (B == Behaviour::CutObject)
    return false;
  C.send_msg(EndMsg());
  return true;
}
