// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang.exe for wine: runs this machine's own clang, CLANG, with Linux paths.
// Wine can start such a program, but can't wait for it or read its output. So a
// shell writes the output and the exit code to files. With DTLTO_TEST_SLOW in
// the environment, it waits a minute before it compiles. If there is a folder
// `names` (names.py), it runs in that folder, where modules have the names of
// the index.

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

typedef char *unix_name(const wchar_t *);
static unix_name *to_unix;

/// Appends an argument in quotes.
static void put(wchar_t *line, const wchar_t *text) {
  wchar_t *end = line + wcslen(line);
  *end++ = L' ';
  *end++ = L'"';
  for (; *text; ++text) {
    if (*text == L'"' || *text == L'\\')
      *end++ = L'\\'; // wine unescapes only before a quote
    if (*text == L'\\' && text[1] != L'"' && text[1])
      --end;
    *end++ = *text;
  }
  *end++ = L'"';
  *end = 0;
}

/// Appends `arg`, with a Windows path in it converted to a Linux path.
static void put_arg(wchar_t *line, const wchar_t *arg) {
  wchar_t text[4096];
  const wchar_t *name = arg, *equals = wcschr(arg, L'=');
  if (equals)
    name = equals + 1;
  if (name[0] && name[1] == L':' && (name[2] == L'\\' || name[2] == L'/')) {
    wcsncpy(text, arg, (size_t)(name - arg));
    MultiByteToWideChar(CP_UTF8, 0, to_unix(name), -1, text + (name - arg),
                        2048);
    arg = text;
  }
  put(line, arg);
}

int wmain(int argc, wchar_t **argv) {
  static wchar_t line[32768];
  wchar_t temp[MAX_PATH], base[MAX_PATH + 40], log[MAX_PATH + 50];
  to_unix = (unix_name *)(void *)GetProcAddress(GetModuleHandleA("kernel32"),
                                                "wine_get_unix_file_name");
  if (!to_unix)
    return fprintf(stderr, "this is not wine\n"), 127;
  for (int i = 1; i != argc; ++i)
    if (_wgetenv(L"DTLTO_TEST_SLOW") && !wcscmp(argv[i], L"-c"))
      Sleep(60000);
  GetTempPathW(MAX_PATH, temp);
  swprintf(base, MAX_PATH + 40, L"%lsclang-%lx", temp,
           (unsigned long)GetCurrentProcessId());
  swprintf(log, MAX_PATH + 50, L"%ls.log", base);
  // A file that doesn't exist has no Linux path yet.
  FILE *made = _wfopen(log, L"w");
  if (made)
    fclose(made);
  wcscpy(line, L"sh");
  put(line, L"-c");
  put(line, L"log=$1 code=${1%.log}.code; shift; [ ! -d names ] || cd names; "
            L"\"$@\" >\"$log\" 2>&1 </dev/null; "
            L"echo $? >\"$code.part\"; mv \"$code.part\" \"$code\"");
  put(line, L"sh");
  put_arg(line, log);
  put(line, L"" CLANG);
  int has_names = GetFileAttributesW(L"names") != INVALID_FILE_ATTRIBUTES;
  for (int i = 1; i != argc; ++i) {
    size_t size = wcslen(argv[i]);
    if (has_names && size > 2 && !wcscmp(argv[i] + size - 2, L".o") &&
        !wcschr(argv[i], L'=') && wcscmp(argv[i - 1], L"-o"))
      put(line, argv[i]);
    else
      put_arg(line, argv[i]);
  }
  STARTUPINFOW info = {.cb = sizeof(info)};
  PROCESS_INFORMATION process;
  if (!CreateProcessW(L"\\\\?\\unix\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL,
                      NULL, &info, &process))
    return fprintf(stderr, "can't run sh: %lu\n", GetLastError()), 127;
  wchar_t code[MAX_PATH + 50];
  swprintf(code, MAX_PATH + 50, L"%ls.code", base);
  while (GetFileAttributesW(code) == INVALID_FILE_ATTRIBUTES)
    Sleep(5);
  int status = 127, c;
  FILE *file = _wfopen(code, L"r");
  if (file && fscanf(file, "%d", &status) == 1)
    fclose(file);
  if ((file = _wfopen(log, L"rb"))) {
    while ((c = getc(file)) != EOF)
      putchar(c);
    fclose(file);
  }
  _wremove(code);
  _wremove(log);
  return status;
}
