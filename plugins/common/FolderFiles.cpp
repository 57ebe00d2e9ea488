//===- FolderFiles.cpp - The files of jobs --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FolderSession's other half: a job's way into files, and its object's out of
// them.
//
//===----------------------------------------------------------------------===//

#include "FolderSession.h"
#include "Text.h"
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;
using namespace std::chrono_literals;

// How often objects are looked for whose end nobody has told: on a network's
// file system, another machine's writing is no event here.
static constexpr auto ScanPeriod = 1s;
void FolderSession::watchFolderOf(const std::string &Name) {
  std::string Prefix = Name.substr(0, Name.rfind('/') + 1);
  int Watch =
      ::inotify_add_watch(Notify.get(), (Folder->path() + "/" + Prefix).c_str(),
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_OPEN | IN_ONLYDIR);
  if (Watch >= 0)
    Watched[Watch] = Prefix;
}

/// A file that other jobs may have as well. There is only one for each name.
void FolderSession::writeInput(const std::string &Path,
                               std::string_view Bytes) {
  auto It = Written.find(Path);
  if (It == Written.end()) {
    Folder->write(Path, Bytes); // may throw
    Written[Path] = {Bytes.data(), Bytes.size()};
    return;
  }
  if (It->second.first == Bytes.data() && It->second.second == Bytes.size())
    return;
  std::string There;
  if (!Folder->read(Path, There) || There != Bytes)
    throw Error(DTLTO_ERROR_CALLER,
                "two jobs have different files of the name " + quote(Path));
}

void FolderSession::writeFiles(Entry &E) {
  const Job &J = *E.J;
  FolderJob &F = E.Files;
  std::string Primary, Index;
  std::string_view IndexBytes;
  // What the object depends on, as text.
  std::string Record = LlvmVersion + "\n" + S.Compiler + "\n";
  J.forEachInput([&](std::string_view Path, std::string_view Bytes,
                     const dtlto_input &In) {
    if (In.role == DTLTO_ROLE_PRIMARY)
      Primary = Path;
    if (In.role == DTLTO_ROLE_INDEX)
      Index = Path, IndexBytes = Bytes;
    Record += hexDigits(In.digest, sizeof(In.digest)) + " " +
              std::string(Path) + "\n";
  });
  if (Primary.empty() || Index.empty())
    throw Error(DTLTO_ERROR_CALLER, "a job without a module or an index");

  // No other attempt has these names, and no program may still write to them.
  auto IsTaken = [&](const std::string &Name) {
    FolderJob Other;
    Other.Output = Name + ".native.o";
    if (ByName.count(Other.Output) || ByName.count(Other.words()))
      return true;
    for (const auto &R : Runs)
      if (R->Outputs.count(Name + ".native.o"))
        return true;
    return false;
  };
  E.Base = Primary;
  for (unsigned N = 2; IsTaken(E.Base); ++N)
    E.Base = Primary + "." + std::to_string(N);
  F.Name = J.name();
  F.Output = E.Base + ".native.o";
  std::string OwnIndex = E.Base + ".thinlto.bc";

  F.Args = S.CompilerFirst;
  if (S.isWorker()) {
    std::string Name = E.Base + ".i";
    F.Args.insert(F.Args.end(), {"--frame", "-c", Name, "-o", F.Output});
    // The schema wants an index, and nobody reads it.
    F.Inputs = {Name, OwnIndex};
  } else {
    std::vector<std::string> Args = J.args();
    for (size_t I = 1; I < Args.size(); ++I) {
      if (Args[I] == "-fthinlto-index=" + Index)
        Args[I] = "-fthinlto-index=" + OwnIndex;
      else if (Args[I - 1] == "-o" && Args[I] == J.output())
        Args[I] = F.Output;
      F.Args.push_back(Args[I]);
    }
    F.Inputs = {Primary, OwnIndex};
  }
  F.Args.insert(F.Args.end(), S.CompilerLast.begin(), S.CompilerLast.end());
  for (const std::string &Arg : F.Args)
    Record += Arg + "\n";

  // A kept object counts if it was made of the same.
  std::string Old;
  bool IsCurrent =
      !S.Fresh && Folder->read(E.Base + ".job", Old) && Old == Record;
  if (!IsCurrent) {
    for (const std::string &Old : {E.Base + ".job", F.Output, F.words()})
      Folder->remove(Old);
  }
  Folder->remove(F.wordsOfFailure());
  if (S.isWorker())
    Folder->write(F.Inputs[0], J.bundle().bytes());
  else
    J.forEachInput([&](std::string_view Path, std::string_view Bytes,
                       const dtlto_input &In) {
      if (In.role == DTLTO_ROLE_INDEX)
        return;
      writeInput(std::string(Path), Bytes);
      if (In.role != DTLTO_ROLE_PRIMARY)
        F.Inputs.emplace_back(Path);
    });
  Folder->write(OwnIndex, IndexBytes);
  if (!S.Fresh)
    Folder->write(E.Base + ".job", Record);
  watchFolderOf(F.Output);
  E.Begins = S.isWorker() ? F.Inputs[0] : OwnIndex;
  E.Ends = S.KeepsWords ? F.words() : F.Output;
  ByName[E.Ends] = ByName[E.Begins] = J.id();
}

