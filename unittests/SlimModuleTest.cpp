//===- SlimModuleTest.cpp - A module with only what jobs import -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlimModule.h"
#include "LLVMCompat.h"
#include "Modules.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

GlobalValue::GUID guid(StringRef Name) { return guidOf(Name); }

/// A file, and the ThinLTO module in it.
struct File {
  Bytes Content;
  BitcodeModule Module;

  explicit File(Bytes B)
      : Content(std::move(B)), Module(must(lto::findThinLTOModule(
                                   MemoryBufferRef(ref(Content), "module")))) {}
};

/// A slim module, read in full.
class Slim {
public:
  Slim(StringRef IR, GUIDSet Imported) : Whole(thinBitcode(IR)) {
    Content = must(slimModule(Whole.Module, Imported));
    // All of it, by a reader that skips nothing.
    M = must(parseBitcodeFile(MemoryBufferRef(ref(Content), "slim"), Context));
    EXPECT_FALSE(verifyModule(*M, &errs()));
    // What a worker asks for.
    must(lto::findThinLTOModule(MemoryBufferRef(ref(Content), "slim")));
  }

  /// What is there of the function: nothing, `declared`, `stub` or `body`.
  StringRef function(StringRef Name) const {
    const Function *F = M->getFunction(Name);
    if (!F)
      return "";
    if (F->isDeclaration())
      return "declared";
    return isa<UnreachableInst>(F->front().front()) ? "stub" : "body";
  }
  bool has(StringRef Text) const { return ref(Content).contains(Text); }

  File Whole;
  Bytes Content;
  LLVMContext Context;
  std::unique_ptr<Module> M;
};

/// Why the module can't be slimmed; empty if it can.
std::string reason(Bytes Bitcode, GUIDSet Imported = {}) {
  File Whole(std::move(Bitcode));
  auto Result = slimModule(Whole.Module, Imported);
  return Result ? "" : toString(Result.takeError());
}

} // namespace

TEST(SlimModuleTest, BodiesThatAreImported) {
  const char *IR = R"(
    define void @wanted() { call void @called() call void @outside() ret void }
    define void @called() { call void @unwanted() ret void }
    define void @unwanted() { call void @elsewhere() ret void }
    declare void @outside()
    declare void @elsewhere()
  )";
  Slim S(IR, {guid("wanted")});
  EXPECT_EQ(S.function("wanted"), "body");
  EXPECT_EQ(S.function("called"), "stub");
  EXPECT_EQ(S.function("outside"), "declared");
  EXPECT_EQ(S.function("unwanted"), "");
  EXPECT_EQ(S.function("elsewhere"), "");
  EXPECT_FALSE(S.has("unwanted"));
  // What is numbered keeps its number.
  EXPECT_EQ(S.M->size(), 5u);
  EXPECT_LT(S.Content.size(), S.Whole.Content.size());

  Slim Other(IR, {guid("unwanted"), guid("called")});
  EXPECT_EQ(Other.function("wanted"), "");
  EXPECT_EQ(Other.function("called"), "body");
  EXPECT_EQ(Other.function("unwanted"), "body");
  EXPECT_EQ(Other.function("elsewhere"), "declared");
}

TEST(SlimModuleTest, NothingButDeclarationsIsImported) {
  Slim S("define void @f() { ret void }\n@v = global i32 1\n", {});
  EXPECT_EQ(S.function("f"), "");
  // An importer moves variables that it knows by name.
  EXPECT_TRUE(S.M->getNamedGlobal("v"));
}

TEST(SlimModuleTest, TheSameEachTime) {
  const char *IR = "define void @f() { ret void }\ndefine void @g() "
                   "{ call void @f() ret void }\n";
  EXPECT_EQ(ref(Slim(IR, {guid("g")}).Content),
            ref(Slim(IR, {guid("g")}).Content));
}

