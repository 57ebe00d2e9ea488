//===- Execution.cpp - Looks up and executes actions ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
#include "dtlto/sdk/Result.hpp"

using namespace dtlto::reapi;
namespace sdk = dtlto::sdk;

// How often an action restarts after the server has lost its operation. The
// action may be what crashes the server.
static constexpr unsigned MaxRestarts = 2;
// How often an action may change between waiting and running, and get its full
// time limit again.
static constexpr unsigned MaxStateChanges = 20;

Fault dtlto::reapi::findResult(Server &S, Stop &Stopping, DigestKind Kind,
                               const BlobName &Name, const std::string &Output,
                               std::unique_ptr<re::ActionResult> &Result) {
  auto Request = S.request<re::GetActionResultRequest>(Kind);
  setDigest(*Request.mutable_action_digest(), Name);
  Request.set_inline_stderr(true);
  Request.add_inline_output_files(Output);
  auto CachedResult = std::make_unique<re::ActionResult>();
  Fault F = S.call(Stopping, S.S.Cache, Name.Hash, [&](grpc::ClientContext &C) {
    CachedResult->Clear();
    return S.Cache->GetActionResult(&C, Request, CachedResult.get());
  });
  if (F.Code == grpc::StatusCode::NOT_FOUND)
    return {};
  if (!F)
    Result = std::move(CachedResult);
  return F;
}

Fault dtlto::reapi::putResult(Server &S, Stop &Stopping, DigestKind Kind,
                              const BlobName &Name,
                              const re::ActionResult &Result) {
  auto Request = S.request<re::UpdateActionResultRequest>(Kind);
  setDigest(*Request.mutable_action_digest(), Name);
  *Request.mutable_action_result() = Result;
  return S.call(Stopping, S.S.Cache, Name.Hash, [&](grpc::ClientContext &C) {
    re::ActionResult Stored;
    return S.Cache->UpdateActionResult(&C, Request, &Stored);
  });
}

uint64_t
dtlto::reapi::microsecondsBetween(const google::protobuf::Timestamp &Begin,
                                  const google::protobuf::Timestamp &End) {
  if (Begin.seconds() <= 0 || End.seconds() < Begin.seconds() ||
      End.seconds() - Begin.seconds() > 1000000)
    return 0;
  int64_t Time = (End.seconds() - Begin.seconds()) * 1000000 +
                 (int64_t(End.nanos()) - Begin.nanos()) / 1000;
  return Time > 0 ? uint64_t(Time) : 0;
}

namespace {
/// One action, with all calls that it needs.
class Run {
public:
  Run(Server &S, Stop &Stopping, DigestKind Kind, const ExecuteOptions &O)
      : S(S), Stopping(Stopping), Kind(Kind), O(O) {}
  Outcome runToEnd();

private:
  /// Cancels the operation at the server.
  void cancel();

  /// Reads one stream until it or the operation ends.
  Fault listen();
  /// Applies \p Op. Returns whether the operation has ended.
  bool applyOperation(const google::longrunning::Operation &Op);
  std::chrono::seconds timeLeft() const {
    return std::max(std::chrono::seconds(1),
                    std::chrono::duration_cast<std::chrono::seconds>(
                        Deadline - std::chrono::steady_clock::now()));
  }

  Server &S;
  Stop &Stopping;
  const DigestKind Kind;
  const ExecuteOptions &O;
  /// The deadline of the last reported state. A job may stay in the server's
  /// queue as long as the server reports that it is queued.
  std::chrono::steady_clock::time_point Deadline =
      std::chrono::steady_clock::now() + O.Limit;
  std::string Operation; // its name, once it is known
  uint32_t State = UINT32_MAX;
  unsigned NumStateChanges = 0; // changes of State
  std::string Worker;
  bool HasMessages = false; // anything in the last call
  Outcome Out;
};
} // namespace

bool Run::applyOperation(const google::longrunning::Operation &Op) {
  bool IsFirstMessage = !std::exchange(HasMessages, true);
  if (IsFirstMessage && Operation.empty())
    O.OnAccepted();
  if (!Op.name().empty())
    Operation = Op.name();
  re::ExecuteOperationMetadata M;
  if (Op.metadata().Is<re::ExecuteOperationMetadata>() &&
      Op.metadata().UnpackTo(&M) && !Op.done()) {
    uint32_t New = M.stage() == re::ExecutionStage::EXECUTING
                       ? DTLTO_STATE_RUNNING
                       : DTLTO_STATE_QUEUED;
    std::string By =
        sdk::oneLine(M.partial_execution_metadata().worker().substr(0, 200));
    if (New != State && ++NumStateChanges <= MaxStateChanges)
      Deadline = std::chrono::steady_clock::now() + O.Limit;
    bool IsQueued = M.stage() == re::ExecutionStage::QUEUED;
    // Each call reports the queue again, as a sign of life.
    if (New != State || By != Worker ||
        (IsFirstMessage && New == DTLTO_STATE_QUEUED)) {
      State = New;
      Worker = By;
      O.OnState(State, Worker, IsQueued);
    }
  }
  if (!Op.done())
    return false;
  if (Op.has_error()) {
    Out.Failed = faultOf(Op.error());
    Out.Failed.IsFromServer = true;
    return true;
  }
  re::ExecuteResponse Response;
  if (!Op.response().Is<re::ExecuteResponse>() ||
      !Op.response().UnpackTo(&Response)) {
    Out.Failed = Fault(Fault::Failed, "the operation ended without a response");
    return true;
  }
  Out.Failed = faultOf(Response.status());
  Out.Failed.IsFromServer = bool(Out.Failed);
  Out.WasCached = Response.cached_result();
  Out.Result = std::move(*Response.mutable_result());
  return true;
}

