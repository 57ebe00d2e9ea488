//===- PrefixAbbrevs.h - Abbreviations for texts that begin alike -*- C++
//-*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of types begin with few words: `class.llvm::`, `struct.std::_`. In a
// bitstream, what an abbreviation has as a literal takes no bits in a record,
// so one for each such beginning shortens the names that have it. Readers see
// the same records.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_PREFIXABBREVS_H
#define DTLTO_BITCODE_PREFIXABBREVS_H

#include "llvm/Bitstream/BitstreamWriter.h"
#include <string>
#include <vector>

namespace dtlto {

/// Writes the records of one code in one block, which are texts.
class PrefixAbbrevs {
public:
  explicit PrefixAbbrevs(unsigned Code) : Code(Code) {}

  /// Looks at a record that will be written. False if it isn't of characters of
  /// seven bits; then it isn't one for emit().
  bool count(llvm::ArrayRef<uint64_t> Ops);
  /// Defines at most \p Max abbreviations in the block that \p W is in.
  void define(llvm::BitstreamWriter &W, unsigned Max);
  /// Writes a record of seven-bit characters.
  void emit(llvm::BitstreamWriter &W, llvm::ArrayRef<uint64_t> Ops) const;

private:
  /// A prefix that the texts from First to before Last have, once sorted.
  struct Range {
    size_t Length, First, Last;
  };
  std::vector<Range> ranges() const;

  const unsigned Code;
  std::vector<std::string> Texts;
  std::vector<std::pair<std::string, unsigned>> Abbrevs; // the longest first
};

} // namespace dtlto

#endif // DTLTO_BITCODE_PREFIXABBREVS_H
