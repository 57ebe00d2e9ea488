//===- MockServer.cpp - A server of the API in a test ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MockServer.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "google/longrunning/operations.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include <algorithm>
#include <condition_variable>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <set>
#include <thread>
#include <zstd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace dtlto::test;
using namespace dtlto::reapi;
namespace re = build::bazel::remote::execution::v2;
using google::longrunning::Operation;
using grpc::ServerContext;
using grpc::Status;
using grpc::StatusCode;

static std::string key(const re::Digest &D) {
  return D.hash() + "/" + std::to_string(D.size_bytes());
}

struct MockServer::Impl final : re::Execution::Service,
                                re::ActionCache::Service,
                                re::ContentAddressableStorage::Service,
                                re::Capabilities::Service,
                                google::bytestream::ByteStream::Service,
                                google::longrunning::Operations::Service {
  Impl(MockServer &Mock, const Options &Opts) : Mock(Mock), Opts(Opts) {}

  MockServer &Mock;
  const Options Opts;
  int Port = 0;
  std::unique_ptr<grpc::Server> Server;

  mutable std::mutex Mutex; // guards the members below
  std::condition_variable Changed;
  std::map<std::string, std::string> Blobs; // by HASH/SIZE
  std::map<std::string, re::ActionResult> Results;
  std::map<std::string, Operation> Operations;
  std::map<std::string, Fate> Fates;          // of operations that block
  std::map<std::string, std::string> Streams; // by resource, unfinished
  Statistics Stats;
  unsigned NumRunning = 0;
  bool Released = false;

  DigestKind kind() const {
    return Opts.Blake3 ? DigestKind::Blake3 : DigestKind::Sha256;
  }
  re::Digest digestOf(const std::string &Bytes) const {
    BlobName N = nameBlob(kind(), Bytes);
    re::Digest D;
    D.set_hash(N.Hash);
    D.set_size_bytes(int64_t(N.Size));
    return D;
  }
  void problem(const std::string &Text) { Stats.Problems.push_back(Text); }
  void note(ServerContext *C) {
    for (auto &[Name, Value] : C->client_metadata()) {
      std::string Text(Value.data(), Value.size());
      if (Name == "authorization")
        Stats.Authorization = Text;
      if (Name == "build.bazel.remote.execution.v2.requestmetadata-bin") {
        re::RequestMetadata R;
        if (R.ParseFromString(Text))
          Stats.Tool = R.tool_details().tool_name();
      }
    }
  }
  Status admit(ServerContext *C, const char *Method) {
    auto All = C->client_metadata();
    auto It = All.find("authorization");
    std::string Auth = It == All.end()
                           ? ""
                           : std::string(It->second.data(), It->second.size());
    return !Mock.IsAllowed || Mock.IsAllowed(Method, Auth)
               ? Status::OK
               : Status(StatusCode::UNAUTHENTICATED, "who are you?");
  }
  void store(const std::string &Bytes, const re::Digest &Expected) {
    ++Stats.Uploads[Expected.hash()];
    if (key(digestOf(Bytes)) != key(Expected))
      problem("what came isn't what its digest names");
    Blobs[key(Expected)] = Bytes;
  }

  //===--------------------------------------------------------------------===//

  Status GetCapabilities(ServerContext *C, const re::GetCapabilitiesRequest *In,
                         re::ServerCapabilities *Out) override {
    if (Status No = admit(C, "GetCapabilities"); !No.ok())
      return No;
    while (Mock.SilentCapabilities && !C->IsCancelled())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::lock_guard<std::mutex> Lock(Mutex);
    note(C);
    ++Stats.CapabilityCalls;
    Stats.Instance = In->instance_name();
    if (Opts.CapabilitiesCode)
      return Status(StatusCode(Opts.CapabilitiesCode), "unknown client");
    auto *Cache = Out->mutable_cache_capabilities();
    Cache->add_digest_functions(re::DigestFunction::SHA256);
    if (Opts.Blake3)
      Cache->add_digest_functions(re::DigestFunction::BLAKE3);
    if (Opts.Zstd) {
      Cache->add_supported_compressors(re::Compressor::ZSTD);
      Cache->add_supported_batch_update_compressors(re::Compressor::ZSTD);
    }
    Cache->mutable_action_cache_update_capabilities()->set_update_enabled(
        Opts.TakesResults);
    Cache->set_max_batch_total_size_bytes(Opts.MaxBatch);
    auto *Runs = Out->mutable_execution_capabilities();
    Runs->set_exec_enabled(true);
    Runs->set_digest_function(Opts.Blake3 ? re::DigestFunction::BLAKE3
                                          : re::DigestFunction::SHA256);
    if (Opts.Blake3)
      Runs->add_digest_functions(re::DigestFunction::BLAKE3);
    Out->mutable_high_api_version()->set_major(2);
    Out->mutable_high_api_version()->set_minor(3);
    return Status::OK;
  }

  Status FindMissingBlobs(ServerContext *C,
                          const re::FindMissingBlobsRequest *In,
                          re::FindMissingBlobsResponse *Out) override {
    if (Status No = admit(C, "FindMissingBlobs"); !No.ok())
      return No;
    std::unique_lock<std::mutex> Lock(Mutex);
    bool IsHeld = Mock.HoldsFinds;
    Stats.HeldFinds += IsHeld;
    while (Mock.HoldsFinds && !C->IsCancelled())
      Changed.wait_for(Lock, std::chrono::milliseconds(5));
    if (Mock.FailFinds && !IsHeld) {
      --Mock.FailFinds;
      ++Stats.FailedFinds;
      return Status(StatusCode(Mock.FailCode), "later");
    }
    ++Stats.Finds;
    Stats.FoundDigests += unsigned(In->blob_digests_size());
    for (const re::Digest &D : In->blob_digests())
      if (!Blobs.count(key(D)))
        *Out->add_missing_blob_digests() = D;
    return Status::OK;
  }

  Status BatchUpdateBlobs(ServerContext *C,
                          const re::BatchUpdateBlobsRequest *In,
                          re::BatchUpdateBlobsResponse *Out) override {
    if (Status No = admit(C, "BatchUpdateBlobs"); !No.ok())
      return No;
    std::this_thread::sleep_for(Mock.SlowBatches);
    std::lock_guard<std::mutex> Lock(Mutex);
    ++Stats.Batches;
    uint64_t Size = 0;
    for (const auto &R : In->requests()) {
      std::string Bytes = R.data();
      if (R.compressor() == re::Compressor::ZSTD) {
        if (!Opts.Zstd)
          problem("packed without being offered");
        Bytes.resize(size_t(R.digest().size_bytes()));
        if (ZSTD_decompress(Bytes.data(), Bytes.size(), R.data().data(),
                            R.data().size()) != Bytes.size())
          problem("what is packed can't be unpacked");
      }
      Size += R.data().size();
      store(Bytes, R.digest());
      *Out->add_responses()->mutable_digest() = R.digest();
    }
    if (Opts.MaxBatch && Size > uint64_t(Opts.MaxBatch))
      problem("a batch is too large");
    return Status::OK;
  }

  Status CancelOperation(ServerContext *,
                         const google::longrunning::CancelOperationRequest *,
                         google::protobuf::Empty *) override {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++Stats.CancelledOperations;
    return Status::OK;
  }

  Status BatchReadBlobs(ServerContext *C, const re::BatchReadBlobsRequest *In,
                        re::BatchReadBlobsResponse *Out) override {
    if (Status No = admit(C, "BatchReadBlobs"); !No.ok())
      return No;
    std::lock_guard<std::mutex> Lock(Mutex);
    for (const re::Digest &D : In->digests()) {
      if (Opts.MaxRead && uint64_t(D.size_bytes()) > Opts.MaxRead)
        return Status(StatusCode::INVALID_ARGUMENT, "too many bytes");
      auto *R = Out->add_responses();
      *R->mutable_digest() = D;
      if (Mock.UnavailableReads) {
        --Mock.UnavailableReads;
        R->mutable_status()->set_code(StatusCode::UNAVAILABLE);
        continue;
      }
      bool Packs = Opts.Zstd && In->acceptable_compressors_size() == 1 &&
                   In->acceptable_compressors(0) == re::Compressor::ZSTD;
      if (In->acceptable_compressors_size() && !Opts.Zstd)
        problem("wants what wasn't offered");
      if (Blobs.count(key(D)) && Packs) {
        R->set_data(pack(Blobs[key(D)]));
        R->set_compressor(re::Compressor::ZSTD);
        ++Stats.PackedReads;
      } else if (Blobs.count(key(D)))
        R->set_data(Blobs[key(D)]);
      else
        R->mutable_status()->set_code(StatusCode::NOT_FOUND);
    }
    return Status::OK;
  }

  /// Compresses \p Bytes for a client. The result is damaged or too large if
  /// the test wants that.
  std::string pack(std::string Bytes) const {
    if (Mock.Bomb)
      Bytes += std::string(size_t(64) << 20, 'x');
    std::string Packed(ZSTD_compressBound(Bytes.size()), '\0');
    Packed.resize(ZSTD_compress(Packed.data(), Packed.size(), Bytes.data(),
                                Bytes.size(), 1));
    if (Mock.DamagesPacked)
      Packed[Packed.size() / 2] ^= 64;
    return Packed;
  }

  /// Returns HASH/SIZE from the end of a resource's name.
  static re::Digest digestIn(const std::string &Resource) {
    size_t Slash = Resource.rfind('/');
    size_t Before = Resource.rfind('/', Slash - 1);
    re::Digest D;
    D.set_hash(Resource.substr(Before + 1, Slash - Before - 1));
    D.set_size_bytes(std::atoll(Resource.c_str() + Slash + 1));
    return D;
  }

  Status Write(ServerContext *C,
               grpc::ServerReader<google::bytestream::WriteRequest> *In,
               google::bytestream::WriteResponse *Out) override {
    if (Status No = admit(C, "Write"); !No.ok())
      return No;
    google::bytestream::WriteRequest R;
    std::string Resource;
    bool IsFirst = true, IsDone = false;
    while (!IsDone && In->Read(&R)) {
      if (Mock.OnWrite)
        Mock.OnWrite();
      std::lock_guard<std::mutex> Lock(Mutex);
      if (IsFirst) {
        Resource = R.resource_name();
        ++Stats.Writes;
      }
      std::string &Bytes = Streams[Resource];
      if (IsFirst && R.write_offset() == 0 && !Bytes.empty())
        problem("an upload begins twice");
      if (R.write_offset() != int64_t(Bytes.size()))
        problem("a write leaves a gap");
      Bytes += R.data();
      Stats.BytesWritten += R.data().size();
      IsDone = R.finish_write();
      if (IsFirst && Mock.CutWrites && !IsDone) {
        --Mock.CutWrites;
        return Status(StatusCode::UNAVAILABLE, "cut");
      }
      IsFirst = false;
    }
    std::lock_guard<std::mutex> Lock(Mutex);
    std::string Bytes = Streams[Resource];
    Out->set_committed_size(int64_t(Bytes.size()));
    if (!IsDone)
      return Status::OK;
    re::Digest D = digestIn(Resource);
    if (Resource.find("compressed-blobs/zstd/") != Resource.npos) {
      std::string Whole(size_t(D.size_bytes()), '\0');
      if (ZSTD_decompress(Whole.data(), Whole.size(), Bytes.data(),
                          Bytes.size()) != Whole.size())
        problem("what is packed can't be unpacked");
      Bytes = Whole;
    }
    store(Bytes, D);
    Streams.erase(Resource);
    return Status::OK;
  }

  Status
  QueryWriteStatus(ServerContext *,
                   const google::bytestream::QueryWriteStatusRequest *In,
                   google::bytestream::QueryWriteStatusResponse *Out) override {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++Stats.Queries;
    Out->set_committed_size(int64_t(Streams[In->resource_name()].size()));
    return Status::OK;
  }

  Status
  Read(ServerContext *C, const google::bytestream::ReadRequest *In,
       grpc::ServerWriter<google::bytestream::ReadResponse> *Out) override {
    if (Status No = admit(C, "Read"); !No.ok())
      return No;
    std::string Bytes;
    bool Cut;
    size_t Size = 1000; // of a message
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      auto It = Blobs.find(key(digestIn(In->resource_name())));
      if (It == Blobs.end())
        return Status(StatusCode::NOT_FOUND, "no such blob");
      Bytes = It->second.substr(size_t(In->read_offset()));
      if (In->resource_name().find("compressed-blobs/zstd/") !=
          std::string::npos) {
        if (!Opts.Zstd)
          problem("wants what wasn't offered");
        if (In->read_offset())
          return Status(StatusCode::INVALID_ARGUMENT, "packs from 0 on only");
        Bytes = pack(Bytes);
        ++Stats.PackedReads;
        Size = 300000; // enough to unpack something
      }
      Cut = Mock.CutReads != 0;
      Mock.CutReads -= Cut;
    }
    for (size_t At = 0; At < Bytes.size(); At += Size) {
      google::bytestream::ReadResponse R;
      R.set_data(Bytes.substr(At, Size));
      Out->Write(R);
      if (Cut)
        return Status(StatusCode::UNAVAILABLE, "cut");
    }
    return Status::OK;
  }

  Status GetActionResult(ServerContext *C, const re::GetActionResultRequest *In,
                         re::ActionResult *Out) override {
    if (Status No = admit(C, "GetActionResult"); !No.ok())
      return No;
    while (Mock.SilentLookups && !C->IsCancelled())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard<std::mutex> Lock(Mutex);
    note(C);
    if (Mock.FailLookups) {
      --Mock.FailLookups;
      return Status(StatusCode(Mock.FailCode), "later");
    }
    ++Stats.Lookups;
    auto It = Results.find(key(In->action_digest()));
    if (It == Results.end())
      return Status(StatusCode::NOT_FOUND, "no result");
    *Out = It->second;
    return Status::OK;
  }

  Status UpdateActionResult(ServerContext *C,
                            const re::UpdateActionResultRequest *In,
                            re::ActionResult *Out) override {
    if (Status No = admit(C, "UpdateActionResult"); !No.ok())
      return No;
    std::lock_guard<std::mutex> Lock(Mutex);
    note(C);
    ++Stats.Updates;
    if (Mock.UpdateCode)
      return Status(StatusCode(Mock.UpdateCode), "only workers may");
    // The API requires that a client uploads these before.
    auto It = Blobs.find(key(In->action_digest()));
    re::Action A;
    if (It == Blobs.end() || !A.ParseFromString(It->second) ||
        !Blobs.count(key(A.command_digest())))
      problem("a result of an action that isn't there");
    for (const re::OutputFile &F : In->action_result().output_files())
      if (F.digest().size_bytes() && !Blobs.count(key(F.digest())))
        problem("a result without its contents");
    Results[key(In->action_digest())] = *Out = In->action_result();
    return Status::OK;
  }

  //===--------------------------------------------------------------------===//

  /// Adds the blobs of a tree to \p Files or \p Missing.
  void readTree(const re::Digest &Root, const std::string &At,
                std::map<std::string, std::string> &Files,
                std::vector<re::Digest> &Missing) {
    auto It = Blobs.find(key(Root));
    if (It == Blobs.end())
      return Missing.push_back(Root);
    re::Directory D;
    if (!D.ParseFromString(It->second))
      return problem("a folder can't be read");
    std::string Last;
    for (const auto &F : D.files()) {
      if (F.name() <= Last)
        problem("a folder isn't sorted");
      Last = F.name();
      auto Content = Blobs.find(key(F.digest()));
      if (Content == Blobs.end())
        Missing.push_back(F.digest());
      else
        Files[At + F.name() + (F.is_executable() ? "*" : "")] = Content->second;
    }
    Last.clear();
    for (const auto &F : D.directories()) {
      if (F.name() <= Last)
        problem("a folder isn't sorted");
      Last = F.name();
      readTree(F.digest(), At + F.name() + "/", Files, Missing);
    }
  }

  static Status missing(const std::vector<re::Digest> &Blobs) {
    google::rpc::PreconditionFailure P;
    for (const re::Digest &D : Blobs) {
      auto *V = P.add_violations();
      V->set_type("MISSING");
      V->set_subject("blobs/" + key(D));
    }
    google::rpc::Status Full;
    Full.set_code(StatusCode::FAILED_PRECONDITION);
    Full.add_details()->PackFrom(P);
    return Status(StatusCode::FAILED_PRECONDITION, "blobs are missing",
                  Full.SerializeAsString());
  }

  Status full() const {
    google::rpc::RetryInfo Info;
    Info.mutable_retry_delay()->set_nanos(int(Mock.RetryAfterMs * 1000000));
    google::rpc::Status Full;
    Full.set_code(StatusCode::RESOURCE_EXHAUSTED);
    Full.add_details()->PackFrom(Info);
    return Status(StatusCode::RESOURCE_EXHAUSTED, "the queue is full",
                  Full.SerializeAsString());
  }

  static Operation staged(const std::string &Name,
                          re::ExecutionStage::Value Stage) {
    Operation Op;
    Op.set_name(Name);
    re::ExecuteOperationMetadata E;
    E.set_stage(Stage);
    if (Stage == re::ExecutionStage::EXECUTING)
      E.mutable_partial_execution_metadata()->set_worker("worker-7");
    Op.mutable_metadata()->PackFrom(E);
    return Op;
  }

  /// Holds an operation as its fate says. Returns false if the client cancels,
  /// but with \p Stays, the operation continues.
  bool hold(ServerContext *C, const std::string &Name, bool Stays,
            grpc::ServerWriter<Operation> *Out,
            std::unique_lock<std::mutex> &Lock) {
    Fate F = Fates[Name];
    if (F != Fate::Silent)
      Out->Write(staged(Name, F == Fate::Stuck ? re::ExecutionStage::EXECUTING
                                               : re::ExecutionStage::QUEUED));
    while ((Stays || !C->IsCancelled()) && !(F == Fate::Held && Released))
      Changed.wait_for(Lock, std::chrono::milliseconds(5));
    return Stays || !C->IsCancelled();
  }

  /// Answers \p In, if it asks for a compiler's version.
  bool answerQuestion(const re::ExecuteRequest &In,
                      grpc::ServerWriter<Operation> *Out, Status &Failed) {
    std::lock_guard<std::mutex> Lock(Mutex);
    re::Action Action;
    re::Command Command;
    auto At = Blobs.find(key(In.action_digest()));
    if (At == Blobs.end() || !Action.ParseFromString(At->second))
      return false;
    At = Blobs.find(key(Action.command_digest()));
    if (At == Blobs.end() || !Command.ParseFromString(At->second) ||
        Command.arguments_size() != 2 || Command.arguments(1) != "--version")
      return false;
    if (!Action.do_not_cache())
      problem("a compiler's version is kept");
    ++Stats.Questions;
    if (Mock.QuestionCode) {
      Failed = Status(StatusCode(Mock.QuestionCode), "no such program");
      return true;
    }
    re::ExecuteResponse Response;
    Response.mutable_result()->set_stdout_raw(Mock.CompilerVersion);
    Operation Op = staged("question", re::ExecutionStage::COMPLETED);
    Op.set_done(true);
    Op.mutable_response()->PackFrom(Response);
    Out->Write(Op);
    return true;
  }

  Status Execute(ServerContext *C, const re::ExecuteRequest *In,
                 grpc::ServerWriter<Operation> *Out) override {
    if (Status No = admit(C, "Execute"); !No.ok())
      return No;
    Fate F;
    std::string Name;
    std::map<std::string, std::string> Files;
    re::Command Command;
    re::Action Action;
    if (Status Answer = Status::OK; answerQuestion(*In, Out, Answer))
      return Answer;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      unsigned N = Stats.Executions++;
      Stats.Executed.push_back(std::chrono::steady_clock::now());
      F = Mock.FateOf ? Mock.FateOf(N) : Fate::Good;
      Name = "operations/" + std::to_string(N);
      Stats.Actions.push_back(In->action_digest().hash());
      Stats.SkipCache = In->skip_cache_lookup();
      if (F == Fate::CutEarly)
        return Status(StatusCode::UNAVAILABLE, "cut");
      if (F == Fate::Full)
        return full();
      if (F == Fate::NotFound) {
        Blobs.erase(key(In->action_digest()));
        return Status(StatusCode::NOT_FOUND, "no such action");
      }
      if (F == Fate::Refused)
        return Status(StatusCode::PERMISSION_DENIED, "not you");
      if (F == Fate::NoneExist)
        return Status(StatusCode::UNAVAILABLE, "No workers exist");
      if (F == Fate::NoWorkers)
        return Status(StatusCode::FAILED_PRECONDITION, "no such worker");
      std::vector<re::Digest> Missing;
      auto Get = [&](const re::Digest &D, auto &To) {
        auto It = Blobs.find(key(D));
        if (It == Blobs.end())
          Missing.push_back(D);
        else if (!To.ParseFromString(It->second))
          problem("a message can't be read");
      };
      Get(In->action_digest(), Action);
      if (Missing.empty()) {
        Get(Action.command_digest(), Command);
        readTree(Action.input_root_digest(), "", Files, Missing);
      }
      if (F == Fate::Lost) {
        Missing.push_back(Action.command_digest());
        for (const re::Digest &D : Missing)
          Blobs.erase(key(D));
      }
      if (!Missing.empty())
        return missing(Missing);
      Stats.Files = Files;
      Stats.Arguments.assign(Command.arguments().begin(),
                             Command.arguments().end());
      Stats.DoNotCache = Action.do_not_cache();
      for (const auto &P : Command.platform().properties())
        Stats.Platform[P.name()] = P.value();
      if (Command.output_paths_size() != 1 ||
          Action.platform().SerializeAsString() !=
              Command.platform().SerializeAsString())
        problem("output paths or platforms");
    }
    if (F == Fate::Silent || F == Fate::Held || F == Fate::Stuck) {
      std::unique_lock<std::mutex> Lock(Mutex);
      Fates[Name] = F;
      if (!hold(C, Name, F == Fate::Held, Out, Lock))
        return Status::CANCELLED;
    } else {
      Out->Write(staged(Name, re::ExecutionStage::QUEUED));
    }
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Stats.MostRunning = std::max(Stats.MostRunning, ++NumRunning);
    }
    Out->Write(staged(Name, re::ExecutionStage::EXECUTING));

    // Like a worker: the object consists of all inputs, in brackets.
    std::string Object = "<";
    bool HasWorker = Files.count("dtlto-codegen*");
    for (const auto &[Path, Bytes] : Files)
      if (!HasWorker ||
          (Path.substr(0, 4) == "job/" && Path != "job/manifest.json"))
        Object += Bytes;
    Object += ">";
    if (F == Fate::OtherObject)
      Object = "another's";
    re::ExecuteResponse Response;
    re::ActionResult &R = *Response.mutable_result();
    R.mutable_execution_metadata()->set_worker("worker-7");
    auto *Meta = R.mutable_execution_metadata();
    Meta->mutable_execution_start_timestamp()->set_seconds(1000);
    Meta->mutable_execution_completed_timestamp()->set_seconds(1000);
    Meta->mutable_execution_completed_timestamp()->set_nanos(1000000);
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumRunning;
    if (F == Fate::NoTarget) {
      R.set_exit_code(1);
      R.set_stderr_raw("dtlto-codegen: error: m: No available targets are "
                       "compatible with triple \"sparc\"\n");
    } else if (F == Fate::CompileError || F == Fate::WorkerError) {
      R.set_exit_code(1);
      R.set_stderr_raw(F == Fate::CompileError
                           ? "error: the module is wrong\n"
                           : "dtlto-codegen: error: no memory\n");
    } else if (F != Fate::NoObject) {
      if (F == Fate::NotRead)
        R.set_stderr_raw("Error loading imported file 'lib/i.cpp-o': Could not "
                         "open it\n");
      re::OutputFile *File = R.add_output_files();
      File->set_path(Command.output_paths(0));
      *File->mutable_digest() = digestOf(Object);
      Blobs[key(File->digest())] = Object;
      if (F == Fate::OtherBytes)
        Object[1] ^= 1;
      if (F == Fate::OtherBytes || Opts.InlinesObjects)
        File->set_contents(Object);
    }
    if ((R.exit_code() == 0 || Opts.KeepsFailures) && !Action.do_not_cache())
      Results[key(In->action_digest())] = R;
    if (F == Fate::LaterInside) {
      google::rpc::RetryInfo Info;
      Info.mutable_retry_delay()->set_seconds(1);
      Response.Clear();
      Response.mutable_status()->set_code(StatusCode::UNAVAILABLE);
      Response.mutable_status()->add_details()->PackFrom(Info);
    }
    Response.set_cached_result(F == Fate::Cached);
    Operation Op = staged(Name, re::ExecutionStage::COMPLETED);
    Op.set_done(true);
    Op.mutable_response()->PackFrom(Response);
    if (F == Fate::CutLate || F == Fate::Held)
      Operations[Name] = Op;
    Changed.notify_all();
    if (F == Fate::CutLate || F == Fate::Forgotten)
      return Status(StatusCode::UNAVAILABLE, "cut");
    Out->Write(Op);
    return Status::OK;
  }

  Status WaitExecution(ServerContext *C, const re::WaitExecutionRequest *In,
                       grpc::ServerWriter<Operation> *Out) override {
    if (Status No = admit(C, "WaitExecution"); !No.ok())
      return No;
    std::unique_lock<std::mutex> Lock(Mutex);
    ++Stats.Waits;
    auto IsThere = [&] { return Operations.count(In->name()) != 0; };
    if (Fates.count(In->name()) && !IsThere()) {
      if (!hold(C, In->name(), false, Out, Lock))
        return Status::CANCELLED;
      Changed.wait_for(Lock, std::chrono::seconds(60), IsThere);
    }
    auto It = Operations.find(In->name());
    if (It == Operations.end())
      return Status(StatusCode::NOT_FOUND, "no such operation");
    Out->Write(It->second);
    return Status::OK;
  }
};

