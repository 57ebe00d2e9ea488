//===- ModulePartTest.cpp - Modules divided into parts --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/AssemblerSymbols.h"
#include "Compile/Partition.h"
#include "Modules.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace llvm;
using namespace dtlto;

namespace {

class ModulePartTest : public testing::Test {
protected:
  void parse(std::string IR) {
    test::initializeTargets(); // Needed to parse module assembly.
    if (IR.find("target triple") == std::string::npos)
      IR = "target triple = \"x86_64-unknown-linux-gnu\"\n" + IR;
    SMDiagnostic Error;
    M = parseAssemblyString(IR, Error, Context);
    ASSERT_TRUE(M) << Error.getMessage().str() << " in line "
                   << Error.getLineNo();
    Whole.clear();
    for (const GlobalValue &V : M->global_values())
      if (!V.isDeclaration() && !V.hasAvailableExternallyLinkage())
        Whole.push_back(V.getName().str());
  }

  /// Creates all parts, each from a copy of the module.
  void split(unsigned NumParts) {
    Parts.clear();
    In.clear();
    for (unsigned I = 0; I != NumParts; ++I) {
      std::unique_ptr<Module> Copy = CloneModule(*M);
      Partition P(*Copy, NumParts);
      ASSERT_EQ(NumParts, P.numParts());
      keepPart(*Copy, P, I, "77", MayBePreempted);
      std::string Why;
      raw_string_ostream OS(Why);
      ASSERT_FALSE(verifyModule(*Copy, &OS))
          << "part " << I << ": " << OS.str();
      for (const GlobalValue &V : Copy->global_values())
        if (!V.isDeclaration() && !V.hasAvailableExternallyLinkage())
          In[V.getName().str()].push_back(I);
      Parts.push_back(std::move(Copy));
    }
    checkSymbols();
  }

  /// Checks that each symbol a part refers to is defined exactly once.
  void checkSymbols() {
    std::map<std::string, unsigned> Defined;
    for (const auto &Part : Parts)
      for (const GlobalValue &V : Part->global_values())
        if (!V.isDeclarationForLinker() && !V.hasLocalLinkage())
          ++Defined[V.getName().str()];
    for (const auto &[Name, Times] : Defined)
      if (StringRef(Name) != "llvm.used" &&
          StringRef(Name) != "llvm.compiler.used")
        EXPECT_EQ(1u, Times) << Name;
    for (const auto &Part : Parts)
      for (const GlobalValue &V : Part->global_values())
        if (V.isDeclarationForLinker() && !V.use_empty() &&
            (!M->getNamedValue(V.getName()) ||
             !M->getNamedValue(V.getName())->isDeclarationForLinker()))
          EXPECT_EQ(1u, Defined.count(V.getName().str())) << V.getName().str();
  }

  unsigned partOf(const std::string &Name) {
    EXPECT_EQ(1u, In.count(Name)) << Name;
    return In.count(Name) ? In[Name].front() : ~0u;
  }
  bool together(const std::string &A, const std::string &B) {
    return partOf(A) == partOf(B);
  }

