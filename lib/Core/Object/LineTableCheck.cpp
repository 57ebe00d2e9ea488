//===- LineTableCheck.cpp - What a linker follows in line tables ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/LineTableCheck.h"
#include "Support/Failure.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFAbbreviationDeclaration.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDataExtractor.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugAbbrev.h"
#include "llvm/DebugInfo/DWARF/DWARFFormValue.h"
#include "llvm/DebugInfo/DWARF/DWARFObject.h"
#include "llvm/Object/RelocationResolver.h"
#include <map>

using namespace llvm;
using namespace llvm::dwarf;
using namespace llvm::object;
using namespace dtlto;

// LLVM writes some twenty, and one table of abbreviations for all units of a
// module. Each unit's are read, so that more take time.
static constexpr size_t MaxAttributes = 100;
static constexpr size_t MaxAbbrevs = 100;

/// A number, as LLVM's reader wants it for directories, times and sizes.
static bool isNumber(Form F) {
  return is_contained({DW_FORM_data1, DW_FORM_data2, DW_FORM_data4,
                       DW_FORM_data8, DW_FORM_udata},
                      F);
}

/// What takes a byte at least, and LLVM's reader knows.
static bool isKnown(Form F) {
  return isNumber(F) ||
         is_contained({DW_FORM_string, DW_FORM_line_strp, DW_FORM_strp,
                       DW_FORM_strp_sup, DW_FORM_strx, DW_FORM_strx1,
                       DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4,
                       DW_FORM_sdata, DW_FORM_data16, DW_FORM_block,
                       DW_FORM_block1, DW_FORM_block2, DW_FORM_block4},
                      F);
}

/// Reads the directories or files of a line table, at \p Offset. False: LLVM's
/// reader gives up here with an error.
static Expected<bool> readEntries(const DWARFDataExtractor &Data,
                                  uint64_t &Offset, FormParams Params,
                                  DWARFUnit &Unit) {
  DataExtractor::Cursor C(Offset);
  std::vector<Form> Forms;
  bool HasPath = false;
  for (unsigned Left = Data.getU8(C); Left != 0 && C; --Left) {
    auto Type = LineNumberEntryFormat(Data.getULEB128(C));
    auto F = Form(Data.getULEB128(C));
    if (!C)
      break;
    bool NeedsNumber = Type == DW_LNCT_directory_index ||
                       Type == DW_LNCT_timestamp || Type == DW_LNCT_size;
    if (NeedsNumber ? !isNumber(F) : !isKnown(F))
      return joinErrors(
          failure("a line table's entries have the form " + Twine(unsigned(F))),
          C.takeError());
    HasPath |= Type == DW_LNCT_path;
    Forms.push_back(F);
  }
  uint64_t Count = C && HasPath ? Data.getULEB128(C) : 0;
  Offset = C.tell();
  if (Error E = C.takeError()) {
    consumeError(std::move(E));
    return false;
  }
  for (; Count != 0 && HasPath; --Count)
    for (Form F : Forms)
      if (!DWARFFormValue(F).extractValue(Data, &Offset, Params,
                                          &Unit.getContext(), &Unit))
        return false;
  return HasPath;
}

namespace {
/// Where line tables are that were checked. Those of two units may be one, but
/// don't overlap otherwise: each byte is read once.
class Tables {
public:
  /// False if the table from \p Begin on was checked.
  Expected<bool> add(uint64_t Begin, uint64_t End) {
    auto Next = Ends.upper_bound(Begin);
    if (Next != Ends.begin()) {
      auto Last = std::prev(Next);
      if (Last->first == Begin)
        return false;
      if (Last->second > Begin)
        Next = Last;
    }
    if (Next != Ends.end() && Next->first < End)
      return failure("line tables overlap");
    Ends[Begin] = End;
    return true;
  }

private:
  std::map<uint64_t, uint64_t> Ends; // by their beginnings
};
} // namespace

/// What was found by relocations is only known if \p IsKnown is true.
static Error checkLineTable(DWARFUnit &Unit, uint64_t Offset,
                            const bool &IsKnown, Tables &Checked) {
  DWARFDataExtractor Data(Unit.getContext().getDWARFObj(),
                          Unit.getLineSection(), Unit.isLittleEndian(),
                          Unit.getAddressByteSize());
  DataExtractor::Cursor C(Offset);
  FormParams Params = {5, 0, DWARF32};
  uint64_t Length;
  std::tie(Length, Params.Format) = Data.getInitialLength(C);
  Data = DWARFDataExtractor(Data, C.tell() + Length);
  if (C) {
    Expected<bool> IsNew = Checked.add(Offset, C.tell() + Length);
    if (!IsNew || !*IsNew)
      return joinErrors(IsNew.takeError(), C.takeError());
  }
  // Older ones have no forms, and newer ones are refused.
  bool HasForms = Data.getU16(C) == Params.Version;
  Params.AddrSize = Data.getU8(C);
  Data.getU8(C); // size of a segment selector
  Length = Data.getRelocatedValue(C, Params.getDwarfOffsetByteSize());
  Data = DWARFDataExtractor(Data, C.tell() + Length);
  Data.skip(C, 5);
  if (uint8_t NumOpcodes = Data.getU8(C)) // and one more than there are
    Data.skip(C, NumOpcodes - 1);
  Offset = C.tell();
  if (Error E = C.takeError()) {
    consumeError(std::move(E));
    return Error::success();
  }
  if (!HasForms)
    return Error::success();
  if (!IsKnown)
    return failure("its line tables are where another object says");
  Expected<bool> HasMore = readEntries(Data, Offset, Params, Unit);
  if (HasMore && *HasMore)
    HasMore = readEntries(Data, Offset, Params, Unit);
  return HasMore.takeError();
}