TEST(SlimModuleTest, LinkageOfWhatIsReferredTo) {
  Slim S(R"(
    $comdat = comdat any
    $unused = comdat any
    define void @wanted() {
      call void @local() call void @comdat() call void @weak()
      ret void
    }
    define internal void @local() { ret void }
    define linkonce_odr hidden void @comdat() comdat { ret void }
    define weak void @weak() section "there" align 64 { ret void }
    define linkonce_odr void @unused() comdat { ret void }
  )",
         {guid("wanted")});
  EXPECT_EQ(S.function("local"), "stub");
  EXPECT_TRUE(S.M->getFunction("local")->hasInternalLinkage());
  const Function *F = S.M->getFunction("comdat");
  ASSERT_TRUE(F);
  EXPECT_TRUE(F->hasLinkOnceODRLinkage());
  EXPECT_TRUE(F->hasHiddenVisibility());
  ASSERT_TRUE(F->getComdat());
  EXPECT_EQ(F->getComdat()->getName(), "comdat");
  F = S.M->getFunction("weak");
  ASSERT_TRUE(F);
  EXPECT_TRUE(F->hasWeakAnyLinkage());
  EXPECT_EQ(F->getSection(), "there");
  EXPECT_EQ(F->getAlign(), Align(64));
  EXPECT_EQ(S.function("unused"), "");
  EXPECT_FALSE(S.has("unused"));
}

TEST(SlimModuleTest, LocalsAreKnownByTheirFile) {
  const char *IR = R"(
    source_filename = "dir/a.c"
    define internal void @f() { ret void }
    define internal void @g() { ret void }
    @keep = global [2 x ptr] [ptr @f, ptr @g]
  )";
  Slim S(IR, {guid(GlobalValue::getGlobalIdentifier(
                 "f", GlobalValue::InternalLinkage, "dir/a.c"))});
  EXPECT_EQ(S.M->getSourceFileName(), "dir/a.c");
  EXPECT_EQ(S.function("f"), "body");
  EXPECT_EQ(S.function("g"), "stub");
  // The name alone is somebody else's.
  EXPECT_EQ(Slim(IR, {guid("f")}).function("f"), "stub");
}

TEST(SlimModuleTest, AnAliasBringsItsFunction) {
  const char *IR = R"(
    define void @f() { ret void }
    define void @g() { ret void }
    @a = alias void (), ptr @f
    @b = alias void (), ptr @a
  )";
  for (StringRef Name : {"a", "b"}) {
    Slim S(IR, {guid(Name)});
    EXPECT_EQ(S.function("f"), "body") << Name.str();
    EXPECT_EQ(S.function("g"), "") << Name.str();
    EXPECT_TRUE(S.M->getNamedAlias("a"));
  }
  EXPECT_EQ(Slim(IR, {guid("g")}).function("f"), "stub");
}

TEST(SlimModuleTest, BlockAddresses) {
  // The reader makes functions whose blocks have their address taken at once.
  Slim S(R"(
    define void @wanted() { store ptr blockaddress(@other, %x), ptr @v ret void }
    define void @other() { br label %x x: ret void }
    define void @third() { br label %x x: ret void }
    define void @fourth() { store ptr blockaddress(@fifth, %x), ptr @v ret void }
    define void @fifth() { br label %x x: ret void }
    define void @sixth() { ret void }
    @v = global ptr null
    @t = global ptr blockaddress(@third, %x)
  )",
         {guid("wanted")});
  for (StringRef Name : {"wanted", "other", "third", "fourth", "fifth"})
    EXPECT_EQ(S.function(Name), "body") << Name.str();
  EXPECT_EQ(S.function("sixth"), "");
}

TEST(SlimModuleTest, NamesThatAssemblyMayMean) {
  Slim S("target triple = \"x86_64-pc-linux-gnu\"\n"
         "module asm \".symver f, f@V1\"\n"
         "define void @f() { ret void }\n",
         {});
  EXPECT_EQ(S.function("f"), "stub");
  EXPECT_EQ(S.M->getModuleInlineAsm(), ".symver f, f@V1\n");
}

