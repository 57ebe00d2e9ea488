//===- RunJobFuzz.cpp - Paths and versions of any bytes -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a path of a job, and what a program answers to --version.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "dtlto/sdk/RunJob.h"
#include <cstdlib>
#include <filesystem>

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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  // Ends where it ends as a string of C, to be read no further.
  std::string Text(reinterpret_cast<const char *>(Data), Size);
  Text.resize(strlen(Text.c_str()));

  // A clean path is one way, and the only one, to a place in the folder.
  std::filesystem::path Path(Text);
  bool Clean = !Text.empty() && Path.is_relative() && Path.has_filename() &&
               Path.lexically_normal() == Path && *Path.begin() != ".." &&
               Text != "." && Text.find("//") == std::string::npos;
  check(dtlto_run_is_clean_path(Text.c_str()) == Clean);

  // The version stands there as it is, and ends there.
  size_t At = Text.find("clang version 19.1.7");
  bool Is = dtlto_run_is_version(Text.c_str(), "19.1.7");
  check(!Is || At != std::string::npos);
  if (Is)
    check(dtlto_run_is_version(Text.substr(At).c_str(), "19.1.7") &&
          !dtlto_run_is_version(Text.substr(0, At).c_str(), "19.1.7"));
  std::string More = Text + "\nclang version 19.1.7\n";
  check(dtlto_run_is_version(More.c_str(), "19.1.7"));
  return 0;
}
