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
#include <cstring>
#include <filesystem>
#include <sys/file.h>
#include <thread>

using namespace dtlto;
using namespace dtlto::sdk;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

static constexpr const char *Marker = ".dtlto-jobs";
static constexpr std::string_view TemporaryMark = "dtlto's folder for jobs\n";
static constexpr std::string_view PersistentMark =
    "dtlto's folder for jobs, kept\n";
// The maximum number of simultaneous links with one output.
static constexpr unsigned MaxLinksPerOutput = 16;

[[noreturn]] static void fail(const char *What, const std::string &Name,
                              int Errno = errno) {
  throw Error(DTLTO_ERROR_INFRASTRUCTURE,
              What + quote(Name) + ": " + std::strerror(Errno));
}

/// Returns the names in \p Folder without the marker; none if the folder was
/// removed.
static std::vector<std::string> names(const std::string &Folder,
                                      std::error_code &Why) {
  std::vector<std::string> All;
  for (fs::directory_iterator I(Folder, Why), End; !Why && I != End;
       I.increment(Why))
    if (std::string Name = I->path().filename(); Name != Marker)
      All.push_back(Name);
  if (Why == std::errc::no_such_file_or_directory)
    Why.clear();
  return All;
}

/// Returns false with errno set if \p Fd can't be read.
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

/// Returns a path next to \p Output, or to "a.out" if that is a device or "-".
static std::string siblingPath(const std::string &Output,
                               const std::string &Suffix) {
  struct stat S;
  bool IsFile = !Output.empty() && Output != "-" &&
                (::stat(Output.c_str(), &S) != 0 || S_ISREG(S.st_mode));
  return (IsFile ? Output : "a.out") + Suffix;
}

/// Locks the marker \p Fd for this process only: the guard doesn't inherit it.
static void lockForLink(int Fd) {
  struct flock MarkerLock = {};
  MarkerLock.l_type = F_WRLCK;
  (void)::fcntl(Fd, F_SETLK, &MarkerLock);
}

/// Whether the process of another link, on any machine, holds that lock.
static bool isHeldByRunningLink(int Fd) {
  struct flock MarkerLock = {};
  MarkerLock.l_type = F_WRLCK;
  return ::fcntl(Fd, F_GETLK, &MarkerLock) == 0 && MarkerLock.l_type != F_UNLCK;
}

/// Opens the marker in the folder \p Dir, whose path is \p P. Creates one if
/// the folder \p IsEmpty. Returns no descriptor if the folder was removed
/// meanwhile.
static Descriptor openMarker(int Dir, const std::string &P, bool &IsEmpty) {
  constexpr int Flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  IsEmpty = false;
  Descriptor Existing(::openat(Dir, Marker, Flags));
  if (Existing.isOpen())
    return Existing;
  std::error_code Why(errno, std::generic_category());
  if (errno == ENOENT)
    IsEmpty = names(P, Why).empty();
  if (Why)
    fail("cannot use the folder ", P, Why.value());
  if (!IsEmpty)
    throw Error(DTLTO_ERROR_CALLER,
                "the folder " + quote(P) +
                    " has files that dtlto did not create: name another "
                    "with folder=PATH");
  Existing.reset(::openat(Dir, Marker, Flags | O_CREAT, 0666));
  if (!Existing.isOpen() && errno != ENOENT)
    fail("cannot use the folder ", P);
  return Existing;
}

/// Whether \p Path is the file that \p Fd has open.
static bool isFile(const std::string &Path, int Fd) {
  struct stat OpenStat, PathStat;
  return ::fstat(Fd, &OpenStat) == 0 && ::stat(Path.c_str(), &PathStat) == 0 &&
         OpenStat.st_ino == PathStat.st_ino &&
         OpenStat.st_dev == PathStat.st_dev;
}

