//===- PluginTest.cpp - Finding, loading and checking a plugin ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses the test plugins in the folder TEST_PLUGINS.
//
//===----------------------------------------------------------------------===//

#include "FakePlugin.h"
#include "Host/PluginLoader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

constexpr StringLiteral Folder = TEST_PLUGINS;

class PluginTest : public testing::Test {
protected:
  std::string load(StringRef Name, StringRef In = Folder) {
    std::vector<std::string> Where = {In.str()};
    Where.insert(Where.end(), More.begin(), More.end());
    Expected<const dtlto_plugin *> P = loadPlugin(Name, Where);
    Loaded = P ? *P : nullptr;
    return P ? "" : toString(P.takeError());
  }
  /// Returns the path of a test plugin.
  static std::string pathOf(StringRef Name) {
    return (Folder + "/libdtlto_" + Name + ".so").str();
  }
  /// Returns a new folder, which is removed at the end.
  std::string makeFolder() {
    SmallString<128> Path;
    EXPECT_FALSE(sys::fs::createUniqueDirectory("dtlto-unit", Path));
    Folders.push_back(Path.str().str());
    return Folders.back();
  }
  /// Links the plugin \p Name into the folder \p In as \p As.
  static void put(StringRef In, StringRef Name, StringRef As) {
    EXPECT_FALSE(sys::fs::create_link(pathOf(Name), In + "/" + As));
  }

  void TearDown() override {
    for (const std::string &F : Folders)
      sys::fs::remove_directories(F);
  }

  std::vector<std::string> More; // Folders to search.
  const dtlto_plugin *Loaded = nullptr;
  std::vector<std::string> Folders;
};

} // namespace

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

TEST_F(PluginTest, ShortName) {
  EXPECT_EQ(load("count"), "");
  ASSERT_NE(Loaded, nullptr);
  EXPECT_STREQ(Loaded->name, "count");
}

TEST_F(PluginTest, FileName) {
  EXPECT_EQ(load("libdtlto_count.so"), "");
  ASSERT_NE(Loaded, nullptr);
  EXPECT_STREQ(Loaded->name, "count");
}

TEST_F(PluginTest, Path) {
  // A path ignores the folder.
  EXPECT_EQ(load(pathOf("count"), "/no/such/folder"), "");
  ASSERT_NE(Loaded, nullptr);
  EXPECT_STREQ(Loaded->name, "count");
}

TEST_F(PluginTest, PathThatIsNotThere) {
  EXPECT_EQ(load("./no/such/plugin.so"),
            "plugin './no/such/plugin.so': no such file; a name without a '/' "
            "is looked up among the installed plugins");
  EXPECT_EQ(load(pathOf("cuont")), "plugin '" + pathOf("cuont") +
                                       "': no such file, did you mean '" +
                                       pathOf("count") + "'?");
}

TEST_F(PluginTest, MoreFolders) {
  std::string Empty = makeFolder();
  EXPECT_NE(load("count", Empty), "");
  More = {"/no/such/folder", Folder.str()};
  EXPECT_EQ(load("count", Empty), "");
}

TEST_F(PluginTest, TheFirstFolderCounts) {
  std::string First = makeFolder(), Second = makeFolder();
  put(First, "count", "libdtlto_x.so");
  put(Second, "fails", "libdtlto_x.so");
  More = {Second};
  EXPECT_EQ(load("x", First), "");
  EXPECT_STREQ(Loaded->name, "count");
  EXPECT_EQ(load("x", Second), "");
  EXPECT_STREQ(Loaded->name, "fails");
}

TEST_F(PluginTest, FoldersAreNoPlugins) {
  std::string In = makeFolder();
  EXPECT_FALSE(sys::fs::create_directory(In + "/libdtlto_x.so"));
  EXPECT_NE(load("x", In).find("no plugin 'x' in " + In), std::string::npos);
}

TEST_F(PluginTest, UnknownNames) {
  std::string In = makeFolder();
  More = {"/one", "/two"};
  std::string Message = load("nothing-like-it", In);
  EXPECT_EQ(
      Message.find("no plugin 'nothing-like-it' in " + In + ", /one, /two"), 0u)
      << Message;
  EXPECT_NE(Message.find("DTLTO_PLUGIN_PATH"), std::string::npos);
  EXPECT_EQ(Message.find("did you mean"), std::string::npos);
}

