//===- RemoteJob.cpp - One try of jobs at one node ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemoteJob.h"
#include "Batch.h"
#include "Messages.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cstring>
#include <icecc/comm.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// The system tries three times within this limit.
static constexpr Clock::duration ConnectLimit = 5s;
// After this time without a connection, a node counts as unreachable, even if
// the job is cancelled.
static constexpr Clock::duration MaxConnect = 2s;
// As in icecc.
static constexpr Clock::duration VerifyLimit = 60s;
// The limit for sending an environment. After 120 s the scheduler removes the
// node as broken, with all its jobs.
static constexpr std::chrono::seconds EnvironmentLimit = 100s;
// Nodes refuse messages above a megabyte, and small ones are slow on a busy
// node. Each connection keeps a buffer of its largest message.
static constexpr size_t ChunkSize = 250000;
// A separate message costs about as much as compressing this many bytes.
static constexpr size_t MinShared = 16 << 10;
// How often a job that makes progress is reported.
static constexpr Clock::duration ReportPeriod = 5s;

static Outcome nodeFailed(std::string Why) {
  return {Outcome::NodeFailed, std::move(Why)};
}

/// Returns the failure of \p Conn in its last send or receive.
static Outcome nodeFailed(std::string Why, const Channel &Conn) {
  Outcome O = nodeFailed(std::move(Why));
  O.HasTimedOut = Conn.hasTimedOut();
  return O;
}

static Outcome wrongResult(std::string Why) {
  Outcome O = nodeFailed(std::move(Why));
  O.WasWrong = true;
  return O;
}

/// Sends bytes in chunks. Returns false on failure and at \p End.
static bool sendBytes(Channel &To, const void *Data, uint64_t Size,
                      const std::function<void()> &Progress,
                      Clock::time_point End = Clock::time_point::max()) {
  auto *Bytes = static_cast<unsigned char *>(const_cast<void *>(Data));
  for (uint64_t NumSent = 0; NumSent != Size;) {
    size_t N =
        static_cast<size_t>(std::min<uint64_t>(ChunkSize, Size - NumSent));
    // FileChunkMsg only reads the bytes.
    if (Clock::now() >= End || !To.send(FileChunkMsg(Bytes + NumSent, N)))
      return false;
    NumSent += N;
    Progress();
  }
  return true;
}

/// Sends the bundles. Compresses modules that other jobs also import only once,
/// and sends everything else in chunks of maximum size.
static bool sendBundles(Channel &To, const RemoteJob &J,
                        const std::function<void()> &Progress) {
  std::string Rest;
  auto SendRest = [&] {
    bool Sent = sendBytes(To, Rest.data(), Rest.size(), Progress);
    Rest.clear();
    return Sent;
  };
  auto SendPart = [&](std::string_view Bytes, bool IsShared) {
    if (IsShared && !SendRest())
      return false;
    while (!Bytes.empty()) {
      size_t N = std::min(ChunkSize - Rest.size(), Bytes.size());
      if (!IsShared)
        Rest.append(Bytes, 0, N);
      else if (!To.send(CachedChunk(Bytes.data(), N, *J.ChunkCache)))
        return false;
      else
        Progress();
      if (Rest.size() == ChunkSize && !SendRest())
        return false;
      Bytes.remove_prefix(N);
    }
    return true;
  };
  for (const RemoteBundle &B : J.Bundles) {
    if (J.Bundles.size() != 1 &&
        !SendPart(batchHeader(B.Bundle->size()), false))
      return false;
    for (auto [Bytes, Input] : *B.Bundle)
      if (!SendPart(Bytes, Input && Input->role == DTLTO_ROLE_IMPORT &&
                               Bytes.size() >= MinShared))
        return false;
  }
  return SendRest() && To.send(EndMsg());
}

