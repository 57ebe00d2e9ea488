//===- BitstreamRepack.h - Shorter records of a bitstream -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_BITSTREAMREPACK_H
#define DTLTO_BITCODE_BITSTREAMREPACK_H

#include "Bitcode/BitstreamCopy.h"
#include <optional>

namespace dtlto {

/// Changes a record, and returns whether to keep it.
using ChangeRecord = llvm::function_ref<bool(
    unsigned &Code, llvm::SmallVectorImpl<uint64_t> &Ops)>;

/// As copyBlock(), but with abbreviations made to measure (RecordPacker.h), and
/// each record goes through \p Change first, if it is given. \p Texts is the
/// code of records that are texts and begin alike (PrefixAbbrevs.h). \p ID is
/// that of a block without blocks and blobs in it, with at most five
/// abbreviations in BLOCKINFO, which \p W knows.
llvm::Error repackBlock(llvm::BitstreamCursor &In, llvm::BitstreamWriter &W,
                        unsigned ID, ChangeRecord Change = nullptr,
                        std::optional<unsigned> Texts = std::nullopt);

} // namespace dtlto

#endif // DTLTO_BITCODE_BITSTREAMREPACK_H
