//===- DistccReplyFuzz.cpp - Replies of a distccd, of any bytes -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte that chooses the size of pieces, and the reply.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Lzo.h"
#include "Verdict.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dtlto::distcc;

static void check(bool Holds) {
  if (!Holds)
    abort();
}

//===----------------------------------------------------------------------===//
// Seeds
//===----------------------------------------------------------------------===//

static std::string token(const char *Name, size_t Value) {
  char Buffer[13];
  snprintf(Buffer, sizeof(Buffer), "%.4s%08x", Name, unsigned(Value));
  return Buffer;
}

static std::string packed(const char *Name, const std::string &Text) {
  std::vector<uint8_t> Bytes = lzoCompress(Text);
  return token(Name, Bytes.size()) + std::string(Bytes.begin(), Bytes.end());
}

static std::string reply(unsigned Status, const std::string &Stderr,
                         const std::string &Stdout, const std::string &Object) {
  return token("DONE", 3) + token("STAT", Status) + packed("SERR", Stderr) +
         packed("SOUT", Stdout) + packed("DOTO", Object);
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Object = "\x7f"
                       "ELF" +
                       std::string(200, 'x') + std::string(5000, '\0');
  std::vector<std::string> Replies = {
      reply(0, "", "", Object),
      reply(0, "/tmp/distccd_1a2b/w/m.main: warning: w\n", "", Object),
      reply(0, "", "", Object) + packed("DOTD", "x.o: x.c\n"),
      reply(0, "Error loading index file 'i': no such file\n", "", ""),
      reply(0, "Error running ThinLTO backend: e\n", "", Object),
      reply(1 << 8, "error: m.main: \x1b[1m\xff\xc3\xa4\xc2\x9b m.main.x\n", "",
            ""),
      reply(110 << 8, "", "", ""),
      reply(9, "", "", ""),
      reply(11, "", "", ""),
      reply(0, "", "Debian clang version 19.1.7 (3)\nTarget: x\n", ""),
  };
  std::vector<std::string> Seeds;
  for (size_t I = 0; I != Replies.size(); ++I)
    Seeds.push_back(char(I * 29) + Replies[I]);
  return Seeds;
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

/// Passes \p Data to \p P in pieces of 1 to \p Most bytes.
static bool feed(ReplyParser &P, const uint8_t *Data, size_t Size,
                 size_t Most) {
  uint32_t Random = 1;
  while (Size != 0) {
    size_t Room = 0;
    uint8_t *To = P.space(Room);
    check(Room != 0);
    Random = Random * 1103515245 + 12345;
    size_t Piece = std::min({Room, Size, 1 + (Random >> 16) % Most});
    std::memcpy(To, Data, Piece);
    Data += Piece;
    Size -= Piece;
    if (!P.commit(Piece)) {
      check(!P.error().empty() && !P.isComplete());
      check(!P.commit(1) && !P.end());
      return false;
    }
    check(P.hasStarted() && P.error().empty());
  }
  bool Ok = P.end();
  check(Ok == P.error().empty());
  check(Ok <= P.isComplete());
  return Ok;
}

/// Checks that \p Text can be shown on a terminal.
static void checkText(const std::string &Text, bool OneLine) {
  check(Text.size() < 70000);
  for (char C : Text)
    check((uint8_t(C) >= 0x20 && C != 0x7f) || C == '\t' ||
          (C == '\n' && !OneLine));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  ReplyParser InPieces, AtOnce;
  bool Ok = feed(InPieces, Data + 1, Size - 1, 1 + *Data);
  check(Ok == feed(AtOnce, Data + 1, Size - 1, Size));
  check(InPieces.error().empty() == AtOnce.error().empty());
  checkText(InPieces.error(), true);
  if (!Ok)
    return 0;
  Reply R = InPieces.take(), Same = AtOnce.take();
  check(R.WaitStatus == Same.WaitStatus && R.Stderr == Same.Stderr &&
        R.Stdout == Same.Stdout && R.Object == Same.Object);

  Verdict V = judge(R);
  check(V.Status == DTLTO_OK || V.Object.size() == 0);
  check(V.Status != DTLTO_OK || V.Object.size() != 0 || !V.Message.empty());
  check(V.Status == DTLTO_OK || !V.Message.empty());
  // The linker cleans what the compiler wrote.
  if (V.Status == DTLTO_ERROR_INFRASTRUCTURE)
    check(V.Message.find('\n') == V.Message.npos);
  if (V.Status == DTLTO_OK) // all bytes can be read
    check(std::count(V.Object.data(), V.Object.data() + V.Object.size(), 0) >=
          0);
  std::string Line;
  checkText(judgeProbe(R, "clang-19", "19.1.7", Line), true);
  checkText(Line, true);
  return 0;
}
