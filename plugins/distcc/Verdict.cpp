//===- Verdict.cpp - What a reply means -----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "Lzo.h"
#include "Text.h"
#include <cstdio>
#include <cstring>
#include <string_view>

using namespace dtlto::distcc;
using dtlto::findLine;
using dtlto::importError;
using dtlto::unreadInput;
using std::string_view;

static constexpr size_t MaxMessage = size_t(64) << 10;
static constexpr size_t MaxLine = 400; // of a stranger's words in our own line

//===----------------------------------------------------------------------===//
// Text from outside
//===----------------------------------------------------------------------===//

/// The length of the UTF-8 character that \p Text begins with; 0 if it is none,
/// or one that a terminal takes for a command.
static size_t printable(string_view Text) {
  auto Byte = [&](size_t I) { return uint8_t(I < Text.size() ? Text[I] : 0); };
  uint8_t C = Byte(0);
  if (C < 0x80)
    return (C >= 0x20 && C != 0x7f) || C == '\n' || C == '\t';
  size_t Length = C >= 0xf0 ? 4 : C >= 0xe0 ? 3 : 2;
  uint32_t Code = C & (0x7f >> Length);
  for (size_t I = 1; I != Length; ++I) {
    if ((Byte(I) & 0xc0) != 0x80)
      return 0;
    Code = Code << 6 | (Byte(I) & 0x3f);
  }
  static const uint32_t Least[] = {0xa0, 0x800, 0x10000}; // 0x80-0x9f: C1
  bool Surrogate = Code >= 0xd800 && Code <= 0xdfff;
  if (C < 0xc0 || C > 0xf4 || Code < Least[Length - 2] || Code > 0x10ffff ||
      Surrogate)
    return 0;
  return Length;
}

/// \p Text with what isn't printable as \xNN, cut where it gets longer than
/// \p Max bytes.
static std::string clean(string_view Text, size_t Max) {
  std::string Result;
  while (!Text.empty()) {
    size_t Length = printable(Text);
    if (Result.size() + (Length ? Length : 4) > Max)
      return Result + (Max == MaxMessage ? "\n[the rest was cut off]" : "...");
    if (Length)
      Result += Text.substr(0, Length);
    else
      Result += "\\x" + dtlto::hex(uint8_t(Text[0]));
    Text.remove_prefix(Length ? Length : 1);
  }
  return Result;
}

static string_view trimEnd(string_view Text) {
  while (!Text.empty() && std::strchr("\r\n\t ", Text.back()) && Text.back())
    Text.remove_suffix(1);
  return Text;
}

/// Cuts the first line off \p Text.
static string_view nextLine(string_view &Text) {
  size_t End = Text.find('\n');
  string_view Line = Text.substr(0, End);
  Text.remove_prefix(End == string_view::npos ? Text.size() : End + 1);
  return trimEnd(Line);
}

/// The first line that isn't empty, ready for a message.
static std::string firstLine(string_view Text) {
  while (!Text.empty()) {
    string_view Line = nextLine(Text);
    if (!Line.empty())
      return clean(Line, MaxLine);
  }
  return {};
}

static std::string withFirstLine(std::string Message, string_view Text) {
  std::string Line = firstLine(Text);
  return Line.empty() ? Message : Message + ": " + Line;
}

/// The compiler's own words.
static std::string words(string_view Stderr) {
  return clean(trimEnd(Stderr), MaxMessage);
}

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

namespace {
/// A reply's texts.
struct Texts {
  Pages OutPages, ErrPages;
  string_view Out, Err;
};
} // namespace

static bool unpackText(const std::vector<uint8_t> &In, const char *What,
                       Pages &P, string_view &Text, std::string &Error) {
  if (!lzoDecompress({In.data(), In.size()}, MaxText, P, Error)) {
    Error = std::string("the reply's ") + What + " can't be read: " + Error;
    return false;
  }
  Text = {reinterpret_cast<const char *>(P.data()), P.size()};
  return true;
}

static bool unpackTexts(const Reply &R, Texts &T, std::string &Error) {
  return unpackText(R.Stderr, "standard error", T.ErrPages, T.Err, Error) &&
         unpackText(R.Stdout, "standard output", T.OutPages, T.Out, Error);
}

/// The number of the signal that ended the compiler, told by the status itself
/// or by a shell's or a driver's exit code of 128 more; 0 if none did.
static int signalOf(uint32_t WaitStatus) {
  int Signal = WaitStatus & 0x7f;
  int Code = WaitStatus >> 8 & 0xff;
  if (Signal == 0 && Code > 128 && Code <= 128 + 64)
    Signal = Code - 128;
  return Signal;
}

