//===- Server.cpp - Connections and calls to the services -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server.h"
#include "Reach.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <map>
#include <random>

using namespace dtlto::reapi;
using namespace std::chrono_literals;

// The size limit of a message from a server.
static constexpr int MaxMessage = 64 << 20;
// gRPC's default limit of a message, minus room for the fields around blobs.
static constexpr uint64_t MaxBatchBytes = (uint64_t(4) << 20) - (128 << 10);
static constexpr std::chrono::milliseconds MaxPause{20000};
static constexpr unsigned StreamsPerConnection = 50;
// The same as in the other plugins; README.md documents it.
static constexpr std::chrono::milliseconds MaxSilence{12000};
// gRPC may end a call a few milliseconds before its deadline. The stop must be
// raised by then.
static constexpr std::chrono::milliseconds ClockError{10};
static constexpr char MetadataKey[] =
    "build.bazel.remote.execution.v2.requestmetadata-bin";

std::string dtlto::reapi::makeUuid() {
  std::random_device Random;
  uint8_t Bytes[16];
  for (uint8_t &B : Bytes)
    B = uint8_t(Random());
  Bytes[6] = uint8_t((Bytes[6] & 15) | 64);
  Bytes[8] = uint8_t((Bytes[8] & 63) | 128);
  std::string Text = hexDigits(Bytes, sizeof(Bytes));
  for (size_t At : {20, 16, 12, 8})
    Text.insert(At, "-");
  return Text;
}

Server::Server(const Settings &S)
    : S(S), Invocation(makeUuid()), Token(S.TokenFile) {
  grpc::SslCredentialsOptions Ssl;
  PemFiles Files = readPemFiles(S);
  Ssl.pem_root_certs = Files.Ca;
  Ssl.pem_cert_chain = Files.Cert;
  Ssl.pem_private_key = Files.Key;
  if (!S.Helper.empty())
    Helper = std::make_unique<ServerHelper>(S.Helper, S.Timeout);

  for (const Endpoint *E : {&S.Server, &S.Cas, &S.Cache})
    if (!Peers.count(E->name()))
      connect(*E, Ssl);
  // Servers and proxies limit the calls of a connection (nginx: 128). A call
  // that waits for a free one would miss its deadline.
  for (unsigned I = 0; I * StreamsPerConnection < S.Jobs; ++I) {
    Connection &C = connect(S.Server, Ssl);
    Executors.push_back({&C, re::Execution::NewStub(C.Channel)});
  }
  auto ChannelTo = [&](const Endpoint &E) { return connectionTo(E).Channel; };
  Operations = google::longrunning::Operations::NewStub(ChannelTo(S.Server));
  Cas = re::ContentAddressableStorage::NewStub(ChannelTo(S.Cas));
  Bytes = google::bytestream::ByteStream::NewStub(ChannelTo(S.Cas));
  Cache = re::ActionCache::NewStub(ChannelTo(S.Cache));
}

//===----------------------------------------------------------------------===//
// The state of connections
//===----------------------------------------------------------------------===//

struct Server::Ping {
  Stop Stopping; // of its context
  std::unique_ptr<Call> PingCall;
  re::GetCapabilitiesRequest Request;
  re::ServerCapabilities Response;
  grpc::Status Status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<re::ServerCapabilities>>
      Reader;
};

Server::Connection::Connection(const Endpoint &To, Peer &Of,
                               std::shared_ptr<grpc::Channel> C)
    : To(To), Of(Of), Channel(std::move(C)),
      Capabilities(re::Capabilities::NewStub(Channel)) {}
Server::Connection::~Connection() = default;

Server::Connection &Server::connect(const Endpoint &To,
                                    const grpc::SslCredentialsOptions &Ssl) {
  grpc::ChannelArguments Args;
  Args.SetMaxReceiveMessageSize(MaxMessage);
  // Otherwise all channels to one address share a connection, even with other
  // sessions of this process.
  Args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC stops its own pings after two without a call, because servers regard
  // more as an attack. So our ping is a call (ping()), and gRPC's time is
  // endless. Without any time, gRPC does not set TCP_USER_TIMEOUT, the second
  // value.
  Args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX - 1);
  Args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, int(silence().count() / 2));
  Args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // The time until a call may reconnect: our own pauses are long enough.
  Args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  Args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // Despite its name, the time limit of one attempt.
  Args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, int(silence().count()));
  Args.SetUserAgentPrefix("dtlto/" DTLTO_VERSION);
  Peer &P = Peers[To.name()];
  P.Connections.push_back(std::make_unique<Connection>(
      To, P,
      grpc::CreateCustomChannel(To.Target,
                                To.Tls ? grpc::SslCredentials(Ssl)
                                       : grpc::InsecureChannelCredentials(),
                                Args)));
  return *P.Connections.back();
}