  LLVMContext Context;
  std::unique_ptr<Module> M;
  bool MayBePreempted = false;
  std::vector<std::string> Whole;
  std::vector<std::unique_ptr<Module>> Parts;
  std::map<std::string, std::vector<unsigned>> In; // The parts of each
                                                   // definition.
};

/// Returns a function that makes \p Calls and \p Size stores.
std::string function(const std::string &Head,
                     const std::vector<std::string> &Calls, unsigned Size = 4) {
  std::string Text = "define " + Head + " {\n";
  for (const std::string &Call : Calls)
    Text += "  call void @" + Call + "()\n";
  for (unsigned I = 0; I != Size; ++I)
    Text += "  store volatile i32 " + std::to_string(I) + ", ptr @sink\n";
  return Text + "  ret void\n}\n";
}

const std::string Sink = "@sink = external global i32\n";

TEST_F(ModulePartTest, EachDefinitionIsInOnePart) {
  std::string IR = Sink;
  for (char C : std::string("abcdefgh"))
    IR += function(std::string("void @") + C + "()", {}, 200);
  parse(IR);
  for (unsigned N : {1, 2, 3, 8, 20}) {
    split(N);
    std::vector<unsigned> Sizes(N);
    for (const std::string &Name : Whole) {
      ASSERT_EQ(1u, In[Name].size()) << Name;
      ++Sizes[partOf(Name)];
    }
    if (N == 2)
      EXPECT_EQ((std::vector<unsigned>{4, 4}), Sizes);
    if (N == 8)
      EXPECT_EQ(std::vector<unsigned>(8, 1), Sizes);
  }
}

TEST_F(ModulePartTest, LargeFunctionsLeaveNoPartEmpty) {
  parse(Sink + function("void @a()", {}, 200) + function("void @b()", {}, 200) +
        function("void @large()", {}, 4000) + function("void @c()", {}, 200) +
        function("void @larger()", {}, 9000) + function("void @d()", {}, 200));
  split(6);
  for (unsigned I = 0; I != Whole.size(); ++I)
    EXPECT_EQ(I, partOf(Whole[I])) << Whole[I];
  // There are more large functions than parts.
  split(2);
  EXPECT_FALSE(together("a", "d"));
  EXPECT_TRUE(together("d", "larger"));
  split(30);
}

TEST_F(ModulePartTest, CallersAreNearCallees) {
  parse(Sink + function("void @a()", {"x"}, 200) +
        function("void @b()", {"y"}, 200) +
        function("internal void @y()", {}, 200) +
        function("internal void @x()", {}, 200));
  split(2);
  EXPECT_TRUE(together("a", "x"));
  EXPECT_TRUE(together("b", "y"));
  EXPECT_FALSE(together("a", "b"));
}

TEST_F(ModulePartTest, LocalsThatOthersReferTo) {
  parse(Sink + function("void @a()", {"local"}, 300) +
        function("internal void @local()", {}, 200) +
        function("void @b()", {"local", "odr"}, 300) +
        function("linkonce_odr void @odr()", {}, 200) +
        function("void @c()", {"odr"}, 300));
  split(3);
  EXPECT_EQ(1u, In.count("local.llvm.77"));
  for (const auto &Part : Parts)
    if (GlobalValue *V = Part->getNamedValue("local.llvm.77")) {
      EXPECT_TRUE(V->hasHiddenVisibility());
      EXPECT_TRUE(V->isDSOLocal());
    }
  // The local name stays in the symbol table as well.
  EXPECT_TRUE(together("local", "local.llvm.77"));
  EXPECT_TRUE(Parts[partOf("local")]->getFunction("local")->hasLocalLinkage());
  EXPECT_EQ(partOf("local"), partOf("llvm.compiler.used"));
  EXPECT_TRUE(Parts[partOf("odr")]->getNamedValue("odr")->hasWeakODRLinkage());
}

/// In a shared library, only references to hidden symbols of other objects are
/// direct; all others must assume preemption.
TEST_F(ModulePartTest, DeclarationsInSharedLibraries) {
  parse(Sink + "@v = dso_local global i32 1\n" +
        "@h = hidden global i32 1\n"
        "define dso_local void @user() {\n  store i32 1, ptr @v\n"
        "  store i32 1, ptr @h\n  ret void\n}\n" +
        function("dso_local void @a()", {"small", "large"}, 300) +
        function("dso_local void @small()", {}, 10) +
        function("dso_local void @large()", {}, 300) +
        function("dso_local void @b()", {"small", "large", "user"}, 300));
  for (bool MayBe : {false, true}) {
    MayBePreempted = MayBe;
    split(4);
    for (const auto &Part : Parts)
      for (const GlobalValue &V : Part->global_values())
        if (V.getName() != "sink")
          EXPECT_EQ(V.isDSOLocal(), !V.isDeclarationForLinker() || !MayBe ||
                                        V.hasHiddenVisibility())
              << V.getName().str();
  }
}

TEST_F(ModulePartTest, SmallFunctionsAreCopied) {
  parse(Sink + function("void @a()", {"small", "careful", "large"}, 300) +
        function("internal void @small()", {"inner"}, 10) +
        function("internal void @inner()", {}, 10) +
        function("void @large()", {}, 300) +
        function("weak void @careful()", {}, 10) +
        function("void @b()", {"small", "large", "careful"}, 300));
  split(3);
  Module &B = *Parts[partOf("b")];
  ASSERT_FALSE(together("b", "large"));
  EXPECT_TRUE(B.getFunction("large")->isDeclaration());
  ASSERT_FALSE(together("b", "careful"));
  EXPECT_TRUE(B.getFunction("careful")->isDeclaration()); // May be replaced.
  ASSERT_FALSE(together("b", "small.llvm.77"));
  for (const char *Name : {"small.llvm.77", "inner.llvm.77"})
    EXPECT_TRUE(B.getFunction(Name)->hasAvailableExternallyLinkage()) << Name;
}

TEST_F(ModulePartTest, ConstantsWithoutAnAddress) {
  parse(Sink + R"(
@text = private unnamed_addr constant [3 x i8] c"ab\00"
@seen = private unnamed_addr constant [3 x i8] c"cd\00"
@number = internal constant i32 7
)" + function("void @a()", {}, 200) +
        "declare void @puts(ptr)\n"
        "define void @b() {\n  %t = load volatile i16, ptr @text\n"
        "  call void @puts(ptr @seen)\n"
        "  call void @puts(ptr @number)\n  ret void\n}\n"
        "define void @c() {\n  %t = load volatile i16, ptr @text\n"
        "  call void @puts(ptr @seen)\n"
        "  call void @puts(ptr @number)\n  ret void\n}\n" +
        function("void @d()", {}, 200));
  split(20);
  ASSERT_FALSE(together("b", "c"));
  EXPECT_EQ(2u, In["text"].size());
  // Not copied: a part could raise the alignment of its copy.
  EXPECT_EQ(1u, In["seen.llvm.77"].size());
  EXPECT_EQ(1u, In["number.llvm.77"].size());
}

TEST_F(ModulePartTest, WhatStaysTogether) {
  parse(Sink + R"(
$group = comdat any
@group = linkonce_odr global ptr @member, comdat
@labels = internal constant [1 x ptr] [ptr blockaddress(@jumps, %next)]
define void @jumps(i32 %i) {
  %p = getelementptr [1 x ptr], ptr @labels, i32 0, i32 %i
  %l = load ptr, ptr %p
  indirectbr ptr %l, [label %next]
next:
  ret void
}
@alias = alias void (), ptr @base
@ifunc = ifunc void (), ptr @resolver
define ptr @resolver() {
  ret ptr @base2
}
@beside = global i32 1, section "beside", !associated !0
!0 = !{ptr @owner}
@owner = global i32 1
@kept = internal global i32 3
@thread = internal thread_local global i32 3
@place = internal thread_local global i32 3, section "place"
@llvm.used = appending global [2 x ptr] [ptr @kept, ptr @thread], section "llvm.metadata"
)" + function("void @m1()", {}, 100) +
        function("void @member() comdat($group)", {}, 100) +
        function("void @base()", {}, 100) + function("void @base2()", {}, 100) +
        "define void @user1() {\n  store i32 1, ptr @kept\n"
        "  store i32 1, ptr @thread\n  ret void\n}\n" +
        function("void @m2()", {}, 100) +
        "define void @user2() {\n  store i32 1, ptr @thread\n"
        "  store i32 1, ptr @place\n  ret void\n}\n" +
        function("void @m3()", {}, 100));
  for (unsigned N : {2, 5, 30}) {
    split(N);
    EXPECT_TRUE(together("group", "member"));
    EXPECT_TRUE(together("labels", "jumps"));
    EXPECT_TRUE(together("alias", "base"));
    EXPECT_TRUE(together("ifunc", "resolver"));
    EXPECT_TRUE(together("beside", "owner"));
    EXPECT_TRUE(together("thread", "user1"));
    EXPECT_TRUE(together("thread", "user2"));
    EXPECT_TRUE(together("place", "user2"));
    for (const auto &Part : Parts)
      if (GlobalVariable *V = Part->getGlobalVariable("kept", true))
        EXPECT_TRUE(Part->getNamedValue("llvm.used") && V->hasInitializer());
  }
}

