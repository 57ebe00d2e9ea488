//===- LocalCodegenTest.cpp - A backend compile in this process -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/LocalCodegen.h"
#include "TestLink.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TimeProfiler.h"
#include "gtest/gtest.h"
#include <atomic>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

class LocalCodegenTest : public testing::Test {
protected:
  /// Compiles all modules on this thread, one after the other.
  std::map<std::string, CodegenResult> compileAll() {
    std::map<std::string, CodegenResult> Results;
    TestLink::Result R = TheLink.look(
        nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
          for (Task &T : Tasks)
            Results[T.name().str()] = runLocalCodegen(CurrentLink.Jobs, T);
          EXPECT_EQ(Results.size(), Tasks.size());
        });
    EXPECT_EQ(R.Error, "");
    EXPECT_TRUE(R.Objects.empty()); // the objects stay in memory
    NumDiagnostics = R.NumDiagnostics;
    return Results;
  }

  TestLink TheLink;
  unsigned NumDiagnostics = 0;
};

} // namespace

TEST_F(LocalCodegenTest, TheObjectsOfTheInProcessBackend) {
  TheLink.addProgram(5);
  TestLink::Result ExpectedResult = TheLink.inProcess();
  auto ActualResult = compileAll();
  ASSERT_EQ(ActualResult.size(), 5u);
  for (auto &[Name, Result] : ActualResult) {
    EXPECT_TRUE(Result.HasObject);
    EXPECT_FALSE(Result.Failed);
    EXPECT_TRUE(Result.Errors.empty());
    EXPECT_TRUE(StringRef(Result.Object.data(), Result.Object.size()) ==
                ExpectedResult.Objects[Name])
        << Name;
  }
}

TEST_F(LocalCodegenTest, ManyThreads) {
  TheLink.addProgram(5);
  TestLink::Result ExpectedResult = TheLink.inProcess();
  std::atomic<unsigned> NumRight{0};
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    std::vector<std::thread> Threads;
    for (unsigned I = 0; I != 4; ++I)
      Threads.emplace_back([&, I] {
        for (unsigned K = 0; K != Tasks.size(); ++K) {
          Task &T = Tasks[(K + I) % Tasks.size()];
          CodegenResult R = runLocalCodegen(CurrentLink.Jobs, T);
          NumRight += StringRef(R.Object.data(), R.Object.size()) ==
                      ExpectedResult.Objects.find(T.name().str())->second;
        }
      });
    for (std::thread &T : Threads)
      T.join();
  });
  EXPECT_EQ(NumRight, 20u);
}

TEST_F(LocalCodegenTest, HooksThatStop) {
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [](unsigned, const Module &) { return false; };
  };
  TheLink.addProgram(2);
  for (auto &[Name, Result] : compileAll()) {
    EXPECT_FALSE(Result.HasObject);
    EXPECT_FALSE(Result.Failed);
    EXPECT_TRUE(Result.Object.empty());
  }
}

/// Symbols that others refer to in many ways.
static constexpr const char *Referred = R"(
$f = comdat any
@alias = alias i32 (i32), ptr @f
@place = constant ptr blockaddress(@g, %there)
@resolved = ifunc i32 (i32), ptr @resolver
define i32 @f(i32 %x) comdat personality ptr @g {
  %y = call i32 @g(i32 %x)
  ret i32 %y
}
define i32 @g(i32 %x) prefix ptr @f {
  indirectbr ptr @place, [label %there]
there:
  ret i32 %x
}
define internal ptr @resolver() {
  ret ptr @g
}
define i32 @main() {
  %x = call i32 @alias(i32 1)
  %y = call i32 @resolved(i32 %x)
  ret i32 %y
})";

TEST_F(LocalCodegenTest, ThatMayBeStoppedMakesTheSame) {
  TheLink.add("many.o", Referred);
  TestLink::Result ExpectedResult = TheLink.inProcess();
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    std::atomic<bool> Stop{false};
    CodegenResult R = runLocalCodegen(CurrentLink.Jobs, Tasks[0], &Stop);
    EXPECT_FALSE(R.Failed);
    EXPECT_TRUE(StringRef(R.Object.data(), R.Object.size()) ==
                ExpectedResult.Objects.find("many.o")->second);
  });
}

TEST_F(LocalCodegenTest, StopsBeforeAndInTheMiddle) {
  std::atomic<bool> *Stop = nullptr;
  unsigned StopsAt = 0;
  auto Hook = [&](unsigned At) {
    return [&, At](unsigned, const Module &) {
      if (Stop && At == StopsAt)
        *Stop = true;
      return true;
    };
  };
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreOptModuleHook = Hook(1);
    Conf.PostImportModuleHook = Hook(2);
    Conf.PostOptModuleHook = Hook(3);
    Conf.PreCodeGenModuleHook = Hook(4);
  };
  TheLink.add("many.o", Referred);
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    size_t Whole = runLocalCodegen(CurrentLink.Jobs, Tasks[0]).Object.size();
    for (StopsAt = 0; StopsAt != 5; ++StopsAt) {
      std::atomic<bool> Flag{StopsAt == 0};
      Stop = &Flag;
      CodegenResult R = runLocalCodegen(CurrentLink.Jobs, Tasks[0], Stop);
      EXPECT_TRUE(Flag) << StopsAt;
      EXPECT_TRUE(R.Failed) << StopsAt;
      EXPECT_TRUE(R.Errors.empty()) << StopsAt;
      EXPECT_LT(R.Object.size(), Whole) << StopsAt;
    }
  });
}