Server::~Server() {
  for (const auto &[Name, P] : Peers)
    for (const auto &C : P.Connections)
      if (C->PendingPing)
        C->PendingPing->Stopping.raise();
  PingQueue.Shutdown();
  handlePings(/*All=*/true);
}

std::chrono::milliseconds Server::pulse() const {
  return std::min<std::chrono::milliseconds>(250ms, silence() / 10);
}

std::chrono::milliseconds Server::silence() const {
  return std::min<std::chrono::milliseconds>(MaxSilence, S.Timeout);
}

Server::Call::Call(Server &S, Stop &Stopping, Connection &By,
                   const std::string &Action, std::chrono::seconds Limit,
                   bool MayWait, bool IsPing)
    : S(S), Stopping(Stopping), By(By), To(By.To), IsPing(IsPing),
      StartFault(S.prepare(*this, Action, Limit, MayWait)),
      CancelRegistration(Stopping, Context) {
  if (IsPing)
    return;
  Clock::time_point Now = Clock::now();
  std::lock_guard<std::mutex> Lock(S.PulseMutex);
  Peer &P = By.Of;
  // A server that can't be reached stays unreachable between two tries.
  if (P.NumCalls++ == 0 &&
      (!P.IsFailing || Now - P.LastCallEnd > S.silence() / 2)) {
    P.LastActivity = Now;
    P.IsFailing = false;
  }
  if (By.NumCalls++ == 0)
    By.LastActivity = Now;
}

Server::Call::~Call() {
  if (IsPing)
    return;
  std::lock_guard<std::mutex> Lock(S.PulseMutex);
  --By.NumCalls;
  --By.Of.NumCalls;
  By.Of.LastCallEnd = Clock::now();
}

void Server::Call::onActivity() {
  std::lock_guard<std::mutex> Lock(S.PulseMutex);
  By.LastActivity = By.Of.LastActivity = Clock::now();
  By.Of.IsFailing = false;
}

void Server::ping(Connection &C) {
  auto P = std::make_unique<Ping>();
  // The server also answers without the headers of a credential helper.
  P->PingCall = std::make_unique<Call>(*this, P->Stopping, C, "", S.Timeout,
                                       /*MayWait=*/false, /*IsPing=*/true);
  P->PingCall->Context.set_deadline(std::chrono::system_clock::now() +
                                    S.Timeout);
  P->Request.set_instance_name(S.Instance);
  C.PendingPing = std::move(P);
  C.PendingPing->Reader = C.Capabilities->AsyncGetCapabilities(
      &C.PendingPing->PingCall->Context, C.PendingPing->Request, &PingQueue);
  C.PendingPing->Reader->Finish(&C.PendingPing->Response,
                                &C.PendingPing->Status, &C);
}

void Server::handlePings(bool All) {
  void *Tag;
  bool Good;
  while (All ? PingQueue.Next(&Tag, &Good)
             : PingQueue.AsyncNext(&Tag, &Good,
                                   std::chrono::system_clock::now()) ==
                   grpc::CompletionQueue::GOT_EVENT) {
    auto &C = *static_cast<Connection *>(Tag);
    Fault F = faultOf(C.PendingPing->Status);
    C.PendingPing->PingCall->recordFault(F);
    C.PendingPing.reset();
  }
}

std::string Server::watch() {
  handlePings(/*All=*/false);
  Clock::time_point Now = Clock::now();
  for (const auto &[Name, P] : Peers) {
    bool IsReady = false;
    for (const auto &C : P.Connections) {
      bool IsSilent;
      {
        std::lock_guard<std::mutex> Lock(PulseMutex);
        if (C->NumCalls == 0)
          continue;
        IsSilent = Now - C->LastActivity >= silence() / 3;
      }
      bool Ready =
          C->Channel->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
      IsReady |= Ready;
      if (Ready && IsSilent && !C->PendingPing)
        ping(*C);
    }
    std::lock_guard<std::mutex> Lock(PulseMutex);
    std::chrono::milliseconds Limit = IsReady ? S.Timeout : silence();
    if ((P.NumCalls != 0 ||
         (P.IsFailing && Now - P.LastCallEnd <= silence() / 2)) &&
        Now - P.LastActivity >= Limit)
      return "server " + Name + ": no answer for " +
             std::to_string((Limit.count() + 500) / 1000) + " s" +
             (IsReady
                  ? ", though it is connected; is it overloaded, or does it "
                    "hang?"
                  : "; are the server and the network to it up?");
  }
  return "";
}