TEST_F(PluginTest, NamesThatAreNearlyRight) {
  EXPECT_NE(load("coumt").find("did you mean 'count'?"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

TEST_F(PluginTest, NotALibrary) {
  std::string In = makeFolder();
  put(In, "count", "libdtlto_x.so");
  std::string Path = In + "/text.so";
  {
    std::error_code EC;
    raw_fd_ostream OS(Path, EC);
    ASSERT_FALSE(EC);
    OS << "no library\n";
  }
  std::string Message = load(Path);
  EXPECT_EQ(Message.find("plugin '" + Path + "' cannot be loaded: "), 0u)
      << Message;
}

TEST_F(PluginTest, NotAPlugin) {
  std::string Message = load("not_a_plugin");
  EXPECT_NE(Message.find("is not a plugin"), std::string::npos) << Message;
  EXPECT_NE(Message.find("dtlto_plugin_entry"), std::string::npos) << Message;
}

TEST_F(PluginTest, AnotherMajorVersion) {
  std::string Message = load("abi_major");
  EXPECT_NE(Message.find("plugin 'abi_major' has ABI 2."), std::string::npos)
      << Message;
  EXPECT_NE(Message.find("this linker supports 1."), std::string::npos)
      << Message;
}

TEST_F(PluginTest, AHigherMinorVersion) {
  EXPECT_EQ(load("abi_minor"), "");
  ASSERT_NE(Loaded, nullptr);
  EXPECT_GT(Loaded->abi_minor, uint32_t(DTLTO_ABI_MINOR));
}

TEST_F(PluginTest, ADescriptionThatIsTooShort) {
  std::string Message = load("abi_size");
  EXPECT_NE(Message.find("plugin 'abi_size'"), std::string::npos) << Message;
  EXPECT_NE(Message.find("bytes"), std::string::npos) << Message;
}

TEST_F(PluginTest, NoFunctions) {
  EXPECT_NE(load("no_functions").find("plugin 'no_functions'"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

TEST_F(PluginTest, AGoodDescription) {
  FakePlugin P;
  EXPECT_EQ(toString(checkPlugin(&P.entry(), "fake")), "");
  EXPECT_EQ(P.numOpened(), 0u); // Nothing is called.
}

TEST_F(PluginTest, EachFieldIsNeeded) {
  FakePlugin P;
  auto Check = [&](void (*Break)(dtlto_plugin &)) {
    dtlto_plugin Entry = P.entry();
    Break(Entry);
    return toString(checkPlugin(&Entry, "fake"));
  };
  for (auto *Break : {+[](dtlto_plugin &E) { E.name = nullptr; },
                      +[](dtlto_plugin &E) { E.version = nullptr; },
                      +[](dtlto_plugin &E) { E.configure = nullptr; },
                      +[](dtlto_plugin &E) { E.open = nullptr; },
                      +[](dtlto_plugin &E) { E.submit = nullptr; },
                      +[](dtlto_plugin &E) { E.cancel = nullptr; },
                      +[](dtlto_plugin &E) { E.load = nullptr; },
                      +[](dtlto_plugin &E) { E.close = nullptr; },
                      +[](dtlto_plugin &E) { E.extension = nullptr; },
                      +[](dtlto_plugin &E) { E.size = 0; },
                      +[](dtlto_plugin &E) { E.size -= 1; },
                      +[](dtlto_plugin &E) { E.abi_major = 0; },
                      +[](dtlto_plugin &E) { E.abi_major += 1; }})
    EXPECT_NE(Check(Break).find("plugin 'fake'"), std::string::npos);
  for (auto *Change : {+[](dtlto_plugin &E) { E.size += 8; },
                       +[](dtlto_plugin &E) { E.abi_minor += 1; }})
    EXPECT_EQ(Check(Change), "");
}

TEST_F(PluginTest, OfAnotherMajorVersionNothingElseIsRead) {
  // With another major version, only the first fields are valid.
  struct {
    uint32_t size, abi_major, abi_minor;
  } Short = {12, DTLTO_ABI_MAJOR + 1, 7};
  std::vector<uint32_t> Exact = {Short.size, Short.abi_major, Short.abi_minor};
  std::string Message = toString(checkPlugin(Exact.data(), "fake"));
  EXPECT_NE(Message.find(".7"), std::string::npos) << Message;
}
