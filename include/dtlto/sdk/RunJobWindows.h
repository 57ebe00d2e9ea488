/*===- dtlto/sdk/RunJobWindows.h - Processes and files of Windows --*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A part of RunJob.h, which documents each function. Texts and file names are
 * UTF-8. Killing a process also kills the processes that it has started. All of
 * them end when this process ends.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_SDK_RUNJOBWINDOWS_H
#define DTLTO_SDK_RUNJOBWINDOWS_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <time.h>
#include <wchar.h>
#include <windows.h>

typedef wchar_t *dtlto_run_dir; /* its absolute name, with \\?\ before it */
#define DTLTO_RUN_HERE NULL

/* Sets errno from GetLastError(). Returns 0. */
static inline int dtlto_run_set_errno(void) {
  switch (GetLastError()) {
  case ERROR_FILE_NOT_FOUND:
  case ERROR_PATH_NOT_FOUND:
  case ERROR_INVALID_NAME:
    return errno = ENOENT, 0;
  case ERROR_ACCESS_DENIED:
  case ERROR_SHARING_VIOLATION:
    return errno = EACCES, 0;
  case ERROR_FILE_EXISTS:
  case ERROR_ALREADY_EXISTS:
    return errno = EEXIST, 0;
  case ERROR_DISK_FULL:
  case ERROR_HANDLE_DISK_FULL:
    return errno = ENOSPC, 0;
  case ERROR_BAD_EXE_FORMAT:
    return errno = ENOEXEC, 0;
  case ERROR_FILENAME_EXCED_RANGE: /* also: too long a command line */
    return errno = E2BIG, 0;
  case ERROR_NOT_ENOUGH_MEMORY:
  case ERROR_OUTOFMEMORY:
    return errno = ENOMEM, 0;
  default:
    return errno = EIO, 0;
  }
}

/* Returns `text` in UTF-16, for free(). Returns null with errno set on failure.
 */
static inline wchar_t *dtlto_run_wide(const char *text) {
  int size =
      MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  wchar_t *wide = size ? (wchar_t *)malloc((size_t)size * sizeof(*wide)) : NULL;
  errno = size ? ENOMEM : EILSEQ;
  if (wide)
    MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
  return wide;
}

/* Returns `path` below `dir`, for free(). Returns null with errno set on
 * failure. */
static inline wchar_t *dtlto_run_below(dtlto_run_dir dir, const char *path) {
  wchar_t *wide = dtlto_run_wide(path), *whole;
  if (!wide)
    return NULL;
  size_t head = wcslen(dir), tail = wcslen(wide);
  whole = (wchar_t *)malloc((head + tail + 2) * sizeof(*whole));
  if (whole) {
    memcpy(whole, dir, head * sizeof(*whole));
    whole[head] = L'\\';
    memcpy(whole + head + 1, wide, (tail + 1) * sizeof(*whole));
    for (wchar_t *c = whole + head; *c; ++c)
      if (*c == L'/')
        *c = L'\\';
  }
  free(wide);
  return whole;
}

/*===----------------------------------------------------------------------===*
 * Processes
 *===----------------------------------------------------------------------===*/

/* Returns the length of `args` as one command line that CommandLineToArgvW()
 * splits again. Writes it to `line` if that isn't null. */
static inline size_t dtlto_run_quote(const char *const *args, char *line) {
  size_t n = 0;
#define DTLTO_RUN_PUT(c) (line ? (void)(line[n] = (c)) : (void)0, ++n)
  for (; *args; ++args) {
    size_t slashes = 0; /* backslashes are literal except before a quote */
    if (n)
      DTLTO_RUN_PUT(' ');
    DTLTO_RUN_PUT('"');
    for (const char *c = *args;; ++c) {
      if (*c == '\\') {
        ++slashes;
      } else {
        if (!*c || *c == '"')
          for (size_t i = 0; i != slashes; ++i)
            DTLTO_RUN_PUT('\\');
        slashes = 0;
      }
      if (!*c)
        break;
      if (*c == '"')
        DTLTO_RUN_PUT('\\');
      DTLTO_RUN_PUT(*c);
    }
    DTLTO_RUN_PUT('"');
  }
  DTLTO_RUN_PUT(0);
#undef DTLTO_RUN_PUT
  return n;
}