std::string Server::explain(const Fault &F) {
  if (F.IsFromServer || F.Code != grpc::StatusCode::UNAVAILABLE)
    return F.Text;
  const Endpoint &E = F.By ? *F.By : S.Server;
  std::lock_guard<std::mutex> Lock(ExplainMutex);
  auto [It, IsNew] = Explained.try_emplace(E.name());
  if (IsNew)
    It->second = explainConnection(S, E, F.Text, ::getenv);
  return F.Text + (It->second.empty() ? "" : "; " + It->second);
}

Fault Server::prepare(Call &C, const std::string &Action,
                      std::chrono::seconds Limit, bool MayWait) {
  HeaderList Headers;
  if (Helper)
    if (Fault F = Helper->get(C.Stopping, C.To, Headers, C.Stamp, MayWait))
      return F;
  C.Context.set_deadline(std::chrono::system_clock::now() +
                         std::min<std::chrono::milliseconds>(
                             Limit, C.Stopping.left() + ClockError));
  re::RequestMetadata M;
  M.mutable_tool_details()->set_tool_name("dtlto");
  M.mutable_tool_details()->set_tool_version(DTLTO_VERSION);
  M.set_action_id(Action);
  M.set_tool_invocation_id(Invocation);
  C.Context.AddMetadata(MetadataKey, M.SerializeAsString());
  // The user's headers override the helper's, which override the token.
  bool IsAuthorized = S.Headers.count("authorization");
  for (const auto &[Name, Value] : Headers) {
    IsAuthorized |= Name == "authorization";
    if (!S.Headers.count(Name))
      C.Context.AddMetadata(Name, Value);
  }
  if (!IsAuthorized)
    C.Token = Token.header();
  if (!C.Token.empty())
    C.Context.AddMetadata("authorization", C.Token);
  for (const auto &[Name, Value] : S.Headers)
    C.Context.AddMetadata(Name, Value);
  return {};
}

void Server::Call::recordFault(Fault &F) {
  F.By = &To;
  F.IsFromServer = F && Context.debug_error_string().find(
                            "received from peer") != std::string::npos;
  if (!F || F.IsFromServer ||
      // The machine answers, but has no server.
      F.Text.find("Connection refused") != std::string::npos) {
    onActivity();
  } else if (F.Code == grpc::StatusCode::UNAVAILABLE) {
    std::lock_guard<std::mutex> Lock(S.PulseMutex);
    By.Of.IsFailing = true;
  }
}

Fault Server::Call::end(const grpc::Status &Status) {
  Fault F = faultOf(Status);
  recordFault(F);
  // A proxy also reports this when it loses the server.
  if (F.What == Fault::Cancelled && !Stopping.raised())
    F.What = Fault::Later;
  bool IsRefused = F.Code == grpc::StatusCode::UNAUTHENTICATED;
  if (!F && S.Helper)
    S.Helper->onAccepted(To, Stamp);
  if (!F && !Token.empty())
    S.Token.onAccepted(Token);
  if (IsRefused &&
      (Token.empty() ? S.Helper && S.Helper->renew(Stopping, To, Stamp, F)
                     : S.Token.renew(Token))) {
    F.What = Fault::Later;
    F.WasRenewed = true;
  }
  return F;
}

bool Server::mayRetry(const Fault &F, uint32_t Try) const {
  if (F.WasRenewed)
    return true;
  // Some proxies report these when they lose the server; so do some servers.
  bool MayPass = F.Code == grpc::StatusCode::INTERNAL ||
                 F.Code == grpc::StatusCode::UNKNOWN;
  return (F.What == Fault::Later || F.What == Fault::Busy || MayPass) &&
         Try < S.Retries;
}

std::chrono::milliseconds Server::pauseAfter(const Fault &F,
                                             uint32_t Try) const {
  if (F.RetryAfter.count() != 0)
    return F.RetryAfter;
  auto Time = std::min(MaxPause, S.RetryDelay * (1 << std::min(Try, 10u)));
  // Randomize it, so that calls don't all come back at the same time.
  static thread_local std::minstd_rand Random{std::random_device()()};
  return Time / 2 + Time * (Random() % 1024) / 2048;
}

bool Server::pause(Stop &Stopping, const Fault &F, uint32_t Try) {
  ++Sum.NumRetried;
  if (F.WasRenewed)
    return !Stopping.raised();
  if (F.Code == grpc::StatusCode::UNAVAILABLE && OnUnavailable &&
      !WasUnavailable.exchange(true))
    OnUnavailable(F);
  std::chrono::milliseconds Time = pauseAfter(F, Try);
  if (F.Code == grpc::StatusCode::UNAVAILABLE && F.RetryAfter.count() == 0)
    for (const auto &[Name, P] : Peers)
      for (const auto &C : P.Connections)
        if ((!F.By || Name == F.By->name()) &&
            C->Channel->GetState(/*try_to_connect=*/true) != GRPC_CHANNEL_READY)
          return waitForConnection(Stopping, *C->Channel, Time);
  return !Stopping.pause(Time);
}

