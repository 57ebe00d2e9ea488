//===- OtherLinkers.cpp - Running mold, GNU ld and gold -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherLinkers.h"
#include "Run/Options.h"
#include "Support/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cerrno>
#include <cstring>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace llvm;
using namespace dtlto;

bool dtlto::isOtherLinker(StringRef Program) {
  return is_contained({"ld.mold", "mold", "ld.bfd", "ld.gold"}, Program);
}

/// Consumes the dashes and the name of the option -plugin.
static bool consumePluginOption(StringRef &Arg) {
  return Arg.consume_front("--plugin") || Arg.consume_front("-plugin");
}

/// Whether \p Arg, or the word after it, names a plugin.
static bool isPluginOption(StringRef Arg) {
  return consumePluginOption(Arg) && (Arg.empty() || Arg[0] == '=');
}

static bool isLLVMgold(StringRef Path) {
  return sys::path::filename(Path) == "LLVMgold.so";
}

/// Whether \p Arg is one of our options, for a plugin.
static bool isDtltoOption(StringRef Arg) {
  if (!consumePluginOption(Arg) || !Arg.consume_front("-opt="))
    return false;
  return isDistOption(Arg.ltrim('-').split('=').first);
}

namespace {
struct Findings {
  SmallVector<const char *, 256> Others; // the words that don't name LLVMgold
  size_t NumLLVMgold = 0;
  bool HasPlugin = false, HasDtltoOption = false;
};
} // namespace

static Findings findPlugin(ArrayRef<const char *> Args) {
  Findings F;
  for (size_t I = 0; I != Args.size(); ++I) {
    StringRef Arg = Args[I];
    F.HasDtltoOption |= isDtltoOption(Arg);
    const bool IsPlugin = isPluginOption(Arg);
    const size_t Length = IsPlugin && !Arg.contains('=') ? 2 : 1;
    if (IsPlugin && I + Length <= Args.size()) {
      F.HasPlugin = true;
      if (isLLVMgold(Length == 2 ? Args[I + 1] : Arg.split('=').second)) {
        ++F.NumLLVMgold;
        I += Length - 1;
        continue;
      }
    }
    F.Others.push_back(Args[I]);
  }
  return F;
}

void dtlto::replacePlugin(SmallVectorImpl<const char *> &Args, StringRef Plugin,
                          StringSaver &Saver) {
  SmallVector<const char *, 256> Expanded(Args.begin(), Args.end());
  // The linker reports a file that can't be read.
  consumeError(
      cl::ExpansionContext(Saver.getAllocator(), cl::TokenizeGNUCommandLine)
          .expandResponseFiles(Expanded));
  Findings All = findPlugin(Expanded), F = findPlugin(Args);
  if (All.NumLLVMgold != F.NumLLVMgold)
    F = All;
  if (All.NumLLVMgold == 0 && (All.HasPlugin || !All.HasDtltoOption))
    return;
  // GNU ld and gold refuse a plugin's options before the plugin.
  Args.assign(F.Others.begin(), F.Others.end());
  Args.insert(std::next(Args.begin()), {"-plugin", Saver.save(Plugin).data()});
}

#ifdef _WIN32

Error dtlto::runOtherLinker(ArrayRef<const char *>, const std::string &) {
  return failure("Windows has no such linker");
}

#else

/// Returns the first executable file \p Name in PATH, apart from this one.
static Expected<std::string> findLinker(StringRef Name) {
  const std::string Own = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&findLinker));
  SmallVector<StringRef, 16> Folders;
  const std::string Path = sys::Process::GetEnv("PATH").value_or("");
  StringRef(Path).split(Folders, ':');
  for (StringRef Folder : Folders) {
    SmallString<256> File(Folder.empty() ? "." : Folder);
    sys::path::append(File, Name);
    if (sys::fs::can_execute(File) && !sys::fs::equivalent(File, Own))
      return File.str().str();
  }
  return failure("there is no linker '" + Name + "' in PATH; install it");
}

/// Returns the name of a response file in memory with all \p Args but the
/// first. The process keeps it open, also after exec.
static Expected<std::string> writeResponseFile(ArrayRef<const char *> Args) {
  std::string Text;
  for (StringRef Arg : drop_begin(Args)) {
    Text += '"';
    for (char C : Arg) {
      if (C == '"' || C == '\\')
        Text += '\\';
      Text += C;
    }
    Text += "\"\n";
  }
  int FD = ::memfd_create("dtlto-args", 0);
  if (FD < 0)
    return failure("no memory for the command line: " +
                   StringRef(std::strerror(errno)));
  for (StringRef Rest = Text; !Rest.empty();) {
    ssize_t N = ::write(FD, Rest.data(), Rest.size());
    if (N <= 0)
      return failure("no memory for the command line: " +
                     StringRef(std::strerror(errno)));
    Rest = Rest.drop_front(N);
  }
  return "@/proc/self/fd/" + std::to_string(FD);
}

Error dtlto::runOtherLinker(ArrayRef<const char *> OriginalArgs,
                            const std::string &PluginFolder) {
  StringRef Name = sys::path::filename(OriginalArgs[0]);
  Expected<std::string> Path = findLinker(Name);
  if (!Path)
    return Path.takeError();
  BumpPtrAllocator Alloc;
  StringSaver Saver(Alloc);
  SmallVector<const char *, 256> Args(OriginalArgs.begin(), OriginalArgs.end());
  // mold recognises LLVM's plugin by its file name.
  replacePlugin(Args, PluginFolder + "/gold/LLVMgold.so", Saver);
  if (Name != OriginalArgs[0])
    Args[0] = Path->c_str();
  std::string ResponseFile;
  // A long command line may fit only into a file.
  if (Args.size() > OriginalArgs.size() + 2) {
    if (Error E = writeResponseFile(Args).moveInto(ResponseFile))
      return E;
    Args.truncate(1);
    Args.push_back(ResponseFile.c_str());
  }
  Args.push_back(nullptr);
  ::execv(Path->c_str(), const_cast<char **>(Args.data()));
  return failure("cannot run '" + *Path + "': " + std::strerror(errno));
}

#endif
