//===- main.cpp - dtlto-codegen: compiles one job -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   dtlto-codegen [--frame|--batch] FILE|FOLDER|- -o OBJECT|-
//
// Reads a bundle (docs/BUNDLE.md), and writes the object that in-process
// ThinLTO makes of the same job. Other outputs of the job go next to the
// object, with the extensions .dwo and .opt.yaml; with --frame, they are in one
// stream with it (JobOutputs.h), in a frame that names the job (ObjectFrame.h).
// --batch takes several bundles, and frames each result. A folder has the parts
// of a bundle as files.
//
// It also runs as the compiler of distributed build systems, and accepts what
// these add to a command line: distccd's dependency options, and in an icecream
// environment options of C, under the names `clang`, `gcc` or `g++`. There,
// `as` and `true` are links to it as well, and only have to succeed.
//
//===----------------------------------------------------------------------===//

#include "Bundle/JobOutputs.h"
#include "Bundle/ObjectFrame.h"
#include "Compile/Worker.h"
#include "LLVM/Version.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VCSRevision.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;

// A DBS may lose a result with more than a megabyte of diagnostics.
static constexpr size_t MaxStderr = 64 << 10;
static size_t StderrSize = 0;

// LLVM's diagnostics, each with a zero byte at its end, until the result has
// been framed.
static std::string FramedMessages;

/// Writes a line to standard error, up to a limit on the output.
static void printLine(StringRef Text) {
  constexpr StringLiteral Cut = "dtlto-codegen: more messages were cut off\n";
  if (StderrSize > MaxStderr)
    return;
  StderrSize += Text.size() + 1;
  if (StderrSize > MaxStderr)
    errs() << Text.take_front(1024) << "\n" << Cut;
  else
    errs() << Text << "\n";
}

/// Keeps a diagnostic for the frame, within the limit of standard error.
static void keepForFrame(StringRef Text) {
  if (FramedMessages.size() + Text.size() < MaxStderr)
    FramedMessages += Text.str() + '\0';
}

/// Writes the diagnostics that were kept for a frame to standard error, if
/// there is no result to frame.
static void printFramedMessages() {
  for (StringRef Rest = FramedMessages; !Rest.empty();) {
    StringRef Text;
    std::tie(Text, Rest) = Rest.split('\0');
    printLine(Text);
  }
  FramedMessages.clear();
}

static int fail(const Twine &Why) {
  printFramedMessages();
  printLine(("dtlto-codegen: error: " + Why).str());
  return 1;
}

namespace {
struct CommandLine {
  StringRef Input, Output;
  bool Frame = false, Batch = false, Version = false, Help = false;
};
} // namespace

static constexpr char Usage[] =
    "usage: dtlto-codegen [--frame|--batch] FILE|FOLDER|- -o OBJECT|-";

/// Returns false with \p Problem if \p Args are wrong. If \p IsCompiler,
/// ignores unknown options: the build system has added them.
static bool parse(ArrayRef<const char *> Args, bool IsCompiler, CommandLine &C,
                  std::string &Problem) {
  for (size_t I = 0; I != Args.size(); ++I) {
    StringRef Arg = Args[I];
    // icecream appends gcc's --param after the input.
    bool TakesValue = Arg == "-o" || Arg == "-MF" || Arg == "-x" ||
                      (IsCompiler && Arg == "--param");
    StringRef Value;
    if (TakesValue) {
      if (++I == Args.size()) {
        Problem = ("a value after " + Arg + " is missing").str();
        return false;
      }
      Value = Args[I];
    }
    bool *Flag = Arg == "--frame"     ? &C.Frame
                 : Arg == "--batch"   ? &C.Batch
                 : Arg == "--version" ? &C.Version
                 : Arg == "--help"    ? &C.Help
                                      : nullptr;
    if (Flag)
      *Flag = true;
    else if (Arg == "-o")
      C.Output = Value;
    else if (TakesValue || Arg == "-c" || Arg == "-MMD" || Arg == "-MD")
      continue; // distccd's options
    else if (Arg == "-" || !Arg.starts_with("-")) {
      if (!C.Input.empty() && !IsCompiler) {
        Problem = "more than one bundle";
        return false;
      }
      C.Input = Arg;
    } else if (!IsCompiler) {
      Problem = ("unknown option '" + Arg + "'").str();
      return false;
    }
  }
  if (!C.Version && !C.Help && (C.Input.empty() || C.Output.empty())) {
    Problem = Usage;
    return false;
  }
  return true;
}

