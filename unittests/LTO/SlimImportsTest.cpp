//===- SlimImportsTest.cpp - Slim imports in the jobs of a link -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/SlimImports.h"
#include "Compile/Worker.h"
#include "FakePlugin.h"
#include "LTO/JobBuilder.h"
#include "TestLink.h"
#include "llvm/Config/llvm-config.h"
#include "gtest/gtest.h"
#include <set>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

constexpr uint32_t BundleParts =
    DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG;

class SlimImportsTest : public testing::Test {
protected:
  /// Compiles all jobs of the link from bundles, and compares the objects with
  /// those of in-process ThinLTO. Returns the message about the imports.
  std::string compileAll() {
    TestLink::Result Right = TheLink.inProcess();
    EXPECT_EQ(Right.Error, "");
    std::map<std::string, Bundle> Bundles;
    std::string Notes;
    TheLink.look(
        nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
          SlimImports Slim(Tasks);
          JobBuilder Builder(CurrentLink.Jobs, BundleParts, &Slim);
          for (const Task &T : Tasks) {
            std::unique_ptr<BuiltJob> Job = must(Builder.build(T, 1, 1));
            SmallVector<char, 0> Bytes = must(writeBundle(Job->Job));
            Bundles.emplace(T.name().str(),
                            must(readBundle(ref(Bytes), LLVM_VERSION_STRING)));
          }
          for (const std::string &Line : Slim.describe())
            Notes += Line + '\n';
        });
    for (const auto &[Name, B] : Bundles) {
      WorkerResult R = must(runBundle(B, [](StringRef) {}));
      EXPECT_EQ(ref(R.Object), Right.Objects[Name]) << Name;
    }
    return Notes;
  }

  TestLink TheLink;
};

/// Two modules: `main` is in the first, which imports from the second.
struct Program {
  const char *Name, *Main, *Other;
  const char *Notes = "1 of 1 imported modules were slimmed";
};

class SlimProgramTest : public SlimImportsTest,
                        public testing::WithParamInterface<Program> {};

// Added to every second module, so that slimming can remove something.
const char *const Ballast = R"(
  define void @ballast(ptr %p) noinline {
    store volatile i32 1, ptr %p store volatile i32 2, ptr %p
    store volatile i32 3, ptr %p store volatile i32 4, ptr %p
    store volatile i32 5, ptr %p store volatile i32 6, ptr %p
    ret void
  }
)";

