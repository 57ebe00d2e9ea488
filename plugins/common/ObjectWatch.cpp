//===- ObjectWatch.cpp - Detects when jobs begin and end ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectWatch.h"
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto;
using namespace std::chrono_literals;

static constexpr auto ScanPeriod = 1s;

ObjectWatch::ObjectWatch(const JobFolder &Folder,
                         std::function<void(uint64_t)> OnBegin,
                         std::function<bool(uint64_t)> OnComplete)
    : Folder(Folder), OnBegin(std::move(OnBegin)),
      OnComplete(std::move(OnComplete)),
      Notify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

void ObjectWatch::add(uint64_t Job, const std::string &FirstFile,
                      const std::string &LastFile) {
  Jobs[Job] = {FirstFile, LastFile};
  ByName[FirstFile] = ByName[LastFile] = Job;
  std::string Prefix = LastFile.substr(0, LastFile.rfind('/') + 1);
  int Watch =
      ::inotify_add_watch(fd(), (Folder.path() + "/" + Prefix).c_str(),
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_OPEN | IN_ONLYDIR);
  if (Watch >= 0)
    WatchPrefixes[Watch] = Prefix;
}

void ObjectWatch::remove(uint64_t Job) {
  auto It = Jobs.find(Job);
  if (It == Jobs.end())
    return;
  ByName.erase(It->second.FirstFile);
  ByName.erase(It->second.LastFile);
  Jobs.erase(It);
}

void ObjectWatch::handleEvent(const std::string &Name, bool IsOpened) {
  auto It = ByName.find(Name);
  if (It == ByName.end())
    return;
  const uint64_t Job = It->second;
  const Entry &E = Jobs.at(Job);
  bool IsEnd = Name == E.LastFile;
  if (!E.IsStarted || IsOpened == IsEnd)
    return;
  if (IsOpened)
    OnBegin(Job);
  else
    OnComplete(Job); // if it is not complete, more events follow
}

void ObjectWatch::readEvents() {
  alignas(inotify_event) char Block[16 << 10];
  ssize_t N;
  while ((N = ::read(fd(), Block, sizeof(Block))) > 0)
    for (ssize_t At = 0; At < N;) {
      const auto *Ev = reinterpret_cast<const inotify_event *>(Block + At);
      At += static_cast<ssize_t>(sizeof(inotify_event) + Ev->len);
      if (Ev->mask & IN_Q_OVERFLOW)
        NextScan = {};
      auto Prefix = WatchPrefixes.find(Ev->wd);
      if (Ev->len != 0 && Prefix != WatchPrefixes.end())
        handleEvent(Prefix->second + Ev->name, Ev->mask & IN_OPEN);
    }
}

void ObjectWatch::scan() {
  if (Clock::now() < NextScan)
    return;
  NextScan = Clock::now() + ScanPeriod;
  std::vector<uint64_t> Unchanged;
  for (auto &[Job, E] : Jobs) {
    struct stat Info;
    if (!E.IsStarted || ::fstatat(Folder.fd(), E.LastFile.c_str(), &Info,
                                  AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    auto Stamp = std::make_pair(uint64_t(Info.st_size),
                                uint64_t(Info.st_mtim.tv_sec) * 1000000000 +
                                    uint64_t(Info.st_mtim.tv_nsec));
    if (std::exchange(E.Stamp, Stamp) == Stamp && Stamp != E.RefusedStamp)
      Unchanged.push_back(Job);
  }
  for (uint64_t Job : Unchanged)
    if (!OnComplete(Job))
      Jobs.at(Job).RefusedStamp = Jobs.at(Job).Stamp;
}
