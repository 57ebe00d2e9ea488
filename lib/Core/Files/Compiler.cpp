//===- Compiler.cpp - The compiler of jobs that are files -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/Compiler.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "dtlto/sdk/RunJob.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace llvm;
using namespace dtlto;

/// The maximum size of a compiler's output in bytes.
static constexpr size_t MaxOutput = 65536;
static constexpr std::chrono::seconds AnswerTimeout(60);

CommandResult dtlto::runCommand(const std::string &Program,
                                ArrayRef<std::string> Args,
                                function_ref<bool()> Stop) {
  std::vector<const char *> Argv;
  for (const std::string &Arg : Args)
    Argv.push_back(Arg.c_str());
  Argv.push_back(nullptr);
  std::string Output(MaxOutput, '\0');
  dtlto_run Run = {Program.c_str(),
                   [](void *Stop) -> int {
                     return (*static_cast<function_ref<bool()> *>(Stop))();
                   },
                   &Stop};
  int32_t Status = dtlto_run_command(&Run, Argv.data(), DTLTO_RUN_HERE,
                                     Output.data(), Output.size());
  CommandResult R;
  R.Succeeded = Status == DTLTO_OK;
  R.Output = sanitizedLines(Output.c_str(), MaxOutput);
  return R;
}

/// Returns the rest of the first line in \p Text that begins with \p Begin.
static StringRef restOfLine(StringRef Text, StringRef Begin) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    if (Line.consume_front(Begin))
      return Line.trim();
    Text = Rest;
  }
  return {};
}

Expected<Compiler> dtlto::parseVersion(StringRef Answer) {
  static constexpr StringLiteral Before = "clang version ";
  Compiler C;
  size_t At = Answer.find(Before);
  if (At != StringRef::npos) {
    StringRef Rest = Answer.drop_front(At + Before.size());
    StringRef Version = Rest.take_until(
        [](char Ch) { return StringRef(" \r\n").contains(Ch); });
    C.Version = Version.str();
    // Of the text in brackets, keep a revision but not a package's version.
    StringRef Revision = Rest.drop_front(Version.size()).split('\n').first;
    StringRef Vendor = Answer.take_front(At);
    Vendor = Vendor.drop_front(Vendor.rfind('\n') + 1);
    C.Linker = (Vendor + "LLD " + C.Version).str();
    if (Revision.contains("://"))
      C.Linker += Revision.rtrim();
  }
  unsigned Major;
  if (StringRef(C.Version).split('.').first.getAsInteger(10, Major))
    return failure("its --version does not name a version of clang");
  C.Triple = restOfLine(Answer, "Target: ").str();
  if (C.Triple.empty())
    return failure("its --version does not name a target");
  C.Config = restOfLine(Answer, "Configuration file: ").str();
  return C;
}

Expected<Compiler> dtlto::queryCompiler(ArrayRef<std::string> Args) {
  SmallString<256> Program(Args[0]);
  if (any_of(Args[0], [](char C) { return sys::path::is_separator(C); }))
    if (std::error_code EC = sys::fs::make_absolute(Program))
      return errorCodeToError(EC);
  auto Fail = [&](const Twine &Why) {
    return failure("the compiler '" + printable(Args[0]) + "': " + Why);
  };
  // Use all arguments, since many change the target.
  std::vector<std::string> VersionArgs(Args.begin(), Args.end());
  VersionArgs.push_back("--version");
  using Clock = std::chrono::steady_clock;
  Clock::time_point End = Clock::now() + AnswerTimeout;
  CommandResult R = runCommand(Program.str().str(), VersionArgs,
                               [&] { return Clock::now() > End; });
  if (!R.Succeeded)
    return Fail(R.Output.empty() ? "it does not answer to --version"
                                 : sanitizedLine(R.Output, 400));
  Expected<Compiler> C = parseVersion(R.Output);
  if (!C)
    return Fail(toString(C.takeError()) + ": " + sanitizedLine(R.Output, 400));
  C->Program = Program.str().str();
  return C;
}
