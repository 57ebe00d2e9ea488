//===- BackendTest.cpp - Links through a plugin and in-process ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PluginLinkTest.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <set>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {
class BackendTest : public PluginLinkTest {};
} // namespace

TEST_F(BackendTest, ObjectsAreThoseOfTheInProcessBackend) {
  makeProgram(8);
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 8u);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_EQ(Plugin.numOpened(), 1u);
  EXPECT_TRUE(Plugin.isClosed());
}

TEST_F(BackendTest, ObjectsFromElsewhere) {
  makeProgram(8);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_EQ(Plugin.numObjectsCreated(), 8u);
}

TEST_F(BackendTest, AllPartsOfJobs) {
  makeProgram(8);
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS);
  Plugin.OnSubmit = [](const FakePlugin::Job &J) {
    EXPECT_EQ(J.Raw->fields,
              uint32_t(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS));
    EXPECT_GT(J.Raw->num_args, 0u);
    EXPECT_GT(J.Raw->num_inputs, 1u);
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 8u);
  EXPECT_TRUE(TheLink.Msg.all(MessageLevel::Note).empty());
}

TEST_F(BackendTest, OneThread) {
  makeProgram(5);
  TheLink.Parallelism = 1;
  linkSame();
}

TEST_F(BackendTest, OneModule) {
  makeProgram(1);
  linkSame();
}

TEST_F(BackendTest, TellsTheUserOfWrittenIndexes) {
  makeProgram(4);
  std::vector<std::string> InProcess = TheLink.Written;
  linkSame();
  EXPECT_EQ(TheLink.Written, InProcess);
  EXPECT_EQ(TheLink.Written.size(), 4u);
}

//===----------------------------------------------------------------------===//
// What clang's command line can't express
//===----------------------------------------------------------------------===//

TEST_F(BackendTest, WhatCannotBeToldIsCompiledHere) {
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  makeProgram(4);
  Plugin.setNeeds(DTLTO_JOB_ARGS);
  linkSame();
  EXPECT_EQ(Plugin.numOpened(), 0u);
  // One note for all modules, and no warning, because nothing failed.
  EXPECT_EQ(TheLink.Msg.all(MessageLevel::Note).size(), 1u);
  EXPECT_TRUE(
      TheLink.Msg.has(MessageLevel::Note, {"fake", "4 of 4", "verification"}));
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(BackendTest, WhatCannotBeToldIsNoFallback) {
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  makeProgram(4);
  setFallback(FallbackKind::None);
  Plugin.setNeeds(DTLTO_JOB_ARGS);
  linkSame();
}

TEST_F(BackendTest, PluginsWithoutNeedsDoWhatCannotBeTold) {
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  makeProgram(4);
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 4u);
}

TEST_F(BackendTest, ModulesThatAreNotInMemoryAreCompiledHere) {
  TheLink.RegisterInputs = false;
  makeProgram(4);
  Plugin.setNeeds(DTLTO_JOB_INPUTS);
  linkSame();
  EXPECT_TRUE(Plugin.submitted().empty());
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Note, {"4 of 4", "not in memory"}));
}

TEST_F(BackendTest, SomeModulesAreCompiledHere) {
  TheLink.addProgram(4);
  // This name is too long to be encoded as a portable one.
  std::string Long = std::string(3000, 'x') + ".o";
  TheLink.add(Long, "define i32 @other(i32 %x) {\n  ret i32 %x\n}\n");
  TheLink.Visible.insert("other");
  linkInProcess();
  Plugin.setNeeds(DTLTO_JOB_INPUTS);
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 4u);
  EXPECT_EQ(Plugin.numSubmitted(Long), 0u);
  EXPECT_TRUE(TheLink.Msg.has(MessageLevel::Note, {"1 of 5", "too long"}));
}

//===----------------------------------------------------------------------===//
// Other effects of LLVM's backend
//===----------------------------------------------------------------------===//

TEST_F(BackendTest, Assembly) {
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.CGFileType = CodeGenFileType::AssemblyFile;
  };
  makeProgram(4);
  EXPECT_NE(ExpectedResult.Objects["m0.o"].find(".globl"), std::string::npos);
  linkSame();
}

TEST_F(BackendTest, HooksThatStopCodeGeneration) {
  std::mutex Mutex;
  std::multiset<std::string> Seen;
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const Module &M) {
      std::lock_guard<std::mutex> Lock(Mutex);
      Seen.insert(M.getModuleIdentifier());
      return false;
    };
  };
  TheLink.addProgram(4);
  link();
  EXPECT_EQ(ActualResult.Error, "");
  EXPECT_TRUE(ActualResult.Objects.empty());
  EXPECT_EQ(Seen, (std::multiset<std::string>{"m0.o", "m1.o", "m2.o", "m3.o"}));
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(BackendTest, HooksAreCalledForWhatIsCompiledHere) {
  std::atomic<unsigned> NumCalls{0};
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PostOptModuleHook = [&](unsigned, const Module &) {
      ++NumCalls;
      return true;
    };
  };
  makeProgram(4);
  NumCalls = 0;
  Plugin.setNeeds(DTLTO_JOB_ARGS);
  linkSame();
  EXPECT_EQ(NumCalls, 4u);
}

