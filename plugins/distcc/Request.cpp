//===- Request.cpp - What a distccd is sent -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Lzo.h"
#include <cstdio>
#include <cstring>

using namespace dtlto::distcc;

namespace {
/// Puts a request together. Tokens gather in one text until a file comes.
class Builder {
public:
  Builder(const std::vector<std::string> &Argv, size_t NumFiles)
      : Result(std::make_shared<Request>()) {
    token("DIST", 3);
    string("CDIR", "/w");
    token("ARGC", Argv.size());
    for (const std::string &Arg : Argv)
      string("ARGV", Arg);
    token("NFIL", NumFiles);
  }

  void file(const std::string &Path, Packed Bytes) {
    string("NAME", "/w/" + Path);
    token("FILE", Bytes->size());
    if (Bytes->empty())
      return;
    flush();
    add({Bytes->data(), Bytes->size()});
    Result->Files.push_back(std::move(Bytes));
  }

  std::shared_ptr<const Request> take() {
    flush();
    return std::move(Result);
  }

private:
  void token(const char *Name, size_t Value) {
    char Buffer[13];
    snprintf(Buffer, sizeof(Buffer), "%.4s%08x", Name, unsigned(Value));
    Text += Buffer;
  }
  void string(const char *Name, const std::string &Value) {
    token(Name, Value.size());
    Text += Value;
  }
  void add(ByteView Bytes) {
    Result->Segments.push_back(Bytes);
    Result->Size += Bytes.Size;
  }
  void flush() {
    if (Text.empty())
      return;
    auto Owned = std::make_unique<std::string>(std::move(Text));
    Text.clear();
    add({reinterpret_cast<const uint8_t *>(Owned->data()), Owned->size()});
    Result->Texts.push_back(std::move(Owned));
  }

  std::shared_ptr<Request> Result;
  std::string Text;
};
} // namespace

static bool hasInput(const dtlto_job &Job, const std::string &Path) {
  for (uint32_t I = 0; I != Job.num_inputs; ++I)
    if (Path == Job.inputs[I]->path)
      return true;
  return false;
}

static std::string argsFileName(const dtlto_job &Job) {
  std::string Name = "args.c";
  for (unsigned N = 1; hasInput(Job, Name); ++N)
    Name = "args" + std::to_string(N) + ".c";
  return Name;
}

/// The arguments for the response file: without the compiler's name, `-c` and
/// the output, which the server has to see.
static std::vector<std::string> hiddenArgs(const dtlto_job &Job) {
  std::vector<std::string> Args(Job.args, Job.args + Job.num_args);
  for (size_t I = Args.size(); I-- > 1;)
    if (Args[I] == "-o" && I + 1 != Args.size() && Args[I + 1] == Job.output) {
      Args.erase(Args.begin() + I, Args.begin() + I + 2);
      break;
    }
  for (size_t I = Args.size(); I-- > 1;)
    // Not if it is the value of another option.
    if (Args[I] == "-c" && Args[I - 1] != "-mllvm" && Args[I - 1] != "-Xclang")
      Args.erase(Args.begin() + I);
  if (!Args.empty())
    Args.erase(Args.begin());
  return Args;
}

/// Clang drops what is empty from a response file, and no quoting helps. An
/// option of its frontend with an empty value (a target without a CPU) goes to
/// the server in plain sight then.
static std::vector<std::string> takeEmpty(std::vector<std::string> &Args) {
  std::vector<std::string> Taken;
  for (size_t I = 3; I < Args.size(); ++I) {
    if (!Args[I].empty() || Args[I - 1] != "-Xclang" ||
        Args[I - 3] != "-Xclang")
      continue;
    auto First = Args.begin() + static_cast<ptrdiff_t>(I) - 3;
    Taken.insert(Taken.end(), First, First + 4);
    Args.erase(First, First + 4);
    I -= 1; // what follows moved to where the four began
  }
  return Taken;
}

