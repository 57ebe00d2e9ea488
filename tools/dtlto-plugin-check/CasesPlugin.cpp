//===- CasesPlugin.cpp - The entry, and sessions without jobs -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Cases.h"
#include "ExportedSymbols.h"
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <random>

using namespace dtlto::check;

const dtlto_plugin &Bench::plugin() const {
  reportLoading();
  void *Library = ::dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  reportLoaded();
  watchChildren();
  if (!Library)
    failAndExit("PluginAPI.h",
                std::string("the plugin can't be loaded: ") + ::dlerror(),
                "link all that it needs; the host loads it with RTLD_NOW");
  const void *Raw = ::dlsym(Library, DTLTO_PLUGIN_SYMBOL);
  if (!Raw)
    failAndExit("DTLTO_PLUGIN_SYMBOL",
                "there is no symbol " DTLTO_PLUGIN_SYMBOL,
                "define the constant, in C++ with extern \"C\", and don't hide "
                "it: the header's declaration has DTLTO_PLUGIN_EXPORT");
  uint32_t Head[3];
  std::memcpy(Head, Raw, sizeof(Head));
  if (Head[1] != DTLTO_ABI_MAJOR)
    failAndExit("Compatibility",
                "the plugin has ABI " + std::to_string(Head[1]) + "." +
                    std::to_string(Head[2]) + ", the linker has " +
                    std::to_string(DTLTO_ABI_MAJOR) + "." +
                    std::to_string(DTLTO_ABI_MINOR),
                "set abi_major to DTLTO_ABI_MAJOR; majors must match");
  constexpr size_t MinSize =
      offsetof(dtlto_plugin, extension) + sizeof(dtlto_plugin::extension);
  if (Head[0] < MinSize)
    failAndExit("dtlto_plugin.size",
                "`size` is " + std::to_string(Head[0]) +
                    ", and the functions of ABI 1.0 take " +
                    std::to_string(MinSize),
                "set `size` to sizeof(dtlto_plugin)");
  const auto &P = *static_cast<const dtlto_plugin *>(Raw);
  if (!P.name || !P.version || !P.configure || !P.open || !P.submit ||
      !P.cancel || !P.load || !P.close || !P.extension)
    failAndExit("dtlto_plugin", "a name, a version or a function is null",
                "define all seven functions, also those with nothing to do");
  return P;
}

static void entry(const Bench &B) {
  const dtlto_plugin &P = B.plugin();
  std::string Name = P.name;
  if (Name.empty() || Name.size() > 40 ||
      Name.find_first_of(" \t\n:/") != std::string::npos)
    fail("dtlto_plugin.name", "the name is '" + Name + "'",
         "one short word: it stands before the plugin's messages");
}

static void exports(const Bench &B) {
  std::string Error;
  std::string Others;
  for (const std::string &Name : exportedSymbols(readFile(B.Path), Error))
    // The address sanitizer has one for each global that is exported.
    if (Name != DTLTO_PLUGIN_SYMBOL && Name.rfind("__odr_asan", 0) != 0)
      Others += " " + Name;
  if (!Error.empty())
    failAndExit("PluginAPI.h", Error,
                "build a shared library for this machine");
  if (!Others.empty())
    fail("DTLTO_PLUGIN_SYMBOL", "the plugin also exports" + Others,
         "compile with -fvisibility=hidden (and link archives with "
         "-Wl,--exclude-libs,ALL), so that names can't clash");
}

static void openClose(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(1);
  S.close();
}

static void arguments(const Bench &B) {
  Wishes W = B.W;
  W.PluginArgs.push_back("no-such-argument=of-any-plugin");
  Play S(B.plugin(), W);
  int32_t Status = S.open(1);
  if (Status != DTLTO_ERROR_CALLER)
    fail(
        "dtlto_plugin.open",
        "with the argument 'no-such-argument=of-any-plugin', open() returned " +
            std::to_string(Status),
        "a user's slip must not pass in silence: DTLTO_ERROR_CALLER for an "
        "argument that you don't know");
  else if (S.openErrors().find("no-such-argument") == std::string::npos)
    fail("dtlto_plugin.open",
         "the message of a wrong argument doesn't name it: " + S.openErrors(),
         "say which argument it is, and what you expected");
}

static void extension(const Bench &B) {
  if (B.plugin().extension("com.example.no-such-extension/1"))
    fail("dtlto_plugin.extension",
         "the plugin has an extension 'com.example.no-such-extension/1'",
         "return null for each id that you don't know");
}

static void status(const Bench &B) {
  const dtlto_plugin &P = B.plugin();
  auto *Status =
      static_cast<const dtlto_status *>(P.extension(DTLTO_EXT_STATUS));
  if (!Status)
    return note("the plugin doesn't offer it; people see what load() says");
  Play S(P, B.W);
  S.mustOpen(0);
  S.queryStatus(*Status);
  S.close();
}

static void store(const Bench &B) {
  const dtlto_plugin &P = B.plugin();
  auto *Store = static_cast<const dtlto_store *>(P.extension(DTLTO_EXT_STORE));
  if (!Store)
    return note("the plugin doesn't offer it");
  // Of this check alone: others may use the store.
  std::random_device Random;
  std::string Keys[2], Out;
  for (std::string &Key : Keys)
    for (int I = 0; I != 32; ++I)
      Key += char(Random());
  const std::string First(3000, 'a'), Second("of the other key");
  Play S(P, B.W);
  S.mustOpen(1);
  auto Expect = [&](const std::string &Key, uint64_t Max,
                    const std::string &Wanted, const char *When) {
    if (!S.storeGet(*Store, Key, Max, Out))
      fail("dtlto_store.get", std::string(When) + ", it failed: " + Out,
           "what isn't there is no error, but an empty buffer");
    else if (Out != Wanted)
      fail("dtlto_store.get",
           std::string(When) + ", it gave " + std::to_string(Out.size()) +
               " bytes, and not the " + std::to_string(Wanted.size()) +
               " that are right",
           "give what was last put under the key, or nothing");
  };
  Expect(Keys[0], 10000, "", "before anything was put");
  if (!S.storePut(*Store, Keys[0], First, Out))
    note("nothing can be put into the store: " + Out);
  else if (S.storePut(*Store, Keys[1], Second, Out)) {
    Expect(Keys[0], 10000, First, "after a put()");
    Expect(Keys[1], 10000, Second, "after a put() under another key");
    Expect(Keys[0], 2999, "", "with a smaller `max_bytes`");
    S.storePut(*Store, Keys[0], "", Out);
    Expect(Keys[0], 10000, "", "after a put() without bytes");
  } else {
    fail("dtlto_store.put", "one put() worked, the next failed: " + Out,
         "a key is any 32 bytes");
  }
  S.close();
}

const std::vector<Case> &dtlto::check::pluginCases() {
  static const std::vector<Case> All = {
      {"entry", "the plugin can be loaded, and its entry is whole", entry,
       true},
      {"exports", "the entry is the only symbol that it exports", exports,
       false},
      {"open-close", "a session without jobs begins and ends", openClose, true},
      {"arguments", "an unknown argument is the caller's error, with a message",
       arguments, false},
      {"extension", "unknown extensions are null", extension, false},
      {"status", "dtlto.status/1, if there, tells of machines", status, false},
      {"store", "dtlto.store.draft/1, if there, gives back what was put", store,
       false},
  };
  return All;
}
