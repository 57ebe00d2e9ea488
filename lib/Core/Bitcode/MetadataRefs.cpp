//===- MetadataRefs.cpp - References between metadata ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/MetadataRefs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include <initializer_list>

using namespace llvm;
using namespace dtlto;

namespace {

/// Which operands of a record are numbers. All others are references, numbered
/// from 1; 0 means none.
struct Layout {
  unsigned Code;
  /// The flags that the first operand may have, and those that it must have.
  /// They distinguish the record from older forms with other operands.
  uint64_t Flags, CurrentFlags;
  uint32_t IsNumber;
  /// Since LLVM 21, this flag means that sizes are references.
  uint64_t SizeFlag = 0;
  uint32_t IsSize = 0;
};

constexpr uint32_t mask(std::initializer_list<unsigned> Operands) {
  uint32_t Mask = 0;
  for (unsigned I : Operands)
    Mask |= uint32_t(1) << I;
  return Mask;
}

/// The forms that LLVM 19 to 23 write. Later versions append operands and add
/// flags.
constexpr Layout Layouts[] = {
    {bitc::METADATA_SUBRANGE, UINT64_MAX, 0, mask({0})},
    // [distinct, tag, name, size, align, encoding, flags]
    {bitc::METADATA_BASIC_TYPE, 1, 0, mask({0, 1, 3, 4, 5, 6}), 2, mask({3})},
    // [distinct, tag, name, file, line, scope, base type, size, align, offset,
    //  flags, extra data, address space, annotations, pointer authentication]
    {bitc::METADATA_DERIVED_TYPE, 1, 0, mask({0, 1, 4, 7, 8, 9, 10, 12, 14}), 2,
     mask({7, 9})},
    // [distinct, tag, name, file, line, scope, base type, size, align, offset,
    //  flags, elements, language, vtable holder, template parameters,
    //  identifier, discriminator, data location, associated, allocated, rank,
    //  annotations]
    {bitc::METADATA_COMPOSITE_TYPE, 3, 0, mask({0, 1, 4, 7, 8, 9, 10, 12}), 4,
     mask({7, 9})},
    // [distinct, flags, types, calling convention]
    {bitc::METADATA_SUBROUTINE_TYPE, 3, 0, mask({0, 1, 3})},
    // [distinct, name, directory, kind of checksum, checksum, source]
    {bitc::METADATA_FILE, 1, 0, mask({0, 3})},
    // [distinct, language, file, producer, optimized, flags, runtime version,
    //  split name, emission kind, enums, retained types, subprograms, globals,
    //  imported entities, DWO's ID, macros, split inlining, profiling, names'
    //  kind, ranges' base address, sysroot, SDK]
    {bitc::METADATA_COMPILE_UNIT, 1, 0,
     mask({0, 1, 4, 6, 8, 14, 16, 17, 18, 19})},
    // [distinct, scope, name, linkage name, file, line, type, scope's line,
    //  containing type, flags, virtual index, flags, unit, template parameters,
    //  declaration, retained nodes, this' adjustment, thrown types,
    //  annotations, target's name]
    {bitc::METADATA_SUBPROGRAM, 7, 6, mask({0, 5, 7, 9, 10, 11, 16})},
    // [distinct, scope, file, line, column]
    {bitc::METADATA_LEXICAL_BLOCK, 1, 0, mask({0, 3, 4})},
    // [distinct, scope, file, discriminator]
    {bitc::METADATA_LEXICAL_BLOCK_FILE, 1, 0, mask({0, 3})},
    // [distinct, scope, name]
    {bitc::METADATA_NAMESPACE, 3, 0, mask({0})},
    // [distinct, kind, line, name, value]
    {bitc::METADATA_MACRO, 1, 0, mask({0, 1, 2})},
    // [distinct, kind, line, file, elements]
    {bitc::METADATA_MACRO_FILE, 1, 0, mask({0, 1, 2})},
    // [distinct, name, type, is default]
    {bitc::METADATA_TEMPLATE_TYPE, 1, 0, mask({0})},
    // [distinct, tag, name, type, is default, value]
    {bitc::METADATA_TEMPLATE_VALUE, 1, 0, mask({0, 1})},
    // [distinct and version, scope, name, linkage name, file, line, type, is
    //  local, is definition, declaration, template parameters, align,
    //  annotations]
    {bitc::METADATA_GLOBAL_VAR, 5, 4, mask({0, 5, 7, 8, 11})},
    // [distinct and version, scope, name, file, line, type, argument, flags,
    //  align, annotations]
    {bitc::METADATA_LOCAL_VAR, 3, 2, mask({0, 4, 6, 7, 8})},
    // [distinct, scope, name, file, line]
    {bitc::METADATA_LABEL, 1, 0, mask({0, 4})},
    // [distinct, variable, expression]
    {bitc::METADATA_GLOBAL_VAR_EXPR, 1, 0, mask({0})},
    // [distinct, tag, scope, entity, line, name, file, elements]
    {bitc::METADATA_IMPORTED_ENTITY, 1, 0, mask({0, 1, 4})},
};

} // namespace

/// Whether importers read this type as a declaration, as they do for most named
/// types.
static bool isReadAsDeclaration(unsigned Code, ArrayRef<uint64_t> Ops) {
  if (Code != bitc::METADATA_COMPOSITE_TYPE || Ops.size() < 16 || !Ops[2] ||
      !Ops[15])
    return false;
  return Ops[1] == dwarf::DW_TAG_enumeration_type ||
         Ops[1] == dwarf::DW_TAG_class_type ||
         Ops[1] == dwarf::DW_TAG_structure_type ||
         Ops[1] == dwarf::DW_TAG_union_type;
}

/// Base type, elements, vtable holder, and the operands of arrays.
static constexpr uint32_t NotOfDeclarations =
    1 << 6 | 1 << 11 | 1 << 13 | 0x3f << 16;

void dtlto::dropUnreadReferences(unsigned Code, MutableArrayRef<uint64_t> Ops) {
  if (isReadAsDeclaration(Code, Ops))
    for (size_t I = 0; I < Ops.size() && I < 32; ++I)
      if (NotOfDeclarations >> I & 1)
        Ops[I] = 0;
}

bool dtlto::isDebugInfo(unsigned Code) {
  return Code != bitc::METADATA_NODE && Code != bitc::METADATA_DISTINCT_NODE &&
         Code != bitc::METADATA_VALUE;
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
  const Layout *Form =
      find_if(Layouts, [=](const Layout &L) { return L.Code == Code; });
  if (Form != std::end(Layouts) && !Ops.empty() &&
      !(Ops[0] & ~(Form->Flags | Form->SizeFlag)) &&
      (Ops[0] & Form->CurrentFlags) == Form->CurrentFlags) {
    uint32_t Skipped = Form->IsNumber;
    if (Ops[0] & Form->SizeFlag)
      Skipped &= ~Form->IsSize;
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