/// Sends the environment. Throws an Outcome if the node can't be used.
static void sendEnvironment(const RemoteJob &J, Channel &To, Environment &Env,
                            const std::function<void()> &Progress) {
  const Clock::time_point End = Clock::now() + EnvironmentLimit;
  auto Fail = [&](std::string Why) {
    Outcome O = nodeFailed(std::move(Why), To);
    O.HasTimedOut |= Clock::now() >= End;
    throw O;
  };
  To.beginTransfer("the environment");
  // Begin at once: if this link ends before, the node gets no jobs for two
  // minutes. Begin with little: the daemon blocks until it has the first piece.
  std::string_view Head = Env.head();
  bool Sent = To.send(EnvTransferMsg(Env.platform(), Env.name())) &&
              sendBytes(To, Head.data(), Head.size(), Progress);
  Tarball Bytes;
  try {
    Bytes = Sent ? Env.bytes() : nullptr;
  } catch (const dtlto::sdk::Error &E) {
    Fail(E.what());
  }
  if (Sent && (Bytes->size() < Head.size() ||
               std::memcmp(Bytes->data(), Head.data(), Head.size()) != 0))
    Fail("the environment was damaged, and its contents have changed");
  if (!Sent ||
      !sendBytes(To, Bytes->data() + Head.size(), Bytes->size() - Head.size(),
                 Progress, End) ||
      !To.send(EndMsg()) || !To.send(VerifyEnvMsg(Env.platform(), Env.name())))
    Fail(Clock::now() < End
             ? To.sendErrorText()
             : "it has not received the environment within " +
                   std::to_string(EnvironmentLimit.count()) + " s");

  std::string Error;
  std::unique_ptr<Msg> M = To.receive(Clock::now() + VerifyLimit, Error);
  if (!M)
    Fail("cannot verify the environment: " + Error);
  if (M->type != M_VERIFY_ENV_RESULT)
    Fail("sent an unexpected answer when asked to verify the environment");
  if (!static_cast<VerifyEnvResultMsg &>(*M).ok) {
    J.Blacklist(Env);
    Fail("the worker does not run on this node");
  }
}

static std::string firstLine(const std::string &Text) {
  return dtlto::sdk::oneLine(Text.substr(0, Text.find('\n')));
}

Outcome dtlto::icecc::judge(int Status, bool OutOfMemory,
                            const std::string &Stderr) {
  Outcome O;
  O.Text = OutOfMemory
               ? "out of memory"
               : "the worker ended with status " + std::to_string(Status);
  if (!Stderr.empty())
    O.Text += ": " + firstLine(Stderr);
  // The worker always exits with 1; other statuses are the node's, or a crash.
  if (OutOfMemory || Status != 1 || Stderr.empty())
    return O;
  O.Kind = Outcome::WorkerFailed;
  // LLVM's errors are the user's. The worker's own errors begin with its name.
  size_t At = Stderr.find("error: ");
  while (At != std::string::npos && At != 0 && Stderr[At - 1] != '\n')
    At = Stderr.find("error: ", At + 1);
  if (At != std::string::npos) {
    O.Kind = Outcome::CompilerError;
    O.Text = Stderr.substr(0, Stderr.find_last_not_of('\n') + 1);
  }
  return O;
}

/// Returns everything that a node sends for a job. Throws an Outcome on errors.
static std::string receiveBytes(Channel &From,
                                dtlto::sdk::ResultMemory::Share &Share) {
  std::string Bytes, Error;
  From.beginTransfer("the object");
  while (true) {
    std::unique_ptr<Msg> M = From.receivePart(Error);
    if (!M)
      throw nodeFailed("the object was cut off: " + Error, From);
    if (M->type == M_END)
      return Bytes;
    if (M->type != M_FILE_CHUNK)
      throw nodeFailed("sent an unexpected message instead of the object");
    auto &Chunk = static_cast<FileChunkMsg &>(*M);
    // libicecc drops a buffer that can't be unpacked or has the wrong size.
    if (!Chunk.buffer)
      throw wrongResult("a piece of the object was damaged");
    if (!Share.grow(Chunk.len))
      throw nodeFailed("its answer exceeds the memory for results");
    Bytes.append(reinterpret_cast<const char *>(Chunk.buffer), Chunk.len);
  }
}

static Outcome checkObject(const RemoteBundle &B, std::string Object,
                           const std::string &Warnings) {
  if (std::string Why = B.Problem(Object); !Why.empty())
    return wrongResult(Why);
  return {Outcome::Compiled, Warnings, std::move(Object)};
}

RemoteResult dtlto::icecc::forAll(size_t N, const Outcome &O) {
  return {std::vector<Outcome>(N, O)};
}

static RemoteResult batchFailed(size_t N, const std::string &Why) {
  return forAll(N, {Outcome::BatchFailed,
                    "a batch of " + std::to_string(N) + ": " + Why});
}

