//===- BitstreamRepack.cpp - Shorter records of a bitstream ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BitstreamRepack.h"
#include "BitstreamCopy.h"
#include "LLVMCompat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace dtlto;

/// How many bits \p Values take as VBR of \p Width.
static uint64_t vbrBits(ArrayRef<uint64_t> Values, unsigned Width) {
  uint64_t Bits = 0;
  for (uint64_t V : Values)
    Bits += std::max<uint64_t>(divideCeil(Log2_64(V | 1) + 1, Width - 1), 1) *
            Width;
  return Bits;
}

namespace {

/// Abbreviations for records of any code with values of one kind.
class TextAbbrevs {
public:
  /// Which to use for a record of \p Values; 0 if none is shorter.
  unsigned choose(BitstreamWriter &W, ArrayRef<uint64_t> Values) {
    // What an abbreviation costs is soon made good by texts, and by others not.
    if (Values.size() < 8)
      return 0;
    bool Fits7 = all_of(Values, [](uint64_t V) { return V < 128; });
    uint64_t Plain = vbrBits(Values, 6);
    uint64_t Text = Fits7 ? Values.size() * 7 : vbrBits(Values, 8);
    if (Text >= Plain)
      return 0;
    unsigned &ID = Fits7 ? Fixed7 : VBR8;
    if (!ID) {
      auto Abbrev = std::make_shared<BitCodeAbbrev>();
      Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::VBR, 6)); // code
      Abbrev->Add(BitCodeAbbrevOp(BitCodeAbbrevOp::Array));
      Abbrev->Add(Fits7 ? BitCodeAbbrevOp(BitCodeAbbrevOp::Fixed, 7)
                        : BitCodeAbbrevOp(BitCodeAbbrevOp::VBR, 8));
      ID = W.EmitAbbrev(std::move(Abbrev));
    }
    return ID;
  }
  bool any() const { return Fixed7 || VBR8; }

private:
  unsigned Fixed7 = 0, VBR8 = 0;
};

} // namespace

Error dtlto::repackBlock(BitstreamCursor &In, BitstreamWriter &W, unsigned ID) {
  if (Error E = In.EnterSubBlock(ID))
    return E;
  W.EnterSubblock(ID, In.getAbbrevIDWidth());
  // Also after errors: a writer wants its blocks closed.
  auto Exit = onScopeExit([&] { W.ExitBlock(); });
  unsigned NumAbbrevs = 0;
  TextAbbrevs Abbrevs;
  SmallVector<uint64_t, 64> Record;
  while (true) {
    Expected<BitstreamEntry> Entry =
        In.advance(BitstreamCursor::AF_DontAutoprocessAbbrevs);
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      return Error::success();
    if (Entry->Kind != BitstreamEntry::Record)
      return createStringError(inconvertibleErrorCode(), "malformed bitcode");
    if (Entry->ID == bitc::DEFINE_ABBREV) {
      if (Abbrevs.any())
        return createStringError(inconvertibleErrorCode(),
                                 "a late abbreviation");
      if (Error E = copyAbbrev(In, W, NumAbbrevs++))
        return E;
      continue;
    }
    Record.clear();
    StringRef Blob;
    Expected<unsigned> Code = In.readRecord(Entry->ID, Record, &Blob);
    if (!Code)
      return Code.takeError();
    if (Blob.data())
      return createStringError(inconvertibleErrorCode(), "malformed bitcode");
    if (Entry->ID != bitc::UNABBREV_RECORD) {
      W.EmitRecord(*Code, Record, Entry->ID);
      continue;
    }
    W.EmitRecord(*Code, Record, Abbrevs.choose(W, Record));
  }
}
