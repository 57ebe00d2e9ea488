//===- Store.cpp - A store of bytes in the action cache -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Store.h"
#include "Execution.h"
#include <cstdlib>
#include <unistd.h>

using namespace dtlto::reapi;
namespace sdk = dtlto::sdk;
using namespace std::chrono_literals;

// The time that Server::explain() may take.
static constexpr std::chrono::milliseconds ExplainTime{4000};

/// Whether \p F means that the time of the call or of \p Ending is over.
static bool isLate(const Fault &F, const Stop &Ending) {
  return Ending.raised() || F.Code == grpc::StatusCode::DEADLINE_EXCEEDED;
}

Settings ReapiStore::openSettings(const dtlto_store_params &Params) {
  Settings S = readStoreSettings(Params, ::getenv, environ);
  S.Jobs = 0; // no connections for executions
  return S;
}

ReapiStore::ReapiStore(const dtlto_store_params &Params)
    : S(openSettings(Params)), TheServer(S),
      // Unlimited: the host limits each answer.
      Memory(dtlto_session_params{}) {}

Fault ReapiStore::prepare(Stop &Ending) {
  std::unique_lock<std::timed_mutex> Lock(Mutex, Ending.left());
  if (!Lock.owns_lock())
    return Fault::cancelled();
  if (Contents || Unusable)
    return Unusable;
  Fault F = TheServer.queryFeatures(Ending, Features);
  if (F) {
    // A call with more time may get an answer.
    if (!isLate(F, Ending))
      Unusable = F;
    return F;
  }
  Actions = std::make_unique<ActionMaker>(S, Features.Digest,
                                          /*Worker=*/std::string_view(),
                                          BlobName(), /*LlvmVersion=*/"");
  Contents = std::make_unique<Cas>(TheServer, Features,
                                   /*ProgressInterval=*/1s);
  return {};
}

void ReapiStore::run(std::chrono::milliseconds Limit,
                     const std::function<Fault(Stop &)> &Fn) {
  Stop Ending(Limit);
  Fault F = prepare(Ending);
  if (!F)
    F = Fn(Ending);
  if (!F)
    return;
  std::string Where = (F.By ? *F.By : S.Cache).name();
  if (!S.Instance.empty())
    Where += "/" + S.Instance;
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   Where + ": " +
                       (isLate(F, Ending)              ? "no answer in time"
                        : Ending.left() >= ExplainTime ? TheServer.explain(F)
                                                       : F.Text));
}

static std::string_view keyAt(const uint8_t *Key) {
  return {reinterpret_cast<const char *>(Key), 32};
}

sdk::Buffer ReapiStore::get(const uint8_t *Key, uint64_t MaxBytes,
                            std::chrono::milliseconds Limit) {
  if (S.CacheUse == Results::Off)
    throw sdk::Error(DTLTO_ERROR_CALLER, "results=off");
  std::string Bytes;
  run(Limit, [&](Stop &Ending) {
    Action A = Actions->makeSlot(keyAt(Key));
    std::unique_ptr<re::ActionResult> R;
    Fault F =
        findResult(TheServer, Ending, Features.Digest, A.Name, A.Output, R);
    return F ? F : read(Ending, R.get(), MaxBytes, Bytes);
  });
  return sdk::Buffer(std::move(Bytes));
}

Fault ReapiStore::read(Stop &Ending, re::ActionResult *R, uint64_t MaxBytes,
                       std::string &Bytes) {
  if (!R || R->output_files_size() != 1)
    return {};
  re::OutputFile &File = *R->mutable_output_files(0);
  int64_t Size = File.digest().size_bytes();
  if (Size <= 0 || uint64_t(Size) > MaxBytes)
    return {};
  const BlobName Name{File.digest().hash(), uint64_t(Size)};
  if (!File.contents().empty()) {
    if (nameBlob(Features.Digest, File.contents()) == Name)
      Bytes = std::move(*File.mutable_contents());
    return {};
  }
  sdk::ResultMemory::Share Share(Memory);
  Fault F = Contents->read(Ending, Name, Share, Bytes);
  // Usually, only this blob is missing or damaged.
  bool IsMiss = (F.What == Fault::Missing || F.What == Fault::Failed) &&
                F.Code != grpc::StatusCode::UNIMPLEMENTED && !isLate(F, Ending);
  if (F)
    Bytes.clear();
  return IsMiss ? Fault() : F;
}

void ReapiStore::put(const uint8_t *Key, std::string_view Bytes,
                     std::chrono::milliseconds Limit) {
  if (S.CacheUse != Results::Write)
    throw sdk::Error(DTLTO_ERROR_CALLER, S.CacheUse == Results::Off
                                             ? "results=off"
                                             : "results=read or only");
  run(Limit, [&](Stop &Ending) {
    Action A = Actions->makeSlot(keyAt(Key));
    re::ActionResult R;
    re::OutputFile *File = R.add_output_files();
    File->set_path(A.Output);
    BlobName Name = nameBlob(Features.Digest, Bytes);
    setDigest(*File->mutable_digest(), Name);
    if (!Bytes.empty())
      A.Blobs.push_back({std::move(Name), Bytes});
    Fault F = Contents->upload(Ending, A.Blobs);
    return F ? F : putResult(TheServer, Ending, Features.Digest, A.Name, R);
  });
}
