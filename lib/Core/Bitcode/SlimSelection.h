//===- SlimSelection.h - Which parts of a module travel ---------*- C++ -*-===//
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
/// importer reads. Numbers count from 0 in the order of the file.
class SlimSelection {
public:
  /// References must outlive this.
  SlimSelection(llvm::StringRef Strtab, const GUIDSet &Imported)
      : Strtab(Strtab), Imported(Imported) {}

  /// Takes a record of the module block, in order, and keeps it.
  llvm::Error addRecord(unsigned Code, llvm::ArrayRef<uint64_t> Record);
  /// Takes the function block that \p In stands before, and steps over it.
  llvm::Error addBody(llvm::BitstreamCursor &In);
  /// Takes a block of constants, of \p Function if it is in a body, likewise.
  /// Keeps the records of the module's own.
  llvm::Error addConstants(llvm::BitstreamCursor &In,
                           std::optional<size_t> Function = std::nullopt);
  /// Takes the block of lists of attributes, likewise.
  llvm::Error addAttributes(llvm::BitstreamCursor &In);
  /// Decides which bodies are kept. After all of the module was added.
  llvm::Error resolve();
  /// Decides what else is kept, by the uses of the kept bodies. After
  /// resolve().
  void drop(SlimUses Uses);

  const RecordList &records() const { return Records; }
  const RecordList &constants() const { return ConstantRecords; }
  /// Whether there is any assembly, also in bodies that aren't kept.
  bool hasAssembly() const { return HasAssembly || HasInlineAssembly; }
  size_t numFunctions() const { return Functions.size(); }
  size_t numBodies() const { return WithBody.size(); }
  /// The number of the module's own values.
  uint64_t numValues() const { return NextValueID; }
  /// Whether the \p N-th body is kept.
  bool keepsBody(size_t N) const { return Functions[WithBody[N]].KeepBody; }
  /// Whether its function keeps more than its number.
  bool keepsOwner(size_t N) const { return Functions[WithBody[N]].Keep; }
  uint64_t valueID(size_t N) const { return Functions[WithBody[N]].ValueID; }
  /// The number of its function's type.
  uint64_t type(size_t N) const { return Functions[WithBody[N]].Type; }
  bool keepsFunction(size_t N) const { return Functions[N].Keep; }
  bool keepsComdat(size_t N) const { return N < Comdats.size() && Comdats[N]; }
  // Before drop(), these keep everything.
  bool keepsAttributes(size_t List) const {
    return !Uses || Uses->Attributes.contains(List);
  }
  bool keepsAttributeGroup(uint64_t ID) const {
    return !Uses || Groups.contains(ID);
  }
  bool keepsBundles() const { return !Uses || Uses->Bundles; }
  bool keepsConstant(uint64_t ValueID) const {
    return !Unread.contains(ValueID);
  }
  bool keepsKind(uint64_t Kind) const;
  bool keepsAttachment(uint64_t ValueID, uint64_t Kind) const;
  /// The numbers of the metadata that bodies refer to. Importers also start
  /// from named metadata and attachments of values. After drop().
  const llvm::DenseSet<uint64_t> &metadata() const {
    assert(Uses && "drop() comes first");
    return Uses->Metadata;
  }
  /// Whether importers read no debug info for other reasons.
  bool knowsMetadata() const;
  /// The number of the first constant of the module.
  uint64_t firstConstant() const { return Constants.first(); }

private:
  struct Function {
    uint64_t ValueID, Type;
    llvm::StringRef Name;
    uint64_t Comdat, Attributes; // their numbers and 1, or 0
    bool Local;
    bool KeepBody = false, Keep = true;
  };
  struct Variable {
    uint64_t ValueID;
    llvm::StringRef Name;
    bool Local, Appending;
  };
  struct Alias {
    uint64_t ValueID, Aliasee;
    llvm::StringRef Name;
    bool Local;
  };

  bool isImported(uint64_t ValueID, llvm::StringRef Name, bool Local) const;
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
  std::vector<uint64_t> GUIDs; // by value's number; 0: made from its name
  uint64_t NextValueID = 0;
  bool HasAssembly = false, HasInlineAssembly = false;
  std::vector<Function> Functions;
  std::vector<size_t> WithBody; // of Functions, in the order of the bodies
  std::vector<Alias> Aliases;
  std::vector<bool> Comdats; // which are kept
  std::vector<uint64_t> ComdatsOfVariables;
  llvm::DenseMap<uint64_t, size_t> FunctionOf, AliasOf; // by value's number
  std::vector<Variable> Variables;
  std::vector<uint64_t> OperandsOfFunctions;         // values' numbers
  std::vector<uint64_t> AttributesOfVariables;       // lists, from 1 on
  std::vector<std::vector<uint64_t>> AttributeLists; // groups
  llvm::DenseSet<uint64_t> Groups;                   // which are kept
  SlimConstants Constants;
  bool HasConstants = false;
  std::optional<SlimUses> Uses;
  llvm::DenseSet<uint64_t> Unread;        // constants
  std::vector<uint64_t> BlockAddressesOf; // values' numbers
  size_t NumSeen = 0;                     // bodies
  bool IsResolved = false;
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMSELECTION_H