TEST(SlimModuleTest, VariablesStay) {
  Slim S(R"(
    @tls = thread_local(initialexec) global i32 1, section "tls"
    @text = private unnamed_addr constant [3 x i8] c"abc"
    @table = constant [2 x ptr] [ptr @f, ptr @text], !type !0
    @llvm.used = appending global [1 x ptr] [ptr @g], section "llvm.metadata"
    define void @f() { ret void }
    define internal void @g() { ret void }
    !0 = !{i64 16, !"a type's name"}
  )",
         {});
  EXPECT_EQ(S.function("f"), "stub");
  EXPECT_EQ(S.function("g"), "stub");
  const GlobalVariable *V = S.M->getNamedGlobal("tls");
  ASSERT_TRUE(V);
  EXPECT_EQ(V->getThreadLocalMode(), GlobalValue::InitialExecTLSModel);
  V = S.M->getNamedGlobal("table");
  ASSERT_TRUE(V);
  EXPECT_TRUE(V->hasMetadata("type"));
  EXPECT_TRUE(S.has("a type's name"));
}

TEST(SlimModuleTest, StringsOfMetadata) {
  // More nodes than LLVM reads at once.
  std::string IR = "define i32 @wanted(ptr %p) { %v = load i32, ptr %p, "
                   "!tbaa !0 ret i32 %v }\n";
  std::string Nodes = "!0 = !{!1, !1, i64 0}\n!1 = !{!\"wanted type\", !2}\n"
                      "!2 = !{!\"the root\"}\n!named = !{!3}\n"
                      "!3 = !{!\"a named one\"}\n";
  for (int I = 4; I != 60; I += 2) {
    std::string N = std::to_string(I), Next = std::to_string(I + 1);
    IR += "define i32 @f" + N + "(ptr %p) { %v = load i32, ptr %p, !tbaa !" +
          N + " store i32 %v, ptr @v, !tbaa !" + N + " ret i32 %v }\n" +
          "define i32 @g" + N + "(ptr %p) { %v = load i32, ptr %p, !tbaa !" +
          N + " ret i32 %v }\n";
    Nodes += "!" + N + " = !{!" + Next + ", !" + Next + ", i64 0}\n!" + Next +
             " = !{!\"unwanted type " + N + "\", !2}\n";
  }
  IR += "@v = global i32 0\n";
  Slim S(IR + Nodes, {guid("wanted")});
  EXPECT_TRUE(ref(S.Whole.Content).contains("unwanted type"));
  EXPECT_FALSE(S.has("unwanted type"));
  EXPECT_TRUE(S.has("wanted type"));
  EXPECT_TRUE(S.has("the root"));
  EXPECT_TRUE(S.has("a named one"));

  // Without an index, a reader reads all.
  EXPECT_TRUE(Slim("define void @f() { ret void }\n"
                   "define void @g() { ret void, !m !0 }\n!0 = !{!\"m\", !1}\n"
                   "!1 = !{!\"of g\"}\n"
                   "define void @h() { ret void, !m !0 }\n",
                   {guid("f")})
                  .has("of g"));
}

