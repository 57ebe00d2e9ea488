//===- AtomicFile.cpp - Replaces files atomically -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

std::error_code dtlto::createRemovedOnSignal(StringRef Name, int &FD,
                                             unsigned Mode) {
  // A signal may come right after open().
  sys::RemoveFileOnSignal(Name);
  std::error_code EC = sys::fs::openFileForWrite(
      Name, FD, sys::fs::CD_CreateNew, sys::fs::OF_None, Mode);
  if (EC)
    sys::DontRemoveFileOnSignal(Name);
  return EC;
}

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
    EC = createRemovedOnSignal(Name, FD);
  } while (EC == std::errc::file_exists);
  if (EC)
    return errorCodeToError(EC);
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

//===----------------------------------------------------------------------===//
// Files that links share
//===----------------------------------------------------------------------===//

Expected<std::optional<std::string>>
dtlto::readTextFile(StringRef Path, uint64_t MaxSize, StringRef Content) {
  sys::fs::file_status Status;
  std::error_code EC = sys::fs::status(Path, Status);
  if (EC == std::errc::no_such_file_or_directory ||
      EC == std::errc::not_a_directory)
    return std::nullopt;
  // Opening a pipe would wait for its writer.
  if (!EC && !sys::fs::is_regular_file(Status))
    return failure("it is not a regular file");
  if (!EC && Status.getSize() > MaxSize)
    return failure("it is larger than " + Content + " can be");
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!File)
    return failure("it cannot be read: " + File.getError().message());
  return (*File)->getBuffer().str();
}

/// Returns the text of the file \p Path, which will be replaced.
static Expected<std::string> readToReplace(StringRef Path,
                                           const FileKind &Kind) {
  auto Text = readTextFile(Path, Kind.MaxSize, Kind.Content);
  if (!Text)
    return Text.takeError();
  if (!*Text || (*Text)->find_first_not_of('\0') == std::string::npos)
    return "";
  if (!StringRef(**Text).starts_with(Kind.Marker))
    return failure(Kind.Other);
  return std::move(**Text);
}

Error dtlto::updateFile(StringRef Path, const FileKind &Kind,
                        std::chrono::milliseconds Wait,
                        function_ref<std::string(StringRef)> Change) {
  if (StringRef Folder = sys::path::parent_path(Path); !Folder.empty())
    if (std::error_code EC = sys::fs::create_directories(Folder))
      return failure("its folder cannot be created: " + EC.message());
  // Check before the lock file is made: /dev/null must not get one.
  if (Error E = readToReplace(Path, Kind).takeError())
    return E;
  auto Lock = lockFile((Path + ".lock").str(), Wait);
  if (!Lock)
    return Lock.takeError();
  Expected<std::string> Text = readToReplace(Path, Kind);
  if (!Text)
    return Text.takeError();
  const std::string Changed = Change(*Text);
  if (Error E = replaceFile(Path, [&](raw_ostream &OS) { OS << Changed; }))
    return failure("it cannot be written: " + toString(std::move(E)));
  return Error::success();
}
