//===- PluginLoader.cpp - Finding and checking a plugin -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginLoader.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <cstddef>
#include <cstring>
#include <map>

using namespace llvm;
using namespace dtlto;

#ifdef _WIN32
#define PREFIX "dtlto_"
#define SUFFIX ".dll"
#else
#define PREFIX "libdtlto_"
#define SUFFIX ".so"
#endif

/// Returns the file for \p Name in \p Folder, or "".
static std::string findIn(StringRef Folder, StringRef Name) {
  for (const std::string &File : {(PREFIX + Name + SUFFIX).str(), Name.str()}) {
    SmallString<256> Path(Folder);
    sys::path::append(Path, File);
    if (sys::fs::exists(Path) && !sys::fs::is_directory(Path))
      return Path.str().str();
  }
  return {};
}

/// Returns the names of files in \p Folder, sorted.
static std::vector<std::string> filesIn(StringRef Folder) {
  std::vector<std::string> Names;
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder, EC), E; I != E && !EC;
       I.increment(EC))
    Names.push_back(sys::path::filename(I->path()).str());
  llvm::sort(Names);
  return Names;
}

/// Returns the word of \p Candidates that is closest to \p Name, or "".
static std::string nearestName(StringRef Name,
                               ArrayRef<std::string> Candidates) {
  SmallVector<StringRef, 16> Refs(Candidates.begin(), Candidates.end());
  return nearestWord(Name, Refs).str();
}

/// Returns the file next to \p Path, which doesn't exist, with a similar name.
static std::string findNearestFile(StringRef Path) {
  StringRef Folder = sys::path::parent_path(Path);
  std::string Name = nearestName(sys::path::filename(Path), filesIn(Folder));
  if (Name.empty())
    return "";
  SmallString<256> NearestPath(Folder);
  sys::path::append(NearestPath, Name);
  return NearestPath.str().str();
}

bool dtlto::isStoreName(StringRef Name) { return Name.starts_with("store_"); }

std::vector<PluginFile> dtlto::findPlugins(ArrayRef<std::string> Folders) {
  std::map<std::string, std::string> Paths;
  for (const std::string &F : Folders)
    for (StringRef File : filesIn(F)) {
      StringRef Name = File;
      // libdtlto_gold.so is a plugin of other linkers.
      if (!Name.consume_front(PREFIX) || !Name.consume_back(SUFFIX) ||
          Name == "gold")
        continue;
      if (std::string Path = findIn(F, Name); !Path.empty())
        Paths.emplace(Name, Path);
    }
  std::vector<PluginFile> Plugins;
  for (const auto &[Name, Path] : Paths)
    Plugins.push_back({Name, Path});
  return Plugins;
}

// More would hide the rest of a message.
static constexpr size_t MaxNames = 30;

static Expected<std::string> findPlugin(StringRef Name,
                                        ArrayRef<std::string> Folders) {
  if (any_of(Name, [](char C) { return sys::path::is_separator(C); })) {
    if (!sys::fs::exists(Name)) {
      std::string Nearest = findNearestFile(Name);
      return failure("plugin '" + Name + "': no such file" +
                     (Nearest.empty()
                          ? "; a name without a '/' is looked up among the "
                            "installed plugins"
                          : ", did you mean '" + Nearest + "'?"));
    }
    return Name.str();
  }
  for (const std::string &F : Folders)
    if (std::string Path = findIn(F, Name); !Path.empty())
      return Path;
  std::vector<std::string> Candidates;
  for (PluginFile &File : findPlugins(Folders))
    if (isStoreName(File.Name) == isStoreName(Name))
      Candidates.push_back(std::move(File.Name));
  std::string Text =
      ("no plugin '" + Name + "' in " + join(Folders, ", ")).str();
  if (!Candidates.empty())
    Text += (Folders.size() == 1 ? ", which has " : ", which have ") +
            printable(join(ArrayRef(Candidates).take_front(MaxNames), ", ")) +
            (Candidates.size() > MaxNames ? ", ..." : "");
  Text += " (DTLTO_PLUGIN_PATH adds folders)";
  if (std::string Nearest = nearestName(Name, Candidates); !Nearest.empty())
    Text += ", did you mean '" + Nearest + "'?";
  return failure(Text);
}

