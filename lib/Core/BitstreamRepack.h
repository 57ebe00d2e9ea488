//===- BitstreamRepack.h - Shorter records of a bitstream -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_BITSTREAMREPACK_H
#define DTLTO_CORE_BITSTREAMREPACK_H

#include "BitstreamCopy.h"

namespace dtlto {

/// As copyBlock(), but texts in records, for which LLVM's writer takes 12 bits
/// a character, take 7. The records are the same for a reader. \p ID is that of
/// a block that has no blocks in it, and no abbreviations in BLOCKINFO.
llvm::Error repackBlock(llvm::BitstreamCursor &In, llvm::BitstreamWriter &W,
                        unsigned ID);

} // namespace dtlto

#endif // DTLTO_CORE_BITSTREAMREPACK_H