void FolderSession::readEvents() {
  alignas(inotify_event) char Block[16 << 10];
  ssize_t N;
  while ((N = ::read(Notify.get(), Block, sizeof(Block))) > 0)
    for (ssize_t At = 0; At < N;) {
      const auto *Ev = reinterpret_cast<const inotify_event *>(Block + At);
      At += static_cast<ssize_t>(sizeof(inotify_event) + Ev->len);
      if (Ev->mask & IN_Q_OVERFLOW)
        NextScan = {};
      auto Prefix = Watched.find(Ev->wd);
      if (Ev->len == 0 || Prefix == Watched.end())
        continue;
      std::string Name = Prefix->second + Ev->name;
      auto Of = ByName.find(Name);
      if (Of == ByName.end())
        continue;
      uint64_t Id = Of->second;
      Entry &E = Jobs.at(Id);
      if (!E.On)
        continue; // we have written it
      if (Ev->mask & IN_OPEN) {
        if (Name != E.Ends && !std::exchange(E.IsRunning, true)) {
          ++NumRunning;
          E.J->state(DTLTO_STATE_RUNNING);
        }
        continue;
      }
      std::string Why;
      if (Name == E.Ends)
        take(Id, Why); // there may be more of it to come
    }
}

/// Takes objects that haven't changed since the last look.
void FolderSession::scan() {
  NextScan = Clock::now() + ScanPeriod;
  std::vector<uint64_t> Still;
  for (auto &[Id, E] : Jobs) {
    struct stat Info;
    if (!E.On || ::fstatat(Folder->fd(), E.Ends.c_str(), &Info,
                           AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    auto Seen = std::make_pair(uint64_t(Info.st_size),
                               uint64_t(Info.st_mtim.tv_sec) * 1000000000 +
                                   uint64_t(Info.st_mtim.tv_nsec));
    if (std::exchange(E.Seen, Seen) == Seen && Seen != E.Refused)
      Still.push_back(Id);
  }
  for (uint64_t Id : Still) {
    std::string Why;
    if (!take(Id, Why))
      Jobs.at(Id).Refused = Jobs.at(Id).Seen;
  }
}

/// Ends the job \p Id with its object. False: there is none, as \p Why says. If
/// the program \p HasEnded, the object is not one that is still being written:
/// the linker decides what an odd one is, and it is not kept.
bool FolderSession::take(uint64_t Id, std::string &Why, bool HasEnded) {
  Entry &E = Jobs.at(Id);
  std::vector<char> Object;
  ResultMemory::Share Share(Results);
  if (Folder->readObject(E.Files.Output, Share, Object, Why)) {
    Why = E.J->problem({Object.data(), Object.size()});
    bool HasFailed;
    if (HasEnded && !Why.empty() &&
        !hasError(wordsOf(E, /*IsAlone=*/false, HasFailed))) {
      Folder->remove(E.Files.Output);
      Why.clear();
    }
  }
  if (!Why.empty())
    return false;
  std::string Words;
  // A launcher may have taken the place of the shell that moves the file.
  if (S.KeepsWords && !Folder->read(E.Files.words(), Words))
    Folder->read(E.Files.wordsOfFailure(), Words);
  finish(Id, {std::move(Object), Words, std::string(baseName(S.Program))});
  return true;
}
