//===- CodegenDataTest.cpp - Codegen data of modules, and its checks ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/CodegenData.h"
#include "CodegenSections.h"
#include "LLVM/CodegenData.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

std::string whyNot(StringRef Bytes, StringRef Module = "a.o") {
  Expected<CodegenSections> Sections = unpackSections(Bytes, Module);
  return Sections ? "" : toString(Sections.takeError());
}

std::string packed(ArrayRef<CodegenSection> Sections) {
  SmallVector<char, 0> Bytes = packSections(Sections);
  return std::string(Bytes.data(), Bytes.size());
}

std::string packedTree(StringRef Tree) {
  return packed({{CodegenSection::HashTree, Tree}});
}
std::string packedMap(StringRef Map) {
  return packed({{CodegenSection::FunctionMap, Map}});
}

/// Returns \p Bytes with the 32-bit number at \p At replaced by \p Value.
std::string with(std::string Bytes, size_t At, uint32_t Value) {
  Bytes.replace(At, 4, number<uint32_t>(Value));
  return Bytes;
}

std::string whyNotFile(StringRef Bytes) {
  return toString(checkCodegenDataFile(Bytes));
}

} // namespace

TEST(CodegenDataTest, ThereAndBack) {
  std::string Tree = someTree(), Map = someMap("a.o");
  for (CodegenSections Sections :
       {CodegenSections{}, CodegenSections{{CodegenSection::HashTree, Tree}},
        CodegenSections{{CodegenSection::FunctionMap, Map}},
        CodegenSections{{CodegenSection::HashTree, Tree},
                        {CodegenSection::FunctionMap, Map}},
        CodegenSections{{CodegenSection::FunctionMap, Map},
                        {CodegenSection::HashTree, Tree}}}) {
    std::string Bytes = packed(Sections);
    Expected<CodegenSections> Back = unpackSections(Bytes, "a.o");
    ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
    ASSERT_EQ(Back->size(), Sections.size());
    for (size_t I = 0; I != Sections.size(); ++I) {
      EXPECT_EQ((*Back)[I].Kind, Sections[I].Kind);
      EXPECT_EQ((*Back)[I].Bytes, Sections[I].Bytes);
    }
  }
}

TEST(CodegenDataTest, CutAnywhere) {
  std::string Bytes = packed({{CodegenSection::HashTree, someTree()},
                              {CodegenSection::FunctionMap, someMap("a.o")}});
  for (size_t Size = 0; Size != Bytes.size(); ++Size)
    EXPECT_NE(whyNot(StringRef(Bytes).take_front(Size)), "") << Size;
  EXPECT_EQ(whyNot(Bytes), "");
  EXPECT_NE(whyNot(Bytes + '\0'), "");
}

TEST(CodegenDataTest, SectionsCutAnywhere) {
  std::string Tree = someTree(), Map = someMap("a.o");
  for (size_t Size = 0; Size != Tree.size(); ++Size)
    EXPECT_NE(whyNot(packedTree(StringRef(Tree).take_front(Size))), "") << Size;
  for (size_t Size = 0; Size != Map.size(); ++Size)
    EXPECT_NE(whyNot(packedMap(StringRef(Map).take_front(Size))), "") << Size;
  EXPECT_NE(whyNot(packedTree(Tree + '\0')), "");
  EXPECT_NE(whyNot(packedMap(Map + '\0')), "");
}

TEST(CodegenDataTest, OtherKinds) {
  EXPECT_NE(whyNot("an object, perhaps"), "");
  EXPECT_NE(whyNot(with(packed({}), 8, 2)), ""); // Version.
  EXPECT_NE(whyNot(with(packed({}), 12, 1)), "");
  EXPECT_NE(whyNot(with(packedTree(someTree()), 16, 3)), "");
  EXPECT_NE(whyNot(with(packedTree(someTree()), 20, 1)), "");
  std::string Tree = someTree();
  EXPECT_NE(whyNot(packed({{CodegenSection::HashTree, Tree},
                           {CodegenSection::HashTree, Tree}})),
            "");
}