/* Returns the program's file, for free(): an absolute path, or one found in the
 * PATH, but not in the current folder. Null with errno set if there is none. */
static inline wchar_t *dtlto_run_find(const wchar_t *program) {
  wchar_t *path = NULL, *found = NULL;
  DWORD size = GetEnvironmentVariableW(L"PATH", NULL, 0);
  if (size && (path = (wchar_t *)malloc(size * sizeof(*path))))
    GetEnvironmentVariableW(L"PATH", path, size);
  size = SearchPathW(path ? path : L"", program, L".exe", 0, NULL, NULL);
  dtlto_run_set_errno();
  if (size && (found = (wchar_t *)malloc(size * sizeof(*found))))
    SearchPathW(path ? path : L"", program, L".exe", size, found, NULL);
  free(path);
  return found;
}

/* Returns a job object that ends its processes with its last handle. */
static inline HANDLE dtlto_run_make_group(void) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
  HANDLE group = CreateJobObjectW(NULL, NULL);
  memset(&limits, 0, sizeof(limits));
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  if (group)
    SetInformationJobObject(group, JobObjectExtendedLimitInformation, &limits,
                            sizeof(limits));
  return group;
}

/* Starts the program `file` with the command line `line` in `dir`, with stdout
 * and stderr to `out`, the only handle that it inherits. Returns null with
 * errno set on failure. */
static inline HANDLE dtlto_run_start(const wchar_t *file, wchar_t *line,
                                     dtlto_run_dir dir, HANDLE out,
                                     HANDLE group) {
  SECURITY_ATTRIBUTES inherit = {sizeof(inherit), NULL, TRUE};
  HANDLE in =
      CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE,
                  &inherit, OPEN_EXISTING, 0, NULL);
  HANDLE handles[2] = {in, out};
  STARTUPINFOEXW info;
  PROCESS_INFORMATION made;
  SIZE_T size = 0;
  int good = 0;
  memset(&info, 0, sizeof(info));
  memset(&made, 0, sizeof(made));
  info.StartupInfo.cb = sizeof(info);
  info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  info.StartupInfo.hStdInput = in;
  info.StartupInfo.hStdOutput = info.StartupInfo.hStdError = out;
  InitializeProcThreadAttributeList(NULL, 1, 0, &size);
  info.lpAttributeList = (LPPROC_THREAD_ATTRIBUTE_LIST)malloc(size);
  if (info.lpAttributeList &&
      InitializeProcThreadAttributeList(info.lpAttributeList, 1, 0, &size)) {
    if (UpdateProcThreadAttribute(info.lpAttributeList, 0,
                                  PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles,
                                  sizeof(handles), NULL, NULL))
      /* The folder is our own, and short enough without the \\?\ prefix. */
      good =
          CreateProcessW(file, line, NULL, NULL, TRUE,
                         CREATE_SUSPENDED | EXTENDED_STARTUPINFO_PRESENT, NULL,
                         dir ? dir + 4 : NULL, &info.StartupInfo, &made);
    if (!good)
      dtlto_run_set_errno();
    DeleteProcThreadAttributeList(info.lpAttributeList);
  }
  free(info.lpAttributeList);
  CloseHandle(in);
  if (!good)
    return NULL;
  if (group)
    AssignProcessToJobObject(group, made.hProcess);
  ResumeThread(made.hThread);
  CloseHandle(made.hThread);
  return made.hProcess;
}

/* Reads what is in the pipe now, at most 64 KiB. */
static inline void dtlto_run_listen(HANDLE pipe, dtlto_run_words *words) {
  char block[4096];
  for (int i = 0; i != 16; ++i) {
    DWORD there = 0, got = 0;
    if (!PeekNamedPipe(pipe, NULL, 0, NULL, &there, NULL) || !there ||
        !ReadFile(pipe, block, sizeof(block), &got, NULL))
      return;
    for (DWORD j = 0; j != got; ++j) /* normalize line ends */
      if (block[j] != '\r')
        dtlto_run_hear(words, block + j, 1);
  }
}