static RemoteResult receiveObjects(const RemoteJob &J, Channel &From,
                                   const CompileResultMsg &Result) {
  size_t N = J.Bundles.size();
  std::string Bytes;
  dtlto::sdk::ResultMemory::Share Share(*J.Results);
  try {
    Bytes = receiveBytes(From, Share);
  } catch (const Outcome &Failure) {
    // Count the damage once, not for each job.
    return Failure.WasWrong && N != 1 ? batchFailed(N, Failure.Text)
                                      : forAll(N, Failure);
  }
  RemoteResult R;
  if (N == 1) {
    R.Jobs.push_back(
        checkObject(J.Bundles.front(), std::move(Bytes), Result.err));
    return R;
  }
  std::vector<BatchEntry> Entries;
  if (!readBatchReply(Bytes, N, Entries))
    return batchFailed(N, "the result is not a batch");
  for (size_t I = 0; I != N; ++I) {
    R.Jobs.push_back(
        checkObject(J.Bundles[I], std::string(Entries[I].Frame), ""));
    R.WorkSeconds += Entries[I].Seconds;
  }
  return R;
}

RemoteResult dtlto::icecc::runRemotely(const RemoteJob &J,
                                       const std::string &Node, Descriptor S,
                                       Environment &Env,
                                       EnvironmentTable &Table, Interrupt &I) {
  size_t N = J.Bundles.size();
  Clock::time_point LastReport = Clock::now();
  auto Progress = [&] {
    if (Clock::now() - LastReport < ReportPeriod)
      return;
    LastReport = Clock::now();
    J.Report(DTLTO_STATE_SENDING);
  };
  J.Report(DTLTO_STATE_SENDING);
  std::string Error;
  Clock::time_point BeginTime = Clock::now();
  auto Conn =
      Channel::connect(J.Host, J.Port, ConnectLimit, I, Error, std::move(S));
  if (!Conn) {
    Outcome O = nodeFailed(Error);
    O.Unreachable = !I.isRaised() || Clock::now() - BeginTime >= MaxConnect;
    if (O.Unreachable && I.isRaised())
      O.Text = Node + ": no answer";
    return forAll(N, O);
  }
  Conn->setPause(J.TransferLimit);

  if (!J.HasEnvironment && Table.mustSend(Node, I)) {
    try {
      sendEnvironment(J, *Conn, Env, Progress);
    } catch (const Outcome &Failure) {
      Table.recordSent(Node, false);
      return forAll(N, Failure);
    }
    Table.recordSent(Node, true);
  }
  J.OnReady();

  CompileJob Compile;
  Compile.setLanguage(CompileJob::Lang_C);
  Compile.setCompilerName("clang"); // nodes add options for other names
  Compile.setEnvironmentVersion(Env.name());
  Compile.setTargetPlatform(J.Platform);
  Compile.setJobID(J.GrantId);
  Compile.setInputFile("");
  Compile.setOutputFile("object.o");
  Compile.setWorkingDirectory("");
  Compile.appendFlag(N == 1 ? "--frame" : "--batch", Arg_Remote);
  Conn->beginTransfer("the job");
  if (!Conn->send(CompileFileMsg(&Compile)) || !sendBundles(*Conn, J, Progress))
    return forAll(N, nodeFailed(Conn->sendErrorText(), *Conn));

  J.Report(DTLTO_STATE_RUNNING);
  return receiveResult(J, *Conn);
}

RemoteResult dtlto::icecc::receiveResult(const RemoteJob &J, Channel &Node) {
  size_t N = J.Bundles.size();
  std::string Error;
  std::unique_ptr<Msg> M = Node.receive(Clock::now() + J.ResultLimit, Error);
  if (!M)
    return forAll(N, nodeFailed(Error, Node));
  if (M->type != M_COMPILE_RESULT)
    return forAll(N,
                  nodeFailed("sent an unexpected message instead of a result"));
  auto &Result = static_cast<CompileResultMsg &>(*M);
  // In a batch, it is unknown which job failed, or has a warning.
  if (N != 1 && (Result.status != 0 || !Result.err.empty()))
    return batchFailed(
        N, Result.err.empty()
               ? judge(Result.status, Result.was_out_of_memory, "").Text
               : firstLine(Result.err));
  if (Result.status != 0)
    return forAll(1,
                  judge(Result.status, Result.was_out_of_memory, Result.err));
  J.Report(DTLTO_STATE_RECEIVING);
  return receiveObjects(J, Node, Result);
}