Error dtlto::checkFirstEntry(DWARFUnit &Unit) {
  DWARFDataExtractor Data = Unit.getDebugInfoExtractor();
  uint64_t Offset = Unit.getOffset() + Unit.getHeaderSize();
  uint64_t End = std::min<uint64_t>(Unit.getNextUnitOffset(), Data.size());
  const DWARFAbbreviationDeclarationSet *Abbrevs = Unit.getAbbreviations();
  if (Offset >= End || !Abbrevs)
    return Error::success(); // nobody reads it
  const DWARFAbbreviationDeclaration *Kind =
      Abbrevs->getAbbreviationDeclaration(
          static_cast<uint32_t>(Data.getULEB128(&Offset)));
  if (!Kind)
    return Error::success();
  if (Kind->getNumAttributes() > MaxAttributes)
    return failure("a compile unit has " + Twine(Kind->getNumAttributes()) +
                   " attributes");
  for (const auto &Attribute : Kind->attributes()) {
    uint64_t Begin = Offset;
    if (!Attribute.isImplicitConst() &&
        !DWARFFormValue::skipValue(Attribute.Form, Data, &Offset,
                                   Unit.getFormParams()))
      return Error::success(); // nor does LLVM know it
    if (Offset < Begin || Offset > End)
      return failure("an attribute of a compile unit is longer than the unit");
  }
  return Error::success();
}

/// \p IsKnown becomes false when the context reads what isn't known.
static Error checkUnits(DWARFContext &Context, bool &IsKnown) {
  Tables Checked;
  DenseSet<uint64_t> Abbrevs; // where they are
  for (const std::unique_ptr<DWARFUnit> &Unit : Context.compile_units()) {
    if (!IsKnown)
      return failure("its compile units are where another object says");
    Abbrevs.insert(Unit->getAbbreviationsOffset());
    if (Abbrevs.size() > MaxAbbrevs)
      return failure("its compile units have too many tables of abbreviations");
    if (Error E = checkFirstEntry(*Unit))
      return E;
    DWARFDie Die = Unit->getUnitDIE();
    IsKnown = true; // reading that took addresses of code, too
    if (!Die)
      continue;
    std::optional<uint64_t> Offset = toSectionOffset(Die.find(DW_AT_stmt_list));
    if (Offset && (!IsKnown || *Offset < Unit->getLineSection().Data.size()))
      if (Error E = checkLineTable(*Unit, *Offset, IsKnown, Checked))
        return E;
    IsKnown = true;
  }
  return Error::success();
}

static void ignore(Error E) { consumeError(std::move(E)); }

Error dtlto::checkLineTables(const COFFObjectFile &File) {
  // As LLD does it.
  std::unique_ptr<DWARFContext> Context =
      DWARFContext::create(File, DWARFContext::ProcessDebugRelocations::Process,
                           /*L=*/nullptr, /*DWPName=*/"", ignore, ignore);
  bool IsKnown = true;
  return checkUnits(*Context, IsKnown);
}

namespace {

/// The debug information of an ELF object as LLD shows it to LLVM's reader.
class ELFDebugInfo final : public DWARFObject {
public:
  ELFDebugInfo(const LineSections &Sections, bool &IsKnown)
      : Sections(Sections), IsKnown(IsKnown) {
    Info.Data = Sections.Info.Data;
    Line.Data = Sections.Line.Data;
  }

  void forEachInfoSections(
      function_ref<void(const DWARFSection &)> Each) const override {
    Each(Info);
  }
  const DWARFSection &getLineSection() const override { return Line; }
  StringRef getAbbrevSection() const override { return Sections.Abbrev; }
  StringRef getFileName() const override { return ""; }
  bool isLittleEndian() const override { return Sections.IsLittleEndian; }

  std::optional<RelocAddrEntry> find(const DWARFSection &In,
                                     uint64_t At) const override {
    const LineSection &S = &In == &Info ? Sections.Info : Sections.Line;
    auto R = partition_point(S.Relocs,
                             [&](const LineReloc &R) { return R.Offset < At; });
    if (R == S.Relocs.end() || R->Offset != At)
      return std::nullopt;
    IsKnown &= R->IsKnown;
    DataRefImpl Addend;
    Addend.p = uintptr_t(R->Addend);
    return RelocAddrEntry{0,        RelocationRef(Addend, nullptr),
                          R->Value, std::nullopt,
                          0,        R->HasAddend ? withAddend : withoutAddend};
  }

private:
  static uint64_t withAddend(uint64_t, uint64_t, uint64_t S, uint64_t,
                             int64_t Addend) {
    return S + uint64_t(Addend);
  }
  static uint64_t withoutAddend(uint64_t, uint64_t, uint64_t S,
                                uint64_t InPlace, int64_t) {
    return S + InPlace;
  }

  const LineSections &Sections;
  bool &IsKnown;
  DWARFSection Info, Line;
};

} // namespace

Error dtlto::checkLineTables(const LineSections &Sections) {
  bool IsKnown = true;
  DWARFContext Context(std::make_unique<ELFDebugInfo>(Sections, IsKnown), "",
                       ignore, ignore);
  return checkUnits(Context, IsKnown);
}
