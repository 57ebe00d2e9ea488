//===- SlimSelection.h - Which parts of a module are sent -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMSELECTION_H
#define DTLTO_BITCODE_SLIMSELECTION_H

#include "Bitcode/RecordPacker.h"
#include "Bitcode/SlimModule.h"
#include "Bitcode/SlimUses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include <cassert>
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

/// The functions, variables and aliases of a module, and which of them an
/// importer reads. They are numbered from 0 in the order of the file.
class SlimSelection {
public:
  /// Both arguments must outlive this.
  SlimSelection(llvm::StringRef Strtab, const GUIDSet &Imported)
      : Strtab(Strtab), Imported(Imported) {}

  /// Adds a copy of a record of the module block. Call it in order.
  llvm::Error addRecord(unsigned Code, llvm::ArrayRef<uint64_t> Record);
  /// Reads the function block at \p In and steps over it.
  llvm::Error addBody(llvm::BitstreamCursor &In);
  /// Reads the block of constants at \p In and steps over it. \p Function: the
  /// function that holds the block, if any; otherwise, keeps the block's
  /// records.
  llvm::Error addConstants(llvm::BitstreamCursor &In,
                           std::optional<size_t> Function = std::nullopt);
  /// Reads the block of attribute lists at \p In and steps over it.
  llvm::Error addAttributes(llvm::BitstreamCursor &In);
  /// Decides which bodies are kept. Call it after the whole module was added.
  llvm::Error resolve();
  /// Decides what else is kept, by the uses of the kept bodies. Call it after
  /// resolve().
  void drop(SlimUses Uses);

  const RecordList &records() const { return Records; }
  const RecordList &constants() const { return ConstantRecords; }
  /// Whether the module has any assembly, including in bodies that aren't kept.
  bool hasAssembly() const { return HasAssembly || HasInlineAssembly; }
  size_t numFunctions() const { return Functions.size(); }
  size_t numBodies() const { return FunctionsWithBody.size(); }
  /// The number of the module's own values, without those of bodies.
  uint64_t numValues() const { return NextValueID; }
  /// Whether the \p N-th body is kept.
  bool keepsBody(size_t N) const {
    return Functions[FunctionsWithBody[N]].KeepsBody;
  }
  /// Whether the function of the \p N-th body keeps more than its number.
  bool keepsOwner(size_t N) const {
    return Functions[FunctionsWithBody[N]].IsKept;
  }
  uint64_t valueID(size_t N) const {
    return Functions[FunctionsWithBody[N]].ValueID;
  }
  /// The type number of the function of the \p N-th body.
  uint64_t type(size_t N) const { return Functions[FunctionsWithBody[N]].Type; }
  bool keepsFunction(size_t N) const { return Functions[N].IsKept; }
  bool keepsComdat(size_t N) const { return N < Comdats.size() && Comdats[N]; }
  // Call these after drop().
  bool keepsAttributes(size_t List) const {
    return uses().Attributes.contains(List);
  }
  bool keepsAttributeGroup(uint64_t ID) const { return Groups.contains(ID); }
  bool keepsBundles() const { return uses().HasBundles; }
  bool keepsConstant(uint64_t ValueID) const {
    return !UnreadConstants.contains(ValueID);
  }
  bool keepsKind(uint64_t Kind) const;
  bool keepsAttachment(uint64_t ValueID, uint64_t Kind) const;
  /// The numbers of the metadata that bodies refer to. Importers also start
  /// from named metadata and attachments of values.
  const llvm::DenseSet<uint64_t> &metadata() const { return uses().Metadata; }
  /// Whether importers read debug info only through references, so that
  /// unreferenced nodes can be dropped.
  bool canDropDebugInfo() const;
  /// The number of the module's first constant.
  uint64_t firstConstant() const { return Constants.first(); }

private:
  struct Function {
    uint64_t ValueID, Type;
    llvm::StringRef Name;
    uint64_t Comdat, Attributes; // number plus 1, or 0
    bool IsLocal;
    bool KeepsBody = false, IsKept = true;
  };
  struct Variable {
    uint64_t ValueID;
    llvm::StringRef Name;
    bool IsLocal, IsAppending;
  };
  struct Alias {
    uint64_t ValueID, Aliasee;
    llvm::StringRef Name;
    bool IsLocal;
  };

  const SlimUses &uses() const {
    assert(Uses && "drop() comes first");
    return *Uses;
  }
  bool isImported(uint64_t ValueID, llvm::StringRef Name, bool IsLocal) const;
  llvm::Error keepBodyOf(uint64_t ValueID);
  void addRoots(SlimUses &Uses) const;
  llvm::Error addValue(unsigned Code, llvm::ArrayRef<uint64_t> Record);
  void dropFunctions();
  void dropConstants();

  llvm::StringRef Strtab;
  const GUIDSet &Imported;
  RecordList Records, ConstantRecords;
  bool HasStrtab = false;
  std::string SourceFile;
  std::vector<uint64_t> GUIDs; // by value number; 0: derive it from the name
  uint64_t NextValueID = 0;
  bool HasAssembly = false, HasInlineAssembly = false;
  std::vector<Function> Functions;
  std::vector<size_t>
      FunctionsWithBody; // of Functions, in the order of the bodies
  std::vector<Alias> Aliases;
  std::vector<bool> Comdats; // which are kept
  std::vector<uint64_t> ComdatsOfVariables;
  llvm::DenseMap<uint64_t, size_t> FunctionOf, AliasOf; // by value number
  std::vector<Variable> Variables;
  std::vector<uint64_t> OperandsOfFunctions;         // value numbers
  std::vector<uint64_t> AttributesOfVariables;       // lists, from 1
  std::vector<std::vector<uint64_t>> AttributeLists; // groups
  llvm::DenseSet<uint64_t> Groups;                   // which are kept
  SlimConstants Constants;
  bool HasConstants = false;
  std::optional<SlimUses> Uses;
  llvm::DenseSet<uint64_t> UnreadConstants;    // constants
  std::vector<uint64_t> BlockAddressFunctions; // value numbers
  size_t NumReadBodies = 0;                    // bodies
  bool IsResolved = false;
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMSELECTION_H
