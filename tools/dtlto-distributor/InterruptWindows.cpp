//===- InterruptWindows.cpp - When dtlto-distributor is told to end -------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "llvm/Support/Signals.h"
#include <atomic>
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
static std::function<void()> *TheEnd; // never destroyed
static std::atomic<bool> IsEnding = false;

/// The first call ends the process; others wait for that.
static void end() {
  if (IsEnding.exchange(true))
    ::Sleep(INFINITE);
  (*TheEnd)();
  sys::RunInterruptHandlers(); // files that are being written
  ::TerminateProcess(::GetCurrentProcess(), ExitCode);
}

/// Ctrl-C, Ctrl-Break, a console that is closed, a user who leaves; on a thread
/// of the system's.
static BOOL WINAPI onControl(DWORD) {
  end();
  return TRUE;
}

static uint64_t startOf(HANDLE Process) {
  FILETIME Start = {}, Other;
  ::GetProcessTimes(Process, &Start, &Other, &Other, &Other);
  return uint64_t(Start.dwHighDateTime) << 32 | Start.dwLowDateTime;
}

/// Null if it has ended: its number may be another's.
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
  if (Process && startOf(Process) <= startOf(::GetCurrentProcess()))
    return Process;
  if (Process)
    ::CloseHandle(Process);
  return nullptr;
}

void dtlto::noteParent() { Parent = openParent(); }

void dtlto::waitIfEnding() {
  if (IsEnding)
    ::Sleep(INFINITE);
}

void dtlto::endOnSignals(std::function<void()> End, bool WithParent) {
  TheEnd = new std::function<void()>(std::move(End));
  ::SetConsoleCtrlHandler(onControl, TRUE);
  if (!WithParent || !Parent)
    return;
  std::thread([] {
    ::WaitForSingleObject(Parent, INFINITE);
    end();
  }).detach();
}
