//===- RunJobFuzz.cpp - Paths, versions and messages of any bytes ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a job's path, a program's answer to --version, and a program's output.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "dtlto/sdk/RunJob.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"a/b.c/../../../etc/passwd",
          "dir/libfoo.a(bar.o at 1234).bc",
          "./a//b/",
          "/tmp/x",
          "clang version 19.1.7 (3~deb12u1)\nTarget: x86_64-pc-linux-gnu\n",
          "Debian clang version 19.1.70\nclang version clang version 19.1.7"};
}

static void check(bool Condition) {
  if (!Condition)
    abort();
}

/// Returns what \p Room bytes keep of \p All, which arrives in blocks.
static std::string limitOutput(const std::string &All, size_t BlockSize,
                               size_t Room) {
  std::vector<char> Buffer(Room);
  dtlto_run_words Output = {Buffer.data(), Buffer.size(), 0, 0};
  for (size_t At = 0; At < All.size(); At += BlockSize)
    dtlto_run_hear(&Output, All.data() + At,
                   std::min(BlockSize, All.size() - At));
  dtlto_run_end_words(&Output);
  check(std::find(Buffer.begin(), Buffer.end(), 0) != Buffer.end());
  return Buffer.data();
}

/// Checks that all is kept if it fits; otherwise the beginning, and a note of
/// how many bytes are missing.
static void checkText(std::string All, size_t BlockSize, size_t Room) {
  std::string Received = limitOutput(All, BlockSize, Room);
  std::replace(All.begin(), All.end(), '\0', ' ');
  if (All.size() < Room) {
    All.resize(All.find_last_not_of('\n') + 1);
    check(Received == All);
    return;
  }
  size_t Note = Received.rfind("\n[and ");
  check(Note != std::string::npos);
  check(Received.substr(0, Note) == All.substr(0, Note));
  check(Received.substr(Note) ==
        "\n[and " + std::to_string(All.size() - Note) + " more bytes]");
}

/// Checks that an error names the program and has the first line of its output,
/// as far as they fit.
static void checkBlame(const std::string &Output, const std::string &Program,
                       size_t Room) {
  std::vector<char> Text(Room);
  snprintf(Text.data(), Room, "%s", Output.c_str());
  std::string Line(Text.data(), strcspn(Text.data(), "\r\n"));
  check(dtlto_compile_blame(Text.data(), Room, Program.c_str(), "is it",
                            Text.data()) == DTLTO_ERROR_INFRASTRUCTURE);
  std::string Whole = "'" + Program + "' is it";
  if (!Line.empty())
    Whole += ": " + Line;
  check(Text.data() == Whole.substr(0, Room - 1));
}

/// Checks the status and message of a compile with this end.
static void checkEnd(const std::string &Output, int Code, int Signal,
                     bool HasObject, size_t Room) {
  std::vector<char> Text(Room);
  snprintf(Text.data(), Room, "%s", Output.c_str());
  dtlto_compile_end End = {"cc", Code, Signal, HasObject};
  int32_t Status = dtlto_compile_status(&End, Text.data(), Room);
  std::string Message = Text.data();
  bool Ended = Signal == 0 && Code < 126;
  check(Status == DTLTO_OK ? Ended && Code == 0 && HasObject
        : Status == DTLTO_ERROR_COMPILER
            ? Ended && !Message.empty()
            : Message.find('\n') == std::string::npos &&
                  Message.compare(0, 5, "'cc' ") == 0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  // The text ends at a NUL.
  std::string Text(reinterpret_cast<const char *>(Data), Size);
  Text.resize(strlen(Text.c_str()));

  // A clean path is the only spelling of a place in the folder.
  std::filesystem::path Path(Text);
  bool Clean = !Text.empty() && Path.is_relative() && Path.has_filename() &&
               Path.lexically_normal() == Path && *Path.begin() != ".." &&
               Text != "." && Text.find("//") == std::string::npos;
  check(dtlto_run_is_clean_path(Text.c_str()) == Clean);

  // The text contains the exact version, which ends there.
  size_t At = Text.find("clang version 19.1.7");
  bool Is = dtlto_run_is_version(Text.c_str(), "19.1.7");
  check(!Is || At != std::string::npos);
  if (Is)
    check(dtlto_run_is_version(Text.substr(At).c_str(), "19.1.7") &&
          !dtlto_run_is_version(Text.substr(0, At).c_str(), "19.1.7"));
  std::string More = Text + "\nclang version 19.1.7\n";
  check(dtlto_run_is_version(More.c_str(), "19.1.7"));

  // The note needs some room. All callers have more.
  size_t First = Size ? Data[0] : 0, Last = Size ? Data[Size - 1] : 0;
  checkText({reinterpret_cast<const char *>(Data), Size}, 1 + Last % 16,
            42 + First % 64);
  checkBlame(Text, Text.substr(0, std::min<size_t>(Text.size() / 2, 1000)),
             2 + First * 8);
  checkEnd(Text, First % 2 ? 0 : First, Last % 8 ? 0 : Last, Last % 2,
           100 + First);
  return 0;
}
