//===- EndingWindows.cpp - How dtlto-distributor ends ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers run in Windows job objects that end with this process
// (RunJobWindows.h), so there is no launcher. A second instance of this program
// removes the folder.
//
//===----------------------------------------------------------------------===//

#include "Ending.h"
#include "Support/System.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <tlhelp32.h>

using namespace llvm;
using namespace dtlto;

// STATUS_CONTROL_C_EXIT, by which the parent recognizes Ctrl-C.
static constexpr DWORD ExitCode = 0xC000013A;

static HANDLE Parent = nullptr;
static std::function<void()> *EndHandler; // never destroyed
static std::atomic<bool> IsEnding = false;

/// The first call ends the process; later callers block until then.
static void end() {
  if (IsEnding.exchange(true))
    ::Sleep(INFINITE);
  (*EndHandler)();
  sys::RunInterruptHandlers(); // removes unfinished files
  ::TerminateProcess(::GetCurrentProcess(), ExitCode);
}

/// Handles Ctrl-C, Ctrl-Break, the end of the console, and a logoff; on a
/// thread of the system.
static BOOL WINAPI onControl(DWORD) {
  end();
  return TRUE;
}

static uint64_t startTime(HANDLE Process) {
  FILETIME Start = {}, Other;
  ::GetProcessTimes(Process, &Start, &Other, &Other, &Other);
  return uint64_t(Start.dwHighDateTime) << 32 | Start.dwLowDateTime;
}

/// Returns null if the parent has ended: its process id may have been reused.
static HANDLE openParent() {
  HANDLE All = ::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  PROCESSENTRY32W P = {};
  P.dwSize = sizeof(P);
  DWORD Parent = 0;
  for (BOOL Good = ::Process32FirstW(All, &P); Good;
       Good = ::Process32NextW(All, &P))
    if (P.th32ProcessID == ::GetCurrentProcessId())
      Parent = P.th32ParentProcessID;
  ::CloseHandle(All);
  HANDLE Process = ::OpenProcess(
      SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, Parent);
  if (Process && startTime(Process) <= startTime(::GetCurrentProcess()))
    return Process;
  if (Process)
    ::CloseHandle(Process);
  return nullptr;
}

void dtlto::recordParent() { Parent = openParent(); }

void dtlto::waitIfEnding() {
  if (IsEnding)
    ::Sleep(INFINITE);
}

void dtlto::endOnSignals(std::function<void()> End, bool WithParent) {
  EndHandler = new std::function<void()>(std::move(End));
  ::SetConsoleCtrlHandler(onControl, TRUE);
  if (!WithParent || !Parent)
    return;
  std::thread([] {
    ::WaitForSingleObject(Parent, INFINITE);
    end();
  }).detach();
}

static constexpr const char *Option = "--remove-after";

std::vector<std::string> dtlto::launcher(const std::string &) { return {}; }

void dtlto::runAsLauncher(int Argc, char **Argv) {
  if (Argc != 4 || std::strcmp(Argv[1], Option) != 0)
    return;
  auto Process = reinterpret_cast<HANDLE>(std::strtoull(Argv[2], nullptr, 16));
  ::WaitForSingleObject(Process, INFINITE);
  removeFolder(Argv[3]);
  if (sys::fs::exists(Argv[3])) { // a compiler may still be ending
    ::Sleep(1000);
    removeFolder(Argv[3]);
  }
  std::_Exit(0);
}

void dtlto::removeWhenProcessEnds(const std::string &Folder) {
  HANDLE ThisProcess = nullptr;
  wchar_t Self[32768];
  if (!::GetModuleFileNameW(nullptr, Self, 32768) ||
      !::DuplicateHandle(::GetCurrentProcess(), ::GetCurrentProcess(),
                         ::GetCurrentProcess(), &ThisProcess, SYNCHRONIZE, TRUE,
                         0))
    return;
  // The folder's name has no quotes, and no backslash at its end.
  char Number[32];
  std::snprintf(Number, sizeof(Number), "%llx",
                static_cast<unsigned long long>(
                    reinterpret_cast<uintptr_t>(ThisProcess)));
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
  PROCESS_INFORMATION Child = {};
  // The child inherits no other handle, and doesn't get our Ctrl-C.
  if (::InitializeProcThreadAttributeList(Info.lpAttributeList, 1, 0, &Size) &&
      ::UpdateProcThreadAttribute(
          Info.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
          &ThisProcess, sizeof(ThisProcess), nullptr, nullptr) &&
      ::CreateProcessW(Self, Line.data(), nullptr, nullptr, TRUE,
                       DETACHED_PROCESS | EXTENDED_STARTUPINFO_PRESENT, nullptr,
                       nullptr, &Info.StartupInfo, &Child)) {
    ::CloseHandle(Child.hThread);
    ::CloseHandle(Child.hProcess);
  }
  ::CloseHandle(ThisProcess);
}