bool Server::waitForConnection(Stop &Stopping, grpc::Channel &C,
                               std::chrono::milliseconds Time) {
  // gRPC makes progress only while a thread waits in it, and a stop can't wake
  // that thread.
  constexpr std::chrono::milliseconds Slice{50};
  auto End = std::chrono::steady_clock::now() + Time;
  while (!Stopping.raised()) {
    if (std::chrono::steady_clock::now() >= End ||
        C.WaitForConnected(std::chrono::system_clock::now() +
                           std::min(Time, Slice)))
      return true;
  }
  return false;
}

static bool has(const google::protobuf::RepeatedField<int> &List, int Value) {
  return std::find(List.begin(), List.end(), Value) != List.end();
}

/// Whether the server accepts digests of \p Kind. SHA-256 is the default if the
/// server names no functions.
static bool acceptsDigest(const re::ServerCapabilities &Of, DigestKind Kind) {
  const re::CacheCapabilities &CacheCaps = Of.cache_capabilities();
  const re::ExecutionCapabilities &ExecutionCaps = Of.execution_capabilities();
  const int N = int(Kind);
  auto IsIn = [&](const google::protobuf::RepeatedField<int> &List, int Other) {
    return List.empty() ? N == (Other ? Other : re::DigestFunction::SHA256)
                        : has(List, N);
  };
  return IsIn(CacheCaps.digest_functions(), 0) &&
         (!ExecutionCaps.exec_enabled() ||
          IsIn(ExecutionCaps.digest_functions(),
               ExecutionCaps.digest_function()));
}

Fault Server::queryFeatures(Stop &Stopping, ServerFeatures &Features) {
  re::ServerCapabilities Of, CasCaps;
  auto Ask = [&](const Endpoint &To, re::ServerCapabilities &Answer) {
    re::GetCapabilitiesRequest Request;
    Request.set_instance_name(S.Instance);
    return call(Stopping, To, "", [&](grpc::ClientContext &C) {
      return connectionTo(To).Capabilities->GetCapabilities(&C, Request,
                                                            &Answer);
    });
  };
  Fault F = Ask(S.Server, Of);
  if (!F && S.Cas.name() != S.Server.name()) {
    F = Ask(S.Cas, CasCaps);
    *Of.mutable_cache_capabilities() = CasCaps.cache_capabilities();
  }
  // Only the instance can be missing, or invalid.
  if (F.Code == grpc::StatusCode::NOT_FOUND ||
      F.Code == grpc::StatusCode::INVALID_ARGUMENT)
    F.What = Fault::Refused;
  if (F)
    return F;

  const re::CacheCapabilities &CacheCaps = Of.cache_capabilities();
  Features.Executes = Of.execution_capabilities().exec_enabled();
  Features.TakesResults =
      CacheCaps.action_cache_update_capabilities().update_enabled();
  Features.MaxBatch = MaxBatchBytes;
  if (int64_t Max = CacheCaps.max_batch_total_size_bytes(); Max > 0)
    Features.MaxBatch = std::min(Features.MaxBatch, uint64_t(Max));
  Features.Zstd = has(CacheCaps.supported_compressors(), re::Compressor::ZSTD);
  Features.ZstdInBatch =
      has(CacheCaps.supported_batch_update_compressors(), re::Compressor::ZSTD);
  bool Sha256 = S.Digest != "blake3" && acceptsDigest(Of, DigestKind::Sha256);
  bool Blake3 = S.Digest != "sha256" && acceptsDigest(Of, DigestKind::Blake3);
  Features.Digest = Blake3 ? DigestKind::Blake3 : DigestKind::Sha256;
  if (!Sha256 && !Blake3) {
    F.What = Fault::Refused;
    F.Text = S.Digest.empty()
                 ? "it accepts neither SHA-256 nor BLAKE3 digests"
                 : "it does not accept digests by " +
                       std::string(S.Digest == "blake3" ? "BLAKE3" : "SHA-256");
    return F;
  }
  auto Version = [](const build::bazel::semver::SemVer &V) {
    return std::to_string(V.major()) + "." + std::to_string(V.minor());
  };
  Features.Text = "API " + Version(Of.high_api_version()) + ", " +
                  nameOf(Features.Digest) + (Features.Zstd ? ", zstd" : "") +
                  (Features.Executes ? "" : ", no execution");
  return F;
}