TEST(CodegenDataTest, Trees) {
  EXPECT_EQ(whyNot(packedTree(tree({{0, {1, 2}}, {5, {}}, {6, {}}}))), "");
  // Two children with the same hash: LLVM would overwrite one.
  EXPECT_NE(whyNot(packedTree(tree({{0, {1, 2}}, {5, {}}, {5, {}}}))), "");
  // Nodes that don't exist, nodes with two parents, and nodes without one.
  EXPECT_NE(whyNot(packedTree(tree({{0, {1, 3}}, {5, {}}, {6, {}}}))), "");
  EXPECT_NE(whyNot(packedTree(tree({{0, {1, 2}}, {5, {2}}, {6, {}}}))), "");
  EXPECT_NE(whyNot(packedTree(tree({{0, {1}}, {5, {}}, {6, {}}}))), "");
  // Cycles.
  EXPECT_NE(whyNot(packedTree(tree({{0, {0}}}))), "");
  EXPECT_NE(whyNot(packedTree(tree({{0, {1}}, {5, {0}}}))), "");
  // Wrong or missing root.
  EXPECT_NE(whyNot(packedTree(tree({{1, {}}}))), "");
  EXPECT_NE(whyNot(packedTree(tree({}))), "");

  // LLVM destroys a tree recursively, so the depth is limited.
  auto Chain = [](uint32_t Length) {
    std::vector<TreeNode> Nodes;
    for (uint32_t I = 0; I + 1 < Length; ++I)
      Nodes.push_back({I, {I + 1}});
    Nodes.push_back({Length, {}});
    return packedTree(tree(Nodes));
  };
  EXPECT_EQ(whyNot(Chain(1000)), "");
  EXPECT_NE(whyNot(Chain(1000000)), "");
}

TEST(CodegenDataTest, Maps) {
  EXPECT_EQ(whyNot(packedMap(map({"f", "a.o"}, {{0, 1, 9, {{3, 0}, {3, 1}}}}))),
            "");
  // Functions of another module, or of several.
  EXPECT_NE(whyNot(packedMap(someMap("b.o"))), "");
  EXPECT_NE(whyNot(packedMap(
                map({"f", "a.o", "b.o"}, {{0, 1, 9, {}}, {0, 2, 9, {}}}))),
            "");
  // Missing or duplicate names; no functions.
  EXPECT_NE(whyNot(packedMap(map({"f", "a.o"}, {{2, 1, 9, {}}}))), "");
  EXPECT_NE(whyNot(packedMap(map({"f", "a.o", "f"}, {{0, 1, 9, {}}}))), "");
  EXPECT_NE(whyNot(packedMap(map({"f", "a.o"}, {}))), "");
  EXPECT_NE(whyNot(packedMap(map({}, {}))), "");
  // Operands that are unsorted, duplicate, or of a missing instruction.
  for (std::vector<std::pair<uint32_t, uint32_t>> Operands :
       {std::vector<std::pair<uint32_t, uint32_t>>{{3, 1}, {3, 0}},
        {{3, 1}, {3, 1}},
        {{9, 0}}})
    EXPECT_NE(whyNot(packedMap(map({"f", "a.o"}, {{0, 1, 9, Operands}}))), "");
  // Numbers that LLVM's hash tables reserve.
  EXPECT_NE(
      whyNot(packedMap(map({"f", "a.o"}, {{0, 1, ~0U, {{~0U - 1, ~0U - 1}}}}))),
      "");
}

// Functions without a merge candidate are left out of the merged data.
TEST(CodegenDataTest, UselessFunctions) {
  if (!HasCodegenData)
    GTEST_SKIP();
  // Each function's hash is its position, except for one: the second functions
  // of one.o and two.o match, apart from an operand.
  std::string One = map({"first", "one.o", "second", "third"},
                        {{0, 1, 9, {}}, {2, 1, 90, {{3, 0}}}, {3, 1, 90, {}}});
  std::string Two =
      map({"fourth", "two.o", "fifth"}, {{0, 1, 9, {}}, {2, 1, 90, {{3, 0}}}});
  Two.replace(Two.size() - 8, 8, number(uint64_t(8)));

  MergedCodegenData Both;
  Both.add(/*IsMap=*/true, One);
  Both.add(/*IsMap=*/true, Two);
  Expected<std::string> File = Both.write();
  ASSERT_TRUE(bool(File)) << toString(File.takeError());
  for (StringRef Name : {"second", "one.o", "fifth", "two.o"})
    EXPECT_TRUE(StringRef(*File).contains(Name)) << Name.str();
  for (StringRef Name : {"first", "third", "fourth"})
    EXPECT_FALSE(StringRef(*File).contains(Name)) << Name.str();
  EXPECT_EQ(whyNotFile(*File), "");

  MergedCodegenData Alone;
  Alone.add(/*IsMap=*/true, One);
  File = Alone.write();
  ASSERT_TRUE(bool(File)) << toString(File.takeError());
  EXPECT_EQ(*File, "");
  EXPECT_NE(Alone.hash(), MergedCodegenData().hash());
}