/// Returns the outputs of a job, packed if there are more than the object, with
/// the compiler's messages, in the frame that names the job.
static std::string frame(const JobOutputs &Outputs, const BundleId &Job) {
  SmallVector<char, 0> Packed;
  StringRef Result = Outputs.Object;
  if (!Outputs.hasOnlyObject()) {
    Packed = packOutputs(Outputs);
    Result = StringRef(Packed.data(), Packed.size());
  }
  return (frameHead(Result, Job, FramedMessages) + Result + FramedMessages)
      .str();
}

static Error write(const CommandLine &C, const JobOutputs &Outputs,
                   const BundleId &Job) {
  if (C.Frame)
    return writeFile(C.Output, frame(Outputs, Job));
  if (Outputs.Dwo || Outputs.Remarks) {
    if (C.Output == "-")
      return createStringError(inconvertibleErrorCode(),
                               "the job makes more than an object: name the "
                               "object with -o, or use --frame");
    SideFiles Files;
    for (auto [File, Extension] : {std::pair(&Files.Dwo, "dwo"),
                                   std::pair(&Files.Remarks, "opt.yaml")}) {
      SmallString<256> Path(C.Output);
      sys::path::replace_extension(Path, Extension);
      *File = Path.str().str();
    }
    if (Error E = writeSideFiles(Outputs, Files))
      return E;
  }
  return writeFile(C.Output, Outputs.Object);
}

/// Ends the process once its standard output has no reader, so that a killed
/// linker leaves no compile running.
static void endWithReader() {
  auto Watch = [](void *) -> void * {
    pollfd Out = {STDOUT_FILENO, 0, 0};
    while (::poll(&Out, 1, -1) < 0 && errno == EINTR)
      ;
    if (Out.revents & (POLLHUP | POLLERR)) {
      // The compile creates no file after those that there are are removed.
      const rlimit None = {0, 0};
      ::setrlimit(RLIMIT_NOFILE, &None);
      sys::RunInterruptHandlers();
      ::_exit(1);
    }
    return nullptr;
  };
  pthread_t Thread;
  if (::pthread_create(&Thread, nullptr, Watch, nullptr) == 0)
    ::pthread_detach(Thread);
}

/// Lifts the limit that keeps LLVM from opening files while it compiles
/// (Worker.cpp).
static void liftFileLimit(void *) {
  rlimit Limit;
  if (::getrlimit(RLIMIT_NOFILE, &Limit) != 0)
    return;
  Limit.rlim_cur = Limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &Limit);
}

/// Initializes the targets in DTLTO_TARGETS, a list of TARGET(name); without
/// it, all targets of LLVM.
static void initializeTargets() {
#ifdef DTLTO_TARGETS
#define TARGET(Name)                                                           \
  LLVMInitialize##Name##TargetInfo();                                          \
  LLVMInitialize##Name##Target();                                              \
  LLVMInitialize##Name##TargetMC();                                            \
  LLVMInitialize##Name##AsmPrinter();                                          \
  LLVMInitialize##Name##AsmParser();
  DTLTO_TARGETS
#undef TARGET
#else
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
#endif
}

/// Compiles \p B. Returns a process's exit status. \p IsFramed: the result has
/// a frame.
static int
compile(StringRef Input, Expected<Bundle> B, bool IsFramed,
        function_ref<Error(const JobOutputs &, const BundleId &)> Write) {
  if (!B)
    return fail(Input + ": " + toString(B.takeError()));
  initializeTargets();
  // LLVM may exit on an error.
  if (IsFramed)
    std::atexit(printFramedMessages);
  Expected<WorkerResult> Result =
      runBundle(*B, IsFramed ? keepForFrame : printLine);
  if (!Result)
    return fail(B->Name + ": " + toString(Result.takeError()));
  if (!Result->IsProduced)
    return fail(B->Name + ": no object was made");
  if (Error E = Write(Result->outputs(), B->Id))
    return fail(toString(std::move(E)));
  FramedMessages.clear();
  return 0;
}

/// Runs \p Fn in a child process, which ends with this one. Returns its exit
/// status.
static int runInChild(function_ref<int()> Fn) {
  pid_t Parent = ::getpid(), Child = ::fork();
  if (Child < 0)
    return fail("cannot start a process: " + StringRef(std::strerror(errno)));
  if (Child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::_exit(::getppid() == Parent ? Fn() : 1);
  }
  int Status;
  while (::waitpid(Child, &Status, 0) < 0)
    if (errno != EINTR)
      return fail("cannot wait for a process: " +
                  StringRef(std::strerror(errno)));
  if (WIFEXITED(Status))
    return WEXITSTATUS(Status);
  return fail("a job of the batch ended by signal " + Twine(WTERMSIG(Status)));
}