/// clang 15 and 16 refer to the proxy only in metadata. AsmPrinter crashes if
/// the proxy was erased.
TEST_F(ModulePartTest, ProloguesOfSanitizers) {
  parse(Sink + R"(
@type = external constant i8
@proxy = private unnamed_addr constant ptr @type
@llvm.compiler.used = appending global [1 x ptr] [ptr @proxy], section "llvm.metadata"
!0 = !{i32 846595819, ptr @proxy}
)" + function("void @f1() !func_sanitize !0", {}, 100) +
        function("void @f2()", {"f1"}, 100) +
        function("void @f3()", {"f1"}, 100) +
        function("void @f4() !func_sanitize !0", {"f3"}, 100));
  for (unsigned N : {2, 4}) {
    split(N);
    EXPECT_TRUE(together("f1", "f4"));
    EXPECT_TRUE(together("f1", "proxy"));
    EXPECT_FALSE(together("f1", "f2") && together("f1", "f3"));
    for (const auto &Part : Parts)
      for (const Function &F : *Part)
        if (const MDNode *Names = F.getMetadata(LLVMContext::MD_func_sanitize))
          EXPECT_TRUE(Names->getOperand(1)) << F.getName().str();
  }
}

TEST_F(ModulePartTest, Assembly) {
  parse(Sink + R"(
module asm ".globl out"
module asm "out: call hidden"
module asm "private: ret"
declare void @private()
define internal void @hidden() {
  ret void
}
define void @inside() {
  call void asm sideeffect "call named", ""()
  ret void
}
define internal void @named() {
  ret void
}
)" + function("void @a()", {"private"}, 100) +
        function("void @b()", {"inside"}, 100) +
        function("void @c()", {"private", "named", "inside"}, 100) +
        function("void @d()", {}, 100));
  for (unsigned N : {2, 5}) {
    split(N);
    unsigned NumWithAssembly = 0;
    for (const auto &Part : Parts)
      NumWithAssembly += !Part->getModuleInlineAsm().empty();
    EXPECT_EQ(1u, NumWithAssembly);
    unsigned At = partOf("hidden");
    EXPECT_FALSE(Parts[At]->getModuleInlineAsm().empty());
    EXPECT_EQ(At, partOf("a")); // Calls a local symbol of the assembly.
    EXPECT_EQ(At, partOf("c"));
    EXPECT_TRUE(together("inside", "named"));
    for (const auto &Part : Parts)
      if (Function *F = Part->getFunction("inside")) // Names an internal
                                                     // function.
        EXPECT_FALSE(F->hasAvailableExternallyLinkage());
  }
}

/// Assembly can build names from text and operands.
TEST_F(ModulePartTest, NamesThatAssemblyPutsTogether) {
  struct {
    std::string Text;
    bool IsNamed;
  } Cases[] = {{"call f_${0:c}", true},      {"call f_$0", true},
               {"call ${0:c}_two", true},    {"call $0_two", true},
               {"call f_${0}wo", true},      {"call _f_$0", true},
               {"call \\22f_$0\\22", true},  {"call f_\\5Cn", true},
               {"call \\5Cn\\5C()wo", true}, {"call f_\\5C@", true},
               {"mov $$f_two, $0", true},    {"call ${0:c}", false},
               {"call g_$0", false},         {"call f_${:uid}", false},
               {"call ${0}_three", false},   {"mov $$0x80, $0", false}};
  for (const auto &C : Cases) {
    parse(Sink + "define void @uses() {\n  call void asm sideeffect \"" +
          C.Text + "\", \"i\"(i32 2)\n  ret void\n}\n" +
          function("void @a()", {}, 100) +
          function("internal void @f_two()", {}, 20) +
          function("void @b()", {"f_two"}, 100));
    split(4);
    EXPECT_EQ(C.IsNamed, together("uses", "f_two")) << C.Text;
  }
}

/// Many directives define a symbol that is local to its object. All users of
/// such a symbol must be in that object.
TEST_F(ModulePartTest, SymbolsThatDirectivesDefine) {
  const std::string Texts[] = {
      ".lcomm counter, 4",
      ".local counter\\0A.comm counter, 4, 4",
      ".data\\0Aplace: .long 0\\0A.set counter, place",
      ".data\\0Aplace: .long 0\\0A.equ counter, place",
      ".data\\0Aplace: .long 0\\0Acounter = place",
      ".weakref counter, other",
      ".data\\0A.type counter, @object\\0Acounter: .long 0",
      ".macro define name\\0A.lcomm \\5Cname, 4\\0A.endm\\0Adefine counter",
      ".irp end, ter, ting\\0A.lcomm coun\\5Cend, 4\\0A.endr",
      ".irpc end, r\\0A.lcomm counte\\5Cend, 4\\0A.endr",
      ".altmacro\\0A.macro define end\\0A.lcomm count&end, 4\\0A.endm\\0A"
      "define er",
      ".rept 1\\0A.lcomm counter, 4\\0A.endr",
      ".include \\22counter.s\\22",
      ".unknown counter"};
  for (const std::string &Text : Texts)
    for (bool InModule : {true, false}) {
      parse(Sink + "@counter = external global i32\n" +
            (InModule ? "module asm \"" + Text + "\"\n"
                      : "define void @defines() {\n  call void asm "
                        "sideeffect \"" +
                            Text + "\", \"\"()\n  ret void\n}\n") +
            function("void @a()", {}, 100) +
            "define void @one() {\n  store i32 1, ptr @counter\n"
            "  ret void\n}\n" +
            function("void @b()", {}, 100) +
            "define void @two() {\n  store i32 2, ptr @counter\n"
            "  ret void\n}\n" +
            function("void @c()", {}, 100));
      split(8);
      EXPECT_TRUE(together("one", "two")) << Text;
      if (InModule)
        EXPECT_EQ(0u, partOf("one")) << Text;
      else
        EXPECT_TRUE(together("one", "defines")) << Text;
    }
}

TEST(AssemblerSymbolsTest, QuotedNames) {
  std::set<std::string> Names;
  forEachName("call \"\"; call \"a b\"; call \"c",
              [&](StringRef Name) { Names.insert(Name.str()); });
  EXPECT_EQ(Names, (std::set<std::string>{"call", "a", "a b", "b", "c"}));
}

