//===- Sandbox.cpp - Limits what a worker may open ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/Sandbox.h"
#include "Support/Failure.h"
#include "llvm/Support/Errc.h"
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

Expected<std::string> TemporaryFiles::write(StringRef Bytes) {
  std::string Path;
  Expected<int> Fd = create("profile", Path);
  if (!Fd)
    return Fd.takeError();
  raw_fd_ostream OS(*Fd, /*shouldClose=*/true);
  OS << Bytes;
  OS.close();
  if (std::error_code EC = OS.error()) {
    OS.clear_error();
    return createFileError(Path, EC);
  }
  return Path;
}

Expected<std::string> TemporaryFiles::createOutput(StringRef Kind) {
  std::string Path;
  Expected<int> Fd = create(Kind, Path);
  if (!Fd)
    return Fd.takeError();
  sys::fs::file_t File = sys::fs::convertFDToNativeFile(*Fd);
  sys::fs::closeFile(File);
  return Path;
}

Expected<int> TemporaryFiles::create(StringRef Kind, std::string &Path) {
  std::error_code EC;
  for (unsigned Tries = 0; Tries != 128; ++Tries) {
    SmallString<128> Unique;
    sys::fs::createUniquePath("dtlto-%%%%%%." + Kind, Unique,
                              /*MakeAbsolute=*/true);
    Path = Unique.str().str();
    // Register the path first, so that no signal can leave the file behind.
    sys::RemoveFileOnSignal(Path);
    int Fd;
    EC = sys::fs::openFileForReadWrite(
        Path, Fd, sys::fs::CD_CreateNew, sys::fs::OF_None,
        sys::fs::owner_read | sys::fs::owner_write);
    if (!EC) {
      Paths.push_back(Path);
      return Fd;
    }
    sys::DontRemoveFileOnSignal(Path); // belongs to another process
    if (EC != errc::file_exists)
      break;
  }
  return createFileError(Path, EC);
}
