//===- CompilerOutput.cpp - The output of remote compilers ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CompilerOutput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <optional>

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral AsmPlace = "<inline asm>:";

namespace {

/// The first line of a diagnostic.
struct Head {
  StringRef Place; // with ": "; may be empty
  StringRef Kind;  // "error", "warning", "remark" or "note"; empty if none
  StringRef Text;
};

/// Collects the messages of a text.
class Collector {
public:
  CompilerOutput take() {
    end();
    return std::move(Result);
  }
  void begin(MessageLevel Level, const Twine &Text) {
    end();
    Open = CompilerMessage{Level, Text.str()};
  }
  /// Appends \p Line to the current message, or begins a text message.
  void add(StringRef Line) {
    if (!Open)
      begin(MessageLevel::Text, Line);
    else
      Open->Text += "\n" + Line.str();
  }
  void end() {
    if (!Open)
      return;
    // As in-process, a diagnostic may end in an empty line.
    if (Open->Level == MessageLevel::Error)
      Result.Errors.push_back(std::move(Open->Text));
    else if (!StringRef(Open->Text).trim().empty())
      Result.Messages.push_back(std::move(*Open));
    Open.reset();
  }
  bool isIn(MessageLevel Level) const { return Open && Open->Level == Level; }

  CompilerOutput Result;

private:
  std::optional<CompilerMessage> Open;
};

} // namespace

static Head readHead(StringRef Line) {
  for (StringRef Kind : {"error: ", "warning: ", "remark: ", "note: "}) {
    size_t At = Line.find(Kind);
    if (At == StringRef::npos)
      continue;
    StringRef Place = Line.take_front(At);
    StringRef Name = Place;
    Name.consume_back("fatal ");
    // FILE:LINE:COLUMN:
    if (!Name.empty()) {
      StringRef File = Name;
      bool HasPlace = File.consume_back(": ");
      for (int I = 0; I != 2 && HasPlace; ++I) {
        StringRef Front = File.rtrim("0123456789");
        HasPlace = Front.size() != File.size() && Front.ends_with(":");
        File = Front.drop_back(HasPlace);
      }
      if (!HasPlace || File.empty())
        continue;
    }
    return {Name, Kind.drop_back(2), Line.drop_front(At + Kind.size())};
  }
  return {};
}

static MessageLevel levelOf(StringRef Kind) {
  return Kind == "error"     ? MessageLevel::Error
         : Kind == "warning" ? MessageLevel::Diagnostic
                             : MessageLevel::Remark;
}

/// Removes clang's name of a diagnostic group from the end of \p Text.
static bool consumeFlag(StringRef &Text) {
  size_t At = Text.rfind('[');
  if (!Text.ends_with("]") || At == StringRef::npos ||
      !(Text.substr(At).starts_with("[-W") ||
        Text.substr(At).starts_with("[-R")))
    return false;
  Text = Text.take_front(At);
  Text.consume_back(" ");
  return true;
}

/// Whether \p Line is clang's count of diagnostics ("2 warnings generated.").
static bool isSummaryLine(StringRef Line) {
  StringRef Text = Line.ltrim("0123456789");
  return Text.size() != Line.size() && Text.ends_with(" generated.") &&
         (Text.starts_with(" warning") || Text.starts_with(" error"));
}

/// Returns \p Text, a message of clang, in LLVM's wording.
static std::string asLLVMText(StringRef Text) {
  static const Regex Linking("^linking module '[^']*': (.*)$"),
      Call("^call to '(.*)' declared with '(warning|error)' attribute: (.*)$");
  SmallVector<StringRef, 4> Parts;
  if (Linking.match(Text, &Parts))
    return Parts[1].str();
  if (Call.match(Text, &Parts))
    return ("call to " + Parts[1] + " marked \"dontcall-" +
            (Parts[2] == "error" ? "error" : "warn") + "\": " + Parts[3])
        .str();
  return Text.str();
}

namespace {

/// Reads the output of a stock clang.
class ClangReader {
public:
  ClangReader(StringRef Output, StringRef Module)
      : Rest(Output), Module(Module) {}
  CompilerOutput read();

private:
  bool readLinkError(StringRef Line);
  void readText(StringRef Line);
  void readDiagnostic(StringRef Line, const Head &H);

