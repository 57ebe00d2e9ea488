//===- CodegenData.cpp - Results of a first code generation ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tree is the number of nodes, and for each node:
//
//   its number             32 bits; nodes are in the order of their numbers
//   a hash                 64 bits, distinct among siblings
//   number of ends here    32 bits: how many sequences end at this node
//   number of successors   32 bits
//   their numbers          32 bits each
//
// A map consists of:
//
//   number of names, their size     32, 64 bits
//   the names                       each with a zero byte; zeros up to a
//                                   multiple of 4 bytes
//   number of functions             32 bits
//   a hash of each                  64 bits each
//   for each function:
//     its name, its module's name   the names' numbers, 32 bits each
//     number of its instructions    32 bits
//     distance to its operands      64 bits, from here
//   size of all operands            64 bits
//   for each function:
//     number of operands            32 bits
//     for each operand:
//       instruction, operand        their numbers, 32 bits each
//       a hash                      64 bits
//
//===----------------------------------------------------------------------===//

#include "Bundle/CodegenData.h"
#include "Support/Failure.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <set>
#include <vector>

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Magic = "DTLTOCGD";
static constexpr uint32_t FormatVersion = 1;
static constexpr unsigned MaxSections = 2;

static constexpr size_t NameAlignment = 4;

namespace {

/// Reads numbers. After the end of the data, reading fails and returns 0.
class Cursor {
public:
  explicit Cursor(StringRef Bytes) : Bytes(Bytes) {}

  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  StringRef take(uint64_t Size) {
    if (Size > Bytes.size() - At)
      Failed = true;
    if (Failed)
      return {};
    StringRef Data = Bytes.substr(At, Size);
    At += Size;
    return Data;
  }
  size_t at() const { return At; }
  size_t bytesLeft() const { return Failed ? 0 : Bytes.size() - At; }
  bool failed() const { return Failed; }
  bool atEnd() const { return !Failed && At == Bytes.size(); }

private:
  template <class T> T number() {
    StringRef Data = take(sizeof(T));
    return Failed ? 0
                  : support::endian::read<T, endianness::little>(Data.data());
  }

  StringRef Bytes;
  size_t At = 0;
  bool Failed = false;
};

} // namespace

Error dtlto::checkHashTree(StringRef Bytes) {
  Cursor C(Bytes);
  uint32_t Count = C.u32();
  constexpr size_t NodeSize = 20;
  if (Count == 0 || Count > C.bytesLeft() / NodeSize)
    return failure("a tree of " + Twine(Count) + " nodes");
  struct Node {
    uint64_t Hash = 0;
    uint32_t Depth = 0;
    uint32_t Parent = 0; // number plus 1; 0: none yet
  };
  std::vector<Node> Nodes(Count);
  for (uint32_t I = 0; I != Count; ++I) {
    if (C.u32() != I)
      return failure("a tree whose nodes are out of order");
    Node &N = Nodes[I];
    N.Hash = C.u64();
    C.u32();
    if (I == 0 ? N.Hash != 0 : N.Parent == 0)
      return failure("a tree with a wrong root");
    for (uint32_t Left = C.u32(); Left != 0 && !C.failed(); --Left) {
      uint32_t Next = C.u32();
      if (Next <= I || Next >= Count || Nodes[Next].Parent != 0)
        return failure("a graph that is not a tree");
      Nodes[Next].Parent = I + 1;
      Nodes[Next].Depth = N.Depth + 1;
    }
    if (C.failed() || N.Depth > MaxTreeDepth)
      return failure(C.failed() ? "a tree that is cut off" : "a tree too deep");
  }
  if (!C.atEnd())
    return failure("data after the tree");
  // LLVM finds successors by their hashes, so siblings must differ.
  std::set<std::pair<uint32_t, uint64_t>> Seen;
  for (const Node &N : Nodes)
    if (!Seen.insert({N.Parent, N.Hash}).second)
      return failure("a tree with two equal branches");
  return Error::success();
}

/// Reads the names at the start of a map; returns how many there are. Sets
/// \p ModuleNumber to the number of \p ModuleName.
static Expected<uint32_t> checkNames(Cursor &C,
                                     std::optional<StringRef> ModuleName,
                                     std::optional<uint32_t> &ModuleNumber) {
  uint32_t NumNames = C.u32();
  uint64_t NamesSize = C.u64();
  StringRef Text = C.take(NamesSize);
  if (C.failed() || (ModuleName && NumNames == 0) || NumNames > NamesSize)
    return failure("names that are cut off");
  StringSet<> Seen;
  for (uint32_t I = 0; I != NumNames; ++I) {
    size_t End = Text.find('\0');
    if (End == StringRef::npos)
      return failure("too few names");
    StringRef Name = Text.take_front(End);
    if (!Seen.insert(Name).second)
      return failure("a repeated name");
    if (ModuleName && Name == *ModuleName)
      ModuleNumber = I;
    Text = Text.drop_front(End + 1);
  }
  if (C.at() % NameAlignment != 0 || Text.size() >= NameAlignment ||
      Text.find_first_not_of('\0') != StringRef::npos)
    return failure("data after the names");
  return NumNames;
}

