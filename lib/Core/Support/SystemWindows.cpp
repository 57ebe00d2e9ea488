//===- SystemWindows.cpp - What differs between systems: Windows ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Failure.h"
#include "Support/System.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include <process.h>
#include <random>
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

using namespace llvm;
using namespace dtlto;

uint64_t dtlto::randomSeed() {
  std::random_device Device;
  return uint64_t(Device()) << 32 | Device();
}

void dtlto::raiseDescriptorLimit() {} // sockets have no limit

unsigned dtlto::terminalWidth() {
  CONSOLE_SCREEN_BUFFER_INFO Info;
  if (!::GetConsoleScreenBufferInfo(::GetStdHandle(STD_ERROR_HANDLE), &Info))
    return 0;
  return static_cast<unsigned>(Info.srWindow.Right - Info.srWindow.Left + 1);
}

bool dtlto::isTerminalShared() { return false; }

void dtlto::dropFilePages(ArrayRef<StringRef>) {}

void dtlto::returnFreeMemory() {}

uint64_t dtlto::physicalMemory() {
  MEMORYSTATUSEX Status = {};
  Status.dwLength = sizeof(Status);
  return ::GlobalMemoryStatusEx(&Status) ? Status.ullTotalPhys
                                         : uint64_t(1) << 30;
}

/// Doesn't use LLVM's function: later versions leave the work to the shell, and
/// Wine's shell doesn't do it.
void dtlto::removeFolder(const std::string &Path) {
  std::error_code EC;
  for (sys::fs::directory_iterator I(Path, EC, /*follow_symlinks=*/false), E;
       I != E && !EC; I.increment(EC)) {
    if (I->type() == sys::fs::file_type::directory_file)
      removeFolder(I->path());
    else
      sys::fs::remove(I->path());
  }
  sys::fs::remove(Path);
}

Expected<std::string>
dtlto::captureFileOutput(function_ref<Error(raw_fd_ostream &)> Write) {
  int FD;
  SmallString<128> Path;
  if (std::error_code EC =
          sys::fs::createTemporaryFile("dtlto", "tmp", FD, Path))
    return errorCodeToError(EC);
  FileRemover Remove(Path);
  {
    raw_fd_ostream OS(FD, /*shouldClose=*/true);
    if (Error E = Write(OS))
      return std::move(E);
    OS.close();
    if (std::error_code EC = OS.error()) {
      OS.clear_error();
      return errorCodeToError(EC);
    }
  }
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!File)
    return errorCodeToError(File.getError());
  return (*File)->getBuffer().str();
}

LockedFile::~LockedFile() {
  sys::fs::unlockFile(FD);
  sys::Process::SafelyCloseFileDescriptor(FD);
}

Expected<std::unique_ptr<LockedFile>>
dtlto::lockFile(const std::string &Path, std::chrono::milliseconds Limit) {
  int FD;
  if (std::error_code EC = sys::fs::openFileForReadWrite(
          Path, FD, sys::fs::CD_OpenAlways, sys::fs::OF_None))
    return failure("'" + Path + "' cannot be opened: " + EC.message());
  auto Lock = std::make_unique<LockedFile>(FD);
  if (sys::fs::tryLockFile(FD, Limit) == std::errc::no_lock_available)
    return failure("another link holds '" + Path + "'");
  return Lock;
}

bool dtlto::startThread(std::function<void()> Work) {
  auto *Owned = new std::function<void()>(std::move(Work));
  auto Run = [](void *Argument) -> unsigned {
    std::unique_ptr<std::function<void()>> Owned(
        static_cast<std::function<void()> *>(Argument));
    (*Owned)();
    return 0;
  };
  auto Thread = ::_beginthreadex(nullptr, 0, Run, Owned, 0, nullptr);
  if (Thread == 0) {
    delete Owned;
    return false;
  }
  ::CloseHandle(reinterpret_cast<HANDLE>(Thread));
  return true;
}

void *dtlto::openLibrary(const std::string &Path, std::string &Why) {
  auto Library = sys::DynamicLibrary::getPermanentLibrary(Path.c_str(), &Why);
  return Library.isValid() ? Library.getOSSpecificHandle() : nullptr;
}

void *dtlto::findSymbol(void *Library, const char *Name) {
  return reinterpret_cast<void *>(
      ::GetProcAddress(static_cast<HMODULE>(Library), Name));
}

int dtlto::openForLog(const std::string &Path, std::error_code &Why) {
  int FD = -1;
  Why = sys::fs::openFileForWrite(Path, FD);
  return FD;
}

void dtlto::withoutPipeSignal(function_ref<void()> Write) { Write(); }

bool dtlto::isOutputBroken() { return false; } // not detected