  StringRef Rest; // the lines after the current one
  const StringRef Module;
  Collector Out;
  bool AfterAssembly = false; // clang reports the same failure again
  bool InAssembly = false;    // up to the caret
  bool IsBitcode = false;     // clang shows the bitcode file's lines as source
};

} // namespace

CompilerOutput ClangReader::read() {
  while (!Rest.empty()) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    if (isSummaryLine(Line) || readLinkError(Line))
      continue;
    Head H = readHead(Line);
    if (H.Kind.empty()) {
      readText(Line);
      continue;
    }
    InAssembly = H.Place.starts_with(AsmPlace);
    if (InAssembly) {
      AfterAssembly = true;
      Out.begin(levelOf(H.Kind),
                (Module.empty() ? "" : Module + " ") + H.Place + H.Text);
      continue;
    }
    readDiagnostic(Line, H);
  }
  return Out.take();
}

/// Reads clang's errors when it doesn't import, or can't read its inputs.
bool ClangReader::readLinkError(StringRef Line) {
  StringRef Thin = Line;
  const bool IsThin = Thin.consume_front("Error running ThinLTO backend: ");
  if (IsThin && Thin.starts_with("Function Import: ")) {
    Out.begin(MessageLevel::Error, Thin);
    return true;
  }
  if (!IsThin && !Line.starts_with("Error loading "))
    return false;
  Out.end();
  if (Out.Result.ReadError.empty())
    Out.Result.ReadError = Line.trim().str();
  return true;
}

/// Reads a line that begins no diagnostic.
void ClangReader::readText(StringRef Line) {
  if (InAssembly) {
    Out.add(Line);
    InAssembly = Line.trim().find_first_not_of("^~ ") != StringRef::npos;
    if (!InAssembly)
      Out.add(""); // as LLVM does
  } else if (IsBitcode && Line.ltrim(" 0123456789").starts_with("| ")) {
    return;
  } else if (Out.isIn(MessageLevel::Text) || Out.isIn(MessageLevel::Error)) {
    Out.add(Line);
  } else if (!Line.trim().empty()) {
    Out.begin(MessageLevel::Text, Line);
  }
}

void ClangReader::readDiagnostic(StringRef Line, const Head &H) {
  StringRef Text = H.Text;
  bool HasFlag = consumeFlag(Text);
  if (std::exchange(AfterAssembly, false) &&
      Text == "cannot compile inline asm")
    return Out.end();
  std::string Lines = asLLVMText(Text);
  // LLVM's text may have ended in a newline.
  if (StringRef Next = Rest.split('\n').first;
      !HasFlag && Next.starts_with(" [-") && consumeFlag(Next) &&
      Next.empty()) {
    HasFlag = true;
    Lines += "\n";
    Rest = Rest.split('\n').second;
  }
  if (!HasFlag && H.Kind == "warning" && H.Place.empty())
    return Out.begin(MessageLevel::Text, Line);
  IsBitcode = StringRef(Lines).contains(" marked \"dontcall-") ||
              (!Module.empty() && H.Place.starts_with((Module + ":").str()));
  Out.begin(levelOf(H.Kind), (IsBitcode ? "" : H.Place) + Lines);
  if (H.Kind != "error")
    Out.end();
}

CompilerOutput dtlto::readClangOutput(StringRef Output, StringRef Module) {
  return ClangReader(Output, Module).read();
}

CompilerOutput dtlto::readWorkerOutput(StringRef Output) {
  Collector Out;
  for (StringRef Rest = Output.rtrim(); !Rest.empty();) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    // It printed the errors before.
    if (Line.starts_with("dtlto-codegen: error: ") &&
        Line.ends_with(": code generation failed"))
      continue;
    Head H = readHead(Line);
    if (H.Kind.empty() && Line.starts_with("dtlto-codegen: "))
      Out.begin(MessageLevel::Text, Line);
    else if (H.Kind.empty() || !H.Place.empty())
      Out.add(Line);
    else
      Out.begin(levelOf(H.Kind), H.Text);
  }
  return Out.take();
}