namespace {
struct MapFunction {
  uint32_t NumInstructions;
  uint64_t OperandsAt;
};
} // namespace

/// Reads the operands at the end of a map.
static Error checkOperands(Cursor &C, ArrayRef<MapFunction> Functions) {
  uint64_t OperandsSize = C.u64();
  if (OperandsSize != C.bytesLeft())
    return failure("operands of the wrong size");
  for (const MapFunction &F : Functions) {
    if (F.OperandsAt != C.at())
      return failure("operands in the wrong place");
    std::pair<uint32_t, uint32_t> Last;
    uint32_t NumOperands = C.u32();
    for (uint32_t I = 0; I != NumOperands && !C.failed(); ++I) {
      uint32_t Instruction = C.u32(), Operand = C.u32();
      C.u64();
      std::pair<uint32_t, uint32_t> This(Instruction, Operand);
      if (Instruction >= F.NumInstructions || (I != 0 && This <= Last))
        return failure("an operand out of order");
      Last = This;
    }
  }
  if (!C.atEnd())
    return failure("operands that are cut off");
  return Error::success();
}

Error dtlto::checkFunctionMap(StringRef Bytes,
                              std::optional<StringRef> ModuleName) {
  Cursor C(Bytes);
  std::optional<uint32_t> ModuleNumber;
  Expected<uint32_t> NumNames = checkNames(C, ModuleName, ModuleNumber);
  if (!NumNames)
    return NumNames.takeError();

  uint32_t NumFunctions = C.u32();
  constexpr size_t FunctionSize = 8 + 20 + 4; // without operands
  if (C.failed() || (ModuleName && NumFunctions == 0) ||
      NumFunctions > C.bytesLeft() / FunctionSize)
    return failure(Twine(NumFunctions) + " functions");
  C.take(uint64_t(NumFunctions) * 8);
  std::vector<MapFunction> Functions(NumFunctions);
  for (MapFunction &F : Functions) {
    uint32_t Name = C.u32(), Module = C.u32();
    F.NumInstructions = C.u32();
    uint64_t Base = C.at();
    F.OperandsAt = Base + C.u64();
    if (C.failed() || Name >= *NumNames ||
        F.NumInstructions > MaxMapInstructions)
      return failure("a function with numbers out of range");
    if (ModuleName ? Module != ModuleNumber : Module >= *NumNames)
      return failure("a function of another module");
  }
  return checkOperands(C, Functions);
}

SmallVector<char, 0> dtlto::packSections(ArrayRef<CodegenSection> Sections) {
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  support::endian::Writer Out(OS, endianness::little);
  OS << Magic;
  Out.write(FormatVersion);
  Out.write(static_cast<uint32_t>(Sections.size()));
  for (const CodegenSection &S : Sections) {
    Out.write<uint32_t>(S.Kind);
    Out.write<uint32_t>(0);
    Out.write<uint64_t>(S.Bytes.size());
  }
  for (const CodegenSection &S : Sections)
    OS << S.Bytes;
  return Bytes;
}

static Expected<CodegenSections> unpack(StringRef Bytes, StringRef ModuleName) {
  Cursor C(Bytes);
  if (C.take(Magic.size()) != Magic)
    return failure("no magic number");
  if (uint32_t Version = C.u32(); Version != FormatVersion)
    return failure("version " + Twine(Version));
  uint32_t Count = C.u32();
  if (Count > MaxSections)
    return failure(Twine(Count) + " sections");
  CodegenSections Sections;
  SmallVector<uint64_t, MaxSections> Sizes;
  for (uint32_t I = 0; I != Count; ++I) {
    uint32_t Kind = C.u32();
    if (C.u32() != 0 || (Kind != CodegenSection::HashTree &&
                         Kind != CodegenSection::FunctionMap))
      return failure("an unknown kind of section");
    for (const CodegenSection &S : Sections)
      if (S.Kind == Kind)
        return failure("a repeated section");
    Sections.push_back({static_cast<CodegenSection::KindTy>(Kind), {}});
    Sizes.push_back(C.u64());
  }
  for (uint32_t I = 0; I != Count; ++I)
    Sections[I].Bytes = C.take(Sizes[I]);
  if (!C.atEnd())
    return failure("a wrong size");
  for (const CodegenSection &S : Sections)
    if (Error E = S.Kind == CodegenSection::HashTree
                      ? checkHashTree(S.Bytes)
                      : checkFunctionMap(S.Bytes, ModuleName))
      return std::move(E);
  return Sections;
}

Expected<CodegenSections> dtlto::unpackSections(StringRef Bytes,
                                                StringRef ModuleName) {
  Expected<CodegenSections> Sections = unpack(Bytes, ModuleName);
  if (!Sections)
    return failure("not the codegen data of a module: " +
                   toString(Sections.takeError()));
  return Sections;
}