TEST(CodegenDataFileTest, Whole) {
  EXPECT_EQ(whyNotFile(codegenDataFile(someTree(), someMap("a.o"))), "");
  EXPECT_EQ(whyNotFile(codegenDataFile(someTree(), "")), "");
  EXPECT_EQ(whyNotFile(codegenDataFile("", someMap("a.o"))), "");
  EXPECT_EQ(whyNotFile(codegenDataFile("", "")), "");
  // Functions of several modules; no functions.
  EXPECT_EQ(whyNotFile(codegenDataFile(
                "", map({"f", "a.o", "b.o"}, {{0, 1, 9, {}}, {0, 2, 9, {}}}))),
            "");
  EXPECT_EQ(whyNotFile(codegenDataFile("", map({}, {}))), "");
  EXPECT_EQ(whyNotFile(someText()), "");
}

TEST(CodegenDataFileTest, RefusedByLLVM) {
  for (StringRef Bytes : {"", "\xff",
                          "\x7f"
                          "ELF\2\1\1"})
    EXPECT_EQ(whyNotFile(Bytes), "");
  EXPECT_EQ(whyNotFile(codegenDataFile("nothing", "at all", /*Version=*/5)),
            "");
  EXPECT_EQ(whyNotFile(":another_kind\n"), "");
  EXPECT_EQ(whyNotFile(":outlined_hash_tree\n"), "");
}

TEST(CodegenDataFileTest, CutAnywhere) {
  std::string Bytes = codegenDataFile(someTree(), someMap("a.o"));
  // LLVM checks the size of the first version's header itself.
  for (size_t Size = 24; Size != Bytes.size(); ++Size)
    EXPECT_TRUE(StringRef(whyNotFile(StringRef(Bytes).take_front(Size)))
                    .starts_with("damaged: "))
        << Size;
  EXPECT_NE(whyNotFile(Bytes + '\0'), "");
}

TEST(CodegenDataFileTest, OldForms) {
  EXPECT_EQ(whyNotFile(codegenDataFile(someTree(), "", /*Version=*/3)), "");
  EXPECT_EQ(whyNotFile(codegenDataFile("", someMap("a.o"), /*Version=*/3)),
            "from another LLVM: a map in the format of version 3");
}

TEST(CodegenDataFileTest, Texts) {
  auto With = [](StringRef From, StringRef To) {
    std::string Text = someText();
    return whyNotFile(
        Text.replace(Text.find(From.str()), From.size(), To.str()));
  };
  // Children that don't exist or are their own ancestors.
  EXPECT_EQ(With("[ 1 ]", "[ 2 ]"), "damaged: a graph that is not a tree");
  EXPECT_EQ(With("[ 1 ]", "[ 0 ]"), "damaged: a graph that is not a tree");
  EXPECT_EQ(With("[ 1 ]", "[ 1, 1 ]"), "damaged: a graph that is not a tree");
  EXPECT_EQ(With("[ 1 ]", "[ ]"), "damaged: a tree with a wrong root");
  EXPECT_EQ(With("InstIndex: 3", "InstIndex: 7"),
            "damaged: an operand without an instruction");
  EXPECT_NE(With("Terminals: 4", "Terminals: x"), "");
  EXPECT_NE(With("ModuleName: a.o", ""), "");
  EXPECT_NE(With("SuccessorIds: [ 1 ]", "SuccessorIds: [ 1"), "");
}