const Program Programs[] = {
    {"Function",
     "declare i32 @f(i32)\ndefine i32 @main(i32 %x) { %v = call "
     "i32 @f(i32 %x) ret i32 %v }",
     "define i32 @f(i32 %x) { %v = mul i32 %x, 7 ret i32 %v }"},
    {"Locals",
     "declare i32 @f(i32)\ndefine i32 @main(i32 %x) { %v = call i32 "
     "@f(i32 %x) ret i32 %v }",
     R"(source_filename = "other.c"
        @count = internal global i32 5
        @text = private unnamed_addr constant [4 x i8] c"abc\00"
        declare i32 @puts(ptr)
        define i32 @f(i32 %x) {
          %c = load i32, ptr @count
          %n = add i32 %c, %x
          store i32 %n, ptr @count
          call i32 @puts(ptr @text)
          %v = call i32 @local(i32 %n)
          ret i32 %v
        }
        define internal i32 @local(i32 %x) noinline {
          %v = xor i32 %x, 9 ret i32 %v
        })"},
    {"Alias",
     "declare i32 @a(i32)\ndefine i32 @main(i32 %x) { %v = call i32 "
     "@a(i32 %x) ret i32 %v }",
     "@a = alias i32 (i32), ptr @f\n"
     "define i32 @f(i32 %x) { %v = mul i32 %x, 7 ret i32 %v }"},
    {"Comdats", R"($inline = comdat any
        define linkonce_odr i32 @inline(i32 %x) comdat { ret i32 %x }
        declare i32 @f(i32)
        define i32 @main(i32 %x) {
          %v = call i32 @f(i32 %x) %w = call i32 @inline(i32 %v) ret i32 %w
        })",
     R"($inline = comdat any
        $more = comdat any
        define linkonce_odr i32 @inline(i32 %x) comdat { ret i32 %x }
        define linkonce_odr i32 @more(i32 %x) noinline comdat { ret i32 8 }
        define i32 @f(i32 %x) {
          %v = call i32 @inline(i32 %x) %w = call i32 @more(i32 %v) ret i32 %w
        })"},
    // The importer moves variables that are in both modules, used or not.
    {"OrderOfVariables", R"(@x = linkonce_odr constant i32 1
        @y = linkonce_odr constant i32 2
        @z = linkonce_odr constant i32 3
        @own = internal global [3 x ptr] [ptr @z, ptr @x, ptr @y]
        declare i32 @f(i32)
        define ptr @main(i32 %x) {
          %v = call i32 @f(i32 %x)
          %p = getelementptr [3 x ptr], ptr @own, i32 0, i32 %v
          store volatile ptr null, ptr %p
          ret ptr %p
        })",
     R"(@z = linkonce_odr constant i32 3
        @x = linkonce_odr constant i32 1
        @table = global [2 x ptr] [ptr @z, ptr @x]
        define i32 @f(i32 %x) { %v = mul i32 %x, 7 ret i32 %v })"},
    {"ThreadLocal",
     "declare i32 @f()\ndefine i32 @main() { %v = call i32 @f() "
     "ret i32 %v }",
     R"(@t = thread_local(initialexec) global i32 5
        define i32 @f() { %v = load i32, ptr @t ret i32 %v })"},
    {"Used",
     "declare i32 @f()\ndefine i32 @main() { %v = call i32 @f() ret "
     "i32 %v }",
     R"(@llvm.used = appending global [1 x ptr] [ptr @kept]
        @llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]
          [{ i32, ptr, ptr } { i32 1, ptr @init, ptr null }]
        define internal void @kept() { ret void }
        define internal void @init() { ret void }
        define i32 @f() { ret i32 3 })"},
    {"BlockAddress",
     "declare ptr @f()\ndefine ptr @main() { %v = call ptr "
     "@f() ret ptr %v }",
     R"(@labels = internal global [1 x ptr] [ptr blockaddress(@g, %l)]
        define ptr @f() { %v = load ptr, ptr @table ret ptr %v }
        @table = global ptr null
        define void @g(ptr %p) {
          indirectbr ptr %p, [label %l] l: ret void
        })"},
    {"Ifunc",
     "declare i32 @f()\ndefine i32 @main() { %v = call i32 @f() ret "
     "i32 %v }",
     R"(@i = internal ifunc i32 (), ptr @resolve
        define internal ptr @resolve() { ret ptr @g }
        define i32 @g() { ret i32 4 }
        define i32 @f() { ret i32 4 })",
     "1 imported modules were sent whole: the module has an ifunc"},
    {"Personality",
     "declare i32 @f()\ndefine i32 @main() { %v = call i32 @f() "
     "ret i32 %v }",
     R"(declare i32 @__gxx_personality_v0(...)
        declare void @may_throw()
        define i32 @f() personality ptr @__gxx_personality_v0 {
          invoke void @may_throw() to label %ok unwind label %bad
        ok:
          ret i32 1
        bad:
          %p = landingpad { ptr, i32 } catch ptr @info
          ret i32 2
        }
        @info = external constant ptr)"},
    {"Types",
     "declare i32 @f(ptr)\ndefine i32 @main(ptr %p) { %v = call i32 "
     "@f(ptr %p) ret i32 %v }",
     R"(%S = type { i32, %T }
        %T = type { [4 x i64], ptr }
        %U = type { %S, %S }
        @u = global %U zeroinitializer
        define i32 @f(ptr %p) {
          %q = getelementptr %S, ptr %p, i32 1, i32 1, i32 0, i32 2
          %v = load i32, ptr %q, !tbaa !0
          ret i32 %v
        }
        !0 = !{!1, !1, i64 0}
        !1 = !{!"int", !2}
        !2 = !{!"root"})"},
    // Some variables are imported with values, others become declarations.
    {"Values",
     "declare i32 @f(i32)\ndefine i32 @main(i32 %x) { %v = call i32 "
     "@f(i32 %x) ret i32 %v }",
     R"(source_filename = "other.c"
        @table = internal constant [3 x i32] [i32 5, i32 6, i32 7]
        @same = constant [3 x i32] [i32 5, i32 6, i32 7]
        @changes = global [2 x ptr] [ptr @g, ptr @text]
        @text = private unnamed_addr constant [5 x i8] c"text\00"
        @unused = constant [2 x ptr] [ptr @g, ptr @text]
        @written = internal global [2 x i32] [i32 1, i32 2]
        define void @g() noinline { ret void }
        define i32 @f(i32 %x) {
          %p = getelementptr [3 x i32], ptr @table, i32 0, i32 %x
          %v = load i32, ptr %p
          %q = getelementptr [2 x ptr], ptr @changes, i32 0, i32 %x
          %h = load ptr, ptr %q
          call void %h()
          store volatile ptr @text, ptr %q
          store [3 x i32] [i32 5, i32 6, i32 7], ptr %q
          store i32 %v, ptr @written
          ret i32 %v
        })"},
    {"Attributes",
     "declare i32 @f(ptr)\ndefine i32 @main(ptr %p) { %v = call i32 "
     "@f(ptr %p) ret i32 %v }",
     R"(%S = type { i64, i64, i64 }
        declare void @outside(ptr, ptr) #0
        declare i32 @pure(i32) #1
        define i32 @f(ptr %p) #2 {
          call void @outside(ptr byval(%S) align 8 %p, ptr nonnull %p) #3
          %a = call i32 @pure(i32 zeroext 4) #4
          %b = call i32 @pure(i32 zeroext 4) #4
          %v = add i32 %a, %b
          ret i32 %v
        }
        define void @unwanted() #5 { call void @outside(ptr null, ptr null) #6 ret void }
        attributes #0 = { "frame-pointer"="all" }
        attributes #1 = { memory(none) nounwind willreturn }
        attributes #2 = { uwtable "frame-pointer"="all" }
        attributes #3 = { cold }
        attributes #4 = { nounwind }
        attributes #5 = { noinline "frame-pointer"="none" }
        attributes #6 = { noreturn })"},
    {"Bundles",
     "declare i32 @f(ptr)\ndefine i32 @main(ptr %p) { %v = call i32 "
     "@f(ptr %p) ret i32 %v }",
     R"(declare void @llvm.assume(i1)
        define i32 @f(ptr %p) {
          call void @llvm.assume(i1 true) [ "align"(ptr %p, i64 32) ]
          %v = load <8 x i32>, ptr %p, align 4, !range !0, !noundef !1
          %r = extractelement <8 x i32> %v, i32 3
          ret i32 %r
        }
        !0 = !{i32 0, i32 9}
        !1 = !{})"},
    {"VTables",
     "declare i32 @f(ptr)\ndefine i32 @main(ptr %p) { %v = call i32 "
     "@f(ptr %p) ret i32 %v }",
     R"($vtable = comdat any
        @vtable = linkonce_odr unnamed_addr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr @info, ptr @method] }, comdat, !type !0, !type !1
        @other = unnamed_addr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr @info, ptr @unwanted] }, !type !2
        @info = external constant ptr
        define i32 @method(ptr %p) noinline { ret i32 3 }
        define i32 @unwanted(ptr %p) noinline { ret i32 4 }
        declare i1 @llvm.type.test(ptr, metadata)
        declare void @llvm.assume(i1)
        define i32 @f(ptr %p) {
          store ptr getelementptr inbounds ({ [3 x ptr] }, ptr @vtable, i32 0, i32 0, i32 2), ptr %p
          %t = load ptr, ptr %p
          %ok = call i1 @llvm.type.test(ptr %t, metadata !"base")
          call void @llvm.assume(i1 %ok)
          %m = load ptr, ptr %t
          %v = call i32 %m(ptr %p)
          ret i32 %v
        }
        !0 = !{i64 16, !"base"}
        !1 = !{i64 16, !"derived"}
        !2 = !{i64 16, !"unrelated"})"},
};

