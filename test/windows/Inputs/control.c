// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// control.exe SECONDS FILE PROGRAM [ARGUMENT...]: runs the program, and presses
// Ctrl-C in its console after that many seconds, or kills it if SECONDS begins
// with K. Writes its exit code to FILE, since a console mixes texts with its
// own control sequences.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static BOOL WINAPI ignore(DWORD event) { return (void)event, TRUE; }

int main(int argc, char **argv) {
  STARTUPINFOW info = {.cb = sizeof(info)};
  PROCESS_INFORMATION process;
  DWORD code = 0;
  if (argc < 4)
    return 2;
  int kills = argv[1][0] == 'K';
  double seconds = atof(argv[1] + kills);
  FILE *out = fopen(argv[2], "w");
  if (!out)
    return 2;
  // Everything after the third argument, unchanged.
  wchar_t *line = GetCommandLineW();
  for (int i = 0; i != 3; ++i) {
    line += wcscspn(line, L" ");
    line += wcsspn(line, L" ");
  }
  SetConsoleCtrlHandler(NULL, FALSE);
  if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &info,
                      &process))
    return fprintf(out, "can't run %s: %lu\n", argv[3], GetLastError()), 127;
  SetConsoleCtrlHandler(ignore, TRUE);
  Sleep((DWORD)(1000 * seconds));
  if (kills)
    TerminateProcess(process.hProcess, 9);
  else if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
    fprintf(out, "no event: %lu\n", GetLastError());
  if (WaitForSingleObject(process.hProcess, 20000) != WAIT_OBJECT_0)
    return fprintf(out, "it still runs\n"), 1;
  GetExitCodeProcess(process.hProcess, &code);
  fprintf(out, "exit code 0x%lX\n", (unsigned long)code);
  return 0;
}
