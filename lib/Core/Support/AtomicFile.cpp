//===- AtomicFile.cpp - Replaces files atomically -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

/// Creates a new file next to \p Path and opens it as \p FD; returns its name.
/// sys::fs::TempFile isn't suitable: it replaces each `%` in a path.
static Expected<std::string> createSibling(StringRef Path, int &FD) {
  sys::fs::file_status Status;
  if (!sys::fs::status(Path, Status) && !sys::fs::is_regular_file(Status))
    return failure("not a regular file");
  std::string Name;
  std::error_code EC;
  do {
    Name = (Path + "." + utohexstr(sys::Process::GetRandomNumber()) + ".tmp")
               .str();
    EC = sys::fs::openFileForWrite(Name, FD, sys::fs::CD_CreateNew);
  } while (EC == std::errc::file_exists);
  if (EC)
    return errorCodeToError(EC);
  sys::RemoveFileOnSignal(Name);
  return Name;
}

static void removeTempFile(const std::string &Name) {
  sys::fs::remove(Name);
  sys::DontRemoveFileOnSignal(Name);
}

Error dtlto::checkReplaceable(StringRef Path) {
  int FD;
  Expected<std::string> TempName = createSibling(Path, FD);
  if (!TempName)
    return TempName.takeError();
  raw_fd_ostream Close(FD, /*shouldClose=*/true);
  removeTempFile(*TempName);
  return Error::success();
}

Error dtlto::replaceFile(StringRef Path,
                         function_ref<void(raw_ostream &)> Write) {
  int FD;
  Expected<std::string> TempName = createSibling(Path, FD);
  if (!TempName)
    return TempName.takeError();
  raw_fd_ostream OS(FD, /*shouldClose=*/true);
  Write(OS);
  OS.close();
  std::error_code EC = OS.error();
  OS.clear_error();
  if (!EC)
    EC = sys::fs::rename(*TempName, Path);
  removeTempFile(*TempName); // already renamed on success
  return errorCodeToError(EC);
}