/// Returns the number of different contents of modules in a link, by path, for
/// a plugin with these \p Needs.
size_t numContents(TestLink &TheLink, uint32_t Needs) {
  FakePlugin Plugin;
  Plugin.setNeeds(Needs);
  std::set<std::pair<std::string, const void *>> Contents;
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    for (uint32_t I = 0; I != J.Raw->num_inputs; ++I)
      if (J.Raw->inputs[I]->role != DTLTO_ROLE_INDEX)
        Contents.emplace(J.Raw->inputs[I]->path, J.Raw->inputs[I]->bytes.data);
    return DTLTO_OK;
  };
  EXPECT_EQ(TheLink.withPlugin(Plugin.entry()).Error, "");
  Plugin.waitForEnd();
  return Contents.size();
}

TEST_F(SlimImportsTest, WholeImportsHaveOneContentForEachPath) {
  TheLink.add("main.o", Programs[0].Main);
  TheLink.add("other.o", std::string(Programs[0].Other) + Ballast);
  EXPECT_EQ(numContents(TheLink, DTLTO_JOB_INPUTS), 2u) << "too small";
  TheLink.TheLinker.Opts.SlimThreshold = 0;
  EXPECT_EQ(numContents(TheLink, DTLTO_JOB_INPUTS | DTLTO_JOB_WHOLE_IMPORTS),
            2u);
  EXPECT_EQ(numContents(TheLink, DTLTO_JOB_INPUTS), 3u);
}

} // namespace

