//===- dtlto/sdk/ThreadRoom.hpp - How many threads may start ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Containers and users have process limits, and threads count towards them. A
// plugin must not use these up: LLVM ends the process if one of its own threads
// can't start.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_THREADROOM_HPP
#define DTLTO_SDK_THREADROOM_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#ifdef __linux__
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace dtlto::sdk {

/// The number of threads that the linker may still need: LLVM's and LLD's for
/// each core, and helpers.
inline size_t reservedThreads() {
  return 2 * size_t(std::max(1u, std::thread::hardware_concurrency())) + 8;
}

#ifdef __linux__
namespace detail {

/// The number in the file \p Name; SIZE_MAX if there is none, for example
/// "max".
inline size_t readLimit(const std::string &Name) {
  size_t N = SIZE_MAX;
  if (FILE *F = std::fopen(Name.c_str(), "re")) {
    unsigned long long Value;
    if (std::fscanf(F, "%llu", &Value) == 1)
      N = size_t(Value);
    std::fclose(F);
  }
  return N;
}

/// The number of threads that the control group \p Path of the hierarchy
/// mounted at \p Root, and its parents, leave. In a container, \p Path may be a
/// path outside of it.
inline size_t availableInGroups(const std::string &Root, std::string Path) {
  size_t Available = SIZE_MAX;
  while (true) {
    std::string Folder = Root + (Path == "/" ? "" : Path);
    size_t Max = readLimit(Folder + "/pids.max");
    size_t Used = readLimit(Folder + "/pids.current");
    if (Max != SIZE_MAX && Used != SIZE_MAX)
      Available = std::min(Available, Max - std::min(Max, Used));
    if (Path.empty() || Path == "/")
      return Available;
    Path.resize(Path.rfind('/'));
  }
}

inline size_t availableInGroups() {
  size_t Available = SIZE_MAX;
  FILE *F = std::fopen("/proc/self/cgroup", "re");
  if (!F)
    return Available;
  char Text[4096];
  // ID:CONTROLLERS:PATH
  while (std::fgets(Text, sizeof(Text), F)) {
    Text[std::strcspn(Text, "\n")] = 0;
    char *Controllers = std::strchr(Text, ':');
    char *Path = Controllers ? std::strchr(Controllers + 1, ':') : nullptr;
    if (!Path)
      continue;
    std::string List(Controllers + 1, Path);
    if (List.empty()) // version 2
      for (const char *Root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        Available = std::min(Available, availableInGroups(Root, Path + 1));
    else if (("," + List + ",").find(",pids,") != std::string::npos)
      Available = std::min(Available,
                           availableInGroups("/sys/fs/cgroup/pids", Path + 1));
  }
  std::fclose(F);
  return Available;
}

/// The number of threads of all visible processes of this user.
inline size_t threadsOfUser() {
  size_t Sum = 0;
  DIR *All = ::opendir("/proc");
  if (!All)
    return 0;
  while (const dirent *E = ::readdir(All)) {
    if (E->d_name[0] < '1' || E->d_name[0] > '9')
      continue;
    std::string Folder = std::string("/proc/") + E->d_name;
    struct stat St;
    if (::stat(Folder.c_str(), &St) != 0 || St.st_uid != ::getuid())
      continue;
    size_t N = 1;
    if (FILE *F = std::fopen((Folder + "/status").c_str(), "re")) {
      char Text[256];
      unsigned long Value;
      while (std::fgets(Text, sizeof(Text), F))
        if (std::sscanf(Text, "Threads: %lu", &Value) == 1)
          N = Value;
      std::fclose(F);
    }
    Sum += N;
  }
  ::closedir(All);
  return Sum;
}

/// The number of threads that RLIMIT_NPROC leaves. Counting is slow, so a high
/// limit counts as none.
inline size_t availableToUser() {
  constexpr rlim_t MaxCounted = 20000;
  rlimit Limit;
  if (::getuid() == 0 || ::getrlimit(RLIMIT_NPROC, &Limit) != 0 ||
      Limit.rlim_cur == RLIM_INFINITY || Limit.rlim_cur >= MaxCounted)
    return SIZE_MAX;
  size_t Max = size_t(Limit.rlim_cur);
  return Max - std::min(Max, threadsOfUser());
}

} // namespace detail

/// How many threads may still be started within the limits of the control
/// groups and of the user; SIZE_MAX without limits. Other processes share these
/// limits.
inline size_t availableThreads() {
  return std::min(detail::availableInGroups(), detail::availableToUser());
}
#else
inline size_t availableThreads() { return SIZE_MAX; }
#endif

} // namespace dtlto::sdk

#endif // DTLTO_SDK_THREADROOM_HPP
