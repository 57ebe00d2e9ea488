//===- Verdict.cpp - What a reply means -----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "Lzo.h"
#include "Text.h"
#include <algorithm>
#include <cstring>

using namespace dtlto::distcc;
using dtlto::findLine;
using dtlto::importError;
using dtlto::inputError;
using std::string_view;

static constexpr size_t MaxLine = 400; // of a server's text in our own line

//===----------------------------------------------------------------------===//
// Text from outside
//===----------------------------------------------------------------------===//

static string_view trimEnd(string_view Text) {
  while (!Text.empty() && std::strchr("\r\n\t ", Text.back()) && Text.back())
    Text.remove_suffix(1);
  return Text;
}

/// Removes the first line of \p Text and returns it.
static string_view nextLine(string_view &Text) {
  size_t End = Text.find('\n');
  string_view Line = Text.substr(0, End);
  Text.remove_prefix(End == string_view::npos ? Text.size() : End + 1);
  return trimEnd(Line);
}

/// Returns \p Line as a part of a message.
static std::string excerpt(string_view Line) {
  return dtlto::sdk::oneLine(std::string(Line.substr(0, MaxLine))) +
         (Line.size() > MaxLine ? "..." : "");
}

/// Appends the first line of \p Text that isn't empty.
static std::string withFirstLine(std::string Message, string_view Text) {
  string_view Line;
  while (Line.empty() && !Text.empty())
    Line = nextLine(Text);
  return Line.empty() ? Message : Message + ": " + excerpt(Line);
}

/// Returns the compiler's output as a message. The linker cleans and cuts it.
static std::string compilerOutput(string_view Stderr) {
  std::string Text(trimEnd(Stderr));
  std::replace(Text.begin(), Text.end(), '\0', ' ');
  return Text;
}

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

namespace {
/// A reply's texts.
struct Texts {
  dtlto::sdk::Buffer Out, Err;
  string_view out() const { return {Out.data(), Out.size()}; }
  string_view err() const { return {Err.data(), Err.size()}; }
};
} // namespace

static bool unpackTexts(const Reply &R, Texts &T, std::string &Error) {
  auto Unpack = [&](const std::vector<uint8_t> &In, const char *What,
                    dtlto::sdk::Buffer &Out) {
    if (lzoDecompress(view(In), MaxText, Out, Error))
      return true;
    Error = std::string("the reply's ") + What + " cannot be read: " + Error;
    return false;
  };
  return Unpack(R.Stderr, "standard error", T.Err) &&
         Unpack(R.Stdout, "standard output", T.Out);
}

/// Returns the signal that ended the compiler: from the status itself, or from
/// an exit code of a shell or driver, which is 128 more. 0 if there was none.
static int signalOf(uint32_t WaitStatus) {
  int Signal = WaitStatus & 0x7f;
  int Code = WaitStatus >> 8 & 0xff;
  return Signal == 0 && Code > 128 && Code <= 128 + 64 ? Code - 128 : Signal;
}

// Linux's number; this system may have others, or none.
static constexpr int SigKill = 9;

/// Signals that come from outside of the compiler: SIGHUP, SIGINT, SIGQUIT,
/// SIGKILL, SIGTERM, SIGXCPU, SIGXFSZ.
static bool isExternalSignal(int Signal) {
  constexpr int All[] = {1, 2, 3, SigKill, 15, 24, 25};
  return std::find(std::begin(All), std::end(All), Signal) != std::end(All);
}

static std::string killText(int Signal) {
  std::string Text =
      "the compiler was killed by signal " + std::to_string(Signal);
  return Signal == SigKill ? Text + " (out of memory?)" : Text;
}

static bool isDistccCode(int Code) { return Code >= 100 && Code <= 127; }

