//===- CodegenSections.h - Sections of codegen data -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Valid and invalid sections, as described in Bundle/CodegenData.h.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_CODEGENSECTIONS_H
#define DTLTO_UNITTESTS_TESTSUPPORT_CODEGENSECTIONS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dtlto::test {

template <class T> std::string number(T Value) {
  std::string Bytes;
  for (size_t I = 0; I != sizeof(T); ++I)
    Bytes += static_cast<char>(uint64_t(Value) >> (8 * I));
  return Bytes;
}

struct TreeNode {
  uint64_t Hash;
  std::vector<uint32_t> Successors;
};

inline std::string tree(const std::vector<TreeNode> &Nodes) {
  std::string Bytes = number(static_cast<uint32_t>(Nodes.size()));
  for (size_t I = 0; I != Nodes.size(); ++I) {
    Bytes += number(static_cast<uint32_t>(I)) + number(Nodes[I].Hash) +
             number<uint32_t>(Nodes[I].Successors.empty()) +
             number(static_cast<uint32_t>(Nodes[I].Successors.size()));
    for (uint32_t Next : Nodes[I].Successors)
      Bytes += number(Next);
  }
  return Bytes;
}

struct MapFunction {
  uint32_t Name, Module, NumInstructions;
  std::vector<std::pair<uint32_t, uint32_t>> Operands;
};

inline std::string map(const std::vector<std::string> &Names,
                       const std::vector<MapFunction> &Functions) {
  std::string Text;
  for (const std::string &Name : Names)
    Text += Name + '\0';
  Text.resize((Text.size() + 3) / 4 * 4);
  std::string Bytes = number(static_cast<uint32_t>(Names.size())) +
                      number(uint64_t(Text.size())) + Text +
                      number(static_cast<uint32_t>(Functions.size()));
  for (size_t I = 0; I != Functions.size(); ++I)
    Bytes += number(uint64_t(100 + I));
  std::string Operands;
  // The distance from this number to the function's operands.
  uint64_t Left = 20 * Functions.size() + 8;
  for (const MapFunction &F : Functions) {
    Bytes += number(F.Name) + number(F.Module) + number(F.NumInstructions) +
             number(Left - 12 + Operands.size());
    Left -= 20;
    Operands += number(static_cast<uint32_t>(F.Operands.size()));
    for (const auto &[Instruction, Operand] : F.Operands)
      Operands += number(Instruction) + number(Operand) + number(uint64_t(7));
  }
  return Bytes + number(uint64_t(Operands.size())) + Operands;
}

inline std::string someTree() {
  return tree(
      {{0, {1, 4}}, {11, {2, 3}}, {12, {}}, {13, {}}, {14, {5}}, {11, {}}});
}

inline std::string someMap(const std::string &Module) {
  return map({"first", Module, "second"},
             {{0, 1, 9, {{0, 1}, {3, 0}, {3, 2}}}, {2, 1, 4, {}}});
}

/// Returns a file with \p Tree and \p Map. An empty one is left out.
inline std::string codegenDataFile(const std::string &Tree,
                                   const std::string &Map,
                                   uint32_t Version = 4) {
  return "\xff"
         "cgdata\x81" +
         number(Version) + number(uint32_t(!Tree.empty()) | !Map.empty() << 1) +
         number(uint64_t(32)) + number(uint64_t(32 + Tree.size())) + Tree + Map;
}

/// Returns someTree() and someMap() as text.
inline std::string someText() {
  return "# Of a test\n"
         ":outlined_hash_tree\n"
         ":stable_function_map\n"
         "---\n"
         "0:\n  Hash: 0x0\n  Terminals: 0\n  SuccessorIds: [ 1 ]\n"
         "1:\n  Hash: 0x1\n  Terminals: 4\n  SuccessorIds: [ ]\n"
         "...\n"
         "---\n"
         "- Hash: 123\n  FunctionName: f\n  ModuleName: a.o\n  InstCount: 7\n"
         "  IndexOperandHashes:\n"
         "    - InstIndex: 3\n      OpndIndex: 0\n      OpndHash: 456\n"
         "...\n";
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_CODEGENSECTIONS_H