// As the server's system numbers signals; this one may have others, or none.
enum : int {
  Hup = 1,
  Int = 2,
  Quit = 3,
  Kill = 9,
  Term = 15,
  XCpu = 24,
  XFsz = 25
};

/// Signals that come from outside of the compiler.
static bool isKill(int Signal) {
  switch (Signal) {
  case Hup:
  case Int:
  case Quit:
  case Kill:
  case Term:
  case XCpu:
  case XFsz:
    return true;
  default:
    return false;
  }
}

static std::string killText(int Signal) {
  std::string Text =
      "the compiler was killed by signal " + std::to_string(Signal);
  return Signal == Kill ? Text + " (out of memory?)" : Text;
}

static bool isDistccCode(int Code) { return Code >= 100 && Code <= 127; }

/// What distcc(1), "EXIT CODES", says of \p Code.
static const char *meaning(int Code) {
  switch (Code) {
  case 101:
    return "bad arguments";
  case 102:
    return "bind failed";
  case 103:
    return "connect failed";
  case 104:
    return "compiler crashed";
  case 105:
    return "out of memory";
  case 106:
    return "bad host specification";
  case 107:
    return "I/O error, is its disk full?";
  case 108:
    return "truncated";
  case 109:
    return "protocol error";
  case 110:
    return "compiler not found";
  case 111:
    return "recursive call";
  case 112:
    return "failed to discard privileges";
  case 113:
    return "network access denied";
  case 114:
    return "in use by another process";
  case 115:
    return "no such file";
  case 116:
    return "no hosts";
  case 118:
    return "timeout";
  default:
    return "general failure";
  }
}

static Verdict infrastructure(std::string Message, bool HostAtFault) {
  Verdict V;
  V.Status = DTLTO_ERROR_INFRASTRUCTURE;
  V.Message = std::move(Message);
  V.HostAtFault = HostAtFault;
  return V;
}

static Verdict distccFailed(int Code, string_view Stderr) {
  if (Code == 110)
    return infrastructure("the compiler is allowed but not installed there: "
                          "install it",
                          true);
  if (Code == 118)
    return infrastructure("distccd ended the job: it took longer than its "
                          "--job-lifetime",
                          false);
  return infrastructure(withFirstLine("distccd failed with exit code " +
                                          std::to_string(Code) + " (" +
                                          meaning(Code) + ")",
                                      Stderr),
                        // A job that needs much memory may find it elsewhere.
                        Code != 105);
}

static Verdict compilerFailed(uint32_t WaitStatus, string_view Stderr) {
  // The machine's troubles, which the compiler ends with 1 for.
  for (const char *Part :
       {"No space left on device", "Disk quota exceeded",
        "Read-only file system", "no such file or directory: '"}) {
    string_view Line = findLine(Stderr, Part);
    if (!Line.empty())
      return infrastructure(
          "the compiler can't work there: " + clean(Line, MaxLine), true);
  }
  string_view Line = findLine(Stderr, "LLVM ERROR: out of memory");
  if (!Line.empty())
    return infrastructure("the compiler ran out of memory there", false);

  Verdict V;
  V.Status = DTLTO_ERROR_COMPILER;
  V.Message = words(Stderr);
  if (V.Message.empty()) {
    int Signal = signalOf(WaitStatus);
    V.Message = Signal ? "it crashed with signal " + std::to_string(Signal)
                       : "exit code " + std::to_string(WaitStatus >> 8 & 0xff) +
                             ", without a word";
  }
  return V;
}

