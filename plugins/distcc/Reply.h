//===- Reply.h - The reply of a distccd -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reply of protocol 3, with tokens as in Request.h:
//
//   DONE 3
//   STAT wait status
//   SERR length <LZO1X>      standard error
//   SOUT length <LZO1X>      standard output
//   DOTO length <LZO1X>      the object; 0 if the status is not 0
//   [DOTD length <LZO1X>]    dependencies
//   end of file
//
// Clang writes no dependencies for bitcode. The server then has none to send
// and closes the connection after DOTO.
//
// A reply is not trusted: lengths are bounded before anything is allocated, and
// memory grows with what has arrived.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_REPLY_H
#define DTLTO_DISTCC_REPLY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dtlto::distcc {

struct Reply {
  uint32_t WaitStatus = 0; // as wait(2) has it
  // Compressed.
  std::vector<uint8_t> Stderr, Stdout, Object, Dependencies;
};

/// The largest accepted sizes, in bytes, compressed and decompressed.
constexpr uint64_t MaxPackedObject = uint64_t(1) << 30;
constexpr uint64_t MaxObject = uint64_t(2) << 30;
constexpr uint64_t MaxPackedText = uint64_t(16) << 20;
constexpr uint64_t MaxText = uint64_t(64) << 20;

/// Parses a reply as it arrives:
///
///   while (read(socket, P.space(Size), Size))   n > 0: P.commit(n)
///   P.end(); P.take()
///
/// The parser asks for no byte past the current part. A reply that is
/// isComplete() may be taken without the end of file, which a server whose
/// child was killed may never send. But wait a moment for the end of file: only
/// that proves that nothing else follows.
class ReplyParser {
public:
  ReplyParser() = default;
  ReplyParser(const ReplyParser &) = delete; // Target points into it

  /// Returns where to read the next bytes to, at most \p Size (never 0), so
  /// that an object's bytes aren't copied. Call commit() afterwards.
  uint8_t *space(size_t &Size);
  /// Parses \p Size bytes that were written to space(). Returns false if the
  /// reply is invalid: see error(). The parser can't continue after that.
  bool commit(size_t Size);
  /// Handles the end of file. Returns false if it came too early.
  bool end();

  /// Whether anything has arrived: the server has finished the job.
  bool hasStarted() const { return HasStarted; }
  /// Whether the object and everything before it have arrived without an error.
  /// Dependencies and the end of file may still follow.
  bool isComplete() const { return Current >= Dotd && Error.empty(); }
  /// Describes in one line what is wrong.
  const std::string &error() const { return Error; }
  /// Returns the reply, which must be isComplete().
  Reply take() { return std::move(Result); }

private:
  enum PartTy { Done, Stat, Serr, Sout, Doto, Dotd, End };
  struct PartInfo {
    const char *Name;
    std::vector<uint8_t> Reply::*Body; // null: the part has none
    uint64_t Max;                      // bytes of the body
  };
  static const PartInfo Parts[];

  bool fail(std::string Text);
  bool parseToken();
  bool beginNextPart();
  void expect(std::vector<uint8_t> &To, size_t Size);
  const PartInfo &part() const { return Parts[Current]; }

  PartTy Current = Done;
  bool HasStarted = false;
  // Target receives the part's token, and then its body.
  bool InBody = false;
  std::vector<uint8_t> Token, *Target = &Token;
  size_t NumReceived = 0, NumExpected = TokenSize; // bytes of it
  static constexpr size_t TokenSize = 12;
  Reply Result;
  std::string Error;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_REPLY_H