MockServer::MockServer(const Options &Opts)
    : TheImpl(std::make_unique<Impl>(*this, Opts)) {
  grpc::ServerBuilder B;
  auto Credentials = grpc::InsecureServerCredentials();
  if (!Opts.Key.empty()) {
    grpc::SslServerCredentialsOptions Ssl(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    Ssl.pem_root_certs = Opts.Ca;
    Ssl.pem_key_cert_pairs.push_back({Opts.Key, Opts.Certificate});
    Credentials = grpc::SslServerCredentials(Ssl);
  }
  if (Opts.MaxStreams)
    B.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, Opts.MaxStreams);
  // A server that reads slowly lets clients send 64 KiB ahead, not MiBs.
  B.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  B.AddListeningPort("127.0.0.1:0", Credentials, &TheImpl->Port);
  B.RegisterService(static_cast<re::Execution::Service *>(TheImpl.get()));
  B.RegisterService(static_cast<re::ActionCache::Service *>(TheImpl.get()));
  B.RegisterService(
      static_cast<re::ContentAddressableStorage::Service *>(TheImpl.get()));
  B.RegisterService(static_cast<re::Capabilities::Service *>(TheImpl.get()));
  B.RegisterService(
      static_cast<google::bytestream::ByteStream::Service *>(TheImpl.get()));
  B.RegisterService(
      static_cast<google::longrunning::Operations::Service *>(TheImpl.get()));
  TheImpl->Server = B.BuildAndStart();
}