/// Assembly that defines nothing can be compiled in any part, and copied.
TEST_F(ModulePartTest, PlainAssembly) {
  for (const char *Text :
       {"", "rdtsc", "lock; xaddl $0, $1", "rep\\0Anop # pause",
        "1: decl $0\\0A\\09jnz 1b", ".byte 0x0f, 0xa2",
        "jmp .Lend${:uid}\\0A.Lend${:uid}:"}) {
    std::string IR = Sink +
                     "module asm \".globl out\"\n"
                     "module asm \"out: ret\"\n"
                     "define void @plain() {\n"
                     "  call void asm sideeffect \"" +
                     Text + "\", \"r,r\"(i32 1, i32 2)\n  ret void\n}\n";
    for (char C : std::string("abcd"))
      IR += function(std::string("void @") + C + "()", {"plain"}, 100);
    parse(IR);
    split(4);
    EXPECT_FALSE(together("a", "d")) << Text;
    unsigned NumCopies = 0;
    for (const auto &Part : Parts)
      if (Function *F = Part->getFunction("plain"))
        NumCopies += F->hasAvailableExternallyLinkage();
    EXPECT_EQ(3u, NumCopies) << Text;
  }
}

/// An immediate operand can't be a preemptible symbol.
TEST_F(ModulePartTest, ImmediateOperands) {
  parse(Sink + "@v = dso_local global i32 1\n" +
        "define void @user() {\n  call void asm sideeffect \".quad ${0:c}\", "
        "\"i\"(ptr @v)\n  ret void\n}\n" +
        function("void @a()", {"user"}, 300) +
        function("void @b()", {"user"}, 300));
  MayBePreempted = true;
  split(6);
  EXPECT_TRUE(together("user", "v"));
  for (const auto &Part : Parts)
    if (Function *F = Part->getFunction("user"))
      EXPECT_FALSE(F->hasAvailableExternallyLinkage());
}

/// Imports, and inline functions that are available_externally from the start,
/// may refer to local symbols of their module's assembly.
TEST_F(ModulePartTest, ImportsThatNameAssemblysOwn) {
  for (const char *Body :
       {"  call void asm sideeffect \"incl own\", \"\"()\n",
        "  call void asm sideeffect \"incl other\", \"\"()\n",
        "  store i32 1, ptr @lost\n"}) {
    parse(Sink +
          "module asm \".lcomm other, 4\"\nmodule asm \".lcomm lost, 4\"\n"
          "@lost = external global i32\n"
          "@own = internal global i32 1\n"
          "@llvm.used = appending global [1 x ptr] [ptr @own], "
          "section \"llvm.metadata\"\n"
          "define available_externally void @inner() {\n" +
          Body + "  ret void\n}\n" +
          function("available_externally void @outer()", {"inner"}, 10) +
          function("void @a()", {"outer"}, 100) +
          function("void @m()", {}, 200) +
          function("void @b()", {"inner"}, 100) +
          "define void @c() {\n  store i32 2, ptr @own\n  ret void\n}\n" +
          function("void @n()", {}, 200));
    split(6);
    EXPECT_TRUE(together("a", "b")) << Body;
    EXPECT_FALSE(together("a", "n")) << Body;
    unsigned At = partOf("a");
    EXPECT_EQ(At, StringRef(Body).contains("own") ? partOf("own") : 0u) << Body;
    EXPECT_FALSE(Parts[At]->getFunction("inner")->isDeclaration()) << Body;
  }
}

/// Symbols that only the assembler knows.
TEST_F(ModulePartTest, NamesThatOnlyAssemblyHas) {
  const auto InFunction = [](StringRef Text) {
    return ("define void @defines() {\n  call void asm sideeffect \"" + Text +
            "\", \"\"()\n  ret void\n}\n")
        .str();
  };
  for (const std::string &Defines :
       {std::string("module asm \"label: ret\"\n"),
        std::string("module asm \".macro label\\0Aret\\0A.endm\"\n"),
        std::string("module asm \".lcomm label, 4\"\n"),
        InFunction("label: ret"), InFunction(".set label, 1"),
        InFunction("nop; label = 1"), InFunction(".lcomm label, 4"),
        InFunction(".local label\\0A.comm label, 4"),
        InFunction(".weakref label, other"),
        InFunction(".irp name, label\\0A.lcomm \\5Cname, 4\\0A.endr"),
        InFunction("nop %% .lcomm label, 4")}) {
    parse(Sink + Defines + function("void @a()", {}, 100) +
          "define void @uses() {\n"
          "  call void asm sideeffect \"call label\", \"\"()\n  ret void\n}\n" +
          function("void @b()", {}, 100));
    for (unsigned N : {2, 4, 9}) {
      split(N);
      if (In.count("defines"))
        EXPECT_TRUE(together("defines", "uses")) << Defines;
      else
        EXPECT_FALSE(Parts[partOf("uses")]->getModuleInlineAsm().empty());
    }
  }
  // Numeric and ${:uid} labels are local to a function.
  std::string IR = Sink;
  for (char C : std::string("abcdef"))
    IR += std::string("define void @") + C +
          "() {\n  call void asm sideeffect \"1: jmp 1b; jmp .L${:uid}\", "
          "\"\"()\n"
          "  ret void\n}\n";
  parse(IR);
  split(6);
  EXPECT_FALSE(together("a", "f"));
}

TEST_F(ModulePartTest, NamesAsATTWritesThem) {
  parse(Sink + R"(
module asm ".globl out"
module asm "out: pushq $handler"
define internal void @handler() {
  ret void
}
define internal void @other() {
  ret void
}
define void @inside() {
  call void asm sideeffect "pushq $$other", ""()
  ret void
}
)" + function("void @a()", {"handler"}, 100) +
        function("void @b()", {"other"}, 100));
  split(5);
  EXPECT_FALSE(Parts[partOf("handler")]->getModuleInlineAsm().empty());
  EXPECT_TRUE(together("inside", "other"));
  EXPECT_TRUE(together("other", "other.llvm.77"));
}

/// A copy in another part couldn't refer to the local symbol of the assembly.
TEST_F(ModulePartTest, NoCopiesOfWhatNamesAssemblysOwn) {
  parse(Sink + "module asm \"helper: ret\"\ndeclare void @helper()\n" +
        function("void @small()", {"helper"}, 5) +
        "@table = constant [1 x ptr] [ptr @helper]\n" +
        function("void @a()", {"small"}, 200) +
        function("void @b()", {"small"}, 200) +
        "define ptr @c() {\n  %p = load ptr, ptr @table\n  ret ptr %p\n}\n" +
        function("void @d()", {}, 200));
  split(4);
  for (const auto &Part : Parts)
    for (const char *Name : {"small", "table"})
      if (GlobalValue *V = Part->getNamedValue(Name))
        EXPECT_FALSE(V->hasAvailableExternallyLinkage()) << Name;
}

