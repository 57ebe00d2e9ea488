//===- IceccNodeFuzz.cpp - A node's answers to a job ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a byte for the protocol's version, the limit of bytes sent, whether it
// is a batch, and choices of messages.
//
//===----------------------------------------------------------------------===//

#include "../icecc/WireMessages.h"
#include "Batch.h"
#include "IceccLine.h"
#include "RemoteJob.h"
#include "dtlto/sdk/Result.hpp"
#include <optional>

using namespace dtlto::icecc;
using namespace dtlto::test;

static constexpr size_t MaxResult = 700, MaxMessage = 1 << 20;

namespace {
/// A possibly malformed chunk.
struct Chunk {
  uint32_t SizeField = 0, Kind = C_LZO;
  std::string Packed;

  std::string payload(uint8_t Version) const;
  /// Returns the decompressed bytes, if they match the size field.
  std::optional<std::string> decompress() const;
};
} // namespace

std::string Chunk::payload(uint8_t Version) const {
  return wireChunk(Packed, SizeField, Kind, Version);
}

std::optional<std::string> Chunk::decompress() const {
  if (SizeField == 0)
    return "";
  std::string Bytes(SizeField, 0);
  size_t Size = SizeField;
  if (Kind == C_ZSTD)
    Size =
        ZSTD_decompress(Bytes.data(), SizeField, Packed.data(), Packed.size());
  else if (lzo1x_decompress_safe(
               reinterpret_cast<const lzo_byte *>(Packed.data()), Packed.size(),
               reinterpret_cast<lzo_byte *>(&Bytes[0]), &Size,
               nullptr) != LZO_E_OK)
    return std::nullopt;
  if (Size != SizeField)
    return std::nullopt;
  return Bytes;
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  auto entry = [](const std::string &Frame) {
    return char(Frame.size()) + std::string(15, '\0') + Frame;
  };
  std::string Three = entry("one") + entry("two") + entry("three");
  std::string Oldest("\0\xff\xff", 3), Newest = "\x16\xff\xff";
  const std::string Good("\0\1\0\0\0", 5); // one job, a result without errors
  return {Newest + Good + "\1\5hello\1\3you\2",
          Oldest + Good + "\1\5hello\1\3you\2",
          Newest + std::string("\0\1\1\0\14error: no\nat\2", 18),
          Newest + std::string("\0\1\1\0\24dtlto-codegen: bad\nx", 25),
          Newest + std::string("\1\1\0\0\0\1", 6) + char(Three.size()) + Three +
              "\2",
          Oldest + std::string("\1\1\0\0\0\1", 6) + char(Three.size()) + Three +
              "\2"};
}

namespace {
/// The messages of a node.
struct NodeMessages {
  enum Ending {
    Cut,     // ends within a message or before the end
    Whole,   // the object is complete
    Text,    // a text of the node
    Damaged, // a chunk doesn't match its size
    Other    // anything else without an object
  } EndKind = Cut;
  std::string Bytes, Object, Message;
  bool HasResult = false;
  CompileResultMsg Result;
  size_t End = 0; // where the ending is certain

  void setEnding(Ending E) {
    EndKind = E;
    End = Bytes.size();
  }
};
} // namespace

static NodeMessages choose(Choices &C, uint8_t Version) {
  NodeMessages S;
  if (C.below(8) != 7) {
    S.Result.status = C.take();
    S.Result.was_out_of_memory = C.below(2);
    S.Result.err = C.text(120).c_str();
    S.Bytes = serialize(S.Result, Version);
    S.HasResult = true;
  }
  while (!C.empty() && S.EndKind == NodeMessages::Cut) {
    unsigned Kind = C.below(7);
    if (Kind == 0) {
      S.Bytes += serialize(PingMsg(), Version);
      S.setEnding(NodeMessages::Other);
    } else if (Kind == 1) {
      std::string Bytes = C.bytes(C.take());
      auto *Data = reinterpret_cast<unsigned char *>(Bytes.data());
      S.Bytes += serialize(FileChunkMsg(Data, Bytes.size()), Version);
      S.Object += Bytes;
    } else if (Kind == 2) {
      S.Bytes += serialize(EndMsg(), Version);
      S.setEnding(NodeMessages::Whole);
    } else if (Kind == 3) {
      S.Message = C.text(60).c_str();
      S.Bytes += serialize(StatusTextMsg(S.Message), Version);
      S.setEnding(NodeMessages::Text);
    } else if (Kind == 6) {
      // Any other message, with any contents.
      size_t Type = M_UNKNOWN + C.below(M_NO_CS - M_UNKNOWN + 2);
      std::string Bytes = C.bytes(C.take());
      bool IsChunk = Type == M_FILE_CHUNK || Type == M_END;
      S.Bytes +=
          wireMessage(wireNumber(IsChunk ? size_t(M_LOGIN) : Type) + Bytes);
      S.setEnding(NodeMessages::Other);
    } else {
      std::string Bytes = C.bytes(C.take());
      Chunk NewChunk;
      NewChunk.Kind = Version >= 40 ? C.below(3) : C_LZO;
      NewChunk.Packed = packChunk(Bytes, NewChunk.Kind);
      NewChunk.SizeField = uint32_t(Bytes.size());
      if (C.below(2)) {
        NewChunk.SizeField = 0;
        for (int Digit = 0; Digit != 3; ++Digit)
          NewChunk.SizeField = NewChunk.SizeField << 8 | C.take();
      }
      if (uint8_t Bits = C.take(); Bits && !NewChunk.Packed.empty())
        NewChunk.Packed[C.take() * 256u % NewChunk.Packed.size()] ^= char(Bits);
      // A chunk within another message is invalid.
      S.Bytes += wireMessage((Kind == 5 ? wireNumber(M_PING) : "") +
                             NewChunk.payload(Version));
      if (Kind == 5 || NewChunk.Kind > C_ZSTD ||
          NewChunk.SizeField > MaxMessage ||
          (NewChunk.SizeField && NewChunk.Packed.empty()))
        S.setEnding(NodeMessages::Other);
      else if (std::optional<std::string> Decompressed = NewChunk.decompress())
        S.Object += *Decompressed;
      else
        S.setEnding(NodeMessages::Damaged);
    }
  }
  return S;
}