/* Waits for the process. Returns whether run->stop made us kill it. */
static inline int dtlto_run_wait(const dtlto_run *run, HANDLE process,
                                 HANDLE group, HANDLE pipe,
                                 dtlto_run_words *words) {
  int stopped = 0;
  DWORD pause = 1;
  while (WaitForSingleObject(process, pause) == WAIT_TIMEOUT) {
    dtlto_run_listen(pipe, words);
    pause = pause < 20 ? 2 * pause : 20;
    if (stopped || !run->stop || !run->stop(run->context))
      continue;
    stopped = 1;
    if (group)
      TerminateJobObject(group, 1);
    TerminateProcess(process, 1);
  }
  dtlto_run_listen(pipe, words);
  return stopped;
}

static inline int dtlto_run_is_absolute(const char *path) {
  int is_drive = path[0] && path[1] == ':' && path[2] && strchr("/\\", path[2]);
  return is_drive || (path[0] == '\\' && path[1] == '\\');
}

static inline int32_t dtlto_run_process(const dtlto_run *run,
                                        const char *const *args,
                                        dtlto_run_dir dir,
                                        dtlto_compile_end *end, char *text,
                                        size_t size) {
  SECURITY_ATTRIBUTES inherit = {sizeof(inherit), NULL, TRUE};
  HANDLE from = NULL, to = NULL, group = NULL, process = NULL;
  DWORD code = 0;
  int stopped = 0;
  dtlto_run_words words = {text, size, 0, 0};
  text[0] = 0;
  errno = 0;
  if (strpbrk(run->program, "/\\:") && !dtlto_run_is_absolute(run->program))
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size,
                          "neither a name nor an absolute path:", run->program);
  char *narrow = (char *)malloc(dtlto_run_quote(args, NULL));
  if (narrow)
    dtlto_run_quote(args, narrow);
  wchar_t *line = narrow ? dtlto_run_wide(narrow) : NULL;
  wchar_t *name = line ? dtlto_run_wide(run->program) : NULL;
  wchar_t *file = name ? dtlto_run_find(name) : NULL;
  if (file && CreatePipe(&from, &to, &inherit, 65536)) {
    group = dtlto_run_make_group();
    process = dtlto_run_start(file, line, dir, to, group);
    CloseHandle(to);
  }
  free(file);
  free(name);
  free(line);
  free(narrow);
  if (process) {
    stopped = dtlto_run_wait(run, process, group, from, &words);
    GetExitCodeProcess(process, &code);
    CloseHandle(process);
  }
  if (group) /* ends processes that the compiler left */
    CloseHandle(group);
  if (from)
    CloseHandle(from);
  if (!process)
    return dtlto_run_fail(DTLTO_ERROR_INFRASTRUCTURE, text, size, "cannot run",
                          run->program);
  dtlto_run_end_words(&words);
  if (stopped)
    return DTLTO_CANCELLED;
  end->exit_code = code; /* for example 0xC0000005, an access violation */
  return DTLTO_OK;
}

static inline time_t dtlto_run_seconds(void) {
  return (time_t)(GetTickCount64() / 1000);
}

/*===----------------------------------------------------------------------===*
 * Files
 *===----------------------------------------------------------------------===*/

static inline int dtlto_run_make_folders(dtlto_run_dir dir, const char *path) {
  wchar_t *whole = dtlto_run_below(dir, path);
  if (!whole)
    return 0;
  int good = 1;
  for (wchar_t *c = whole + wcslen(dir) + 1; good && (c = wcschr(c, L'\\'));
       ++c) {
    *c = 0;
    good = CreateDirectoryW(whole, NULL) ||
           GetLastError() == ERROR_ALREADY_EXISTS || dtlto_run_set_errno();
    *c = L'\\';
  }
  free(whole);
  return good;
}

static inline int dtlto_run_write(dtlto_run_dir dir, const char *path,
                                  dtlto_span bytes) {
  wchar_t *whole =
      dtlto_run_make_folders(dir, path) ? dtlto_run_below(dir, path) : NULL;
  if (!whole)
    return 0;
  HANDLE file = CreateFileW(whole, GENERIC_WRITE, 0, NULL, CREATE_NEW,
                            FILE_ATTRIBUTE_NORMAL, NULL);
  int good = file != INVALID_HANDLE_VALUE || dtlto_run_set_errno();
  free(whole);
  if (!good)
    return 0;
  const char *next = (const char *)bytes.data;
  for (uint64_t left = bytes.size; good && left;) {
    DWORD n = 0, part = left < 1 << 30 ? (DWORD)left : 1 << 30;
    good = WriteFile(file, next, part, &n, NULL) || dtlto_run_set_errno();
    next += n;
    left -= n;
  }
  return (CloseHandle(file) || dtlto_run_set_errno()) && good;
}