/// Claims the folder \p P and sets `Path`, unless another link uses it.
JobFolder::Claim JobFolder::claim(const std::string &P, bool MayBeKept) {
  const std::string File = P + "/" + Marker;
  while (true) {
    bool IsNew = ::mkdir(P.c_str(), 0777) == 0;
    if (!IsNew && errno != EEXIST)
      fail("cannot create the folder ", P);
    Descriptor D(::open(P.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!D.isOpen() && errno == ENOENT)
      continue; // its owner has just removed it
    if (!D.isOpen())
      fail("cannot open the folder ", P);
    bool IsEmpty;
    Descriptor MarkerLock = openMarker(D.get(), P, IsEmpty);
    if (!MarkerLock.isOpen())
      continue;
    bool IsLocked = ::flock(MarkerLock.get(), LOCK_EX | LOCK_NB) != 0;
    std::string Content;
    if (!readAll(MarkerLock.get(), Content))
      fail("cannot read ", File);
    if (!Content.empty() && Content != PersistentMark &&
        Content != TemporaryMark)
      throw Error(DTLTO_ERROR_CALLER,
                  quote(P + "/" + Marker) + " was not created by dtlto");
    if (IsLocked)
      return isHeldByRunningLink(MarkerLock.get()) ? Claim::InUse
                                                   : Claim::BeingRemoved;
    if (Content == PersistentMark && !MayBeKept)
      return Claim::InUse; // by its user
    if (!isFile(File, MarkerLock.get()))
      continue; // its owner has removed it before we had the lock
    lockForLink(MarkerLock.get());
    Dir = std::move(D);
    Lock = std::move(MarkerLock);
    Path = P;
    Existing = IsNew ? New : IsEmpty ? Empty : Used;
    std::string_view Mark = Keep ? PersistentMark : TemporaryMark;
    if (::ftruncate(Lock.get(), 0) != 0 ||
        ::pwrite(Lock.get(), Mark.data(), Mark.size(), 0) < 0)
      fail("cannot write ", File);
    return Claim::Success;
  }
}

/// Removes everything but the marker.
void JobFolder::clear() const {
  std::error_code Ignored;
  for (const std::string &Name : names(Path, Ignored))
    fs::remove_all(Path + "/" + Name, Ignored);
}

JobFolder::JobFolder(const std::string &UserPath, const std::string &Output,
                     const std::string &Suffix, bool Keep)
    : Keep(Keep) {
  std::string Base = UserPath.empty() ? siblingPath(Output, Suffix) : UserPath;
  while (Base.size() > 1 && Base.back() == '/')
    Base.pop_back();
  std::error_code Why;
  fs::path Absolute = fs::absolute(Base, Why);
  if (Why)
    fail("cannot find the working folder for ", Base, Why.value());
  Base = Absolute;
  try {
    if (!UserPath.empty()) {
      // The guard of a killed link may still be removing the folder.
      Claim C = claim(Base, true);
      for (unsigned I = 0; I != 50 && C == Claim::BeingRemoved; ++I) {
        std::this_thread::sleep_for(100ms);
        C = claim(Base, true);
      }
    } else {
      for (unsigned I = 1; !Dir.isOpen() && I <= MaxLinksPerOutput; ++I)
        claim(I == 1 ? Base : Base + "-" + std::to_string(I), Keep);
    }
    if (!Dir.isOpen())
      throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                  "the folder " + quote(Base) + " is in use by another link");
    // Files that have appeared in an empty folder since are not ours.
    if (!Keep && Existing == Used)
      clear();
    int Errno = 0;
    TheGuard = Guard::start(Keep ? "" : Path, Lock.get(), Errno);
    if (!TheGuard)
      fail("cannot start the guard process of ", Path, Errno);
  } catch (...) {
    if (Lock.isOpen() && Existing != Used)
      remove(Marker);
    if (Lock.isOpen() && Existing == New)
      ::rmdir(Path.c_str());
    throw;
  }
}

JobFolder::~JobFolder() {
  if (Keep)
    return;
  // Remove the marker last: a folder without one is not ours.
  clear();
  std::error_code Ignored;
  fs::remove_all(Path, Ignored);
}

bool JobFolder::write(const std::string &Name, std::string_view Bytes) {
  if (!dtlto_run_is_clean_path(Name.c_str()))
    throw Error(DTLTO_ERROR_CALLER,
                "the path leaves the folder: " + quote(Name));
  struct stat Info;
  std::string Old;
  if (::fstatat(fd(), Name.c_str(), &Info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (static_cast<uint64_t>(Info.st_size) == Bytes.size() &&
        read(Name, Old) && Old == Bytes)
      return false;
    remove(Name); // its readers keep the old bytes
  }
  errno = 0;
  if (!dtlto_run_write(fd(), Name.c_str(), {Bytes.data(), Bytes.size()})) {
    int Why = errno;
    remove(Name); // free the space of the partial file
    fail("cannot write ", Path + "/" + Name, Why);
  }
  return true;
}

/// Opens \p Name if it is a regular file, and sets its \p Size.
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
          " bytes, more than --thinlto-dist-memory has left";
  else {
    Object.resize(Size);
    size_t NumRead = 0;
    for (ssize_t N = 1; NumRead != Size && N > 0;) {
      N = ::read(File.get(), Object.data() + NumRead, Size - NumRead);
      NumRead += N > 0 ? static_cast<size_t>(N) : 0;
    }
    if (NumRead != Size)
      Why = "the object " + quote(Name) + " cannot be read";
  }
  return Why.empty();
}