static std::string distccFailureText(int Code) {
  // From distcc(1), "EXIT CODES", beginning with 101.
  static const char *const Meanings[] = {"bad arguments",
                                         "bind failed",
                                         "connect failed",
                                         "compiler crashed",
                                         "out of memory",
                                         "bad host specification",
                                         "I/O error, is its disk full?",
                                         "truncated",
                                         "protocol error",
                                         "compiler not found",
                                         "recursive call",
                                         "failed to discard privileges",
                                         "network access denied",
                                         "in use by another process",
                                         "no such file",
                                         "no hosts",
                                         "general failure",
                                         "timeout"};
  const char *Meaning =
      Code > 100 && Code <= 118 ? Meanings[Code - 101] : "general failure";
  return "distccd failed with exit code " + std::to_string(Code) + " (" +
         Meaning + ")";
}

static Verdict infrastructureVerdict(std::string Message, bool IsHostAtFault) {
  return {DTLTO_ERROR_INFRASTRUCTURE, {}, std::move(Message), IsHostAtFault};
}

static Verdict distccVerdict(int Code, string_view Stderr) {
  if (Code == 110)
    return infrastructureVerdict(
        "the compiler is allowed but not installed: install "
        "it",
        true);
  if (Code == 118)
    return infrastructureVerdict(
        "distccd ended the job: it took longer than its "
        "--job-lifetime",
        false);
  return infrastructureVerdict(
      withFirstLine(distccFailureText(Code), Stderr),
      // Another host may have the memory that the job needs.
      Code != 105);
}

static Verdict compilerVerdict(uint32_t WaitStatus, string_view Stderr) {
  // Problems of the machine, for which the compiler exits with 1.
  for (const char *Part :
       {"No space left on device", "Disk quota exceeded",
        "Read-only file system", "no such file or directory: '"}) {
    string_view Line = findLine(Stderr, Part);
    if (!Line.empty())
      return infrastructureVerdict(
          "the compiler cannot work on this host: " + excerpt(Line), true);
  }
  string_view Line = findLine(Stderr, "LLVM ERROR: out of memory");
  if (!Line.empty())
    return infrastructureVerdict("the compiler ran out of memory", false);

  Verdict V;
  V.Status = DTLTO_ERROR_COMPILER;
  V.Message = compilerOutput(Stderr);
  if (V.Message.empty()) {
    int Signal = signalOf(WaitStatus);
    V.Message = Signal ? "it crashed with signal " + std::to_string(Signal)
                       : "exit code " + std::to_string(WaitStatus >> 8 & 0xff) +
                             ", without an error message";
  }
  return V;
}

Verdict dtlto::distcc::judge(const Reply &R, uint64_t MaxSize) {
  Texts T;
  std::string Error;
  if (!unpackTexts(R, T, Error))
    return infrastructureVerdict(Error, true);

  if (R.WaitStatus > 0xffff || (R.WaitStatus & 0x7f) == 0x7f)
    return infrastructureVerdict("the reply has an invalid exit status, " +
                                     std::to_string(R.WaitStatus),
                                 true);
  if (int Signal = signalOf(R.WaitStatus); isExternalSignal(Signal))
    return infrastructureVerdict(killText(Signal), false);
  int Code = R.WaitStatus >> 8;
  if ((R.WaitStatus & 0x7f) == 0 && isDistccCode(Code))
    return distccVerdict(Code, T.err());
  if (R.WaitStatus != 0)
    return compilerVerdict(R.WaitStatus, T.err());

  if (string_view Line = inputError(T.err()); !Line.empty()) {
    // Malformed bitcode is most likely the user's fault, not the host's.
    bool IsHostAtFault = false;
    for (const char *Why : {"No such file or directory", "Permission denied",
                            "Input/output error", "Could not open"})
      IsHostAtFault |= Line.find(Why) != string_view::npos;
    return infrastructureVerdict("the compiler could not read its inputs: " +
                                     excerpt(Line),
                                 IsHostAtFault);
  }
  Verdict V;
  if (!lzoDecompress(view(R.Object), MaxSize, V.Object, Error))
    return infrastructureVerdict(
        "the object cannot be read: " + Error,
        Error.compare(0, NoAddressSpace.size(), NoAddressSpace) != 0);
  if (V.Object.size() == 0 && importError(T.err()).empty())
    return infrastructureVerdict(
        withFirstLine("the compiler wrote an empty object", T.err()), true);
  V.Status = DTLTO_OK;
  V.Message = compilerOutput(T.err());
  return V;
}