/// Parts copy the annotation strings of fields and variables.
TEST_F(ModulePartTest, Annotations) {
  std::string IR =
      Sink +
      "@word = private unnamed_addr constant [2 x i8] c\"w\\00\", "
      "section \"llvm.metadata\"\n"
      "@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, "
      "ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @a, ptr @word, ptr @word, "
      "i32 1, ptr null }], section \"llvm.metadata\"\n"
      "declare ptr @llvm.ptr.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)\n"
      "declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)\n";
  for (char C : std::string("abcdef"))
    IR += std::string("define ptr @") + C +
          "(ptr %p) {\n"
          "  call void @llvm.var.annotation.p0.p0(ptr %p, ptr @word, "
          "ptr @word, i32 1, ptr null)\n"
          "  %q = call ptr @llvm.ptr.annotation.p0.p0(ptr %p, ptr @word, "
          "ptr @word, i32 1, ptr null)\n"
          "  ret ptr %q\n}\n";
  parse(IR);
  split(3);
  EXPECT_FALSE(together("a", "f"));
  EXPECT_EQ(3u, In["word"].size());
}

/// A copy would lack the table of labels.
TEST_F(ModulePartTest, NoCopiesOfComputedGotos) {
  parse(Sink + R"(
@labels = internal constant [2 x ptr] [ptr blockaddress(@jumps, %one), ptr blockaddress(@jumps, %two)]
define i32 @jumps(i32 %i) {
  %p = getelementptr [2 x ptr], ptr @labels, i32 0, i32 %i
  %l = load ptr, ptr %p
  indirectbr ptr %l, [label %one, label %two]
one:
  ret i32 1
two:
  ret i32 2
}
)" + function("void @a()", {}, 100) +
        "define i32 @b() {\n  %x = call i32 @jumps(i32 1)\n  ret i32 %x\n}\n" +
        function("void @c()", {}, 100));
  split(6);
  ASSERT_FALSE(together("b", "jumps"));
  EXPECT_TRUE(Parts[partOf("b")]->getFunction("jumps")->isDeclaration());
}

/// A filter refers to its parent's frame by a label, so both need one part.
TEST_F(ModulePartTest, FiltersAreWithTheirParents) {
  parse(Sink + R"(
declare void @llvm.localescape(...)
declare ptr @llvm.localrecover(ptr, ptr, i32)
define void @parent() {
  %r = alloca i32
  call void (...) @llvm.localescape(ptr %r)
  ret void
}
)" + function("void @a()", {"parent"}, 100) +
        R"(
define void @filter(ptr %frame) {
  %r = call ptr @llvm.localrecover(ptr @parent, ptr %frame, i32 0)
  store i32 1, ptr %r
  ret void
}
)" + "define void @b() {\n  call void @filter(ptr null)\n  ret void\n}\n" +
        function("void @c()", {}, 100));
  split(5);
  EXPECT_TRUE(together("parent", "filter"));
  EXPECT_FALSE(together("a", "parent"));
  for (const auto &Part : Parts)
    for (const char *Name : {"parent", "filter"})
      if (Function *F = Part->getFunction(Name))
        EXPECT_FALSE(F->hasAvailableExternallyLinkage()) << Name;
}

/// Programs use such sections as tables, from __start_commands on.
TEST_F(ModulePartTest, SectionsKeepTheirOrder) {
  std::string IR = Sink;
  for (char C : std::string("abcd"))
    IR += std::string("@") + C + " = global i32 0, section \"commands\"\n" +
          "@of_" + C + " = global i32 0, section \"__sancov_guards\"\n" +
          "define void @use_" + C + "() {\n  store i32 1, ptr @" + C +
          "\n  store i32 1, ptr @of_" + C + "\n  ret void\n}\n" +
          function(std::string("void @f_") + C + "()", {}, 100);
  parse(IR);
  split(8);
  std::vector<std::string> Order;
  for (GlobalVariable &V : Parts[partOf("a")]->globals())
    if (V.getSection() == "commands" && !V.isDeclaration())
      Order.push_back(V.getName().str());
  EXPECT_EQ((std::vector<std::string>{"a", "b", "c", "d"}), Order);
  // The order doesn't matter in sections that compilers use.
  EXPECT_FALSE(together("of_a", "of_d"));
}

/// Includes sections named by a pragma, and sections of functions.
TEST_F(ModulePartTest, NamedSections) {
  std::string IR =
      Sink +
      "attributes #0 = { \"bss-section\"=\"mine\" }\n"
      "attributes #1 = { noinline \"implicit-section-name\"=\"code\" }\n";
  for (char C : std::string("abcd"))
    IR += std::string("@v_") + C + " = global i32 0 #0\n" +
          function(std::string("void @p_") + C + "() #1", {}, 100) +
          function(std::string("void @s_") + C + "() section \".fast\"", {},
                   100) +
          function(std::string("void @h_") + C + "() section \".text.hot\"", {},
                   100) +
          function(std::string("void @f_") + C + "()", {}, 100);
  parse(IR);
  split(8);
  for (const char *Group : {"v_", "p_", "s_"})
    for (char C : std::string("abcd"))
      EXPECT_EQ(0u, partOf(Group + std::string(1, C))) << Group << C;
  EXPECT_FALSE(together("f_a", "f_d"));
  EXPECT_FALSE(together("h_a", "h_d"));
}

/// A constant whose address may be compared isn't copied.
TEST_F(ModulePartTest, ConstantsThatAreCompared) {
  std::string IR = Sink + R"(
@sentinel = private unnamed_addr constant [5 x i8] c"a\00bc\00"
@text = private unnamed_addr constant [3 x i8] c"ab\00"
@numbers = private unnamed_addr constant [2 x i32] [i32 1, i32 2]
declare void @take(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
)";
  for (char C : std::string("abc"))
    IR += std::string("define i32 @") + C +
          "(ptr %to) {\n  call void @take(ptr @sentinel)\n"
          "  call void @take(ptr @text)\n"
          "  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr @numbers, i64 8, "
          "i1 false)\n"
          "  %x = load i32, ptr getelementptr (i8, ptr @numbers, i64 4)\n"
          "  ret i32 %x\n}\n" +
          function(std::string("void @more_") + C + "()", {}, 100);
  parse(IR);
  split(6);
  ASSERT_FALSE(together("a", "c"));
  EXPECT_EQ(1u, In["sentinel.llvm.77"].size());
  EXPECT_EQ(3u, In["numbers"].size());
  EXPECT_EQ(1u, In["text.llvm.77"].size());
}

