//===- JSONShape.h - Whether JSON is safe to parse --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_JSONSHAPE_H
#define DTLTO_SUPPORT_JSONSHAPE_H

#include "llvm/ADT/StringRef.h"
#include <algorithm>

namespace dtlto {

/// Properties of JSON that can be determined without parsing it, valid or not.
/// LLVM's parser recurses for each bracket, without a limit.
struct JSONShape {
  unsigned Depth = 0;
  size_t Separators = 0;
  /// The offset after the first object or array; npos if it isn't closed.
  size_t End = llvm::StringRef::npos;

  explicit JSONShape(llvm::StringRef Text) {
    unsigned Level = 0;
    bool InString = false;
    for (size_t I = 0; I != Text.size(); ++I) {
      char C = Text[I];
      if (InString) {
        if (C == '"')
          InString = false;
        else if (C == '\\' && ++I == Text.size())
          break;
        continue;
      }
      switch (C) {
      case '"':
        InString = true;
        break;
      case '[':
      case '{':
        Depth = std::max(Depth, ++Level);
        ++Separators;
        break;
      case ',':
        ++Separators;
        break;
      case ']':
      case '}':
        if (Level == 1 && End == llvm::StringRef::npos)
          End = I + 1;
        if (Level != 0)
          --Level;
        break;
      }
    }
  }
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_JSONSHAPE_H