TEST_P(SlimProgramTest, TheSameObjects) {
  TheLink.add("a.o", GetParam().Main);
  TheLink.add("b.o", std::string(GetParam().Other) + Ballast);
  std::string Notes = compileAll();
  EXPECT_NE(Notes.find(GetParam().Notes), std::string::npos) << Notes;
}

INSTANTIATE_TEST_SUITE_P(All, SlimProgramTest, testing::ValuesIn(Programs),
                         [](const testing::TestParamInfo<Program> &P) {
                           return P.param.Name;
                         });

TEST_F(SlimImportsTest, Assembly) {
  const std::string Triple = "target triple = \"x86_64-pc-linux-gnu\"\n";
  TheLink.add("a.o", Triple + "declare i32 @f()\ndeclare i32 @g()\n"
                              "define i32 @main() { %v = call i32 @f() "
                              "%w = call i32 @g() ret i32 %w }");
  TheLink.add("b.o", Triple +
                         "module asm \".symver g, g@V1\"\n"
                         "declare i32 @g()\n"
                         "define i32 @f() { ret i32 4 }\n" +
                         Ballast);
  std::string Notes = compileAll();
  EXPECT_EQ(Notes.find("1 of 1 "), 0u) << Notes;
}

TEST_F(SlimImportsTest, WhatJobsCarry) {
  TheLink.addProgram(6);
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    SlimImports Slim(Tasks);
    EXPECT_TRUE(Slim.describe().empty());
    JobBuilder Builder(CurrentLink.Jobs, BundleParts, &Slim),
        Plain(CurrentLink.Jobs, BundleParts);
    std::map<std::string, const void *> Primaries, Imports;
    for (const Task &T : Tasks) {
      std::unique_ptr<BuiltJob> Job = must(Builder.build(T, 1, 1));
      std::unique_ptr<BuiltJob> Whole = must(Plain.build(T, 1, 1));
      ASSERT_EQ(Job->Job.num_inputs, Whole->Job.num_inputs);
      for (uint32_t I = 0; I != Job->Job.num_inputs; ++I) {
        const dtlto_input &In = *Job->Job.inputs[I];
        const dtlto_input &Was = *Whole->Job.inputs[I];
        EXPECT_STREQ(In.path, Was.path);
        EXPECT_EQ(In.role, Was.role);
        if (In.role == DTLTO_ROLE_PRIMARY) {
          EXPECT_EQ(In.bytes.data, Was.bytes.data);
          EXPECT_EQ(In.bytes.size, Was.bytes.size);
          Primaries[In.path] = In.bytes.data;
        }
        if (In.role != DTLTO_ROLE_IMPORT)
          continue;
        EXPECT_LT(In.bytes.size, Was.bytes.size);
        EXPECT_NE(memcmp(In.digest, Was.digest, 32), 0);
        auto [It, New] = Imports.emplace(In.path, In.bytes.data);
        EXPECT_TRUE(New || It->second == In.bytes.data);
      }
    }
    EXPECT_FALSE(Imports.empty());
    for (const auto &[Path, Data] : Imports)
      EXPECT_NE(Primaries[Path], Data);
    ASSERT_EQ(Slim.describe().size(), 1u);
    std::string N = std::to_string(Imports.size());
    EXPECT_EQ(StringRef(Slim.describe()[0])
                  .starts_with(N + " of " + N + " imported modules"),
              true)
        << Slim.describe()[0];
  });
}

TEST_F(SlimImportsTest, AnyThread) {
  TheLink.addProgram(6);
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    SlimImports Slim(Tasks);
    std::vector<StringRef> Results(8);
    std::vector<std::thread> Threads;
    for (StringRef &Result : Results)
      Threads.emplace_back([&] {
        StringRef Whole =
            CurrentLink.Process.Inputs.find(Tasks[1].Module)->Bytes;
        if (&Result - &Results[0] < 4)
          Slim.start(Tasks[1].Module, Whole);
        Result = Slim.getImportFile(Tasks[1].Module, Whole).Bytes;
      });
    for (std::thread &T : Threads)
      T.join();
    for (StringRef Result : Results) {
      EXPECT_EQ(Result.data(), Results[0].data());
      EXPECT_EQ(Result.size(), Results[0].size());
    }
  });
}