Verdict dtlto::distcc::judge(const Reply &R, uint64_t MaxSize) {
  Texts T;
  std::string Error;
  if (!unpackTexts(R, T, Error))
    return infrastructure(Error, true);

  if (R.WaitStatus > 0xffff || (R.WaitStatus & 0x7f) == 0x7f)
    return infrastructure("the reply has a status that no process ends with, " +
                              std::to_string(R.WaitStatus),
                          true);
  if (int Signal = signalOf(R.WaitStatus); isKill(Signal))
    return infrastructure(killText(Signal), false);
  int Code = R.WaitStatus >> 8;
  if ((R.WaitStatus & 0x7f) == 0 && isDistccCode(Code))
    return distccFailed(Code, T.Err);
  if (R.WaitStatus != 0)
    return compilerFailed(R.WaitStatus, T.Err);

  if (string_view Line = unreadInput(T.Err); !Line.empty()) {
    // Malformed bitcode is most likely what the user gave to the linker, and
    // no reason to do without the host.
    bool HostAtFault = false;
    for (const char *Why : {"No such file or directory", "Permission denied",
                            "Input/output error", "Could not open"})
      HostAtFault |= Line.find(Why) != string_view::npos;
    return infrastructure("the compiler could not read its inputs there: " +
                              clean(Line, MaxLine),
                          HostAtFault);
  }
  Verdict V;
  if (!lzoDecompress({R.Object.data(), R.Object.size()}, MaxSize, V.Object,
                     Error))
    return infrastructure(
        "the object can't be read: " + Error,
        Error.compare(0, NoAddressSpace.size(), NoAddressSpace) != 0);
  if (V.Object.size() == 0 && importError(T.Err).empty())
    return infrastructure(
        withFirstLine("the compiler made an empty object there", T.Err), true);
  V.Status = DTLTO_OK;
  V.Message = words(T.Err);
  return V;
}

//===----------------------------------------------------------------------===//
// Probe
//===----------------------------------------------------------------------===//

static constexpr string_view BeforeClang = "clang version ",
                             BeforeWorker = "LLVM version ",
                             BeforeLinker = "LLD ";

std::string dtlto::distcc::judgeProbe(const Reply &R,
                                      const std::string &Compiler,
                                      const std::string &Want,
                                      std::string &Said) {
  Texts T;
  std::string Error;
  if (!unpackTexts(R, T, Error))
    return Error;
  int Code = R.WaitStatus >> 8 & 0xff;
  if (R.WaitStatus == 110u << 8)
    return Compiler + " is allowed but not installed there: install it" +
           (Compiler.rfind("clang", 0) == 0
                ? " (Debian: apt install " + Compiler + ")"
                : "");
  if (int Signal = R.WaitStatus & 0x7f)
    return withFirstLine(Compiler + " --version was killed there by signal " +
                             std::to_string(Signal),
                         T.Err);
  if (isDistccCode(Code))
    return withFirstLine("distccd failed with exit code " +
                             std::to_string(Code) + " (" + meaning(Code) + ")",
                         T.Err);
  // Without words, distccd couldn't make the file for the compiler's output.
  if (R.WaitStatus != 0)
    return withFirstLine(Compiler + " --version failed there with exit code " +
                             std::to_string(Code),
                         T.Err.empty() && T.Out.empty()
                             ? "is its disk, with its TMPDIR, full?"
                             : T.Err);

  string_view Rest = T.Out;
  string_view Line = nextLine(Rest);
  Said = clean(Line, MaxLine);
  bool IsWorker =
      Compiler.substr(Compiler.find_last_of('/') + 1) == "dtlto-codegen";
  string_view Before = IsWorker ? BeforeWorker : BeforeClang;
  size_t At = Line.find(Before);
  if (At == string_view::npos)
    return Compiler + " there is no " +
           (IsWorker ? "worker of dtlto" : "clang") + ": its --version says '" +
           Said + "'";
  // All of it: -rc1, git or a vendor's name are other sources.
  string_view Version = Line.substr(At + Before.size());
  Version = Version.substr(0, Version.find(' '));
  if (Version != Want)
    return Compiler + " there is version " + clean(Version, MaxLine) +
           ", but this linker needs " + Want + ": install the same version";
  string_view Ours = "dtlto-codegen " DTLTO_VERSION ", ";
  if (IsWorker && Line.substr(0, Ours.size()) != Ours)
    return Compiler + " there is '" + Said + "', but this linker has dtlto " +
           DTLTO_VERSION + ": install the same version";
  return {};
}

bool dtlto::distcc::isBuildOf(string_view Line, string_view Linker) {
  size_t Ours = Linker.find(BeforeLinker);
  string_view Vendor = Linker.substr(0, Ours);
  string_view Build = Linker.substr(Ours + BeforeLinker.size());
  size_t At = Line.find(BeforeClang);
  // A worker doesn't know its vendor.
  if (At != string_view::npos) {
    if (Line.substr(0, At) != Vendor)
      return false;
    Line.remove_prefix(At + BeforeClang.size());
  } else {
    Line.remove_prefix(Line.find(BeforeWorker) + BeforeWorker.size());
  }
  return Line.substr(0, Build.size()) == Build;
}