/// The optimizer would take two declarations for two objects.
TEST_F(ModulePartTest, AliasesBecomeWhatTheyName) {
  parse(Sink + R"(
@v = internal global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@second = dso_local alias i32, getelementptr ([4 x i32], ptr @v, i64 0, i64 1)
@again = internal alias i32, getelementptr ([4 x i32], ptr @v, i64 0, i64 1)
@called = hidden alias void (), ptr @f
@preemptible = alias void (), ptr @g
)" + function("internal void @f()", {}, 200) +
        function("void @g()", {}, 200) + function("void @m1()", {}, 200) +
        R"(
define i32 @a() {
  store i32 3, ptr @second
  %x = load i32, ptr @again
  ret i32 %x
}
define i1 @b() {
  %x = icmp eq ptr @called, @f
  ret i1 %x
}
)" + function("void @c()", {"called", "preemptible"}, 200) +
        function("void @d()", {}, 200));
  split(20);
  for (const char *Name : {"a", "b", "c"}) {
    ASSERT_FALSE(together(Name, "f.llvm.77") || together(Name, "v.llvm.77"));
    Module &At = *Parts[partOf(Name)];
    for (const char *Alias : {"second", "again", "again.llvm.77", "called"})
      EXPECT_FALSE(At.getNamedValue(Alias)) << Name << ' ' << Alias;
  }
  // Calls may use another name of a function: the alias stays.
  EXPECT_FALSE(together("c", "g"));
  EXPECT_TRUE(Parts[partOf("c")]->getFunction("preemptible"));
}

/// The linker may replace an interposable alias, so users must see the alias.
TEST_F(ModulePartTest, UsersOfInterposableAliases) {
  parse(Sink + R"(
@v = global i32 1
@weak = weak alias i32, ptr @v
@weak_f = weak alias void (), ptr @f
@only = weak alias i32, ptr @named_once
@named_once = internal global i32 1
)" + function("void @f()", {}, 200) +
        function("void @m1()", {}, 200) + R"(
define i32 @a() {
  store i32 3, ptr @v
  %x = load i32, ptr @weak
  ret i32 %x
}
@table = constant [2 x ptr] [ptr @weak_f, ptr @f]
define ptr @reads() {
  %x = load ptr, ptr @table
  ret ptr %x
}
define i32 @o() {
  %x = load i32, ptr @only
  ret i32 %x
}
)" + function("void @c()", {"weak_f"}, 200) +
        function("void @d()", {}, 200));
  split(20);
  EXPECT_TRUE(together("a", "weak"));
  EXPECT_TRUE(together("table", "f"));
  EXPECT_FALSE(together("c", "f"));
  EXPECT_FALSE(together("reads", "table"));
  EXPECT_FALSE(
      Parts[partOf("reads")]->getNamedGlobal("table")->hasInitializer());
  EXPECT_FALSE(together("o", "only"));
}

/// On Windows, vtables are aliases, and their comdat has the alias's name.
TEST_F(ModulePartTest, ComdatsThatAliasesName) {
  parse("target triple = \"x86_64-pc-windows-msvc\"\n" + Sink + R"(
$vtable = comdat largest
@0 = private unnamed_addr constant { [2 x ptr] } { [2 x ptr] [ptr null, ptr @b] }, comdat($vtable)
@vtable = internal unnamed_addr alias ptr, getelementptr inbounds ({ [2 x ptr] }, ptr @0, i32 0, i32 0, i32 1)
define void @a() {
  call void @take(ptr @vtable)
  ret void
}
declare void @take(ptr)
)" + function("void @b()", {}, 100) +
        "define void @c() {\n  call void @take(ptr @vtable)\n  ret void\n}\n" +
        function("void @d()", {}, 100));
  split(5);
  ASSERT_TRUE(together("vtable", "vtable.llvm.77"));
  Module &At = *Parts[partOf("vtable")];
  const Comdat *Group = At.getNamedValue("vtable")->getComdat();
  ASSERT_TRUE(Group);
  EXPECT_EQ(Group->getName(), "vtable");
  EXPECT_EQ(Group, At.getNamedValue("vtable.llvm.77")->getComdat());
}

/// The first name has no symbol in an object, the second needs quotes.
TEST_F(ModulePartTest, NamesOfAssemblers) {
  const std::string Names = R"(target datalayout = "e-m:e-i64:64"
target triple = "x86_64-unknown-linux-gnu"
@"\01.Lprivate" = internal global i32 3
@"two words" = internal global i32 3
)" + Sink;
  parse(
      Names +
      "define void @a() {\n  store i32 1, ptr @\"\\01.Lprivate\"\n"
      "  call void asm sideeffect \"incl \\22two words\\22(%rip)\", \"\"()\n"
      "  ret void\n}\n" +
      function("void @m1()", {}, 100) +
      "define void @b() {\n  store i32 2, ptr @\"\\01.Lprivate\"\n  ret "
      "void\n}\n" +
      function("void @m2()", {}, 100) +
      "define void @c() {\n  store i32 2, ptr @\"two words\"\n  ret void\n}\n" +
      function("void @m3()", {}, 100));
  split(20);
  EXPECT_TRUE(together("a", "two words"));
  EXPECT_TRUE(together("\1.Lprivate", "__local.Lprivate.llvm.77"));
  EXPECT_FALSE(together("a", "b"));
}

TEST_F(ModulePartTest, WhatLinkersTakeOnce) {
  parse(Sink + function("void @a()", {}, 100) + function("void @b()", {}, 100) +
        R"(
!wasm.custom_sections = !{!0}
!llvm.linker.options = !{!0}
!0 = !{!"name", !"contents"}
)");
  split(2);
  for (const char *Name : {"wasm.custom_sections", "llvm.linker.options"}) {
    EXPECT_TRUE(Parts[0]->getNamedMetadata(Name)) << Name;
    EXPECT_FALSE(Parts[1]->getNamedMetadata(Name)) << Name;
  }
}