/// Compiles one bundle of a batch, and appends its result to \p OS.
static int compileEntry(StringRef Input, StringRef Bytes, raw_ostream &OS) {
  auto Begin = std::chrono::steady_clock::now();
  return compile(
      Input, readBundle(Bytes, LLVM_VERSION_STRING), /*IsFramed=*/true,
      [&](const JobOutputs &Outputs, const BundleId &Job) {
        std::string Result = frame(Outputs, Job);
        auto Duration = std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::steady_clock::now() - Begin);
        OS << batchEntryHead(Result.size(), uint64_t(Duration.count()))
           << Result;
        OS.flush();
        return Error::success();
      });
}

/// Compiles the bundles in \p Bytes one after the other, each in a process of
/// its own, since LLVM's options are global. Stops at the first failure; there
/// is no output file then.
static int compileBatch(const CommandLine &C, StringRef Bytes) {
  Expected<SmallVector<StringRef, 0>> Bundles = readBatch(Bytes);
  if (!Bundles)
    return fail(C.Input + ": " + toString(Bundles.takeError()));
  std::error_code EC;
  raw_fd_ostream OS(C.Output, EC, sys::fs::OF_None);
  if (EC)
    return fail(toString(createFileError(C.Output, EC)));
  initializeTargets();
  int Status = 0;
  for (StringRef Bundle : *Bundles)
    if ((Status = runInChild([&] {
           int Code = compileEntry(C.Input, Bundle, OS);
           if (Code == 0 && OS.error())
             Code = fail(toString(createFileError(C.Output, OS.error())));
           return Code;
         })))
      break;
  if (Status && C.Output != "-")
    sys::fs::remove(C.Output);
  return Status;
}

int main(int Argc, char **Argv) {
  StringRef Name = sys::path::filename(Argv[0]);
  if (Name == "true" || Name == "as")
    return 0;
  // Before LLVM's own handlers, which open files to print the stack trace.
  sys::AddSignalHandler(liftFileLimit, nullptr);
  InitLLVM X(Argc, Argv);
  setBugReportMsg("dtlto-codegen crashed; run it on the same bundle to "
                  "reproduce the crash\n");

  // Also for --version, whose answer decides which workers get jobs.
  if (Error E = checkLLVM())
    return fail(toString(std::move(E)));

  CommandLine C;
  std::string Problem;
  bool IsCompiler =
      Name == "clang" || Name == "clang++" || Name == "gcc" || Name == "g++";
  if (!parse(ArrayRef(Argv, Argc).drop_front(), IsCompiler, C, Problem))
    return fail(Problem);
  if (C.Help) {
    outs() << Usage << "\n";
    return 0;
  }
  if (C.Version) {
    outs() << "dtlto-codegen " << DTLTO_VERSION << ", LLVM version "
           << LLVM_VERSION_STRING;
#if defined(LLVM_REPOSITORY) && defined(LLVM_REVISION)
    outs() << " (" LLVM_REPOSITORY " " LLVM_REVISION ")"; // as LLD prints it
#endif
    outs() << "\n";
    return 0;
  }

  if (C.Output == "-")
    endWithReader();
  auto Write = [&](const JobOutputs &Outputs, const BundleId &Job) {
    return write(C, Outputs, Job);
  };
  if (!C.Batch && sys::fs::is_directory(C.Input))
    return compile(C.Input, readBundleFolder(C.Input, LLVM_VERSION_STRING),
                   C.Frame, Write);
  // Read to the end, even if the bundle is bad: the sender may wait for that.
  ErrorOr<std::unique_ptr<MemoryBuffer>> File =
      MemoryBuffer::getFileOrSTDIN(C.Input, /*IsText=*/false,
                                   /*RequiresNullTerminator=*/false);
  if (!File)
    return fail("cannot read '" + C.Input + "': " + File.getError().message());
  StringRef Bytes = (*File)->getBuffer();
  if (C.Batch)
    return compileBatch(C, Bytes);
  Expected<Bundle> B = readBundle(Bytes, LLVM_VERSION_STRING);
  File->reset(); // the compile may need the memory
  return compile(C.Input, std::move(B), C.Frame, Write);
}
