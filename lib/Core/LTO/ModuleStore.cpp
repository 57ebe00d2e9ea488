//===- ModuleStore.cpp - Where optimised modules are kept -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/ModuleStore.h"
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

  Buffer get(const BundleId &Key) override {
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

class SharedModuleStore : public ModuleStore {
public:
  SharedModuleStore(std::shared_ptr<RemoteStore> Store, uint64_t Memory)
      : Store(std::move(Store)),
        Room(int64_t(std::min<uint64_t>(Memory, INT64_MAX))) {}

  bool isShared() const override { return true; }

  Buffer get(const BundleId &Key) override {
    int64_t Available = Room;
    if (!Store->mayGet() || Available <= 0)
      return Buffer();
    Buffer Entry = Store->getWithin(Key, uint64_t(Available));
    Room -= int64_t(Entry.bytes().size());
    return Entry;
  }

  bool mayPut() const override { return Store->mayPut(); }

  bool put(const BundleId &Key, StringRef Head, StringRef Bytes) override {
    std::string Entry = (Head + Bytes).str();
    return Store->put(Key, Entry.size(), [Entry] { return Entry; });
  }

  /// Stores can't remove entries. What isn't a frame counts as no module.
  bool remove(const BundleId &Key) override { return put(Key, "removed", ""); }

  std::string name(const BundleId &Key) const override {
    return Store->name() + " entry " + toHex(Key, /*LowerCase=*/true);
  }

private:
  const std::shared_ptr<RemoteStore> Store;
  std::atomic<int64_t> Room; // in bytes, for entries that are read
};

} // namespace

std::unique_ptr<ModuleStore> dtlto::makeFolderStore(Messages &Msg,
                                                    std::string Folder) {
  return std::make_unique<FolderStore>(Msg, std::move(Folder));
}

std::unique_ptr<ModuleStore>
dtlto::makeSharedStore(std::shared_ptr<RemoteStore> Store, uint64_t Memory) {
  return std::make_unique<SharedModuleStore>(std::move(Store), Memory);
}