static inline int dtlto_run_read(dtlto_run_dir dir, const char *path,
                                 dtlto_buffer *object) {
  wchar_t *whole = dtlto_run_below(dir, path);
  if (!whole)
    return 0;
  HANDLE file = CreateFileW(whole, GENERIC_READ, FILE_SHARE_READ, NULL,
                            OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  errno = 0;
  int good = file != INVALID_HANDLE_VALUE || dtlto_run_set_errno();
  free(whole);
  if (!good)
    return 0;
  LARGE_INTEGER size;
  char *bytes = NULL;
  size_t got = 0, all = 0;
  if (GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size) &&
      size.QuadPart > 0) {
    all = (size_t)size.QuadPart;
    bytes = (char *)malloc(all);
  }
  while (bytes && got != all) {
    DWORD n = 0, part = all - got < 1 << 30 ? (DWORD)(all - got) : 1 << 30;
    if (!ReadFile(file, bytes + got, part, &n, NULL))
      dtlto_run_set_errno();
    if (!n)
      break;
    got += n;
  }
  CloseHandle(file);
  if (!bytes || got != all) {
    free(bytes);
    return 0;
  }
  object->data = object->owner = bytes;
  object->size = all;
  object->release = dtlto_run_release;
  return 1;
}

/* Removes the folder with its contents. Links are removed, not followed. */
static inline void dtlto_run_remove(const wchar_t *folder) {
  size_t length = wcslen(folder);
  wchar_t *name = (wchar_t *)malloc((length + 2 + MAX_PATH) * sizeof(*name));
  if (!name)
    return;
  memcpy(name, folder, length * sizeof(*name));
  wcscpy(name + length, L"\\*");
  WIN32_FIND_DATAW found;
  HANDLE search = FindFirstFileW(name, &found);
  int more = search != INVALID_HANDLE_VALUE;
  for (; more; more = FindNextFileW(search, &found)) {
    DWORD kind = found.dwFileAttributes;
    if (!wcscmp(found.cFileName, L".") || !wcscmp(found.cFileName, L".."))
      continue;
    wcscpy(name + length + 1, found.cFileName);
    if (!(kind & FILE_ATTRIBUTE_DIRECTORY)) {
      SetFileAttributesW(name, FILE_ATTRIBUTE_NORMAL);
      DeleteFileW(name);
    } else if (kind & FILE_ATTRIBUTE_REPARSE_POINT)
      RemoveDirectoryW(name);
    else
      dtlto_run_remove(name);
  }
  if (search != INVALID_HANDLE_VALUE)
    FindClose(search);
  free(name);
  RemoveDirectoryW(folder);
}

static inline const char *dtlto_run_open_folder(char *folder, size_t size,
                                                dtlto_run_dir *dir) {
  static volatile LONG last;
  wchar_t name[MAX_PATH + 60] = L"\\\\?\\";
  DWORD length = GetTempPathW(MAX_PATH, name + 4); /* ends with a backslash */
  snprintf(folder, size, "%s", "for temporary files");
  int good = length != 0 && length < MAX_PATH;
  for (int i = 0; good && i != 100; ++i) {
    swprintf(name + 4 + length, 50, L"dtlto-job-%lx-%lx",
             (unsigned long)GetCurrentProcessId(),
             (unsigned long)InterlockedIncrement(&last));
    good = CreateDirectoryW(name, NULL);
    if (good || GetLastError() != ERROR_ALREADY_EXISTS)
      break;
    good = i != 99; /* the folder of a process with the same number */
  }
  if (!good) {
    dtlto_run_set_errno();
    return "cannot create the folder";
  }
  WideCharToMultiByte(CP_UTF8, 0, name + 4, -1, folder, (int)size, NULL, NULL);
  *dir = wcsdup(name);
  if (*dir)
    return NULL;
  RemoveDirectoryW(name);
  return "no memory for the folder";
}

static inline void dtlto_run_close_folder(const char *folder,
                                          dtlto_run_dir dir) {
  (void)folder;
  dtlto_run_remove(dir);
  free(dir);
}

#endif /* DTLTO_SDK_RUNJOBWINDOWS_H */