/// Nor does quoting help here: clang looks for a further response file behind
/// each @.
static bool checkArgs(const std::vector<std::string> &Args,
                      std::string &Error) {
  for (const std::string &Arg : Args) {
    if (Arg.empty()) {
      Error = "an empty compiler argument can't be sent in a response file";
      return false;
    }
    if (Arg[0] == '@') {
      Error = "the compiler argument '" + Arg +
              "' can't be sent in a response file, since it begins with '@'";
      return false;
    }
  }
  return true;
}

static std::string inMiB(uint64_t Size) {
  return std::to_string((Size + (1 << 20) - 1) >> 20) + " MiB";
}

static bool checkSize(const char *Path, uint64_t Size, std::string &Error) {
  // What LZO1X-1 can't compress grows by less than a sixteenth.
  static_assert(MaxFileSize + MaxFileSize / 16 + 67 < uint64_t(512) << 20);
  if (Size <= MaxFileSize)
    return true;
  Error = "the file '" + std::string(Path) + "' has " + inMiB(Size) +
          ", but a distccd takes at most " + inMiB(MaxFileSize);
  return false;
}

std::shared_ptr<const Request>
dtlto::distcc::buildRequest(const dtlto_job &Job, const std::string &Compiler,
                            const Pack &P, std::string &Error) {
  std::vector<std::string> Hidden = hiddenArgs(Job);
  std::vector<std::string> Plain = takeEmpty(Hidden);
  if (!checkArgs(Hidden, Error))
    return nullptr;
  for (uint32_t I = 0; I != Job.num_inputs; ++I)
    if (!checkSize(Job.inputs[I]->path, Job.inputs[I]->bytes.size, Error))
      return nullptr;

  std::string ArgsFile = argsFileName(Job);
  std::vector<std::string> Argv = {Compiler, "-c", "@" + ArgsFile, "-o",
                                   Job.output};
  Argv.insert(Argv.end(), Plain.begin(), Plain.end());
  Builder B(Argv, size_t(Job.num_inputs) + 1);
  std::string Args = responseFile(Hidden);
  B.file(ArgsFile,
         std::make_shared<const std::vector<uint8_t>>(lzoCompress(
             {reinterpret_cast<const uint8_t *>(Args.data()), Args.size()})));
  for (uint32_t I = 0; I != Job.num_inputs; ++I) {
    const dtlto_input &Input = *Job.inputs[I];
    B.file(Input.path, P(Input));
  }
  return B.take();
}

std::shared_ptr<const Request> dtlto::distcc::buildBundleRequest(
    const dtlto_job &Job, const std::string &Compiler,
    const std::string &Option, ByteView Bundle, std::string &Error) {
  if (!checkSize(Job.name, Bundle.Size, Error))
    return nullptr;
  Builder B({Compiler, Option, "-c", "job.c", "-o", "out.o"}, 1);
  B.file("job.c",
         std::make_shared<const std::vector<uint8_t>>(lzoCompress(Bundle)));
  return B.take();
}

std::shared_ptr<const Request>
dtlto::distcc::buildProbe(const std::string &Compiler) {
  return Builder({Compiler, "--version", "-c", "x.i", "-o", "x.o"}, 0).take();
}

static bool isPlain(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || (C && std::strchr("-_=./,:+%~^", C));
}

std::string dtlto::distcc::responseFile(const std::vector<std::string> &Args) {
  std::string Text;
  for (const std::string &Arg : Args) {
    bool Quote = Arg.empty();
    for (char C : Arg)
      Quote |= !isPlain(C);
    if (Quote) {
      // Within quotes only these two are special. A byte order mark can't be
      // seen in the file's first bytes either.
      Text += '"';
      for (char C : Arg) {
        if (C == '"' || C == '\\')
          Text += '\\';
        Text += C;
      }
      Text += '"';
    } else {
      Text += Arg;
    }
    Text += '\n';
  }
  return Text;
}
