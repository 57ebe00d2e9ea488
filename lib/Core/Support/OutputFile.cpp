//===- OutputFile.cpp - Files that are whole or not there -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

Error dtlto::writeWholeFile(StringRef Path, StringRef Bytes) {
  Expected<sys::fs::TempFile> File =
      sys::fs::TempFile::create(Path + ".temp-%%%%%%");
  if (!File)
    return createFileError(Path, File.takeError());
  std::error_code EC;
  {
    raw_fd_ostream OS(File->FD, /*shouldClose=*/false);
    OS << Bytes;
    OS.flush();
    EC = OS.error();
    OS.clear_error();
  }
  if (EC) {
    consumeError(File->discard());
    return createFileError(Path, EC);
  }
  if (Error E = File->keep(Path))
    return createFileError(Path, std::move(E));
  return Error::success();
}
