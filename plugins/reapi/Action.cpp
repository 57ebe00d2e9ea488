//===- Action.cpp - A job as an action ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Action.h"
#include "Text.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto::reapi;

// Fields for older servers are deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

//===----------------------------------------------------------------------===//
// The worker
//===----------------------------------------------------------------------===//

WorkerFile::~WorkerFile() {
  if (Data)
    ::munmap(const_cast<char *>(Data), Size);
}

int WorkerFile::open(const std::string &Path, std::string &Error) {
  int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int Why = 0;
  struct stat St;
  if (Fd < 0 || ::fstat(Fd, &St) != 0) {
    Error = std::strerror(Why = errno);
  } else if (!S_ISREG(St.st_mode) || !(St.st_mode & S_IXUSR)) {
    Why = ENOEXEC;
    Error = "not an executable file";
  } else {
    void *Bytes =
        ::mmap(nullptr, size_t(St.st_size), PROT_READ, MAP_PRIVATE, Fd, 0);
    if (Bytes == MAP_FAILED) {
      Error = std::strerror(Why = errno);
    } else {
      Data = static_cast<const char *>(Bytes);
      Size = size_t(St.st_size);
    }
  }
  if (Fd >= 0)
    ::close(Fd);
  return Why;
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

namespace {
/// A folder, sorted by the bytes of names, as the API requires.
struct Folder {
  struct File {
    BlobName Name;
    bool IsProgram = false;
  };
  std::map<std::string, File> Files;
  std::map<std::string, Folder> Folders;

  void add(std::string_view Path, const BlobName &Name,
           bool IsProgram = false) {
    size_t Slash = Path.find('/');
    if (Slash == Path.npos)
      Files[std::string(Path)] = {Name, IsProgram};
    else
      Folders[std::string(Path.substr(0, Slash))].add(Path.substr(Slash + 1),
                                                      Name, IsProgram);
  }
};
} // namespace

/// Adds \p Text to \p A's blobs.
static BlobName addBlob(Action &A, DigestKind Kind, std::string Text) {
  A.Storage.push_back(std::move(Text));
  BlobName Name = nameBlob(Kind, A.Storage.back());
  A.Blobs.push_back({Name, A.Storage.back()});
  return Name;
}

static BlobName addFolder(Action &A, DigestKind Kind, const Folder &F) {
  re::Directory D;
  for (const auto &[Name, File] : F.Files) {
    re::FileNode *N = D.add_files();
    N->set_name(Name);
    setDigest(*N->mutable_digest(), File.Name);
    N->set_is_executable(File.IsProgram);
  }
  for (const auto &[Name, Sub] : F.Folders) {
    re::DirectoryNode *N = D.add_directories();
    N->set_name(Name);
    setDigest(*N->mutable_digest(), addFolder(A, Kind, Sub));
  }
  return addBlob(A, Kind, D.SerializeAsString());
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

// Of a tar header, in bytes.
static constexpr size_t TarBlock = 512, SizeAt = 124, SizeDigits = 11;

std::string_view dtlto::reapi::manifestOf(std::string_view Part) {
  constexpr std::string_view Name("manifest.json\0", 14);
  if (Part.size() < TarBlock || Part.substr(0, Name.size()) != Name)
    return {};
  uint64_t Size = 0;
  for (char C : Part.substr(SizeAt, SizeDigits)) {
    if (C < '0' || C > '7')
      return {};
    Size = 8 * Size + uint64_t(C - '0');
  }
  if (Size > Part.size() - TarBlock)
    return {};
  return Part.substr(TarBlock, size_t(Size));
}

BlobName ActionMaker::nameInput(const dtlto_input &In, std::string_view Bytes) {
  if (Kind == DigestKind::Blake3) // the linker has computed it
    return {hexDigits(In.digest, sizeof(In.digest)), Bytes.size()};
  if (In.role != DTLTO_ROLE_PRIMARY && In.role != DTLTO_ROLE_IMPORT)
    return nameBlob(Kind, Bytes);
  std::array<uint8_t, sizeof(In.digest)> Key;
  std::copy(std::begin(In.digest), std::end(In.digest), Key.begin());
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Modules.find(Key);
    if (It != Modules.end())
      return It->second;
  }
  BlobName Name = nameBlob(Kind, Bytes);
  std::lock_guard<std::mutex> Lock(Mutex);
  return Modules[Key] = Name;
}

/// Sets a fixed PATH: the worker's own would differ between machines.
static void setPath(re::Command &Command) {
  auto *Path = Command.add_environment_variables();
  Path->set_name("PATH");
  Path->set_value("/usr/local/bin:/usr/bin:/bin");
}

/// Declares that \p Command writes the only output of \p A.
static void addOutput(re::Command &Command, const Action &A) {
  Command.add_output_paths(A.Output);
  Command.add_output_files(A.Output); // for servers before API 2.1
}

void ActionMaker::addPlatform(re::Command &Command, re::Action &Proto) const {
  for (const auto &[Name, Value] : Config.Platform)
    // Workers before API 2.2 read the command's platform, others the action's.
    for (re::Platform *P :
         {Command.mutable_platform(), Proto.mutable_platform()}) {
      re::Platform::Property *New = P->add_properties();
      New->set_name(Name);
      New->set_value(Value);
    }
}

void ActionMaker::finish(Action &A, re::Action &Proto, const BlobName &Root,
                         const re::Command &Command) const {
  setDigest(*Proto.mutable_input_root_digest(), Root);
  setDigest(*Proto.mutable_command_digest(),
            addBlob(A, Kind, Command.SerializeAsString()));
  A.Name = addBlob(A, Kind, Proto.SerializeAsString());
}

Action ActionMaker::make(const sdk::Job &J) {
  Action A;
  Folder Root;
  re::Command Command;
  Folder &Inputs = Config.sendsWorker() ? Root.Folders["job"] : Root;
  J.forEachInput([&](std::string_view Path, std::string_view Bytes,
                     const dtlto_input &In) {
    BlobName Name = nameInput(In, Bytes);
    Inputs.add(Path, Name);
    A.Blobs.push_back({std::move(Name), Bytes});
  });
  if (Config.sendsWorker()) {
    A.Bundle = J.bundle();
    std::string_view Manifest;
    if (A.Bundle.begin() != A.Bundle.end())
      Manifest = manifestOf(A.Bundle.begin()->Bytes);
    if (Manifest.empty())
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                       "the linker's bundle has no manifest");
    BlobName Name = nameBlob(Kind, Manifest);
    Inputs.add("manifest.json", Name);
    A.Blobs.push_back({std::move(Name), Manifest});
    Root.add("dtlto-codegen", WorkerName, /*IsProgram=*/true);
    A.Blobs.push_back({WorkerName, Worker});
    A.Output = "object";
    for (const char *Arg :
         {"./dtlto-codegen", "--frame", "job", "-o", "object"})
      Command.add_arguments(Arg);
  } else {
    A.Output = J.output();
    std::vector<std::string> Args = J.args();
    Args.front() = Config.Worker;
    for (std::string &Arg : Args)
      Command.add_arguments(std::move(Arg));
    setPath(Command);
  }
  addOutput(Command, A);
  re::Action Proto;
  addPlatform(Command, Proto);
  // Don't use cached results of other clangs.
  if (!Config.sendsWorker())
    Proto.set_salt("clang " + LlvmVersion);
  finish(A, Proto, addFolder(A, Kind, Root), Command);
  if (Config.CacheUse != Results::Write || J.avoid()) {
    Proto.set_do_not_cache(true);
    A.UncachedName = addBlob(A, Kind, Proto.SerializeAsString());
  }
  return A;
}

Action ActionMaker::makeProbe() const {
  Action A;
  re::Command Command;
  Command.add_arguments(Config.sendsWorker() ? "true" : Config.Worker);
  Command.add_arguments("--version");
  setPath(Command);
  re::Action Proto;
  addPlatform(Command, Proto);
  Proto.set_do_not_cache(true);
  finish(A, Proto, addFolder(A, Kind, {}), Command);
  return A;
}

Action ActionMaker::makeSlot(std::string_view Key) const {
  Action A;
  A.Output = "bytes";
  re::Command Command;
  Command.add_arguments("dtlto.store");
  addOutput(Command, A);
  re::Action Proto;
  Proto.set_salt("dtlto.store/1 " + std::string(Key));
  // Each server has the blob of an empty folder, which is empty.
  finish(A, Proto, nameBlob(Kind, ""), Command);
  return A;
}
