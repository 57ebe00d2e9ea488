//===- RemoteJob.h - One try of a job at one node ---------------*- C++ -*-===//
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
// A text in place of any answer says what is wrong.
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

/// What a node made of a job.
struct Outcome {
  enum {
    Compiled,      // and warnings in Text
    CompilerError, // Text is what the compiler wrote
    WorkerFailed,  // the worker can't do this job; another node can't either
    NodeFailed     // another node may do
  } Kind = NodeFailed;
  std::string Text; // for the last two: one line
  sdk::Buffer Object;
  /// NodeFailed: nothing broke, but one of the limits was reached.
  bool TookTooLong = false;
};

/// A grant, and what it is for.
struct RemoteJob {
  std::string Host;
  uint16_t Port = 0;
  uint32_t GrantId = 0;
  std::string Platform;
  bool HasEnvironment = false;
  const sdk::Bundle *Bundle = nullptr;
  const char *ResultOption = "--frame"; // of dtlto-codegen
  ByteCache *Compressed = nullptr;      // chunks of what others import as well
  sdk::ResultMemory *Results = nullptr; // counts the object
  std::chrono::seconds ResultLimit{0};
  std::chrono::milliseconds TransferLimit = TheNetworkLimits.Pause;
  /// Why an object that came back is no good; empty if it is.
  std::function<std::string(std::string_view)> Problem;
  /// Told of each new DTLTO_STATE_..., and of progress now and then.
  std::function<void(uint32_t)> Report;
  /// Told if the node can't run the environment.
  std::function<void(const Environment &)> Blacklist;
};

/// \p Node is the node's name in \p Table.
Outcome runRemotely(const RemoteJob &J, const std::string &Node,
                    Environment &Env, EnvironmentTable &Table, Interrupt &I);

/// What a worker's status and standard error say. \p OutOfMemory is icecream's
/// finding. Not for status 0.
Outcome judge(int Status, bool OutOfMemory, const std::string &Stderr);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_REMOTEJOB_H
