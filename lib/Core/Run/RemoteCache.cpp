//===- RemoteCache.cpp - Results that machines share ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/RemoteCache.h"
#include "Bundle/ObjectFrame.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace dtlto;

Expected<std::shared_ptr<RemoteStore>>
dtlto::openRemoteStore(const Options &Opts, const dtlto_plugin *Plugin,
                       Messages &Msg) {
  if (!Plugin)
    return nullptr;
  return RemoteStore::open(*Plugin, Opts.RemoteCache, Opts.RemoteCacheArgs,
                           Opts.RemoteCacheMode == CacheMode::Write, Msg);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string dtlto::writeCacheValue(StringRef Outputs, const ResultKey &Key) {
  char Size[8];
  support::endian::write64le(Size, Outputs.size());
  std::string Result(Size, sizeof(Size));
  SmallVector<uint8_t, 0> Packed;
  if (compression::zstd::isAvailable())
    compression::zstd::compress(arrayRefFromStringRef(Outputs), Packed,
                                compression::zstd::BestSpeedCompression);
  if (!Packed.empty() && Packed.size() < Outputs.size())
    Outputs = toStringRef(Packed);
  Result += Outputs;
  SmallString<88> Head = frameHead(Result, Key);
  return (Head + Result).str();
}

Expected<SmallVector<char, 0>> dtlto::readCacheValue(StringRef Value,
                                                     const ResultKey &Key,
                                                     uint64_t MaxBytes) {
  Expected<StringRef> Result = readFrame(Value, Key);
  if (!Result)
    return Result.takeError();
  if (Result->size() < 8)
    return failure("it has no size");
  const uint64_t Size = support::endian::read64le(Result->data());
  StringRef Bytes = Result->drop_front(8);
  if (Size > MaxBytes)
    return failure("it has " + Twine(Size) + " bytes, more than " +
                   Twine(MaxBytes));
  if (Bytes.size() == Size)
    return SmallVector<char, 0>(Bytes.begin(), Bytes.end());
  if (!compression::zstd::isAvailable())
    return failure("this linker's LLVM has no zstd");
  SmallVector<uint8_t, 0> Outputs;
  if (Error E = compression::zstd::decompress(arrayRefFromStringRef(Bytes),
                                              Outputs, size_t(Size)))
    return std::move(E);
  if (Outputs.size() != Size)
    return failure("it has " + Twine(Outputs.size()) + " bytes instead of " +
                   Twine(Size));
  return SmallVector<char, 0>(Outputs.begin(), Outputs.end());
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

// All values that are being read take at most --thinlto-dist-memory, unless
// that would exclude large objects.
static constexpr uint64_t MinValueLimit = uint64_t(32) << 20;

struct RemoteCache::State {
  State(const RunContext &Ctx, JobSource &Source, SmallVector<size_t> Numbers,
        std::shared_ptr<EventQueue> Events)
      : Ctx(Ctx), Source(Source), Store(Ctx.Store), Numbers(std::move(Numbers)),
        Events(std::move(Events)),
        MaxBytes(
            std::max(MinValueLimit, Ctx.opts().Memory / RemoteStore::MaxCalls)),
        Jobs(this->Numbers.size()) {}

  /// Returns the next job to look for, if any. Then the run exists until
  /// leave().
  std::optional<plan::JobId> enter();
  /// Like enter(), for a job that was looked for. Returns false if the run has
  /// ended.
  bool enterAgain();
  void leave();

  std::optional<ResultKey> keyOf(plan::JobId J);
  Expected<JobResult> read(plan::JobId J, const ResultKey &Key,
                           const Buffer &Value);
  void add(plan::JobId J, const ResultKey &Key, const Buffer &Value);

  struct Job {
    std::once_flag Once; // for the key
    std::optional<ResultKey> Key;
    bool HasEnded = false;
    std::optional<JobResult> Found;
  };

  // Valid until the run has ended.
  const RunContext &Ctx;
  JobSource &Source;

  const std::shared_ptr<RemoteStore> Store;
  const SmallVector<size_t> Numbers;
  const std::shared_ptr<EventQueue> Events;
  const uint64_t MaxBytes; // of a value
  std::vector<Job> Jobs;   // by rank

  std::mutex Mutex; // guards the following members, HasEnded and Found
  std::condition_variable Changed;
  plan::JobId Next = 0;
  bool HasEnded = false;
  unsigned NumInside = 0; // threads that use the run
  bool HasWarned = false;
};

std::optional<plan::JobId> RemoteCache::State::enter() {
  std::lock_guard<std::mutex> Lock(Mutex);
  while (Next != Jobs.size() && Jobs[Next].HasEnded)
    ++Next;
  if (HasEnded || Next == Jobs.size() || !Store->mayGet())
    return std::nullopt;
  ++NumInside;
  return Next++;
}

bool RemoteCache::State::enterAgain() {
  std::lock_guard<std::mutex> Lock(Mutex);
  NumInside += !HasEnded;
  return !HasEnded;
}

void RemoteCache::State::leave() {
  std::lock_guard<std::mutex> Lock(Mutex);
  --NumInside;
  Changed.notify_all();
}

std::optional<ResultKey> RemoteCache::State::keyOf(plan::JobId J) {
  Job &Wanted = Jobs[J];
  std::call_once(Wanted.Once,
                 [&] { Wanted.Key = Source.resultKey(Numbers[J]); });
  return Wanted.Key;
}

/// Returns the result in \p Value, checked like a worker's.
Expected<JobResult> RemoteCache::State::read(plan::JobId J,
                                             const ResultKey &Key,
                                             const Buffer &Value) {
  auto Outputs = readCacheValue(Value.bytes(), Key, MaxBytes);
  if (!Outputs)
    return Outputs.takeError();
  JobResult R;
  R.Object = Buffer::own(std::move(*Outputs));
  R.IsFound = true;
  const SideFiles Side = Source.sideFiles(Numbers[J]);
  if (!Side.empty())
    if (Error E = unpack(R, Side))
      return std::move(E);
  if (Error E =
          Source.check(Numbers[J], R.Object.bytes(), /*IsAsWritten=*/true))
    return std::move(E);
  return R;
}

void RemoteCache::State::add(plan::JobId J, const ResultKey &Key,
                             const Buffer &Value) {
  Expected<JobResult> R = read(J, Key, Value);
  std::unique_lock<std::mutex> Lock(Mutex);
  if (!R) {
    std::string Why = toString(R.takeError());
    bool IsFirst = !std::exchange(HasWarned, true);
    Lock.unlock();
    return Ctx.msg().emit(IsFirst ? MessageLevel::Warning : MessageLevel::Debug,
                          Store->name() + ": the value of module '" +
                              Source.facts(Numbers[J]).Title +
                              "' is not used: " + sanitizedLine(Why));
  }
  if (Jobs[J].HasEnded)
    return;
  Jobs[J].Found = std::move(*R);
  Lock.unlock();
  Event E{Event::Found};
  E.Job = J;
  Events->push(std::move(E));
}

/// Looks for jobs until all were looked for, or the run ends.
void RemoteCache::run(std::shared_ptr<State> S) {
  while (std::optional<plan::JobId> J = S->enter()) {
    std::optional<ResultKey> Key = S->keyOf(*J);
    S->leave();
    if (!Key)
      continue;
    Buffer Value = S->Store->get(*Key, S->MaxBytes);
    if (!S->enterAgain())
      return;
    if (!Value.bytes().empty())
      S->add(*J, *Key, Value);
    S->leave();
  }
}

RemoteCache::RemoteCache(const RunContext &Ctx, JobSource &Source,
                         SmallVector<size_t> Numbers,
                         std::shared_ptr<EventQueue> Events)
    : TheState(std::make_shared<State>(Ctx, Source, std::move(Numbers),
                                       std::move(Events))) {}

void RemoteCache::lookUp() {
  const size_t NumThreads =
      std::min<size_t>(RemoteStore::MaxCalls, TheState->Jobs.size());
  for (size_t I = 0; I != NumThreads; ++I)
    if (!startThread([S = TheState] { run(S); }))
      return;
}

JobResult RemoteCache::take(plan::JobId J) {
  std::lock_guard<std::mutex> Lock(TheState->Mutex);
  assert(TheState->Jobs[J].Found);
  return std::move(*TheState->Jobs[J].Found);
}

void RemoteCache::drop(plan::JobId J) {
  std::optional<JobResult> Unused; // freed without the lock
  std::lock_guard<std::mutex> Lock(TheState->Mutex);
  TheState->Jobs[J].HasEnded = true;
  std::swap(Unused, TheState->Jobs[J].Found);
}

void RemoteCache::put(plan::JobId J, const JobResult &R) {
  if (R.IsFound || !TheState->Store->mayPut())
    return;
  // A local compile has written the further files itself.
  const bool HasFiles =
      !TheState->Source.sideFiles(TheState->Numbers[J]).empty();
  StringRef Outputs = HasFiles ? R.Packed.bytes() : R.Object.bytes();
  if (Outputs.empty())
    return;
  if (std::optional<ResultKey> Key = TheState->keyOf(J))
    TheState->Store->put(
        *Key, Outputs.size(),
        [K = *Key, Copy = Outputs.str()] { return writeCacheValue(Copy, K); });
}

void RemoteCache::stop() {
  std::unique_lock<std::mutex> Lock(TheState->Mutex);
  TheState->HasEnded = true;
  TheState->Changed.wait(Lock, [&] { return TheState->NumInside == 0; });
}
