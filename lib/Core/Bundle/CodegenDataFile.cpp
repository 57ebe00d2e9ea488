//===- CodegenDataFile.cpp - Files of code generation data ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/CodegenData.h"
#include "Support/Failure.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/YAMLTraits.h"
#include <map>
#include <set>

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral FileMagic = "\xff"
                                           "cgdata\x81";
/// The first version with a map, the first with the current form of the map,
/// and the last known version.
static constexpr uint32_t FirstWithMap = 2, WithThisMap = 4, LastVersion = 4;
/// LLVM refuses shorter files.
static constexpr size_t MinHeader = 24;
static constexpr size_t PartAlignment = 4;
static constexpr uint32_t HasTree = 1, HasMap = 2;

static Error damaged(const Twine &Why) { return failure("damaged: " + Why); }

static Error checkBinary(StringRef File) {
  using namespace support;
  if (File.size() < MinHeader)
    return Error::success();
  const char *Data = File.data();
  auto Version = endian::read<uint32_t, endianness::little>(Data + 8);
  auto Kinds = endian::read<uint32_t, endianness::little>(Data + 12);
  auto TreeAt = endian::read<uint64_t, endianness::little>(Data + 16);
  if (Version > LastVersion)
    return Error::success();
  size_t Header = MinHeader;
  uint64_t MapAt = File.size();
  if (Version >= FirstWithMap) {
    Header += sizeof(uint64_t);
    if (File.size() < Header)
      return damaged("a header that is cut off");
    if (Kinds & HasMap)
      MapAt = endian::read<uint64_t, endianness::little>(Data + MinHeader);
  } else if (Kinds & HasMap) {
    return damaged("a map in version " + Twine(Version));
  }
  if (MapAt < Header || MapAt > File.size() || MapAt % PartAlignment != 0 ||
      (Kinds & HasTree &&
       (TreeAt < Header || TreeAt > MapAt || TreeAt % PartAlignment != 0)))
    return damaged("parts that are outside of the file");
  if (Kinds & HasTree)
    if (Error E = checkHashTree(File.slice(TreeAt, MapAt)))
      return damaged(toString(std::move(E)));
  if (!(Kinds & HasMap))
    return Error::success();
  if (Version < WithThisMap)
    return failure("from another LLVM: a map in the format of version " +
                   Twine(Version));
  if (Error E = checkFunctionMap(File.drop_front(MapAt), std::nullopt))
    return damaged(toString(std::move(E)));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Text files
//===----------------------------------------------------------------------===//

namespace dtlto::text {
struct Node {
  yaml::Hex64 Hash;
  unsigned Terminals;
  std::vector<unsigned> Successors;
};
using Tree = std::map<unsigned, Node>;

struct Operand {
  unsigned Instruction, Number;
  uint64_t Hash;
};
struct Function {
  uint64_t Hash;
  std::string Name, Module;
  unsigned NumInstructions;
  std::vector<Operand> Operands;
};
} // namespace dtlto::text

LLVM_YAML_IS_SEQUENCE_VECTOR(dtlto::text::Operand)
LLVM_YAML_IS_SEQUENCE_VECTOR(dtlto::text::Function)

namespace llvm::yaml {
template <> struct MappingTraits<text::Node> {
  static void mapping(IO &Io, text::Node &N) {
    Io.mapRequired("Hash", N.Hash);
    Io.mapRequired("Terminals", N.Terminals);
    Io.mapRequired("SuccessorIds", N.Successors);
  }
};
template <> struct CustomMappingTraits<text::Tree> {
  static void inputOne(IO &Io, StringRef Key, text::Tree &T) {
    text::Node N;
    Io.mapRequired(Key.str().c_str(), N);
    unsigned Id;
    if (Key.getAsInteger(0, Id))
      return Io.setError("a node without a number");
    if (!T.insert({Id, std::move(N)}).second)
      Io.setError("a repeated node");
  }
  static void output(IO &, text::Tree &) {}
};
template <> struct MappingTraits<text::Operand> {
  static void mapping(IO &Io, text::Operand &O) {
    Io.mapRequired("InstIndex", O.Instruction);
    Io.mapRequired("OpndIndex", O.Number);
    Io.mapRequired("OpndHash", O.Hash);
  }
};
template <> struct MappingTraits<text::Function> {
  static void mapping(IO &Io, text::Function &F) {
    Io.mapRequired("Hash", F.Hash);
    Io.mapRequired("FunctionName", F.Name);
    Io.mapRequired("ModuleName", F.Module);
    Io.mapRequired("InstCount", F.NumInstructions);
    Io.mapRequired("IndexOperandHashes", F.Operands);
  }
};
} // namespace llvm::yaml

/// LLVM creates nodes in the order of their numbers, each as a child of an
/// earlier one.
static Error checkTree(const text::Tree &T) {
  std::map<unsigned, unsigned> Depths = {{0, 0}};
  for (const auto &[Id, N] : T) {
    auto It = Depths.find(Id);
    if (It == Depths.end() || (Id == 0 && N.Hash != 0))
      return damaged("a tree with a wrong root");
    std::set<uint64_t> Hashes;
    for (unsigned Next : N.Successors) {
      auto Child = T.find(Next);
      if (Next <= Id || Child == T.end() ||
          !Depths.insert({Next, It->second + 1}).second ||
          !Hashes.insert(Child->second.Hash).second)
        return damaged("a graph that is not a tree");
      if (It->second == MaxTreeDepth)
        return damaged("a tree too deep");
    }
  }
  return Error::success();
}

/// Like LLVM's operator>>, but also fails if the document is missing or is only
/// an alias: LLVM would dereference null.
template <class T> static bool readDocument(yaml::Input &In, T &Value) {
  if (!In.setCurrentDocument() || !In.getCurrentNode())
    return false;
  yaml::EmptyContext Context;
  yaml::yamlize(In, Value, true, Context);
  return !In.error();
}

static Error checkMap(ArrayRef<text::Function> Functions) {
  for (const text::Function &F : Functions) {
    if (F.NumInstructions > MaxMapInstructions)
      return damaged("a function with numbers out of range");
    for (const text::Operand &O : F.Operands)
      if (O.Instruction >= F.NumInstructions)
        return damaged("an operand without an instruction");
  }
  return Error::success();
}

/// Checks the YAML documents of \p Kinds in \p Text.
static Error checkDocuments(StringRef Text, uint32_t Kinds) {
  std::string Why;
  yaml::Input In(
      Text, /*Ctxt=*/nullptr,
      [](const SMDiagnostic &D, void *Why) {
        *static_cast<std::string *>(Why) =
            ("line " + Twine(D.getLineNo()) + " of its data: " + D.getMessage())
                .str();
      },
      &Why);
  auto NotRead = [&] {
    return damaged(Why.empty() ? "an unreadable text" : Why);
  };
  if (Kinds & HasTree) {
    text::Tree T;
    if (!readDocument(In, T))
      return NotRead();
    if (Error E = checkTree(T))
      return E;
    In.nextDocument();
  }
  if (Kinds & HasMap) {
    std::vector<text::Function> Functions;
    if (!readDocument(In, Functions))
      return NotRead();
    return checkMap(Functions);
  }
  return Error::success();
}

static Error checkText(StringRef File) {
  std::unique_ptr<MemoryBuffer> Buffer = MemoryBuffer::getMemBufferCopy(File);
  uint32_t Kinds = 0;
  line_iterator Line(*Buffer, /*SkipBlanks=*/true, '#');
  for (; !Line.is_at_eof(); ++Line) {
    if (Line->trim().empty())
      continue;
    if (!Line->starts_with(":"))
      break;
    StringRef Name = Line->drop_front().rtrim();
    if (Name.equals_insensitive("outlined_hash_tree"))
      Kinds |= HasTree;
    else if (Name.equals_insensitive("stable_function_map"))
      Kinds |= HasMap;
    else
      return Error::success();
  }
  if (Line.is_at_eof())
    return Error::success();
  return checkDocuments(
      StringRef(Line->data(), Buffer->getBufferEnd() - Line->data()), Kinds);
}

Error dtlto::checkCodegenDataFile(StringRef File) {
  if (File.starts_with(FileMagic))
    return checkBinary(File);
  // LLVM detects text files in this way.
  StringRef Begin = File.take_front(FileMagic.size());
  if (!Begin.empty() &&
      all_of(Begin, [](char C) { return isPrint(C) || isSpace(C); }))
    return checkText(File);
  return Error::success();
}
