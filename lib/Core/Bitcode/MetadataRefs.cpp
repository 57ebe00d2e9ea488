//===- MetadataRefs.cpp - Where reading a piece of metadata leads ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/MetadataRefs.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include <initializer_list>

using namespace llvm;
using namespace dtlto;

namespace {

/// The operands of a record that are numbers. All others are references, from 1
/// on, where 0 is none.
struct Layout {
  constexpr Layout(uint64_t Flags, std::initializer_list<unsigned> Numbers,
                   uint64_t SizeFlag = 0,
                   std::initializer_list<unsigned> Sizes = {})
      : Flags(Flags), IsNumber(mask(Numbers)), SizeFlag(SizeFlag),
        IsSize(mask(Sizes)) {}
  static constexpr uint32_t mask(std::initializer_list<unsigned> Operands) {
    uint32_t Mask = 0;
    for (unsigned I : Operands)
      Mask |= uint32_t(1) << I;
    return Mask;
  }

  uint64_t Flags; // what the first operand may have for this to be so
  uint32_t IsNumber;
  uint64_t SizeFlag; // since LLVM 21, this flag says that sizes are references
  uint32_t IsSize;
};

} // namespace

/// As LLVM 19 to 23 write them. Later ones append operands and add flags.
static const Layout *layoutOf(unsigned Code) {
  switch (Code) {
  case bitc::METADATA_SUBRANGE: {
    static constexpr Layout L(UINT64_MAX, {0});
    return &L;
  }
  case bitc::METADATA_BASIC_TYPE: {
    // [distinct, tag, name, size, align, encoding, flags]
    static constexpr Layout L(1, {0, 1, 3, 4, 5, 6}, 2, {3});
    return &L;
  }
  case bitc::METADATA_DERIVED_TYPE: {
    // [distinct, tag, name, file, line, scope, base type, size, align, offset,
    //  flags, extra data, address space, annotations, pointer authentication]
    static constexpr Layout L(1, {0, 1, 4, 7, 8, 9, 10, 12, 14}, 2, {7, 9});
    return &L;
  }
  case bitc::METADATA_COMPOSITE_TYPE: {
    // [distinct, tag, name, file, line, scope, base type, size, align, offset,
    //  flags, elements, language, vtable holder, template parameters,
    //  identifier, discriminator, data location, associated, allocated, rank,
    //  annotations]
    static constexpr Layout L(3, {0, 1, 4, 7, 8, 9, 10, 12}, 4, {7, 9});
    return &L;
  }
  case bitc::METADATA_SUBROUTINE_TYPE: {
    // [distinct, flags, types, calling convention]
    static constexpr Layout L(3, {0, 1, 3});
    return &L;
  }
  case bitc::METADATA_FILE: {
    // [distinct, name, directory, kind of checksum, checksum, source]
    static constexpr Layout L(1, {0, 3});
    return &L;
  }
  case bitc::METADATA_COMPILE_UNIT: {
    // [distinct, language, file, producer, optimized, flags, runtime version,
    //  split name, emission kind, enums, retained types, subprograms, globals,
    //  imported entities, DWO's ID, macros, split inlining, profiling, names'
    //  kind, ranges' base address, sysroot, SDK]
    static constexpr Layout L(1, {0, 1, 4, 6, 8, 14, 16, 17, 18, 19});
    return &L;
  }
  case bitc::METADATA_SUBPROGRAM: {
    // [distinct, scope, name, linkage name, file, line, type, scope's line,
    //  containing type, flags, virtual index, flags, unit, template parameters,
    //  declaration, retained nodes, this' adjustment, thrown types,
    //  annotations, target's name]
    static constexpr Layout L(7, {0, 5, 7, 9, 10, 11, 16});
    return &L;
  }
  case bitc::METADATA_LEXICAL_BLOCK: {
    // [distinct, scope, file, line, column]
    static constexpr Layout L(1, {0, 3, 4});
    return &L;
  }
  case bitc::METADATA_LEXICAL_BLOCK_FILE: {
    // [distinct, scope, file, discriminator]
    static constexpr Layout L(1, {0, 3});
    return &L;
  }
  case bitc::METADATA_NAMESPACE: {
    // [distinct, scope, name]
    static constexpr Layout L(3, {0});
    return &L;
  }
  case bitc::METADATA_MACRO:
  case bitc::METADATA_MACRO_FILE: {
    // [distinct, kind, line, name or file, value or elements]
    static constexpr Layout L(1, {0, 1, 2});
    return &L;
  }
  case bitc::METADATA_TEMPLATE_TYPE: {
    // [distinct, name, type, is default]
    static constexpr Layout L(1, {0});
    return &L;
  }
  case bitc::METADATA_TEMPLATE_VALUE: {
    // [distinct, tag, name, type, is default, value]
    static constexpr Layout L(1, {0, 1});
    return &L;
  }
  case bitc::METADATA_GLOBAL_VAR: {
    // [distinct and version, scope, name, linkage name, file, line, type, is
    //  local, is definition, declaration, template parameters, align,
    //  annotations]
    static constexpr Layout L(5, {0, 5, 7, 8, 11});
    return &L;
  }
  case bitc::METADATA_LOCAL_VAR: {
    // [distinct and version, scope, name, file, line, type, argument, flags,
    //  align, annotations]
    static constexpr Layout L(3, {0, 4, 6, 7, 8});
    return &L;
  }
  case bitc::METADATA_LABEL: {
    // [distinct, scope, name, file, line]
    static constexpr Layout L(1, {0, 4});
    return &L;
  }
  case bitc::METADATA_GLOBAL_VAR_EXPR: {
    // [distinct, variable, expression]
    static constexpr Layout L(1, {0});
    return &L;
  }
  case bitc::METADATA_IMPORTED_ENTITY: {
    // [distinct, tag, scope, entity, line, name, file, elements]
    static constexpr Layout L(1, {0, 1, 4});
    return &L;
  }
  default:
    return nullptr;
  }
}

