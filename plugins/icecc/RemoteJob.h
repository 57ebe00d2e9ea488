//===- RemoteJob.h - One try of jobs at one node ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   connect
//   EnvTransfer, chunks, End, VerifyEnv -> result    if the node lacks it
//   CompileFile, chunks, End                         the bundle
//                                       -> CompileResult
//                                       -> chunks, End   the framed object
//
// or a batch of bundles, and of objects. Instead of any answer, the node may
// send a text that says what is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_REMOTEJOB_H
#define DTLTO_ICECC_REMOTEJOB_H

#include "ByteCache.h"
#include "Channel.h"
#include "EnvironmentTable.h"
#include "dtlto/sdk/Job.hpp"
#include "dtlto/sdk/ResultMemory.hpp"

namespace dtlto::icecc {

/// The result of a job at a node.
struct Outcome {
  enum {
    Compiled,      // Text has the warnings
    CompilerError, // Text has the compiler's output
    WorkerFailed,  // the worker can't do this job, on any node
    NodeFailed,    // another node may succeed
    BatchFailed    // the job may succeed alone; the cause is unknown
  } Kind = NodeFailed;
  std::string Text = {}; // for the last three: one line
  std::string Object = {};
  /// NodeFailed: only because a time limit was reached.
  bool HasTimedOut = false;
  /// NodeFailed: the node sent an invalid object.
  bool WasWrong = false;
  /// NodeFailed: no connection could be made.
  bool Unreachable = false;
};

/// One of the jobs that a grant is for.
struct RemoteBundle {
  const sdk::Bundle *Bundle = nullptr;
  /// Returns what is wrong with an object that came back, or nothing.
  std::function<std::string(std::string_view)> Problem;
};

/// A grant and its jobs.
struct RemoteJob {
  std::string Host;
  uint16_t Port = 0;
  uint32_t GrantId = 0;
  std::string Platform;
  bool HasEnvironment = false;
  std::vector<RemoteBundle> Bundles;    // several: a batch
  ByteCache *ChunkCache = nullptr;      // chunks of modules that others import
  sdk::ResultMemory *Results = nullptr; // counts the object
  std::chrono::seconds ResultLimit{0};
  std::chrono::milliseconds TransferLimit = TheNetworkLimits.Pause;
  /// Called with each new DTLTO_STATE_..., and now and then on progress.
  std::function<void(uint32_t)> Report;
  /// Called once the node has the environment.
  std::function<void()> OnReady;
  /// Called if the node can't run the environment.
  std::function<void(const Environment &)> Blacklist;
};

/// The result of a grant.
struct RemoteResult {
  std::vector<Outcome> Jobs; // one for each bundle
  double WorkSeconds = 0;    // of a batch's jobs; 0: unknown
};

/// Returns \p O, which has no object, for each of \p N jobs.
RemoteResult forAll(size_t N, const Outcome &O);

/// Runs \p J. \p Node is the node's name in \p Table. Opens no descriptor but
/// \p S.
RemoteResult runRemotely(const RemoteJob &J, const std::string &Node,
                         Descriptor S, Environment &Env,
                         EnvironmentTable &Table, Interrupt &I);

/// Receives the answer of \p Node once the whole job was sent: the last part of
/// runRemotely().
RemoteResult receiveResult(const RemoteJob &J, Channel &Node);

/// Judges a worker's status, which is not 0, and standard error. \p OutOfMemory
/// is what icecream reports.
Outcome judge(int Status, bool OutOfMemory, const std::string &Stderr);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_REMOTEJOB_H
