//===- WorkerTest.cpp - A backend compile from a bundle -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// runBundle() is meant to run once per process, because LLVM's options are
// global. Without options it sets none, so these tests can call it repeatedly.
// Jobs with options are tested with dtlto-codegen itself (test/worker).
//
//===----------------------------------------------------------------------===//

#include "Compile/Worker.h"
#include "LTO/JobBuilder.h"
#include "TestLink.h"
#include "llvm/Config/llvm-config.h"
#include "gtest/gtest.h"
#include <mutex>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class WorkerTest : public testing::Test {
protected:
  /// Returns the link's jobs as a worker receives them, by module name.
  std::map<std::string, Bundle> bundles() {
    std::map<std::string, Bundle> Result;
    TestLink::Result R = TheLink.look(
        nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
          JobBuilder Builder(CurrentLink.Jobs, DTLTO_JOB_INPUTS |
                                                   DTLTO_JOB_DIGESTS |
                                                   DTLTO_JOB_CONFIG);
          for (const Task &T : Tasks) {
            std::unique_ptr<BuiltJob> Job = must(Builder.build(T, 1, 1));
            SmallVector<char, 0> Bytes = must(writeBundle(Job->Job));
            Result.emplace(T.name().str(),
                           must(readBundle(ref(Bytes), LLVM_VERSION_STRING)));
          }
        });
    EXPECT_EQ(R.Error, "");
    return Result;
  }
  /// Returns why \p B can't be compiled; empty if it can.
  std::string problem(const Bundle &B) {
    Expected<WorkerResult> R = run(B);
    return R ? "" : toString(R.takeError());
  }
  Expected<WorkerResult> run(const Bundle &B) {
    Diagnostics.clear();
    return runBundle(
        B, [&](StringRef Text) { Diagnostics.push_back(Text.str()); });
  }
  static SmallVector<char, 0> bytes(StringRef Text) {
    return SmallVector<char, 0>(Text.begin(), Text.end());
  }

  TestLink TheLink;
  std::vector<std::string> Diagnostics;
};

} // namespace

TEST_F(WorkerTest, TheObjectsOfInProcessThinLTO) {
  TheLink.addProgram(5);
  TestLink::Result Right = TheLink.inProcess();
  ASSERT_EQ(Right.Error, "");
  std::map<std::string, Bundle> Bundles = bundles();
  ASSERT_EQ(Bundles.size(), 5u);
  for (const auto &[Name, B] : Bundles) {
    WorkerResult R = must(run(B));
    EXPECT_TRUE(R.IsProduced);
    EXPECT_EQ(ref(R.Object), Right.Objects[Name]) << Name;
    EXPECT_EQ(Diagnostics, std::vector<std::string>());
  }
}

TEST_F(WorkerTest, TheConfigurationOfTheLink) {
  TheLink.addProgram(2);
  std::string Plain = TheLink.inProcess().Objects["m0.o"];
  // Settings that clang's command line can't express.
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.OptLevel = 1;
    Conf.CGOptLevel = CodeGenOptLevel::Aggressive;
    Conf.Options.GuaranteedTailCallOpt = true;
    Conf.Options.FunctionSections = true;
  };
  TestLink::Result Right = TheLink.inProcess();
  EXPECT_NE(Right.Objects["m0.o"], Plain);
  for (const auto &[Name, B] : bundles())
    EXPECT_EQ(ref(must(run(B)).Object), Right.Objects[Name]) << Name;
}

TEST_F(WorkerTest, WhatLLVMSays) {
  TheLink.add("a.o", "define i32 @main(i32 %x) {\n"
                     "  call void asm sideeffect \".warning \\22look\\22\", "
                     "\"\"()\n  ret i32 %x\n}\n");
  TheLink.add("b.o", "define void @bad() {\n"
                     "  call void asm sideeffect \"no such thing\", \"\"()\n"
                     "  ret void\n}\n");
  TheLink.Visible.insert("bad");
  std::map<std::string, Bundle> Bundles = bundles();

  EXPECT_TRUE(must(run(Bundles["a.o"])).IsProduced);
  ASSERT_EQ(Diagnostics.size(), 1u);
  EXPECT_EQ(Diagnostics[0].find("warning: "), 0u) << Diagnostics[0];
  EXPECT_NE(Diagnostics[0].find("look"), std::string::npos) << Diagnostics[0];

  EXPECT_EQ(problem(Bundles["b.o"]), "code generation failed");
  ASSERT_EQ(Diagnostics.size(), 1u);
  EXPECT_EQ(Diagnostics[0].find("error: "), 0u) << Diagnostics[0];
}

TEST_F(WorkerTest, AnImportThatIsNotThere) {
  TheLink.addProgram(3);
  Bundle B = bundles()["m0.o"];
  ASSERT_EQ(B.Inputs[1].Role, uint32_t(DTLTO_ROLE_IMPORT));
  std::string Path = B.Inputs[1].Path;
  B.Inputs.erase(B.Inputs.begin() + 1);
  EXPECT_EQ(problem(B),
            "module '" + Path + "' is imported but not in the bundle");
}

TEST_F(WorkerTest, InputsThatAreNoBitcode) {
  TheLink.addProgram(3);
  const Bundle Good = bundles()["m0.o"];
  for (size_t I = 0; I != Good.Inputs.size(); ++I) {
    for (StringRef Text : {"", "no bitcode", "BC\xC0\xDE"}) {
      Bundle B = Good;
      B.Inputs[I].Bytes = bytes(Text);
      EXPECT_EQ(problem(B).find(B.Inputs[I].Path + ": "), 0u) << problem(B);
    }
  }
}

TEST_F(WorkerTest, AModuleWithoutASummary) {
  TheLink.addProgram(3);
  Bundle B = bundles()["m0.o"];
  Bytes Plain = plainBitcode("define void @f() {\n  ret void\n}\n");
  B.Inputs[0].Bytes = bytes(ref(Plain));
  EXPECT_EQ(problem(B).find(B.Inputs[0].Path + ": "), 0u) << problem(B);
}

TEST_F(WorkerTest, AnIndexOfAnotherJob) {
  TheLink.addProgram(3);
  std::map<std::string, Bundle> Bundles = bundles();
  Bundle B = Bundles["m0.o"];
  // This index names modules that the index of m0.o doesn't.
  B.Inputs.back().Bytes = Bundles["m2.o"].Inputs.back().Bytes;
  Expected<WorkerResult> R = run(B); // An object or an error, but no crash.
  if (!R) {
    EXPECT_NE(toString(R.takeError()), "");
  }
}

TEST_F(WorkerTest, AModuleOfAnotherJob) {
  TheLink.addProgram(3);
  std::map<std::string, Bundle> Bundles = bundles();
  for (StringRef Name : {"m1.o", "m2.o"}) {
    Bundle B = Bundles["m0.o"];
    B.Inputs[0].Bytes = Bundles[Name.str()].Inputs[0].Bytes;
    EXPECT_EQ(
        problem(B).find(B.Inputs[0].Path + ": the index has no summary of '"),
        0u)
        << problem(B);
  }
}

TEST_F(WorkerTest, AConfigurationThatIsNone) {
  TheLink.addProgram(1);
  Bundle B = bundles()["m0.o"];
  B.Config = "{}";
  EXPECT_NE(problem(B), "");
  B.Config = "";
  EXPECT_NE(problem(B), "");
}