/// \p CheckedObjects has the objects that were checked.
static void checkOutcomes(const RemoteResult &R, const NodeMessages &S,
                          bool IsWhole,
                          const std::vector<std::string> &CheckedObjects) {
  size_t N = R.Jobs.size();
  size_t NumCompiled = 0, NumWrong = 0;
  for (const Outcome &O : R.Jobs) {
    check(!O.HasTimedOut);
    NumCompiled += O.Kind == Outcome::Compiled;
    NumWrong += O.WasWrong;
    check(!O.WasWrong || O.Kind == Outcome::NodeFailed);
    check(O.Kind == Outcome::Compiled || O.Kind == Outcome::CompilerError ||
          isLine(O.Text));
    check(N == 1 || (O.Kind != Outcome::CompilerError &&
                     O.Kind != Outcome::WorkerFailed));
  }
  bool HasGoodResult =
      S.HasResult && S.Result.status == 0 && (N == 1 || S.Result.err.empty());
  const Outcome &First = R.Jobs.front();
  if (!HasGoodResult || !IsWhole || S.EndKind != NodeMessages::Whole) {
    check(CheckedObjects.empty() && NumCompiled == 0);
    bool IsDamaged =
        HasGoodResult && IsWhole && S.EndKind == NodeMessages::Damaged;
    bool Fits = S.Object.size() <= MaxResult;
    check(NumWrong == (IsDamaged && Fits && N == 1));
    check(!IsDamaged || N == 1 || !Fits || First.Kind == Outcome::BatchFailed);
    std::string Message = dtlto::sdk::oneLine(S.Message);
    if (HasGoodResult && Fits && IsWhole && S.EndKind == NodeMessages::Text &&
        !Message.empty())
      check(First.Text == "the object was cut off: " + Message);
    return;
  }
  if (S.Object.size() > MaxResult) {
    check(CheckedObjects.empty() && NumWrong == 0 &&
          First.Kind == Outcome::NodeFailed);
    return;
  }
  std::vector<std::string> Objects = {S.Object};
  if (N != 1) {
    std::vector<BatchEntry> Entries;
    bool IsBatch = readBatchReply(S.Object, N, Entries);
    check(IsBatch == (First.Kind != Outcome::BatchFailed));
    Objects.clear();
    for (size_t I = 0; IsBatch && I != N; ++I)
      Objects.emplace_back(Entries[I].Frame);
  }
  check(CheckedObjects == Objects && NumCompiled + NumWrong == Objects.size());
  for (size_t I = 0; I != Objects.size(); ++I) {
    const Outcome &O = R.Jobs[I];
    check(O.WasWrong == (Objects[I].size() % 8 == 7));
    if (O.WasWrong)
      continue;
    check(std::string(O.Object.data(), O.Object.data() + O.Object.size()) ==
          Objects[I]);
    check(O.Text == (N == 1 ? S.Result.err : ""));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  uint8_t Version = uint8_t(OldestProtocol + C.below(NumProtocols));
  size_t MaxSize = C.take() * 256u + C.take();
  size_t N = C.below(2) ? 3 : 1;
  NodeMessages S = choose(C, Version);
  size_t NumSent = std::min({S.Bytes.size(), MaxSize, MaxLineSize});
  bool IsWhole = S.EndKind != NodeMessages::Cut && S.End <= NumSent;

  IceccLine Line(Version);
  Line.send(S.Bytes.substr(0, NumSent));
  MsgChannel *Raw = Line.channel();
  check(Raw != nullptr);
  Interrupt I;
  std::unique_ptr<Channel> Near = Channel::adopt(Raw, I);
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  Params.result_bytes = MaxResult;
  dtlto::sdk::ResultMemory Memory(Params);
  std::vector<std::string> CheckedObjects;
  RemoteJob J;
  J.ResultLimit = std::chrono::seconds(20);
  J.Results = &Memory;
  J.Report = [](uint32_t) {};
  auto Problem = [&](std::string_view Object) -> std::string {
    CheckedObjects.emplace_back(Object);
    return Object.size() % 8 == 7 ? "odd" : "";
  };
  for (size_t K = 0; K != N; ++K)
    J.Bundles.push_back({nullptr, Problem});

  RemoteResult R = receiveResult(J, *Near);
  check(R.Jobs.size() == N && R.WorkSeconds >= 0);
  checkOutcomes(R, S, IsWhole, CheckedObjects);
  // All memory is given back.
  check(dtlto::sdk::ResultMemory::Share(Memory).room() == MaxResult);
  return 0;
}