/// Whether the flags of a record say that it has the layout above, and not that
/// of older versions, which all have fewer flags.
static bool isCurrent(unsigned Code, uint64_t Flags) {
  switch (Code) {
  case bitc::METADATA_SUBPROGRAM:
    return (Flags & 6) == 6;
  case bitc::METADATA_GLOBAL_VAR:
    return (Flags & 4) == 4;
  case bitc::METADATA_LOCAL_VAR:
    return (Flags & 2) == 2;
  default:
    return true;
  }
}

/// Of most types with a name, importers read the declaration.
static bool isReadAsDeclaration(unsigned Code, ArrayRef<uint64_t> Ops) {
  if (Code != bitc::METADATA_COMPOSITE_TYPE || Ops.size() < 16 || !Ops[2] ||
      !Ops[15])
    return false;
  switch (Ops[1]) {
  case dwarf::DW_TAG_enumeration_type:
  case dwarf::DW_TAG_class_type:
  case dwarf::DW_TAG_structure_type:
  case dwarf::DW_TAG_union_type:
    return true;
  default:
    return false;
  }
}

/// Base type, elements, vtable's holder, and what describes arrays.
static constexpr uint32_t NotOfDeclarations =
    1 << 6 | 1 << 11 | 1 << 13 | 0x3f << 16;

void dtlto::dropUnreadReferences(unsigned Code, MutableArrayRef<uint64_t> Ops) {
  if (isReadAsDeclaration(Code, Ops))
    for (size_t I = 0; I < Ops.size() && I < 32; ++I)
      if (NotOfDeclarations >> I & 1)
        Ops[I] = 0;
}

bool dtlto::isDebugInfo(unsigned Code) {
  switch (Code) {
  case bitc::METADATA_NODE:
  case bitc::METADATA_DISTINCT_NODE:
  case bitc::METADATA_VALUE:
    return false;
  default:
    return true;
  }
}

void dtlto::forEachReference(unsigned Code, ArrayRef<uint64_t> Ops,
                             function_ref<void(uint64_t)> Each) {
  switch (Code) {
  case bitc::METADATA_VALUE:
  case bitc::METADATA_EXPRESSION:
  case bitc::METADATA_ASSIGN_ID:
  case bitc::METADATA_STRINGS:
    return;
  case bitc::METADATA_ENUMERATOR:
    // [flags, value or its width, name, words of the value]
    if (Ops.size() > 2)
      Each(Ops[2] - 1);
    return;
  case bitc::METADATA_NODE:
  case bitc::METADATA_DISTINCT_NODE:
    for (uint64_t Op : Ops)
      Each(Op - 1);
    return;
  case bitc::METADATA_LOCATION:
    // [distinct, line, column, scope, inlined at, is implicit]
    if (Ops.size() > 4) {
      Each(Ops[3]);
      Each(Ops[4] - 1);
    }
    return;
  }
  const Layout *L = layoutOf(Code);
  if (L && !Ops.empty() && !(Ops[0] & ~(L->Flags | L->SizeFlag)) &&
      isCurrent(Code, Ops[0])) {
    uint32_t Skipped = L->IsNumber;
    if (Ops[0] & L->SizeFlag)
      Skipped &= ~L->IsSize;
    if (isReadAsDeclaration(Code, Ops))
      Skipped |= NotOfDeclarations;
    for (size_t I = 0; I != Ops.size(); ++I)
      if (I >= 32 || !(Skipped >> I & 1))
        Each(Ops[I] - 1);
    return;
  }
  for (uint64_t Op : Ops) {
    Each(Op);
    Each(Op - 1);
  }
}