TEST(SlimModuleTest, StringsOfDebugInfo) {
  std::string IR = R"(
    define void @wanted(i32 %x) !dbg !4 {
      #dbg_value(i32 %x, !6, !DIExpression(), !9)
      ret void, !dbg !9
    }
    !llvm.dbg.cu = !{!0}
    !llvm.module.flags = !{!2}
    !0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1,
                                 emissionKind: FullDebug)
    !1 = !DIFile(filename: "a.cpp", directory: "/where")
    !2 = !{i32 2, !"Debug Info Version", i32 3}
    !3 = !DISubroutineType(types: !{})
    !4 = distinct !DISubprogram(name: "wanted name", scope: !1, file: !1,
        type: !3, unit: !0, spFlags: DISPFlagDefinition, retainedNodes: !{})
    !6 = !DILocalVariable(name: "wanted variable", scope: !4, type: !7)
    !7 = !DICompositeType(tag: DW_TAG_structure_type, name: "WantedType",
        file: !1, identifier: "wanted identifier", elements: !8)
    !8 = !{!10}
    !9 = !DILocation(line: 1, scope: !4)
    !10 = !DIDerivedType(tag: DW_TAG_member, name: "member of a type",
        scope: !7, baseType: !7)
  )";
  for (int I = 20; I != 60; I += 2) {
    std::string N = std::to_string(I), Next = std::to_string(I + 1);
    IR += "define void @f" + N + "() !dbg !" + N + " { ret void, !dbg !" +
          Next + " }\n!" + N + " = distinct !DISubprogram(name: \"unwanted " +
          N +
          "\", scope: !1, file: !1, type: !3, unit: !0, spFlags: "
          "DISPFlagDefinition)\n!" +
          Next + " = !DILocation(line: 1, scope: !" + N + ")\n";
    // Nodes of one function only would be in its body.
    IR += "define void @g" + N + "() { ret void, !m !" + N + " }\n";
  }
  Slim S(IR, {guid("wanted")});
  EXPECT_TRUE(ref(S.Whole.Content).contains("unwanted"));
  EXPECT_FALSE(S.has("unwanted"));
  for (StringRef Text : {"a.cpp", "/where", "wanted name", "wanted variable",
                         "WantedType", "wanted identifier"})
    EXPECT_TRUE(S.has(Text)) << Text.str();
}

TEST(SlimModuleTest, FlagsOfTheModule) {
  Slim S("define void @f() { ret void }\n"
         "!llvm.module.flags = !{!0}\n"
         "!0 = !{i32 1, !\"EnableSplitLTOUnit\", i32 1}\n",
         {});
  BitcodeModule Module =
      must(lto::findThinLTOModule(MemoryBufferRef(ref(S.Content), "slim")));
  BitcodeLTOInfo Want = must(S.Whole.Module.getLTOInfo());
  BitcodeLTOInfo Have = must(Module.getLTOInfo());
  EXPECT_TRUE(Have.IsThinLTO);
  EXPECT_EQ(Have.EnableSplitLTOUnit, Want.EnableSplitLTOUnit);
  EXPECT_EQ(Have.UnifiedLTO, Want.UnifiedLTO);
  EXPECT_TRUE(S.M->getModuleFlag("EnableSplitLTOUnit"));
}

TEST(SlimModuleTest, WhatGoesWhole) {
  EXPECT_EQ(reason(thinBitcode("@i = ifunc void (), ptr @r\n"
                               "define ptr @r() { ret ptr null }\n")),
            "it has an ifunc");
  EXPECT_EQ(
      reason(thinBitcode("@v = global [2 x ptr] zeroinitializer\n"
                         "define void @f() { ret void }\n"
                         "@a = alias void (), getelementptr(i8, ptr @f, i64 4)"
                         "\n"),
             {guid("a")}),
      "an alias that is more than a name");
}

TEST(SlimModuleTest, OneByteThatIsWrong) {
  Bytes Good = thinBitcode("define void @f() { call void @g() ret void }\n"
                           "define internal void @g() { ret void }\n"
                           "@v = global ptr @g\n@a = alias void (), ptr @f\n");
  // The name, the linkage, the place of bodies: it must end, with any result.
  for (size_t I = 0; I != Good.size(); ++I) {
    Bytes Bad = Good;
    Bad[I] ^= 0x10;
    auto Modules = getBitcodeModuleList(MemoryBufferRef(ref(Bad), "module"));
    if (!Modules) {
      consumeError(Modules.takeError());
      continue;
    }
    for (const BitcodeModule &M : *Modules)
      consumeError(slimModule(M, {guid("f")}).takeError());
  }
}
