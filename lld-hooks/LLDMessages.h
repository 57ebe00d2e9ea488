//===- LLDMessages.h - Messages through LLD's error handler -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_LLDMESSAGES_H
#define DTLTO_LLD_HOOKS_LLDMESSAGES_H

#include "Report/PlainMessages.h"
#include "Support/Messages.h"

namespace dtlto {

/// Shows messages like LLD's own, so that LLD's options for messages apply:
/// --verbose, --fatal-warnings, --no-warnings, --error-limit, colors. Use this
/// only while an LLD driver runs.
class LLDMessages : public Messages {
public:
  /// \p Errors is the stream that LLD writes to. With \p IsDumb, lines there
  /// can't be overwritten, even on a terminal.
  LLDMessages(StatusLine &Errors, bool IsDumb)
      : Errors(Errors), IsDumb(IsDumb) {}

  void emit(MessageLevel Level, const llvm::Twine &Text) override;
  void progress(llvm::StringRef Line) override;
  std::optional<unsigned> columns() const override;
  bool verbose() const override;

private:
  StatusLine &Errors;
  const bool IsDumb;
};

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_LLDMESSAGES_H
