//===- CasesPlugin.cpp - The entry and open()
//-------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "llvm/Object/ELFObjectFile.h"
#include <cstddef>
#include <cstring>
#include <dlfcn.h>

using namespace llvm;
using namespace dtlto::check;

const dtlto_plugin &dtlto::check::loadPlugin(const std::string &Path) {
  auto Require = [](bool Holds, StringRef Section, const Twine &What,
                    StringRef Fix) {
    if (!Holds)
      failAndExit(Section, What, Fix);
  };
  reportStage("loading");
  void *Library = ::dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  reportStage("loaded");
  watchChildren();
  if (!Library)
    failAndExit("PluginAPI.h",
                Twine("the plugin cannot be loaded: ") + ::dlerror(),
                "link all libraries that the plugin needs; the host loads it "
                "with RTLD_NOW");
  const void *Raw = ::dlsym(Library, DTLTO_PLUGIN_SYMBOL);
  Require(Raw, "DTLTO_PLUGIN_SYMBOL", "there is no symbol " DTLTO_PLUGIN_SYMBOL,
          "define the constant, in C++ with extern \"C\", and do not hide it: "
          "the header's declaration has DTLTO_PLUGIN_EXPORT");
  uint32_t Head[3];
  std::memcpy(Head, Raw, sizeof(Head));
  Require(Head[1] == DTLTO_ABI_MAJOR, "Compatibility",
          "the plugin has ABI " + Twine(Head[1]) + "." + Twine(Head[2]) +
              ", the linker has " + Twine(DTLTO_ABI_MAJOR) + "." +
              Twine(DTLTO_ABI_MINOR),
          "set abi_major to DTLTO_ABI_MAJOR; majors must match");
  constexpr size_t MinSize =
      offsetof(dtlto_plugin, extension) + sizeof(dtlto_plugin::extension);
  Require(Head[0] >= MinSize, "dtlto_plugin.size",
          "`size` is " + Twine(Head[0]) +
              ", and the functions of ABI 1.0 take " + Twine(MinSize),
          "set `size` to sizeof(dtlto_plugin)");
  const auto &P = *static_cast<const dtlto_plugin *>(Raw);
  Require(P.name && P.version && P.configure && P.open && P.submit &&
              P.cancel && P.load && P.close && P.extension,
          "dtlto_plugin", "a name, a version or a function is null",
          "define all seven functions, also those with nothing to do");
  return P;
}

static void entry(const CaseContext &B) {
  StringRef Name = B.Plugin.name;
  expect(!Name.empty() && Name.size() <= 40 &&
             Name.find_first_of(" \t\n:/") == Name.npos,
         "dtlto_plugin.name", "the name is '" + Name + "'",
         "use one short word: the plugin's messages begin with it");
}

static void exports(const CaseContext &B) {
  Expected<object::OwningBinary<object::Binary>> Binary =
      object::createBinary(B.Path);
  auto *File = Binary ? dyn_cast<object::ELFObjectFileBase>(Binary->getBinary())
                      : nullptr;
  consumeError(Binary.takeError());
  if (!expect(File && File->is64Bit(), "PluginAPI.h",
              "the plugin is not a 64-bit ELF file",
              "build a shared library for this machine"))
    return;
  std::string ExtraSymbols;
  for (const object::ELFSymbolRef &S : File->getDynamicSymbolIterators()) {
    Expected<uint32_t> Flags = S.getFlags();
    Expected<StringRef> Name = S.getName();
    // Weak symbols, which C++ templates leave, are harmless. The address
    // sanitizer adds one symbol for each exported global.
    if (Flags && Name && S.getBinding() == ELF::STB_GLOBAL &&
        !(*Flags & object::SymbolRef::SF_Undefined) &&
        *Name != DTLTO_PLUGIN_SYMBOL && !Name->starts_with("__odr_asan"))
      ExtraSymbols += " " + Name->str();
    consumeError(Flags.takeError());
    consumeError(Name.takeError());
  }
  expect(ExtraSymbols.empty(), "DTLTO_PLUGIN_SYMBOL",
         "the plugin also exports" + ExtraSymbols,
         "compile with -fvisibility=hidden (and link archives with "
         "-Wl,--exclude-libs,ALL), so that names cannot clash");
}

static void arguments(const CaseContext &B) {
  Options Opts = B.Opts;
  Opts.PluginArgs.push_back("no-such-argument=of-any-plugin");
  Session S(B.Plugin, Opts);
  int32_t Status = S.open(1);
  if (expect(Status == DTLTO_ERROR_CALLER, "dtlto_plugin.open",
             "with the argument '" + Opts.PluginArgs.back() +
                 "', open() returned " + dtlto::statusName(Status),
             "report a user's mistake: return DTLTO_ERROR_CALLER for an "
             "unknown argument"))
    expect(StringRef(S.openErrors()).contains("no-such-argument"),
           "dtlto_plugin.open",
           "the message about a wrong argument does not name the argument: " +
               S.openErrors(),
           "say which argument it is, and what you expected");
}

static void extension(const CaseContext &B) {
  expect(!B.Plugin.extension("com.example.no-such-extension/1"),
         "dtlto_plugin.extension",
         "the plugin has an extension 'com.example.no-such-extension/1'",
         "return null for each unknown id");
}

const std::vector<Case> dtlto::check::PluginCases = {
    {"entry", "the plugin can be loaded, and its entry is complete", entry,
     true},
    {"exports", "the entry is the only symbol that it exports", exports},
    {"open-close", "a session without jobs begins and ends",
     [](const CaseContext &B) { Session S(B, 1); }, true},
    {"arguments", "an unknown argument is the caller's error, with a message",
     arguments},
    {"extension", "unknown extensions are null", extension},
};
