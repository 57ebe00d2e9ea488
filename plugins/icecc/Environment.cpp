//===- Environment.cpp - The compiler to send to nodes --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Environment.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <icecc/comm.h>
#include <nettle/sha2.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace dtlto;
using namespace dtlto::icecc;
namespace fs = std::filesystem;

// Must be increased when the layout of a worker's tarball changes.
static constexpr unsigned Layout = 1;
// Entries of the cache that were not used for this time are removed.
static constexpr auto MaxAge = std::chrono::hours(14 * 24);
static constexpr size_t HeadSize = 1024;
// How many bytes to process between checks whether the work was stopped.
static constexpr size_t Step = size_t(1) << 20;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

[[noreturn]] static void fail(const std::string &Text) {
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Text);
}

/// Throws if the work was stopped.
static void checkStop(const std::atomic<bool> *Stop) {
  if (Stop && *Stop)
    throw sdk::Error(DTLTO_CANCELLED, "");
}

static Descriptor openFile(const std::string &Path) {
  return Descriptor(::open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/// Reads \p File, which openFile() has returned for \p Path with errno.
static Tarball readFile(const Descriptor &File, const std::string &Path,
                        const std::atomic<bool> *Stop) {
  auto Fail = [&] {
    fail("cannot read " + quote(Path) + ": " + std::strerror(errno));
  };
  struct stat Stat;
  if (!File.isOpen() || ::fstat(File.get(), &Stat) != 0)
    Fail();
  auto Bytes = std::make_shared<LargeBytes>(static_cast<size_t>(Stat.st_size));
  for (size_t NumRead = 0; NumRead != Bytes->size();) {
    checkStop(Stop);
    ssize_t N = ::read(File.get(), Bytes->data() + NumRead,
                       std::min(Bytes->size() - NumRead, Step));
    if (N > 0)
      NumRead += static_cast<size_t>(N);
    else if (N == 0)
      errno = EIO; // the file has shrunk
    if (N == 0 || (N < 0 && errno != EINTR))
      Fail();
  }
  return Bytes;
}

/// Writes the file atomically: other links look for the same file.
static bool writeFile(const std::string &Path, const LargeBytes &Bytes) {
  std::string Temp = Path + ".XXXXXX";
  Descriptor File(::mkostemp(Temp.data(), O_CLOEXEC));
  if (!File.isOpen())
    return false;
  size_t NumWritten = 0;
  while (NumWritten != Bytes.size()) {
    ssize_t N = ::write(File.get(), Bytes.data() + NumWritten,
                        Bytes.size() - NumWritten);
    if (N > 0)
      NumWritten += static_cast<size_t>(N);
    else if (errno != EINTR)
      break;
  }
  bool Ok = ::close(File.release()) == 0 && NumWritten == Bytes.size() &&
            ::rename(Temp.c_str(), Path.c_str()) == 0;
  if (!Ok)
    ::unlink(Temp.c_str());
  return Ok;
}

static std::string readHead(const Descriptor &File) {
  char Bytes[HeadSize];
  ssize_t N = ::pread(File.get(), Bytes, sizeof(Bytes), 0);
  return std::string(Bytes, static_cast<size_t>(std::max<ssize_t>(N, 0)));
}

static std::string sha256(const LargeBytes &Bytes) {
  sha256_ctx Context;
  uint8_t Digest[SHA256_DIGEST_SIZE];
  sha256_init(&Context);
  sha256_update(&Context, Bytes.size(), Bytes.data());
  sha256_digest(&Context, sizeof(Digest), Digest);
  return hexDigits(Digest, sizeof(Digest));
}

//===----------------------------------------------------------------------===//
// The tarball
//===----------------------------------------------------------------------===//

namespace {
class Packer {
public:
  Packer(LargeBytes &Out, const std::atomic<bool> *Stop)
      : Archive(archive_write_new()), Entry(archive_entry_new()), Stop(Stop) {
    archive_write_set_format_ustar(Archive);
    Ok = archive_write_add_filter_zstd(Archive) == ARCHIVE_OK;
    // No fixed block size, so that the tarball has no padding.
    archive_write_set_bytes_per_block(Archive, 0);
    Ok = Ok && archive_write_open(Archive, &Out, nullptr, append, nullptr) ==
                   ARCHIVE_OK;
  }
  ~Packer() {
    archive_entry_free(Entry);
    archive_write_free(Archive);
  }

  void add(const char *Path, unsigned Type, const char *Data, size_t Size) {
    archive_entry_clear(Entry);
    archive_entry_set_pathname(Entry, Path);
    archive_entry_set_filetype(Entry, Type);
    archive_entry_set_perm(Entry, 0755);
    if (Type == AE_IFLNK)
      archive_entry_set_symlink(Entry, Data);
    else
      archive_entry_set_size(Entry, static_cast<int64_t>(Size));
    Ok = Ok && archive_write_header(Archive, Entry) == ARCHIVE_OK;
    if (Type != AE_IFREG)
      return;
    for (size_t At = 0, N; Ok && At != Size; At += N) {
      checkStop(Stop);
      N = std::min(Size - At, Step);
      Ok = archive_write_data(Archive, Data + At, N) == static_cast<ssize_t>(N);
    }
  }

  void finish() {
    Ok = Ok && archive_write_close(Archive) == ARCHIVE_OK;
    const char *Why = archive_error_string(Archive);
    if (!Ok)
      fail(std::string("cannot pack the worker: ") + (Why ? Why : "?"));
  }

private:
  static la_ssize_t append(archive *, void *Out, const void *Data,
                           size_t Size) {
    auto *Bytes = static_cast<const unsigned char *>(Data);
    auto *To = static_cast<LargeBytes *>(Out);
    To->insert(To->end(), Bytes, Bytes + Size);
    return static_cast<la_ssize_t>(Size);
  }

  archive *Archive;
  archive_entry *Entry;
  const std::atomic<bool> *Stop;
  bool Ok;
};
} // namespace

Tarball dtlto::icecc::packWorker(const char *Worker, size_t Size,
                                 const std::atomic<bool> *Stop) {
  auto Bytes = std::make_shared<LargeBytes>();
  Packer P(*Bytes, Stop);
  // Times and owners are 0.
  P.add("bin", AE_IFDIR, nullptr, 0);
  P.add("bin/true", AE_IFLNK, "../usr/bin/clang", 0);
  P.add("usr", AE_IFDIR, nullptr, 0);
  P.add("usr/bin", AE_IFDIR, nullptr, 0);
  P.add("usr/bin/clang", AE_IFREG, Worker, Size);
  for (const char *Link : {"usr/bin/as", "usr/bin/g++", "usr/bin/gcc"})
    P.add(Link, AE_IFLNK, "clang", 0);
  P.finish();
  return Bytes;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

// 64-bit platforms that both icecream and ELF have names for.
static constexpr struct {
  const char *Name;
  unsigned Machine, ByteOrder;
} Platforms[] = {{"x86_64", EM_X86_64, ELFDATA2LSB},
                 {"aarch64", EM_AARCH64, ELFDATA2LSB},
                 {"ppc64le", EM_PPC64, ELFDATA2LSB},
                 {"riscv64", EM_RISCV, ELFDATA2LSB},
                 {"s390x", EM_S390, ELFDATA2MSB}};

static constexpr unsigned NativeOrder =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

/// Returns the platform of the static program that begins with these bytes.
/// Throws if the program can't be a worker: nodes have no dynamic linker.
static std::string platformOf(const unsigned char *Bytes, size_t Size) {
  Elf64_Ehdr Head;
  if (Size < sizeof(Head) || std::memcmp(Bytes, ELFMAG, SELFMAG) != 0 ||
      Bytes[EI_CLASS] != ELFCLASS64)
    fail("is not a 64-bit ELF program");
  std::memcpy(&Head, Bytes, sizeof(Head));
  const char *Name = nullptr;
  for (const auto &P : Platforms)
    if (P.Machine == Head.e_machine && P.ByteOrder == Bytes[EI_DATA] &&
        P.ByteOrder == NativeOrder)
      Name = P.Name;
  if (!Name)
    fail("is for an unknown machine (ELF machine number " +
         std::to_string(Head.e_machine) + ")");
  for (unsigned I = 0; I != Head.e_phnum; ++I) {
    Elf64_Phdr Segment;
    uint64_t At = Head.e_phoff + uint64_t(I) * Head.e_phentsize;
    if (At > Size || Size - At < sizeof(Segment))
      fail("is truncated");
    std::memcpy(&Segment, Bytes + At, sizeof(Segment));
    if (Segment.p_type == PT_INTERP)
      fail("is not linked statically, and nodes have none of its libraries");
  }
  return Name;
}

static std::string platformOfFile(const std::string &File) {
  Descriptor D = openFile(File);
  // The headers are at the beginning.
  unsigned char Bytes[4096];
  ssize_t N = D.isOpen() ? ::read(D.get(), Bytes, sizeof(Bytes)) : -1;
  if (N < 0)
    fail(std::strerror(errno));
  return platformOf(Bytes, static_cast<size_t>(N));
}

std::vector<Worker> dtlto::icecc::findWorkers(const std::string &File) {
  std::vector<Worker> Result;
  auto Add = [&](const std::string &Name, const char *Expected) {
    try {
      std::string Platform = platformOfFile(Name);
      if (Expected && Platform != Expected)
        fail("is for " + Platform);
      if (Result.empty() || Platform != Result.front().Platform)
        Result.push_back({Name, Platform});
    } catch (const sdk::Error &E) {
      fail("the worker " + quote(Name) + " cannot be used: " + E.what());
    }
  };
  Add(File, nullptr);
  for (const auto &P : Platforms)
    if (std::string Name = File + "-" + P.Name;
        ::access(Name.c_str(), F_OK) == 0)
      Add(Name, P.Name);
  return Result;
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// Returns what identifies the worker's file, the beginning of the entry's
/// name.
static std::string entryKey(const struct stat &S) {
  std::string Key = "worker" + std::to_string(Layout);
  for (uint64_t N :
       {uint64_t(S.st_dev), uint64_t(S.st_ino), uint64_t(S.st_size),
        uint64_t(S.st_mtim.tv_sec), uint64_t(S.st_mtim.tv_nsec),
        uint64_t(S.st_ctim.tv_sec), uint64_t(S.st_ctim.tv_nsec)})
    Key += "-" + std::to_string(N);
  return Key + ".";
}

static constexpr char Suffix[] = ".tar.zst";

/// Returns the digest in the name of an entry that begins with \p Key, or
/// nothing if there is no such entry.
static std::string findEntry(const std::string &Folder,
                             const std::string &Key) {
  std::error_code EC;
  for (fs::directory_iterator I(Folder, EC), E; !EC && I != E;
       I.increment(EC)) {
    std::string File = I->path().filename();
    if (File.size() == Key.size() + 64 + sizeof(Suffix) - 1 &&
        File.compare(0, Key.size(), Key) == 0 &&
        File.compare(Key.size() + 64, std::string::npos, Suffix) == 0)
      return File.substr(Key.size(), 64);
  }
  return "";
}

static void removeOldEntries(const std::string &Folder) {
  std::error_code EC;
  auto Now = fs::file_time_type::clock::now();
  for (fs::directory_iterator I(Folder, EC), E; !EC && I != E;
       I.increment(EC)) {
    std::error_code Ignored;
    auto Time = I->last_write_time(Ignored);
    if (!Ignored &&
        I->path().filename().string().compare(0, 6, "worker") == 0 &&
        Now - Time > MaxAge)
      fs::remove(I->path(), Ignored);
  }
}

static Tarball packWorkerFile(const std::string &Worker,
                              const std::atomic<bool> *Stop) {
  Tarball Program = readFile(openFile(Worker), Worker, Stop);
  return packWorker(reinterpret_cast<const char *>(Program->data()),
                    Program->size(), Stop);
}

std::unique_ptr<Environment>
Environment::ofWorker(const std::string &Worker, const std::string &CacheFolder,
                      const std::string &Platform,
                      const std::atomic<bool> *Stop) {
  struct stat Stat;
  if (::stat(Worker.c_str(), &Stat) != 0)
    fail("cannot read the worker " + quote(Worker) + ": " +
         std::strerror(errno));
  std::unique_ptr<Environment> E(new Environment);
  E->Worker = Worker;
  E->Platform = Platform;
  E->Features = NODE_FEATURE_ENV_ZSTD;
  std::string Key = entryKey(Stat);
  std::string Digest = CacheFolder.empty() ? "" : findEntry(CacheFolder, Key);
  auto SetDigest = [&](const std::string &Digest) {
    E->Name = "dtlto-" + Digest;
    E->File = CacheFolder + "/" + Key + Digest + Suffix;
  };
  if (!Digest.empty()) {
    SetDigest(Digest);
    E->OpenFile = openFile(E->File);
  }
  if (E->OpenFile.isOpen()) {
    E->Head = readHead(E->OpenFile);
    ::futimens(E->OpenFile.get(), nullptr); // mark it as used
    return E;
  }
  E->Bytes = packWorkerFile(Worker, Stop);
  SetDigest(sha256(*E->Bytes));
  E->Head.assign(E->Bytes->begin(),
                 E->Bytes->begin() + std::min(HeadSize, E->Bytes->size()));
  if (CacheFolder.empty())
    return E;
  std::error_code EC;
  fs::create_directories(CacheFolder, EC);
  // A cache that can't be written only costs time.
  if (writeFile(E->File, *E->Bytes))
    removeOldEntries(CacheFolder);
  return E;
}

std::unique_ptr<Environment> Environment::ofFile(const std::string &File,
                                                 const std::string &Platform) {
  static constexpr struct {
    const char *Suffix;
    unsigned Features;
  } Kinds[] = {{".tar.zst", NODE_FEATURE_ENV_ZSTD},
               {".tar.xz", NODE_FEATURE_ENV_XZ},
               {".tar.gz", 0},
               {".tar.bz2", 0},
               {".tgz", 0},
               {".tar", 0}};
  std::string Base = File.substr(File.rfind('/') + 1);
  for (const auto &Kind : Kinds) {
    size_t Length = std::strlen(Kind.Suffix);
    if (Base.size() <= Length ||
        Base.compare(Base.size() - Length, Length, Kind.Suffix) != 0)
      continue;
    std::unique_ptr<Environment> E(new Environment);
    E->OpenFile = openFile(File);
    if (!E->OpenFile.isOpen())
      fail("cannot read " + quote(File) + ": " + std::strerror(errno));
    E->Head = readHead(E->OpenFile);
    E->Name = Base.substr(0, Base.size() - Length);
    E->Platform = Platform;
    E->File = File;
    E->Features = Kind.Features;
    return E;
  }
  fail(quote(File) + " has none of the suffixes that icecream unpacks: "
                     ".tar.zst, .tar.xz, .tar.gz, .tar.bz2, .tgz, .tar");
}

Tarball Environment::bytes() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Bytes)
    return Bytes;
  // After a failure, open the file again.
  Descriptor D = std::move(OpenFile);
  if (!D.isOpen())
    D = openFile(File);
  if (Worker.empty()) // the user's
    return Bytes = readFile(D, File, nullptr);
  Tarball Result;
  try {
    Result = readFile(D, File, nullptr);
    if ("dtlto-" + sha256(*Result) == Name)
      return Bytes = Result;
  } catch (const sdk::Error &) {
    // Make it again, as if it were damaged.
  }
  ::unlink(File.c_str());
  Result = packWorkerFile(Worker, nullptr);
  if ("dtlto-" + sha256(*Result) != Name)
    fail("the worker " + quote(Worker) +
         " or libarchive has changed since the link began");
  writeFile(File, *Result);
  return Bytes = Result;
}