Fault Run::listen() {
  if (Operation.empty())
    if (std::string Why = O.WhyNot(); !Why.empty())
      return {Fault::Failed, std::move(Why), grpc::StatusCode::ABORTED};
  const Server::Executor &Exec = S.executor();
  Server::Call Call(S, Stopping, *Exec.By, O.Action.Hash, timeLeft());
  if (Call.fault())
    return Call.fault();
  std::unique_ptr<grpc::ClientReader<google::longrunning::Operation>> Reader;
  if (Operation.empty()) {
    auto Request = S.request<re::ExecuteRequest>(Kind);
    Request.set_skip_cache_lookup(O.SkipCache);
    setDigest(*Request.mutable_action_digest(), O.Action);
    Request.set_inline_stdout(O.Output.empty());
    Request.set_inline_stderr(true);
    if (!O.Output.empty())
      Request.add_inline_output_files(O.Output);
    Reader = Exec.Stub->Execute(&Call.Context, Request);
  } else {
    re::WaitExecutionRequest Request;
    Request.set_name(Operation);
    Reader = Exec.Stub->WaitExecution(&Call.Context, Request);
  }
  google::longrunning::Operation Op;
  HasMessages = false;
  while (Reader->Read(&Op)) {
    Call.onActivity();
    if (applyOperation(Op)) {
      Call.Context.TryCancel(); // nothing of interest follows
      Reader->Finish();
      return {};
    }
  }
  Fault F = Call.end(Reader->Finish());
  return F ? F
           : Fault(Fault::Later,
                   "the server ended the stream before the action");
}

Outcome Run::runToEnd() {
  unsigned NumRestarts = 0;
  for (uint32_t Try = 0;; ++Try) {
    bool HadOperation = !Operation.empty();
    Fault F = listen();
    if (!F)
      return std::move(Out);
    if (HasMessages)
      Try = 0;
    // The server has lost the operation, or can't wait for one: restart.
    if (HadOperation && (F.Code == grpc::StatusCode::NOT_FOUND ||
                         F.Code == grpc::StatusCode::UNIMPLEMENTED)) {
      if (F.Code == grpc::StatusCode::UNIMPLEMENTED)
        cancel();
      Operation.clear();
      F.What = Fault::Later;
      if (++NumRestarts > MaxRestarts) {
        F.What = Fault::Failed;
        // NOT_FOUND would mean a missing input.
        F.Code = grpc::StatusCode::ABORTED;
        F.Text = "its stream broke " + std::to_string(NumRestarts) +
                 " times, and then: " + F.Text;
      }
    }
    bool Late = std::chrono::steady_clock::now() >= Deadline;
    // The stream's deadline counts from its start, and the server has reported
    // a new state since.
    bool MayContinue = HasMessages && !Operation.empty() &&
                       (!Late || State == DTLTO_STATE_QUEUED) &&
                       F.Code == grpc::StatusCode::DEADLINE_EXCEEDED;
    if (MayContinue && State == DTLTO_STATE_QUEUED)
      Deadline = std::chrono::steady_clock::now() + O.Limit;
    bool IsRefusal =
        F.IsFromServer && !HadOperation && Operation.empty() && !F.WasRenewed;
    bool MayRetry = F.What != Fault::Busy && F.What != Fault::Failed &&
                    !IsRefusal && !Late && S.mayRetry(F, Try);
    if ((!MayContinue && !MayRetry) || !S.pause(Stopping, F, Try)) {
      cancel();
      Out.Failed = std::move(F);
      return std::move(Out);
    }
  }
}

/// Some servers don't notice that their client has gone. The time limit is
/// short in case the server doesn't answer.
void Run::cancel() {
  if (Operation.empty())
    return;
  Stop Never; // the job's own stop would end this call
  Server::Call Call(S, Never, S.S.Server, O.Action.Hash,
                    std::chrono::seconds(1), /*MayWait=*/false);
  google::longrunning::CancelOperationRequest Request;
  google::protobuf::Empty Nothing;
  Request.set_name(Operation);
  if (Call.fault())
    return;
  Call.Context.set_deadline(std::chrono::system_clock::now() +
                            std::chrono::milliseconds(500));
  S.Operations->CancelOperation(&Call.Context, Request, &Nothing);
}

Outcome dtlto::reapi::execute(Server &S, Stop &Stopping, DigestKind Kind,
                              const ExecuteOptions &O) {
  return Run(S, Stopping, Kind, O).runToEnd();
}
