//===- Sandbox.cpp - Limits what a worker may open ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/Sandbox.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>

using namespace llvm;
using namespace dtlto;

Error NoDescriptors::set() {
  if (OldLimit)
    return Error::success();
  rlimit Limit;
  // poll() of one descriptor needs a limit of at least 1, so 0 must be in use.
  if (::getrlimit(RLIMIT_NOFILE, &Limit) == 0 &&
      (::fcntl(0, F_GETFD) >= 0 || ::open("/dev/null", O_RDONLY) == 0)) {
    OldLimit = Limit;
    Limit.rlim_cur = 1;
    if (::setrlimit(RLIMIT_NOFILE, &Limit) == 0)
      return Error::success();
  }
  return failure("the limit of open files cannot be changed");
}

void NoDescriptors::lift() {
  if (OldLimit)
    ::setrlimit(RLIMIT_NOFILE, &*OldLimit);
  OldLimit.reset();
}

TemporaryFiles::~TemporaryFiles() {
  for (const std::string &Path : Paths) {
    sys::fs::remove(Path);
    sys::DontRemoveFileOnSignal(Path);
  }
}

void TemporaryFiles::removeOnSignal() const {
  for (const std::string &Path : Paths)
    sys::RemoveFileOnSignal(Path);
}

void TemporaryFiles::add(std::string Path) {
  sys::RemoveFileOnSignal(Path);
  Paths.push_back(std::move(Path));
}

Expected<std::string> TemporaryFiles::create(StringRef Kind, StringRef Bytes) {
  int Fd;
  SmallString<128> Path;
  std::error_code EC;
  do {
    EC = sys::fs::getPotentiallyUniqueTempFileName("dtlto", Kind, Path);
    if (!EC)
      EC = createRemovedOnSignal(Path, Fd, /*Mode=*/0600);
  } while (EC == std::errc::file_exists);
  if (EC)
    return createFileError(Path, EC);
  Paths.push_back(Path.str().str());
  raw_fd_ostream OS(Fd, /*shouldClose=*/true);
  OS << Bytes;
  OS.close();
  EC = OS.error();
  OS.clear_error();
  if (EC)
    return createFileError(Path, EC);
  return Paths.back();
}