TEST_F(ModulePartTest, ConstructorsKeepTheirOrder) {
  std::string IR =
      Sink + "@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] "
             "[{ i32, ptr, ptr } { i32 65535, ptr @first, ptr null }, "
             "{ i32, ptr, ptr } { i32 65535, ptr @second, ptr null }]\n";
  IR += function("internal void @first()", {"a"}, 10);
  for (char C : std::string("abcdef"))
    IR += function(std::string("void @") + C + "()", {}, 200);
  IR += function("internal void @second()", {"f"}, 10);
  parse(IR);
  split(4);
  EXPECT_EQ(1u, In["llvm.global_ctors"].size());
  EXPECT_TRUE(together("first", "second"));
  EXPECT_TRUE(together("first", "llvm.global_ctors"));
}

TEST_F(ModulePartTest, ImportsAreWhereTheyAreUsed) {
  parse(Sink +
        function("available_externally void @imported()", {"deeper"}, 30) +
        function("available_externally void @deeper()", {}, 30) +
        function("void @a()", {}, 300) +
        function("void @b()", {"imported"}, 300));
  split(2);
  ASSERT_FALSE(together("a", "b"));
  EXPECT_EQ(nullptr, Parts[partOf("a")]->getFunction("imported"));
  EXPECT_EQ(nullptr, Parts[partOf("a")]->getFunction("deeper"));
  for (const char *Name : {"imported", "deeper"})
    EXPECT_TRUE(
        Parts[partOf("b")]->getFunction(Name)->hasAvailableExternallyLinkage());
}

TEST_F(ModulePartTest, DebugInfo) {
  parse(Sink + R"(
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!9}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, globals: !2, enums: !3, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{!4, !6, !10}
!3 = !{!8}
!4 = !DIGlobalVariableExpression(var: !5, expr: !DIExpression())
!5 = distinct !DIGlobalVariable(name: "x", scope: !0, file: !1, type: !12, isLocal: false, isDefinition: true)
!6 = !DIGlobalVariableExpression(var: !7, expr: !DIExpression())
!7 = distinct !DIGlobalVariable(name: "y", scope: !0, file: !1, type: !12, isLocal: false, isDefinition: true)
!8 = !DICompositeType(tag: DW_TAG_enumeration_type, name: "e", file: !1, size: 32)
!9 = !{i32 2, !"Debug Info Version", i32 3}
!10 = !DIGlobalVariableExpression(var: !11, expr: !DIExpression(DW_OP_constu, 3, DW_OP_stack_value))
!11 = distinct !DIGlobalVariable(name: "z", scope: !0, file: !1, type: !12, isLocal: true, isDefinition: true)
!12 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
@x = global i32 1, !dbg !4
@y = global i32 1, !dbg !6
)" + function("void @a()", {}, 100) +
        function("void @b()", {}, 100));
  split(20);
  unsigned NumDescriptions = 0, NumEnums = 0;
  for (unsigned I = 0; I != 20; ++I)
    for (DICompileUnit *Unit : Parts[I]->debug_compile_units()) {
      NumEnums += Unit->getEnumTypes().size();
      for (auto *D : Unit->getGlobalVariables()) {
        ++NumDescriptions;
        std::string Name = D->getVariable()->getName().str();
        EXPECT_EQ(Name == "z" ? 0 : partOf(Name), I) << Name;
      }
    }
  EXPECT_EQ(3u, NumDescriptions);
  EXPECT_EQ(1u, NumEnums);
}

/// A declaration has the properties that code needs to refer to the symbol.
TEST_F(ModulePartTest, Declarations) {
  parse(Sink + R"(
$c = comdat any
$n = comdat nodeduplicate
@common = common global i32 0
@weak = weak hidden global i32 1
@protected = protected global i32 1
@tls = thread_local(initialexec) global i32 1
@large = global i32 1, code_model "large"
@untagged = global i32 1, no_sanitize_address
@apart = global i32 1, partition "part1"
@any = linkonce_odr global i32 1, comdat($c)
@nodup = global i32 1, comdat($n)
@init = externally_initialized global i32 1
@address = local_unnamed_addr global i32 1
@large_alias = weak alias i32, ptr @only
@only = internal global i32 1, code_model "large"
)" + function("void @m1()", {}, 200) +
        R"(
define void @user() {
  store i32 2, ptr @common
  store i32 2, ptr @weak
  store i32 2, ptr @protected
  store i32 2, ptr @tls
  store i32 2, ptr @large
  store i32 2, ptr @untagged
  store i32 2, ptr @apart
  store i32 2, ptr @any
  store i32 2, ptr @nodup
  store i32 2, ptr @init
  store i32 2, ptr @address
  store i32 2, ptr @large_alias
  ret void
}
)" + function("void @m2()", {}, 200));
  split(30);
  Module &User = *Parts[partOf("user")];
  for (const char *Name :
       {"common", "weak", "protected", "tls", "large", "untagged", "apart",
        "any", "nodup", "init", "address", "large_alias"}) {
    ASSERT_FALSE(together(Name, "user")) << Name;
    const auto *V = User.getNamedGlobal(Name);
    const GlobalValue *Definition = Parts[partOf(Name)]->getNamedValue(Name);
    ASSERT_TRUE(V && V->isDeclaration()) << Name;
    EXPECT_TRUE(V->hasExternalLinkage()) << Name;
    EXPECT_EQ(nullptr, V->getComdat()) << Name;
    EXPECT_EQ(Definition->getVisibility(), V->getVisibility()) << Name;
    EXPECT_EQ(Definition->getThreadLocalMode(), V->getThreadLocalMode());
    EXPECT_EQ(Definition->hasSanitizerMetadata(), V->hasSanitizerMetadata());
  }
  EXPECT_EQ(CodeModel::Large, User.getNamedGlobal("large")->getCodeModel());
  EXPECT_EQ(CodeModel::Large,
            User.getNamedGlobal("large_alias")->getCodeModel());
  EXPECT_TRUE(User.getNamedGlobal("init")->isExternallyInitialized());
  auto Defined = [&](const char *Name) {
    return Parts[partOf(Name)]->getNamedGlobal(Name);
  };
  EXPECT_TRUE(Defined("common")->hasCommonLinkage());
  EXPECT_TRUE(Defined("any")->hasWeakODRLinkage()); // Isn't dropped.
  EXPECT_EQ("part1", Defined("apart")->getPartition());
  EXPECT_EQ(Comdat::NoDeduplicate,
            Defined("nodup")->getComdat()->getSelectionKind());
}

