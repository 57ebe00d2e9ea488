//===- ClientStore.cpp - What the link keeps in the action cache ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces results that the linker has refuted, and keeps the linker's own
// store.
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Text.h"

using namespace dtlto::reapi;
using dtlto::quote;

// How long the end of a link waits for wrong results to be replaced.
static constexpr std::chrono::milliseconds MaxRepair{4000};

//===----------------------------------------------------------------------===//
// Wrong results
//===----------------------------------------------------------------------===//

void Client::refuted(uint64_t Job, const std::string &Worker, int32_t Status) {
  // Failures are not taken from the action cache.
  Record.refute(Job, Status == DTLTO_OK && S.CacheUse == Results::Write);
  log(DTLTO_LOG_WARNING, "a result of " +
                             (Worker.empty() ? "the server" : quote(Worker)) +
                             " was wrong");
}

/// The API can't remove a result. Stores a failure in its place: clients ignore
/// failures, and the next execution of the action replaces it.
Fault Client::repair(const BlobName &Action, Stop &Ending) {
  if (Features.TakesResults) {
    re::ActionResult R;
    R.set_exit_code(1);
    R.set_stderr_raw("dtlto: the result was wrong\n");
    if (!putResult(TheServer, Ending, Features.Digest, Action, R))
      return {};
  }
  // Execute the action again. Its blobs may still be there.
  ExecuteOptions O;
  O.Action = Action;
  O.SkipCache = true;
  O.OnState = [](uint32_t, const std::string &, bool) {};
  return reapi::execute(TheServer, Ending, Features.Digest, O).Failed;
}

void Client::repairCache() {
  bool HasEnded;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    HasEnded = !EndReason.empty();
  }
  const std::map<std::string, BlobName> All = Record.takeRepairs();
  if (HasEnded || All.empty())
    return;
  size_t NumGood = 0;
  Fault Last;
  runWithin(MaxRepair, [&](Stop &Ending) {
    for (const auto &[Hash, Name] : All)
      if (Ending.raised())
        break;
      else if (Fault F = repair(Name, Ending))
        Last = std::move(F);
      else
        ++NumGood;
  });
  std::string Of = std::to_string(All.size()) +
                   (All.size() == 1 ? " wrong result" : " wrong results");
  if (NumGood == All.size())
    return log(DTLTO_LOG_NOTE,
               "action cache " + S.Cache.name() + ": replaced " + Of);
  log(DTLTO_LOG_WARNING,
      "action cache " + S.Cache.name() + ": could not replace " +
          std::to_string(All.size() - NumGood) + " of " + Of +
          (Last ? " (" + Last.Text + ")" : "") +
          "; link with results=off, or have them removed from the server");
}

//===----------------------------------------------------------------------===//
// The store; any thread
//===----------------------------------------------------------------------===//

void Client::runInStore(std::chrono::milliseconds Limit,
                        const std::function<Fault(Stop &)> &Fn) {
  Fault StoreFault;
  bool IsOver = false;
  runWithin(Limit, [&](Stop &Ending) {
    IsOver = !waitUntilReady(Ending);
    if (IsOver)
      return;
    StoreFault = Fn(Ending);
    IsOver = StoreFault && Ending.raised();
  });
  std::lock_guard<std::mutex> Lock(Mutex);
  if (IsOver && !EndReason.empty()) // already reported
    throw sdk::Error(DTLTO_CANCELLED, EndReason);
  if (IsOver || StoreFault)
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                     "action cache " + S.Cache.name() + ": " +
                         (IsOver ? "no answer in time" : StoreFault.Text));
}

static std::string_view keyAt(const uint8_t *Key) {
  return {reinterpret_cast<const char *>(Key), 32};
}

dtlto::sdk::Buffer Client::storeGet(const uint8_t *Key, uint64_t MaxBytes,
                                    std::chrono::milliseconds Limit) {
  if (S.CacheUse == Results::Off)
    throw sdk::Error(DTLTO_ERROR_CALLER, "results=off");
  std::string Bytes;
  runInStore(Limit, [&](Stop &Ending) -> Fault {
    Action A = Actions->makeSlot(keyAt(Key));
    std::unique_ptr<re::ActionResult> R;
    Fault F =
        findResult(TheServer, Ending, Features.Digest, A.Name, A.Output, R);
    if (F || !R || R->output_files_size() != 1)
      return F;
    re::OutputFile &File = *R->mutable_output_files(0);
    if (!File.contents().empty()) {
      Bytes = std::move(*File.mutable_contents());
      TheServer.Sum.BytesDown += Bytes.size();
      return {};
    }
    int64_t Size = File.digest().size_bytes();
    if (Size <= 0 || uint64_t(Size) > MaxBytes)
      return {};
    sdk::ResultMemory::Share Share(Results);
    F = Contents->read(Ending, {File.digest().hash(), uint64_t(Size)}, Share,
                       Bytes);
    // Only this blob is missing or damaged.
    if (F.What == Fault::Failed || F.What == Fault::Missing) {
      log(DTLTO_LOG_DEBUG, "the store has lost a blob: " + F.Text);
      Bytes.clear();
      return {};
    }
    return F;
  });
  return sdk::Buffer(std::move(Bytes));
}

void Client::storePut(const uint8_t *Key, std::string_view Bytes,
                      std::chrono::milliseconds Limit) {
  if (S.CacheUse != Results::Write)
    throw sdk::Error(DTLTO_ERROR_CALLER, S.CacheUse == Results::Off
                                             ? "results=off"
                                             : "results=read or only");
  runInStore(Limit, [&](Stop &Ending) {
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