TEST_F(LocalCodegenTest, Errors) {
  TheLink.add("bad.o", R"(
define i32 @main(i32 %x) {
  call void asm sideeffect "one bad thing", ""()
  call void asm sideeffect "another bad thing", ""()
  ret i32 %x
})");
  TheLink.add("good.o", "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n");
  auto Results = compileAll();
  CodegenResult &Bad = Results["bad.o"];
  EXPECT_TRUE(Bad.Failed);
  ASSERT_EQ(Bad.Errors.size(), 2u);
  EXPECT_TRUE(StringRef(Bad.Errors[0]).contains("one bad thing"));
  EXPECT_TRUE(StringRef(Bad.Errors[1]).contains("another bad thing"));
  // The errors are reported later, by the caller that names the module.
  EXPECT_EQ(NumDiagnostics, 0u);
  EXPECT_FALSE(Results["good.o"].Failed);

  // The user sees two errors. Our own line follows the last one.
  std::vector<std::string> Shown;
  handleAllErrors(
      compileError("bad.o [1/2]", Bad.Errors),
      [&](const ErrorInfoBase &E) { Shown.push_back(E.message()); });
  ASSERT_EQ(Shown.size(), 2u);
  for (const std::string &Text : Shown)
    EXPECT_TRUE(StringRef(Text).starts_with("bad.o <inline asm>:1:")) << Text;
  EXPECT_EQ(Shown[0].find("dtlto"), std::string::npos) << Shown[0];
  EXPECT_TRUE(StringRef(Shown[1]).ends_with(
      "\n>>> dtlto: module 'bad.o [1/2]' failed to compile"))
      << Shown[1];
}

TEST_F(LocalCodegenTest, ErrorsOfOneLine) {
  for (const char *Words : {"no good", "no good\n"})
    EXPECT_EQ(toString(compileError("a.o", std::string(Words))),
              "no good\n>>> dtlto: module 'a.o' failed to compile");
  EXPECT_EQ(toString(compileError("a.o", {})),
            "dtlto: module 'a.o' failed to compile");
}

TEST_F(LocalCodegenTest, ErrorsWithoutAPlace) {
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.PostImportModuleHook = [](unsigned, const Module &M) {
      for (const char *Words : {"no return", "no argument"})
        M.getContext().diagnose(DiagnosticInfoInlineAsm(0, Words, DS_Error));
      return true;
    };
  };
  TheLink.addProgram(1);
  auto Results = compileAll();
  EXPECT_TRUE(Results["m0.o"].Failed);
  EXPECT_EQ(Results["m0.o"].Errors,
            (std::vector<std::string>{"no return", "no argument"}));
}

TEST_F(LocalCodegenTest, WarningsAreNoErrors) {
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.PostImportModuleHook = [](unsigned, const Module &M) {
      M.getContext().diagnose(
          DiagnosticInfoInlineAsm(0, "mind the gap", DS_Warning));
      return true;
    };
  };
  TheLink.addProgram(1);
  auto Results = compileAll();
  EXPECT_FALSE(Results["m0.o"].Failed);
  EXPECT_TRUE(Results["m0.o"].HasObject);
  EXPECT_TRUE(Results["m0.o"].Errors.empty());
  // Messages wait until the linker knows that the object is used.
  EXPECT_EQ(NumDiagnostics, 0u);
  ASSERT_EQ(Results["m0.o"].Messages.size(), 1u);
  EXPECT_EQ(Results["m0.o"].Messages[0].Level, MessageLevel::Diagnostic);
  EXPECT_EQ(Results["m0.o"].Messages[0].Text, "mind the gap");
}

TEST_F(LocalCodegenTest, ModulesThatCannotBeRead) {
  TheLink.addProgram(2);
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    // The module is damaged after the thin link.
    auto Memory = std::make_unique<std::vector<char>>(
        Tasks[0].Module.getBuffer().begin(), Tasks[0].Module.getBuffer().end());
    char *Bytes = const_cast<char *>(Tasks[0].Module.getBuffer().data());
    std::fill(Bytes + Memory->size() / 4, Bytes + Memory->size() / 2, 0);
    CodegenResult Result = runLocalCodegen(CurrentLink.Jobs, Tasks[0]);
    std::copy(Memory->begin(), Memory->end(), Bytes);
    EXPECT_TRUE(Result.Failed);
    EXPECT_FALSE(Result.Errors.empty());
  });
}

TEST_F(LocalCodegenTest, TimeTrace) {
  // Each thread gets its own trace, as in LLVM's backend.
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.TimeTraceEnabled = true;
    Conf.TimeTraceGranularity = 0;
  };
  TheLink.addProgram(1);
  timeTraceProfilerInitialize(0, "test");
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    std::thread([&] {
      EXPECT_FALSE(timeTraceProfilerEnabled());
      runLocalCodegen(CurrentLink.Jobs, Tasks[0]);
      EXPECT_FALSE(timeTraceProfilerEnabled());
    }).join();
    runLocalCodegen(CurrentLink.Jobs, Tasks[0]);
    EXPECT_TRUE(timeTraceProfilerEnabled());
  });
  SmallString<0> Json;
  raw_svector_ostream OS(Json);
  timeTraceProfilerWrite(OS);
  timeTraceProfilerCleanup();
  // The traces of both threads are complete.
  EXPECT_EQ(StringRef(Json).count("\"name\":\"OptModule\""), 2u)
      << Json.c_str();
}
