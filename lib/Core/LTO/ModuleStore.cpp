//===- ModuleStore.cpp - Where optimised modules are kept -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/ModuleStore.h"
#include "Host/FarmStore.h"
#include "Support/AtomicFile.h"
#include "Support/FileTask.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>

using namespace llvm;
using namespace dtlto;

namespace {

class FolderStore : public ModuleStore {
public:
  FolderStore(Messages &Msg, std::string Folder)
      : Msg(Msg), Folder(std::move(Folder)) {}

  bool isShared() const override { return false; }

  std::optional<Buffer> get(const BundleId &Key) override {
    struct Read {
      std::unique_ptr<MemoryBuffer> Bytes;
      std::error_code Why;
    };
    std::string Path = pathOf(Key);
    auto R = std::make_shared<Read>();
    if (!runInFolder([R, Path] {
          auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
          R->Why = File.getError();
          if (!File)
            return;
          R->Bytes = std::move(*File);
          // The file may be mapped. Read it on this thread rather than by page
          // faults on threads that can't be abandoned.
          uint8_t Checksum = 0;
          StringRef Text = R->Bytes->getBuffer();
          for (size_t At = 0; At < Text.size(); At += 4096)
            Checksum += static_cast<uint8_t>(Text[At]);
          static std::atomic<uint8_t> Sink;
          Sink = Checksum;
        }))
      return Buffer();
    if (R->Bytes)
      return Buffer::own(std::move(R->Bytes));
    if (R->Why != std::errc::no_such_file_or_directory)
      Msg.debug("the kept module '" + Path +
                "' cannot be read: " + R->Why.message());
    return Buffer();
  }

  bool mayPut() const override { return !IsUnresponsive; }

  bool put(const BundleId &Key, StringRef Head, StringRef Bytes) override {
    auto Why = std::make_shared<std::string>();
    auto Text = std::make_shared<std::string>((Head + Bytes).str());
    if (!runInFolder(
            [Why, Text, Folder = Folder, Path = pathOf(Key)] {
              if (std::error_code EC = sys::fs::create_directories(Folder))
                *Why = EC.message();
              else if (Error E = replaceFile(
                           Path, [&](raw_ostream &OS) { OS << *Text; }))
                *Why = toString(std::move(E));
            },
            Text->size()))
      return false;
    if (!Why->empty() && !HasFailed.exchange(true))
      Msg.warning("optimised modules cannot be kept in '" + Folder +
                  "': " + *Why);
    return Why->empty();
  }

  bool remove(const BundleId &Key) override {
    auto IsRemoved = std::make_shared<bool>(false);
    return runInFolder([IsRemoved, Path = pathOf(Key)] {
             *IsRemoved = !sys::fs::remove(Path);
           }) &&
           *IsRemoved;
  }

  std::string name(const BundleId &Key) const override {
    return "'" + pathOf(Key) + "'";
  }

  void finish() override {
    runInFolder([Folder = Folder] {
      if (sys::fs::exists(Folder))
        pruneCache(Folder, CachePruningPolicy());
    });
  }

private:
  /// Runs \p Task, which uses the folder; see runFileTask(). Returns false if
  /// the folder doesn't respond; that is reported once.
  bool runInFolder(std::function<void()> Task, uint64_t Bytes = 0) {
    if (IsUnresponsive)
      return false;
    if (runFileTask(Folder, std::move(Task), Bytes) == FileAccess::Done)
      return true;
    if (!IsUnresponsive.exchange(true))
      Msg.note("optimised modules cannot be kept in '" + Folder +
               "': " + NoAnswer);
    return false;
  }

  /// Returns the entry's path; only files of this form are pruned by LLVM.
  std::string pathOf(const BundleId &Key) const {
    SmallString<256> Path(Folder);
    sys::path::append(Path, "llvmcache-" + toHex(Key, /*LowerCase=*/true));
    return Path.str().str();
  }

  Messages &Msg;
  const std::string Folder;
  std::atomic<bool> HasFailed{false};      // on a write; reported
  std::atomic<bool> IsUnresponsive{false}; // the folder doesn't respond
};

class FarmModuleStore : public ModuleStore {
public:
  explicit FarmModuleStore(const HostContext &Host)
      : Msg(Host.Msg), Farm(Host.Store),
        Room(int64_t(std::min<uint64_t>(Host.JobOpts.Memory, INT64_MAX))) {}

  bool isShared() const override { return true; }

  std::optional<Buffer> get(const BundleId &Key) override {
    int64_t Available = Room;
    // Stop after one failure: the next would take as long.
    if (HasGetFailed || Available <= 0)
      return Buffer();
    Expected<std::optional<Buffer>> Entry = Farm->get(Key, uint64_t(Available));
    if (!Entry) {
      HasGetFailed = true;
      warnOnce("read from", Entry.takeError());
      return Buffer();
    }
    if (*Entry)
      Room -= int64_t((*Entry)->bytes().size());
    return std::move(*Entry);
  }

  bool mayPut() const override {
    return !HasPutFailed && Farm->mayBeAvailable();
  }

  bool put(const BundleId &Key, StringRef Head, StringRef Bytes) override {
    if (HasPutFailed)
      return false;
    Expected<bool> IsStored = Farm->put(Key, (Head + Bytes).str());
    if (IsStored)
      return *IsStored;
    HasPutFailed = true;
    warnOnce("kept in", IsStored.takeError());
    return false;
  }

  /// The farm's store can't remove entries; an empty one means no module.
  bool remove(const BundleId &Key) override { return put(Key, "", ""); }

  std::string name(const BundleId &Key) const override {
    return "the farm's store entry " + toHex(Key, /*LowerCase=*/true);
  }

private:
  void warnOnce(StringRef What, Error E) {
    std::string Why = toString(std::move(E));
    if (!HasWarned.exchange(true))
      Msg.warning("optimised modules cannot be " + What +
                  " the farm's store: " + Why);
  }

  Messages &Msg;
  const std::shared_ptr<FarmStore> Farm;
  std::atomic<int64_t> Room; // in bytes, for entries that are read
  std::atomic<bool> HasGetFailed{false}, HasPutFailed{false}, HasWarned{false};
};

} // namespace

std::unique_ptr<ModuleStore> dtlto::makeFolderStore(Messages &Msg,
                                                    std::string Folder) {
  return std::make_unique<FolderStore>(Msg, std::move(Folder));
}

std::unique_ptr<ModuleStore> dtlto::makeFarmStore(const HostContext &Host) {
  return std::make_unique<FarmModuleStore>(Host);
}
