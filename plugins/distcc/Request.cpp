//===- Request.cpp - The request to a distccd -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Lzo.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace dtlto;
using namespace dtlto::distcc;

[[noreturn]] static void refuse(const std::string &Text) {
  throw sdk::Error(DTLTO_ERROR_CALLER, Text);
}

static PackedBytes compress(std::string_view Bytes) {
  return std::make_shared<const std::vector<uint8_t>>(lzoCompress(Bytes));
}

PackedBytes dtlto::distcc::pack(ByteCache &Cache, const dtlto_input &Input) {
  std::string_view Bytes(static_cast<const char *>(Input.bytes.data),
                         static_cast<size_t>(Input.bytes.size));
  // A primary is sent once, or once for each part.
  if (Input.role != DTLTO_ROLE_IMPORT)
    return compress(Bytes);
  return Cache.get({Input.bytes.data, 0}, [&] { return lzoCompress(Bytes); });
}

namespace {
/// Assembles a request. Tokens collect in one text until a file follows.
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

  void file(const std::string &Path, PackedBytes Bytes) {
    string("NAME", "/w/" + Path);
    token("FILE", Bytes->size());
    if (Bytes->empty())
      return;
    flush();
    add(view(*Bytes), Bytes);
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
  void add(std::string_view Bytes, std::shared_ptr<const void> Owner) {
    Result->Segments.push_back(Bytes);
    Result->Owners.push_back(std::move(Owner));
  }
  void flush() {
    auto SegmentText =
        std::make_shared<const std::string>(std::exchange(Text, std::string()));
    if (!SegmentText->empty())
      add(*SegmentText, SegmentText);
  }

  std::shared_ptr<Request> Result;
  std::string Text;
};
} // namespace

static std::string argsFileName(const dtlto_job &Job) {
  std::string Name = "args.c";
  auto IsName = [&](const dtlto_input *Input) { return Name == Input->path; };
  for (unsigned N = 1;
       std::any_of(Job.inputs, Job.inputs + Job.num_inputs, IsName); ++N)
    Name = "args" + std::to_string(N) + ".c";
  return Name;
}

/// Returns the arguments for the response file, without the compiler's name,
/// `-c` and the output, which the server must see.
static std::vector<std::string> responseFileArgs(const dtlto_job &Job) {
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

/// Removes and returns the options of clang's frontend with an empty value,
/// such as a target without a CPU. Clang drops empty arguments from a response
/// file, quoted or not, so these are sent on the command line.
static std::vector<std::string> takeEmptyArgs(std::vector<std::string> &Args) {
  std::vector<std::string> EmptyArgs;
  for (size_t I = 3; I < Args.size(); ++I) {
    if (!Args[I].empty() || Args[I - 1] != "-Xclang" ||
        Args[I - 3] != "-Xclang")
      continue;
    auto First = Args.begin() + static_cast<ptrdiff_t>(I) - 3;
    EmptyArgs.insert(EmptyArgs.end(), First, First + 4);
    Args.erase(First, First + 4);
    I -= 1; // what follows moved to where the four began
  }
  return EmptyArgs;
}

/// Refuses arguments that a response file can't hold. Quoting doesn't help:
/// clang looks for a further response file after each @.
static void checkArgs(const std::vector<std::string> &Args) {
  for (const std::string &Arg : Args) {
    if (Arg.empty())
      refuse("an empty compiler argument cannot be sent in a response file");
    if (Arg[0] == '@')
      refuse("the compiler argument '" + Arg +
             "' cannot be sent in a response file, since it "
             "begins with '@'");
  }
}

static std::string inMiB(uint64_t Size) {
  return std::to_string((Size + (1 << 20) - 1) >> 20) + " MiB";
}

static void checkSize(const char *Path, uint64_t Size) {
  // Incompressible data grows by less than a sixteenth in LZO1X-1.
  static_assert(MaxFileSize + MaxFileSize / 16 + 67 < uint64_t(512) << 20);
  if (Size > MaxFileSize)
    refuse("the file '" + std::string(Path) + "' has " + inMiB(Size) +
           ", but a distccd takes at most " + inMiB(MaxFileSize));
}

std::shared_ptr<const Request>
dtlto::distcc::buildRequest(const dtlto_job &Job, const std::string &Compiler,
                            ByteCache &Cache) {
  std::vector<std::string> ResponseFileArgs = responseFileArgs(Job);
  std::vector<std::string> CommandLineArgs = takeEmptyArgs(ResponseFileArgs);
  checkArgs(ResponseFileArgs);
  for (uint32_t I = 0; I != Job.num_inputs; ++I)
    checkSize(Job.inputs[I]->path, Job.inputs[I]->bytes.size);

  std::string ArgsFile = argsFileName(Job);
  std::vector<std::string> Argv = {Compiler, "-c", "@" + ArgsFile, "-o",
                                   Job.output};
  Argv.insert(Argv.end(), CommandLineArgs.begin(), CommandLineArgs.end());
  Builder B(Argv, size_t(Job.num_inputs) + 1);
  B.file(ArgsFile, compress(responseFile(ResponseFileArgs)));
  for (uint32_t I = 0; I != Job.num_inputs; ++I)
    B.file(Job.inputs[I]->path, pack(Cache, *Job.inputs[I]));
  return B.take();
}

std::shared_ptr<const Request>
dtlto::distcc::buildBundleRequest(const dtlto_job &Job,
                                  const std::string &Compiler,
                                  std::string_view Bundle) {
  checkSize(Job.name, Bundle.size());
  Builder B({Compiler, "--frame", "-c", "job.c", "-o", "out.o"}, 1);
  B.file("job.c", compress(Bundle));
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
    // Quotes also hide a byte order mark in the file's first bytes. Within
    // them, only '"' and '\\' are special.
    bool NeedsQuotes =
        Arg.empty() || !std::all_of(Arg.begin(), Arg.end(), isPlain);
    Text += NeedsQuotes ? "\"" : "";
    for (char C : Arg) {
      if (C == '"' || C == '\\')
        Text += '\\';
      Text += C;
    }
    Text += NeedsQuotes ? "\"\n" : "\n";
  }
  return Text;
}
