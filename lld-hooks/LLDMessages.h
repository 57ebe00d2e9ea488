//===- LLDMessages.h - Messages through LLD's error handler -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_LLDMESSAGES_H
#define DTLTO_LLD_HOOKS_LLDMESSAGES_H

#include "Messages.h"

namespace dtlto {

/// Shows messages as LLD shows its own, so that its options for them hold:
/// --verbose, --fatal-warnings, --no-warnings, --error-limit, colors. Only
/// while an LLD driver runs.
class LLDMessages : public Messages {
public:
  void emit(MessageLevel Level, const llvm::Twine &Text) override;
  void progress(llvm::StringRef Line) override;
  bool verbose() const override;
};

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_LLDMESSAGES_H
