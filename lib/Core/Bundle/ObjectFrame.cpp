//===- ObjectFrame.cpp - The result of one or more jobs -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/ObjectFrame.h"
#include "Support/Failure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace dtlto;
using namespace llvm::support::endian;

static constexpr StringLiteral FrameMagic = "DTLTOOBJ";
static constexpr uint32_t FrameVersion = 2;
static constexpr size_t VersionAt = 8, MessagesAt = 12, SizeAt = 16, JobAt = 24,
                        DigestAt = 56, HeadSize = 88;

static BLAKE3Result<> digestOf(StringRef Result, StringRef Messages) {
  BLAKE3 Hash;
  Hash.update(Result);
  Hash.update(Messages);
  return Hash.final();
}

SmallString<88> dtlto::frameHead(StringRef Result, const BundleId &Job,
                                 StringRef Messages) {
  SmallString<88> Head(FrameMagic);
  Head.resize(HeadSize);
  write32le(&Head[VersionAt], FrameVersion);
  write32le(&Head[MessagesAt], static_cast<uint32_t>(Messages.size()));
  write64le(&Head[SizeAt], Result.size());
  copy(Job, &Head[JobAt]);
  copy(digestOf(Result, Messages), &Head[DigestAt]);
  return Head;
}

Expected<StringRef> dtlto::readFrame(StringRef Frame, const BundleId &Job,
                                     StringRef *Messages, bool Hashes) {
  if (Frame.empty())
    return failure("the worker returned no object");
  if (!Frame.starts_with(FrameMagic.take_front(Frame.size())))
    return failure(
        "the worker's output is not from dtlto-codegen: no frame around the "
        "object");
  if (Frame.size() < HeadSize)
    return failure("the object's frame was cut off");
  const char *Head = Frame.data();
  if (uint32_t Version = read32le(Head + VersionAt); Version != FrameVersion)
    return failure(
        "the worker has another version of dtlto-codegen: the object's frame "
        "has version " +
        Twine(Version));
  uint64_t Size = read64le(Head + SizeAt);
  StringRef Result = Frame.drop_front(HeadSize);
  if (Result.size() < Size)
    return failure("the object was cut off: " + Twine(Result.size()) + " of " +
                   Twine(Size) + " bytes");
  StringRef MessageBytes = Result.drop_front(Size);
  Result = Result.take_front(Size);
  uint32_t MessagesSize = read32le(Head + MessagesAt);
  if (MessageBytes.size() < MessagesSize)
    return failure(
        "the compiler's messages were cut off: " + Twine(MessageBytes.size()) +
        " of " + Twine(MessagesSize) + " bytes");
  if (MessageBytes.size() > MessagesSize)
    return failure("the worker returned more than an object of " + Twine(Size) +
                   " bytes");
  if (Frame.substr(JobAt, Job.size()) != toStringRef(Job))
    return failure("the object is for another job");
  if (Hashes && Frame.substr(DigestAt, sizeof(BundleId)) !=
                    toStringRef(digestOf(Result, MessageBytes)))
    return failure("the object is damaged: its BLAKE3 digest does not match");
  if (Messages)
    *Messages = MessageBytes;
  return Result;
}

Expected<SmallVector<StringRef, 0>> dtlto::readBatch(StringRef Bytes) {
  SmallVector<StringRef, 0> Bundles;
  do {
    if (Bundles.size() == MaxBatch)
      return failure("the batch has more than " + Twine(MaxBatch) + " bundles");
    if (Bytes.size() < 8 || Bytes.size() - 8 < read64le(Bytes.data()))
      return failure("the batch was cut off in bundle " +
                     Twine(Bundles.size() + 1));
    size_t Size = size_t(read64le(Bytes.data()));
    Bundles.push_back(Bytes.substr(8, Size));
    Bytes = Bytes.drop_front(8 + Size);
  } while (!Bytes.empty());
  return Bundles;
}

SmallString<16> dtlto::batchEntryHead(uint64_t Size, uint64_t Microseconds) {
  SmallString<16> Head;
  Head.resize(16);
  write64le(&Head[0], Size);
  write64le(&Head[8], Microseconds);
  return Head;
}