Error dtlto::checkPlugin(const void *Exported, StringRef Name) {
  // Only these fields are the same in every major version.
  struct {
    uint32_t Size, Major, Minor;
  } Head;
  static_assert(offsetof(dtlto_plugin, size) == 0 &&
                offsetof(dtlto_plugin, abi_major) == 4 &&
                offsetof(dtlto_plugin, abi_minor) == 8);
  std::memcpy(&Head, Exported, sizeof(Head));
  std::string ABI =
      std::to_string(Head.Major) + "." + std::to_string(Head.Minor);
  if (Head.Major != DTLTO_ABI_MAJOR)
    return failure("plugin '" + Name + "' has ABI " + ABI +
                   ", but this linker supports " + Twine(DTLTO_ABI_MAJOR) +
                   "." + Twine(DTLTO_ABI_MINOR) +
                   ": install a plugin that was built for it");
  constexpr unsigned MinSize =
      offsetof(dtlto_plugin, extension) + sizeof(dtlto_plugin::extension);
  if (Head.Size < MinSize)
    return failure("plugin '" + Name + "' has a description of " +
                   Twine(Head.Size) + " bytes, but ABI " + ABI + " needs " +
                   Twine(MinSize) + ": rebuild it with the header of that ABI");
  const auto &P = *static_cast<const dtlto_plugin *>(Exported);
  if (!P.name || !P.version || !P.configure || !P.open || !P.submit ||
      !P.cancel || !P.load || !P.close || !P.extension)
    return failure("plugin '" + Name +
                   "' lacks a name, a version or a function");
  return Error::success();
}

StringRef dtlto::shortPluginName(StringRef Name) {
  StringRef Stem = sys::path::stem(Name);
  Stem.consume_front(PREFIX);
  return Stem;
}

bool dtlto::isShippedPlugin(StringRef Name, StringRef Folder) {
  return is_contained(
             {"local", "distcc", "icecc", "distributor", "make", "reapi"},
             Name) &&
         !findIn(Folder, Name).empty();
}

static Triple::ArchType thisProcessor() {
  return Triple(sys::getProcessTriple()).getArch();
}

/// Returns the architecture of the library \p Path unless it is this process's.
static std::string otherProcessor(StringRef Path) {
  auto Library = object::ObjectFile::createObjectFile(Path);
  if (!Library) {
    consumeError(Library.takeError());
    return "";
  }
  Triple::ArchType Arch = Library->getBinary()->getArch();
  return Arch == thisProcessor() ? "" : Triple::getArchTypeName(Arch).str();
}

Expected<const dtlto_plugin *>
dtlto::loadPlugin(StringRef Name, ArrayRef<std::string> Folders) {
  Expected<std::string> Path = findPlugin(Name, Folders);
  if (!Path)
    return Path.takeError();
  std::string Why;
  void *Library = openLibrary(*Path, Why);
  if (!Library) {
    // The system may report a library for another architecture as missing.
    if (std::string Arch = otherProcessor(*Path); !Arch.empty())
      Why = "it is for " + Arch + ", but this linker is for " +
            Triple::getArchTypeName(thisProcessor()).str();
    return failure("plugin '" + Name + "' cannot be loaded: " +
                   (Why.empty() ? "unknown reason" : Why));
  }
  const auto *Plugin = static_cast<const dtlto_plugin *>(
      findSymbol(Library, DTLTO_PLUGIN_SYMBOL));
  if (!Plugin)
    return failure("'" + *Path + "' is not a plugin: it has no symbol " +
                   DTLTO_PLUGIN_SYMBOL +
                   "; --thinlto-dist-plugin expects a " PREFIX "<name>" SUFFIX);
  if (Error E = checkPlugin(Plugin, Name))
    return std::move(E);
  return Plugin;
}
