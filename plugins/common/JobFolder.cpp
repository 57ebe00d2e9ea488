//===- JobFolder.cpp - A folder that jobs are run in ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include "dtlto/sdk/RunJob.h"
#include <chrono>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <optional>
#include <sys/file.h>
#include <thread>

using namespace dtlto;
using namespace dtlto::sdk;
using namespace std::chrono_literals;

static constexpr const char *Marker = ".dtlto-jobs";
static constexpr std::string_view IsOurs = "dtlto's folder for jobs\n";
static constexpr std::string_view IsKept = "dtlto's folder for jobs, kept\n";
// Links of one output at the same time.
static constexpr unsigned MaxBeside = 16;

[[noreturn]] static void fail(const char *What, const std::string &Name,
                              int Errno = errno) {
  throw Error(DTLTO_ERROR_INFRASTRUCTURE,
              What + quote(Name) + ": " + std::strerror(Errno));
}

static int removeOne(const char *Name, const struct stat *, int, struct FTW *) {
  return ::remove(Name);
}
static void removeAll(const std::string &Path) {
  ::nftw(Path.c_str(), removeOne, 16, FTW_DEPTH | FTW_PHYS);
}

/// The names in the folder \p Dir, but for the marker. None: it can't be read,
/// and errno says why.
static std::optional<std::vector<std::string>> names(int Dir) {
  Descriptor Copy(::openat(Dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR *D = Copy.isOpen() ? ::fdopendir(Copy.get()) : nullptr;
  if (!D)
    return std::nullopt;
  Copy.release(); // closed with D
  std::vector<std::string> All;
  const dirent *E;
  while (errno = 0, E = ::readdir(D))
    if (std::string_view N = E->d_name; N != "." && N != ".." && N != Marker)
      All.emplace_back(N);
  int Why = errno;
  ::closedir(D);
  errno = Why;
  if (Why && Why != ENOENT) // it was removed
    return std::nullopt;
  return All;
}

static std::vector<std::string> namesOrNone(int Dir) {
  return names(Dir).value_or(std::vector<std::string>());
}

/// False: it can't be read, and errno says why.
static bool readAll(int Fd, std::string &Bytes) {
  Bytes.clear();
  char Block[64 << 10];
  for (ssize_t N; (N = ::read(Fd, Block, sizeof(Block))) != 0;) {
    if (N < 0 && errno != EINTR)
      return false;
    if (N > 0)
      Bytes.append(Block, static_cast<size_t>(N));
  }
  return true;
}

/// Beside \p Output, if that is a file or none yet: /dev is no place for
/// folders, and "-" no name.
static std::string beside(const std::string &Output,
                          const std::string &Suffix) {
  struct stat S;
  bool IsFile = !Output.empty() && Output != "-" &&
                (::stat(Output.c_str(), &S) != 0 || S_ISREG(S.st_mode));
  return (IsFile ? Output : "a.out") + Suffix;
}

/// Locks the marker \p Fd for this process alone, which no guard inherits.
static void lockForLink(int Fd) {
  struct flock L = {};
  L.l_type = F_WRLCK;
  (void)::fcntl(Fd, F_SETLK, &L);
}

/// Whether the process of another link has that lock, on any machine.
static bool isOfRunningLink(int Fd) {
  struct flock L = {};
  L.l_type = F_WRLCK;
  return ::fcntl(Fd, F_GETLK, &L) == 0 && L.l_type != F_UNLCK;
}

/// Takes the folder \p P, which is then `Path`, unless somebody has it.
JobFolder::Claim JobFolder::claim(const std::string &P, bool MayBeKept) {
  while (true) {
    bool IsNew = ::mkdir(P.c_str(), 0777) == 0;
    if (!IsNew && errno != EEXIST)
      fail("can't make the folder ", P);
    Descriptor D(::open(P.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!D.isOpen() && errno == ENOENT)
      continue; // who had it has just removed it
    if (!D.isOpen())
      fail("can't open the folder ", P);
    int Flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    Descriptor L(::openat(D.get(), Marker, Flags));
    int Why = L.isOpen() ? 0 : errno;
    bool IsEmpty = false;
    if (Why == ENOENT) {
      std::optional<std::vector<std::string>> Names = names(D.get());
      IsEmpty = Names && Names->empty();
      if (IsEmpty)
        L.reset(::openat(D.get(), Marker, Flags | O_CREAT, 0666));
      if (!Names || (IsEmpty && !L.isOpen()))
        Why = errno;
    }
    if (!L.isOpen()) {
      if (IsEmpty && Why == ENOENT)
        continue;
      if (Why != ENOENT)
        fail("can't use the folder ", P, Why);
      throw Error(DTLTO_ERROR_CALLER,
                  "the folder " + quote(P) +
                      " has files that are not dtlto's: name a new one "
                      "with folder=PATH");
    }
    bool Busy = ::flock(L.get(), LOCK_EX | LOCK_NB) != 0;
    // Whoever had it may have removed it meanwhile.
    struct stat Mine, There;
    bool IsThere = ::fstat(L.get(), &Mine) == 0 &&
                   ::stat((P + "/" + Marker).c_str(), &There) == 0 &&
                   Mine.st_ino == There.st_ino && Mine.st_dev == There.st_dev;
    std::string Says;
    if (!readAll(L.get(), Says))
      fail("can't read ", P + "/" + Marker);
    bool IsRunning = Busy && isOfRunningLink(L.get());
    bool WasKept = Says == IsKept && !MayBeKept;
    bool IsAlien = !Says.empty() && Says != IsKept && Says != IsOurs;
    if (IsAlien)
      throw Error(DTLTO_ERROR_CALLER,
                  quote(P + "/" + Marker) + " is not dtlto's");
    if (Busy || WasKept)
      return IsRunning ? Claim::InUse : Busy ? Claim::Ending : Claim::Kept;
    if (!IsThere)
      continue;
    lockForLink(L.get());
    Dir = std::move(D);
    Lock = std::move(L);
    Path = P;
    Found = IsNew ? New : IsEmpty ? Empty : Used;
    std::string_view Mark = Keep ? IsKept : IsOurs;
    if (::ftruncate(Lock.get(), 0) != 0 ||
        ::pwrite(Lock.get(), Mark.data(), Mark.size(), 0) < 0)
      fail("can't write ", P + "/" + Marker);
    return Claim::Ours;
  }
}

JobFolder::JobFolder(const std::string &Given, const std::string &Output,
                     const std::string &Suffix, bool Keep)
    : Keep(Keep) {
  std::string Base = Given.empty() ? beside(Output, Suffix) : Given;
  while (Base.size() > 1 && Base.back() == '/')
    Base.pop_back();
  if (Base[0] != '/') {
    char Here[PATH_MAX];
    if (!::getcwd(Here, sizeof(Here)))
      fail("can't find the working folder for ", Base);
    Base = std::string(Here) + "/" + Base;
  }
  try {
    if (!Given.empty()) {
      // The guard of a link that was killed a moment ago may be at it.
      Claim C = claim(Base, true);
      for (unsigned I = 0; I != 50 && C == Claim::Ending; ++I) {
        std::this_thread::sleep_for(100ms);
        C = claim(Base, true);
      }
    } else {
      for (unsigned I = 1; !Dir.isOpen() && I <= MaxBeside; ++I)
        claim(I == 1 ? Base : Base + "-" + std::to_string(I), Keep);
    }
    if (!Dir.isOpen())
      throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                  "the folder " + quote(Base) + " is in use by another link");
    // What somebody puts into an empty one now isn't ours to remove.
    if (!Keep && Found == Used)
      for (const std::string &Name : namesOrNone(fd()))
        removeAll(Path + "/" + Name);
    // It has the lock for as long as it lives.
    int Why = 0;
    TheGuard = Guard::start(Keep ? "" : Path, Lock.get(), Why);
    if (!TheGuard)
      fail("can't start the guard of ", Path, Why);
  } catch (...) {
    if (Lock.isOpen() && Found != Used)
      remove(Marker);
    if (Lock.isOpen() && Found == New)
      ::rmdir(Path.c_str());
    throw;
  }
}

JobFolder::~JobFolder() {
  // The marker last: without it, what is left would be somebody's.
  if (!Keep) {
    for (const std::string &Name : namesOrNone(fd()))
      removeAll(Path + "/" + Name);
    removeAll(Path);
  }
}

bool JobFolder::write(const std::string &Name, std::string_view Bytes) {
  if (!dtlto_run_is_clean_path(Name.c_str()))
    throw Error(DTLTO_ERROR_CALLER,
                "a path that leaves the folder: " + quote(Name));
  struct stat Info;
  std::string Old;
  if (::fstatat(fd(), Name.c_str(), &Info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (static_cast<uint64_t>(Info.st_size) == Bytes.size() &&
        read(Name, Old) && Old == Bytes)
      return false;
    remove(Name); // somebody may be reading what it was
  }
  errno = 0;
  if (!dtlto_run_write(fd(), Name.c_str(), {Bytes.data(), Bytes.size()})) {
    int Why = errno;
    remove(Name); // what there is of it takes room that is needed
    fail("can't write ", Path + "/" + Name, Why);
  }
  return true;
}

/// Opens the file \p Name, if it is one, and sets its \p Size.
Descriptor JobFolder::open(const std::string &Name, uint64_t &Size) const {
  Descriptor File(::openat(fd(), Name.c_str(),
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat Info;
  if (!File.isOpen() || ::fstat(File.get(), &Info) != 0 ||
      !S_ISREG(Info.st_mode))
    return Descriptor();
  Size = static_cast<uint64_t>(Info.st_size);
  return File;
}

bool JobFolder::read(const std::string &Name, std::string &Bytes) const {
  uint64_t Size;
  Descriptor File = open(Name, Size);
  return File.isOpen() && readAll(File.get(), Bytes);
}

void JobFolder::remove(const std::string &Name) const {
  ::unlinkat(fd(), Name.c_str(), 0);
}

bool JobFolder::readObject(const std::string &Name,
                           sdk::ResultMemory::Share &Share,
                           std::vector<char> &Object, std::string &Why) const {
  uint64_t Size = 0;
  Descriptor File = open(Name, Size);
  if (!File.isOpen())
    Why = "there is no object " + quote(Name);
  else if (Size == 0)
    Why = "the object " + quote(Name) + " is empty";
  else if (!Share.grow(Size))
    Why = "the object " + quote(Name) + " has " + std::to_string(Size) +
          " bytes, and --thinlto-dist-memory has no room for it";
  else {
    Object.resize(Size);
    size_t Got = 0;
    for (ssize_t N = 1; Got != Size && N > 0;) {
      N = ::read(File.get(), Object.data() + Got, Size - Got);
      Got += N > 0 ? static_cast<size_t>(N) : 0;
    }
    if (Got != Size)
      Why = "the object " + quote(Name) + " can't be read";
  }
  return Why.empty();
}