MockServer::~MockServer() {
  release();
  TheImpl->Server->Shutdown(std::chrono::system_clock::now());
  TheImpl->Server->Wait();
}

std::string MockServer::url() const {
  return (TheImpl->Opts.Key.empty() ? "grpc" : "grpcs") +
         std::string("://127.0.0.1:") + std::to_string(TheImpl->Port);
}

void MockServer::release() {
  std::lock_guard<std::mutex> Lock(TheImpl->Mutex);
  TheImpl->Released = true;
  TheImpl->Changed.notify_all();
}

void MockServer::forgetResults() {
  std::lock_guard<std::mutex> Lock(TheImpl->Mutex);
  TheImpl->Results.clear();
}

void MockServer::loseBlobs() {
  std::lock_guard<std::mutex> Lock(TheImpl->Mutex);
  TheImpl->Blobs.clear();
}

void MockServer::forgeResults(const std::string &Object,
                              const std::string &Named) {
  std::lock_guard<std::mutex> Lock(TheImpl->Mutex);
  for (auto &[Name, R] : TheImpl->Results) {
    re::OutputFile &F = *R.mutable_output_files(0);
    *F.mutable_digest() = TheImpl->digestOf(Named.empty() ? Object : Named);
    F.set_contents(Object);
  }
}

MockServer::Statistics MockServer::statistics() const {
  std::lock_guard<std::mutex> Lock(TheImpl->Mutex);
  return TheImpl->Stats;
}

bool MockServer::has(const std::string &Hash) const {
  std::lock_guard<std::mutex> Lock(TheImpl->Mutex);
  for (const auto &[Key, Bytes] : TheImpl->Blobs)
    if (Key.substr(0, Hash.size()) == Hash)
      return true;
  return false;
}
