//===- FakeWorker.cpp - A worker that waits and answers -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For bench/fake-icecream, in the place of dtlto-codegen in the environment
// that nodes are sent: it takes a bundle, or a batch, waits as long as the
// compile took when it was recorded, and answers with the recorded object. It
// reads and frames with dtlto-codegen's own code, so the linker checks as ever.
//
// A node runs it in a chroot that has no other files. So it asks the benchmark,
// over an abstract socket of the nodes' network:
//
//   BLAKE3-OF-THE-MODULE NAME       and the end
//
// and is told the following, or nothing if nobody recorded the job:
//
//   NANOSECONDS, a line's end, and the object
//
//===----------------------------------------------------------------------===//

#include "Bundle/Batch.h"
#include "Bundle/BundleManifest.h"
#include "Bundle/ObjectFrame.h"
#include "Support/Failure.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using Clock = std::chrono::steady_clock;

// fake-icecream has the same.
static constexpr StringLiteral SocketName = "dtlto-fake-icecream";

namespace {
struct RecordedJob {
  BundleId Id;
  std::chrono::nanoseconds Takes{0};
  std::string Answer;

  StringRef object() const { return StringRef(Answer).split('\n').second; }
};
} // namespace

static Error lost(const Twine &What) {
  return failure(What + ": " + std::strerror(errno));
}

/// All that the benchmark answers.
static Expected<std::string> ask(StringRef Question) {
  int Fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // For the connection, too.
  timeval Limit = {60, 0};
  ::setsockopt(Fd, SOL_SOCKET, SO_SNDTIMEO, &Limit, sizeof(Limit));
  ::setsockopt(Fd, SOL_SOCKET, SO_RCVTIMEO, &Limit, sizeof(Limit));
  sockaddr_un Address = {};
  Address.sun_family = AF_UNIX;
  copy(SocketName, Address.sun_path + 1);
  if (::connect(Fd, reinterpret_cast<sockaddr *>(&Address),
                offsetof(sockaddr_un, sun_path) + 1 + SocketName.size()))
    return lost("can't reach the benchmark");
  while (!Question.empty()) {
    ssize_t N = ::send(Fd, Question.data(), Question.size(), MSG_NOSIGNAL);
    if (N < 0)
      return lost("can't ask the benchmark");
    Question = Question.drop_front(size_t(N));
  }
  ::shutdown(Fd, SHUT_WR);
  std::string Answer;
  char Buffer[65536];
  ssize_t N;
  while ((N = ::recv(Fd, Buffer, sizeof(Buffer), 0)) > 0)
    Answer.append(Buffer, size_t(N));
  ::close(Fd);
  if (N < 0)
    return lost("the benchmark doesn't answer");
  return Answer;
}

static Expected<RecordedJob> find(StringRef Bytes) {
  Expected<Bundle> B = readBundle(Bytes, LLVM_VERSION_STRING);
  if (!B)
    return B.takeError();
  const SmallVector<char, 0> &Module = B->primary().Bytes;
  std::string Question =
      bundleDigest(StringRef(Module.data(), Module.size())) + " " + B->Name;
  RecordedJob J;
  J.Id = B->Id;
  if (Error E = ask(Question).moveInto(J.Answer))
    return std::move(E);
  uint64_t Nanoseconds;
  if (StringRef(J.Answer).split('\n').first.getAsInteger(10, Nanoseconds))
    return failure(B->Name + ": nobody recorded it");
  J.Takes = std::chrono::nanoseconds(Nanoseconds);
  return J;
}

static Error run(StringRef Output, bool IsBatch) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Input = MemoryBuffer::getSTDIN();
  if (!Input)
    return errorCodeToError(Input.getError());
  // What reading takes here is part of what the compile took.
  Clock::time_point Begin = Clock::now();
  SmallVector<StringRef, 0> Bundles = {(*Input)->getBuffer()};
  if (IsBatch)
    if (Error E = readBatch((*Input)->getBuffer()).moveInto(Bundles))
      return E;
  SmallVector<RecordedJob, 0> Jobs(Bundles.size());
  for (size_t I = 0; I != Bundles.size(); ++I)
    if (Error E = find(Bundles[I]).moveInto(Jobs[I]))
      return E;
  // Hundreds of these wait at a time.
  Input->reset();

  std::error_code EC;
  raw_fd_ostream OS(Output, EC, sys::fs::OF_None);
  if (EC)
    return createFileError(Output, EC);
  for (const RecordedJob &J : Jobs) {
    std::this_thread::sleep_until(Begin + J.Takes);
    Clock::time_point End = Clock::now();
    auto Took =
        std::chrono::duration_cast<std::chrono::microseconds>(End - Begin);
    Begin = End;
    SmallString<88> Head = frameHead(J.object(), J.Id);
    if (IsBatch)
      OS << batchEntryHead(Head.size() + J.object().size(),
                           uint64_t(Took.count()));
    OS << Head << J.object();
  }
  OS.flush();
  EC = OS.error();
  OS.clear_error();
  return EC ? createFileError(Output, EC) : Error::success();
}

int main(int Argc, char **Argv) {
  StringRef Name = sys::path::filename(Argv[0]);
  if (Name == "true" || Name == "as")
    return 0;
  StringRef Output;
  bool IsBatch = false;
  for (int I = 1; I < Argc; ++I) {
    IsBatch |= StringRef(Argv[I]) == "--batch";
    if (StringRef(Argv[I]) == "-o" && I + 1 < Argc)
      Output = Argv[I + 1];
  }
  if (Error E = run(Output, IsBatch)) {
    errs() << "fake-worker: error: " << toString(std::move(E)) << "\n";
    return 1;
  }
  return 0;
}
