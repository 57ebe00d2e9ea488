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
// or a batch of bundles, and of objects. In place of any answer, a text may say
// what is wrong.
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
    Compiled,      // and warnings in Text
    CompilerError, // Text is what the compiler wrote
    WorkerFailed,  // the worker can't do this job, on any node
    NodeFailed,    // another node may do it
    BatchFailed    // the job may succeed alone; the cause isn't known
  } Kind = NodeFailed;
  std::string Text; // for the last three: one line
  std::string Object;
  /// NodeFailed: one of the limits was reached, and nothing else failed.
  bool TookTooLong = false;
  /// NodeFailed: the node sent an invalid object.
  bool WasWrong = false;
  /// NodeFailed: no connection could be made.
  bool Unreachable = false;
};

/// One of the jobs that a grant is for.
struct RemoteBundle {
  const sdk::Bundle *Bundle = nullptr;
  /// Why an object that came back is no good; empty if it is.
  std::function<std::string(std::string_view)> Problem;
};

/// A grant, and what it is for.
struct RemoteJob {
  std::string Host;
  uint16_t Port = 0;
  uint32_t GrantId = 0;
  std::string Platform;
  bool HasEnvironment = false;
  std::vector<RemoteBundle> Bundles;    // several: a batch
  ByteCache *Compressed = nullptr;      // chunks of what others import as well
  sdk::ResultMemory *Results = nullptr; // counts the object
  std::chrono::seconds ResultLimit{0};
  std::chrono::milliseconds TransferLimit = TheNetworkLimits.Pause;
  /// Told of each new DTLTO_STATE_..., and of progress now and then.
  std::function<void(uint32_t)> Report;
  /// Called once the node has the environment.
  std::function<void()> Ready;
  /// Told if the node can't run the environment.
  std::function<void(const Environment &)> Blacklist;
};

/// The result of a grant.
struct RemoteResult {
  std::vector<Outcome> Jobs; // one for each bundle
  double WorkSeconds = 0;    // of a batch's jobs; 0: not known
};

/// The same for each of \p N jobs; without an object.
RemoteResult forAll(size_t N, const Outcome &O);

/// \p Node is the node's name in \p Table. Opens no descriptor but \p S.
RemoteResult runRemotely(const RemoteJob &J, const std::string &Node,
                         Descriptor S, Environment &Env,
                         EnvironmentTable &Table, Interrupt &I);

/// Receives the answer of \p Node, which was sent all of the job: the last part
/// of runRemotely().
RemoteResult receiveResult(const RemoteJob &J, Channel &Node);

/// Judges a worker's status, which is not 0, and standard error. \p OutOfMemory
/// is icecream's finding.
Outcome judge(int Status, bool OutOfMemory, const std::string &Stderr);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_REMOTEJOB_H