//===----------------------------------------------------------------------===//
// Probe
//===----------------------------------------------------------------------===//

bool dtlto::distcc::isWorker(string_view Compiler) {
  return Compiler.substr(Compiler.find_last_of('/') + 1) == "dtlto-codegen";
}

static constexpr string_view ClangPrefix = "clang version ",
                             WorkerPrefix = "LLVM version ",
                             LinkerPrefix = "LLD ";

/// Returns why the probe failed, or nothing if its output is usable.
static std::string probeFailure(uint32_t WaitStatus, const Texts &T,
                                const std::string &Compiler) {
  int Code = WaitStatus >> 8 & 0xff;
  if (WaitStatus == 110u << 8)
    return Compiler + " is allowed but not installed: install it" +
           (Compiler.rfind("clang", 0) == 0
                ? " (Debian: apt install " + Compiler + ")"
                : "");
  if (int Signal = WaitStatus & 0x7f)
    return withFirstLine(Compiler + " --version was killed by signal " +
                             std::to_string(Signal),
                         T.err());
  if (isDistccCode(Code))
    return withFirstLine(distccFailureText(Code), T.err());
  // Without any output, distccd couldn't create the file for it.
  if (WaitStatus != 0)
    return withFirstLine(
        Compiler + " --version failed with exit code " + std::to_string(Code),
        T.err().empty() && T.out().empty() ? "is the disk of its TMPDIR full?"
                                           : T.err());
  return {};
}

std::string dtlto::distcc::judgeProbe(const Reply &R,
                                      const std::string &Compiler,
                                      const std::string &ExpectedVersion,
                                      std::string &FirstLine) {
  Texts T;
  std::string Error;
  if (!unpackTexts(R, T, Error))
    return Error;
  if (std::string Why = probeFailure(R.WaitStatus, T, Compiler); !Why.empty())
    return Why;

  string_view Rest = T.out();
  string_view Line = nextLine(Rest);
  FirstLine = excerpt(Line);
  bool IsWorker = isWorker(Compiler);
  string_view Prefix = IsWorker ? WorkerPrefix : ClangPrefix;
  size_t At = Line.find(Prefix);
  if (At == string_view::npos)
    return Compiler + " is not " + (IsWorker ? "dtlto's worker" : "clang") +
           ": its --version says '" + FirstLine + "'";
  // Compare the whole version: -rc1, git or a vendor's name mean other sources.
  string_view Version = Line.substr(At + Prefix.size());
  Version = Version.substr(0, Version.find(' '));
  if (Version != ExpectedVersion)
    return Compiler + " is version " + excerpt(Version) +
           ", but this linker needs " + ExpectedVersion +
           ": install the same version";
  string_view Ours = "dtlto-codegen " DTLTO_VERSION ", ";
  if (IsWorker && Line.substr(0, Ours.size()) != Ours)
    return Compiler + " is '" + FirstLine + "', but this linker has dtlto " +
           DTLTO_VERSION + ": install the same version";
  return {};
}

bool dtlto::distcc::isBuildOf(string_view Line, string_view Linker) {
  size_t Ours = Linker.find(LinkerPrefix);
  string_view Vendor = Linker.substr(0, Ours);
  string_view Build = Linker.substr(Ours + LinkerPrefix.size());
  size_t At = Line.find(ClangPrefix);
  // A worker does not print its vendor.
  if (At != string_view::npos) {
    if (Line.substr(0, At) != Vendor)
      return false;
    Line.remove_prefix(At + ClangPrefix.size());
  } else {
    Line.remove_prefix(Line.find(WorkerPrefix) + WorkerPrefix.size());
  }
  return Line.substr(0, Build.size()) == Build;
}