namespace {
/// Adds three modules. Only code generation detects the error in the second.
void addErrorProgram(TestLink &Program) {
  Program.add("good.o", "declare i32 @bad(i32)\ndefine i32 @main(i32 %x) {\n"
                        "  %r = call i32 @bad(i32 %x)\n  ret i32 %r\n}\n");
  Program.add("bad.o",
              "define i32 @bad(i32 %x) noinline {\n"
              "  call void asm sideeffect \"no such instruction\", \"\"()\n"
              "  ret i32 %x\n}\n");
  Program.add("more.o", "define i32 @more(i32 %x) {\n  ret i32 %x\n}\n");
  Program.Visible.insert("more");
}
} // namespace

TEST_F(BackendTest, CompileErrorsFailTheLink) {
  addErrorProgram(TheLink);
  link();
  EXPECT_NE(ActualResult.Error.find("'bad.o'"), std::string::npos)
      << ActualResult.Error;
  EXPECT_NE(ActualResult.Error.find("<inline asm>"), std::string::npos)
      << ActualResult.Error;
  EXPECT_EQ(ActualResult.Error.find("good.o"), std::string::npos)
      << ActualResult.Error;
  EXPECT_EQ(ActualResult.Error.find("more.o"), std::string::npos)
      << ActualResult.Error;
  // No retry: the same compiler would report the same error.
  EXPECT_EQ(Plugin.numSubmitted("bad.o"), 1u);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
  EXPECT_EQ(ActualResult.NumDiagnostics, 0u); // reported only once
}

TEST_F(BackendTest, CompileErrorsOfWhatStaysHere) {
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  addErrorProgram(TheLink);
  Plugin.setNeeds(DTLTO_JOB_ARGS);
  link();
  EXPECT_NE(ActualResult.Error.find("'bad.o'"), std::string::npos)
      << ActualResult.Error;
  EXPECT_NE(ActualResult.Error.find("<inline asm>"), std::string::npos)
      << ActualResult.Error;
}

TEST_F(BackendTest, IndexFiles) {
  SmallString<128> Folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("dtlto-unit", Folder));
  auto PathOf = [&](StringRef Name) {
    SmallString<128> Path(Folder);
    sys::path::append(Path, Name);
    return Path.str().str();
  };
  TheLink.add(PathOf("a.o"), "declare i32 @b(i32)\n"
                             "define i32 @main(i32 %x) {\n"
                             "  %r = call i32 @b(i32 %x)\n  ret i32 %r\n}\n");
  TheLink.add(PathOf("b.o"), "define i32 @b(i32 %x) {\n  ret i32 %x\n}\n");
  auto Contents = [&] {
    std::map<std::string, std::string> Result;
    for (StringRef Name :
         {"a.o.thinlto.bc", "b.o.thinlto.bc", "a.o.imports", "b.o.imports"}) {
      auto File = MemoryBuffer::getFile(PathOf(Name));
      Result[Name.str()] = File ? (*File)->getBuffer().str() : "none";
      sys::fs::remove(PathOf(Name));
    }
    return Result;
  };
  TheLink.EmitIndexFiles = TheLink.EmitImportsFiles = true;
  linkInProcess();
  auto WantFiles = Contents();
  EXPECT_NE(WantFiles["a.o.imports"].find("b.o"), std::string::npos);
  linkSame();
  auto HaveFiles = Contents();
  EXPECT_TRUE(WantFiles == HaveFiles);
  sys::fs::remove_directories(Folder);
}

TEST_F(BackendTest, IndexFilesThatCannotBeWritten) {
  TheLink.EmitIndexFiles = true;
  TheLink.add("no/such/folder/a.o",
              "define i32 @main(i32 %x) {\n  ret i32 %x\n}\n");
  std::string InProcess = TheLink.inProcess().Error;
  EXPECT_NE(InProcess, "");
  link();
  EXPECT_NE(ActualResult.Error, "");
  EXPECT_TRUE(ActualResult.Objects.empty());
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

TEST_F(BackendTest, CacheEntriesOfTheInProcessBackendAreHits) {
  TheLink.addProgram(5);
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkInProcess();
  EXPECT_EQ(Cache.NumMisses, 5u);
  linkSame();
  EXPECT_EQ(Cache.NumHits, 5u);
  EXPECT_EQ(Plugin.numOpened(), 0u);
}

TEST_F(BackendTest, OurCacheEntriesAreHitsInProcess) {
  TheLink.addProgram(5);
  linkInProcess();
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 5u);
  EXPECT_EQ(Cache.NumMisses, 10u); // two keys for each job
  EXPECT_EQ(Cache.Objects.size(), 5u);
  EXPECT_TRUE(TheLink.inProcess().Objects == ExpectedResult.Objects);
  EXPECT_EQ(Cache.NumHits, 5u);
}

TEST_F(BackendTest, OnlyMissesGoToThePlugin) {
  TheLink.addProgram(5);
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  linkInProcess();
  Cache.Objects.erase(Cache.Objects.begin());
  Cache.Objects.erase(Cache.Objects.begin());
  linkSame();
  EXPECT_EQ(Plugin.submitted().size(), 2u);
  EXPECT_EQ(Cache.Objects.size(), 5u);
}

TEST_F(BackendTest, ResultsOfFallbackAreCached) {
  TheLink.addProgram(5);
  linkInProcess();
  MemoryCache Cache;
  TheLink.Cache = &Cache;
  Plugin.OnSubmit = [](const FakePlugin::Job &) {
    return DTLTO_ERROR_INFRASTRUCTURE;
  };
  linkSame();
  EXPECT_EQ(Cache.Objects.size(), 5u);
}
