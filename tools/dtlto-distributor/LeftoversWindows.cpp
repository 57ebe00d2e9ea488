//===- LeftoversWindows.cpp - Nothing outlives dtlto-distributor ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers are in jobs of Windows that end with this process
// (RunJobWindows.h), so there is no launcher. What removes the folder is this
// program, started once more.
//
//===----------------------------------------------------------------------===//

#include "Leftovers.h"
#include "Support/System.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

using namespace llvm;
using namespace dtlto;

static constexpr const char *Option = "--remove-after";

std::vector<std::string> dtlto::launcher(const std::string &) { return {}; }

void dtlto::becomeLaunched(int Argc, char **Argv) {
  if (Argc != 4 || std::strcmp(Argv[1], Option) != 0)
    return;
  auto Process = reinterpret_cast<HANDLE>(std::strtoull(Argv[2], nullptr, 16));
  ::WaitForSingleObject(Process, INFINITE);
  removeFolder(Argv[3]);
  if (sys::fs::exists(Argv[3])) { // a compiler was just about to end
    ::Sleep(1000);
    removeFolder(Argv[3]);
  }
  std::_Exit(0);
}

void dtlto::removeAfterUs(const std::string &Folder) {
  HANDLE Us = nullptr;
  wchar_t Self[32768];
  if (!::GetModuleFileNameW(nullptr, Self, 32768) ||
      !::DuplicateHandle(::GetCurrentProcess(), ::GetCurrentProcess(),
                         ::GetCurrentProcess(), &Us, SYNCHRONIZE, TRUE, 0))
    return;
  // A folder's name has no quotes, and this one has no backslash at its end.
  char Number[32];
  std::snprintf(
      Number, sizeof(Number), "%llx",
      static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(Us)));
  std::string Args = "dtlto-distributor " + std::string(Option) + " " + Number +
                     " \"" + Folder + "\"";
  std::wstring Line;
  if (!ConvertUTF8toWide(Args, Line))
    return;
  STARTUPINFOEXW Info = {};
  Info.StartupInfo.cb = sizeof(Info);
  SIZE_T Size = 0;
  ::InitializeProcThreadAttributeList(nullptr, 1, 0, &Size);
  std::vector<char> List(Size);
  Info.lpAttributeList =
      reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(List.data());
  PROCESS_INFORMATION Made = {};
  // It has none of our files, and Ctrl-C is for us.
  if (::InitializeProcThreadAttributeList(Info.lpAttributeList, 1, 0, &Size) &&
      ::UpdateProcThreadAttribute(Info.lpAttributeList, 0,
                                  PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &Us,
                                  sizeof(Us), nullptr, nullptr) &&
      ::CreateProcessW(Self, Line.data(), nullptr, nullptr, TRUE,
                       DETACHED_PROCESS | EXTENDED_STARTUPINFO_PRESENT, nullptr,
                       nullptr, &Info.StartupInfo, &Made)) {
    ::CloseHandle(Made.hThread);
    ::CloseHandle(Made.hProcess);
  }
  ::CloseHandle(Us);
}