/// Prefix data, prologue data and personalities are references like any other.
TEST_F(ModulePartTest, DataOfFunctions) {
  parse(Sink + R"(
@word = internal global i32 1
define internal i32 @personality(...) {
  store volatile i32 1, ptr @sink
  store volatile i32 2, ptr @sink
  ret i32 0
}
define void @prefix() noinline prefix ptr @word prologue ptr @word {
  ret void
}
define void @copied() prefix ptr @word {
  ret void
}
)" + function("void @m1()", {}, 200) +
        "define void @a() personality ptr @personality {\n"
        "  call void @prefix()\n  call void @copied()\n  ret void\n}\n" +
        function("void @m2()", {}, 200));
  split(20);
  ASSERT_FALSE(together("a", "prefix"));
  Module &At = *Parts[partOf("a")];
  EXPECT_FALSE(At.getFunction("prefix")->hasPrefixData());
  EXPECT_FALSE(At.getFunction("prefix")->hasPrologueData());
  EXPECT_TRUE(At.getFunction("copied")->hasAvailableExternallyLinkage());
  EXPECT_TRUE(At.getFunction("a")->hasPersonalityFn());
  EXPECT_TRUE(At.getFunction("personality.llvm.77")->isDeclaration());
}

/// A function that only metadata refers to has no symbol. The whole list is
/// dropped, because a shorter one would be wrong.
TEST_F(ModulePartTest, CalleesOfIndirectCalls) {
  parse(Sink + function("internal void @f1()", {}, 200) +
        function("internal void @f2()", {}, 200) + R"(
@table = internal global [2 x ptr] [ptr @f1, ptr @f2]
)" + function("void @m1()", {}, 200) +
        R"(
define void @a() {
  %p = load ptr, ptr @table
  call void %p(), !callees !0
  ret void
}
define void @b() {
  %p = load ptr, ptr @table
  call void %p(), !callees !0
  call void @f1()
  call void @f2()
  ret void
}
!0 = !{ptr @f1, ptr @f2}
)" + function("void @m2()", {}, 200));
  split(30);
  for (const char *Name : {"a", "b"}) {
    ASSERT_FALSE(together(Name, "table") || together(Name, "f1"));
    for (BasicBlock &B : *Parts[partOf(Name)]->getFunction(Name))
      for (Instruction &I : B)
        if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isIndirectCall())
          EXPECT_EQ(StringRef(Name) == "b",
                    Call->getMetadata(LLVMContext::MD_callees) != nullptr);
  }
}

/// The type metadata of functions and variables stays with the definition.
TEST_F(ModulePartTest, TypesOfDefinitions) {
  parse(Sink + R"(
@vtable = constant { [1 x ptr] } { [1 x ptr] [ptr @large] }, !type !0, !vcall_visibility !1, !exclude !3
@data = global i32 1, !absolute_symbol !2
)" + "define void @large() !type !0 !kcfi_type !4 !section_prefix !5 {\n" +
        std::string(function("void @x()", {}, 200)).substr(19) +
        function("void @m1()", {}, 200) +
        "define void @a() {\n  call void @large()\n"
        "  %p = load ptr, ptr @vtable\n  store ptr %p, ptr @data\n"
        "  ret void\n}\n" +
        function("void @m2()", {}, 200) + R"(
!0 = !{i64 0, !"type"}
!1 = !{i64 1}
!2 = !{i64 0, i64 256}
!3 = !{}
!4 = !{i32 7}
!5 = !{!"section_prefix", !"hot"}
)");
  split(20);
  ASSERT_FALSE(together("a", "large") || together("a", "vtable"));
  const Function *F = Parts[partOf("large")]->getFunction("large");
  for (unsigned Kind :
       {unsigned(LLVMContext::MD_type), unsigned(LLVMContext::MD_kcfi_type),
        unsigned(LLVMContext::MD_section_prefix)})
    EXPECT_TRUE(F->getMetadata(Kind)) << Kind;
  const GlobalVariable *V = Parts[partOf("vtable")]->getNamedGlobal("vtable");
  EXPECT_TRUE(V->getMetadata(LLVMContext::MD_type));
  EXPECT_TRUE(V->getMetadata(LLVMContext::MD_vcall_visibility));
  EXPECT_TRUE(V->getMetadata(LLVMContext::MD_exclude));
  Module &At = *Parts[partOf("a")];
  EXPECT_FALSE(At.getFunction("large")->hasMetadata());
  EXPECT_FALSE(At.getNamedGlobal("data")->hasMetadata());
  // Devirtualization reads this copy.
  EXPECT_TRUE(At.getNamedGlobal("vtable")->hasAvailableExternallyLinkage());
  EXPECT_TRUE(At.getNamedGlobal("vtable")->getMetadata(LLVMContext::MD_type));
}

/// A copy must not be exported a second time.
TEST_F(ModulePartTest, ExportsOfWindows) {
  parse("target triple = \"x86_64-pc-windows-msvc\"\n" + Sink +
        function("dllexport void @small()", {}, 5) +
        function("dllexport void @large()", {}, 200) +
        "@there = external dllimport global i32\n" +
        function("void @m1()", {}, 200) +
        "define void @a() {\n  call void @small()\n  call void @large()\n"
        "  store i32 1, ptr @there\n  ret void\n}\n" +
        function("void @m2()", {}, 200));
  split(20);
  ASSERT_FALSE(together("a", "small") || together("a", "large"));
  Module &At = *Parts[partOf("a")];
  for (const char *Name : {"small", "large"}) {
    EXPECT_FALSE(At.getFunction(Name)->hasDLLExportStorageClass()) << Name;
    EXPECT_TRUE(
        Parts[partOf(Name)]->getFunction(Name)->hasDLLExportStorageClass())
        << Name;
  }
  EXPECT_TRUE(At.getNamedGlobal("there")->hasDLLImportStorageClass());
}

/// OCaml's tables have symbols named after the module: only one may exist.
TEST_F(ModulePartTest, CollectorsTables) {
  for (const char *Collector : {"ocaml", "shadow-stack"}) {
    parse(Sink + function("void @a()", {}, 200) +
          function("void @b() gc \"" + std::string(Collector) + "\"", {}, 200) +
          function("void @c()", {}, 200));
    split(3);
    EXPECT_EQ(StringRef(Collector) == "ocaml", together("a", "c"));
  }
}

} // namespace
