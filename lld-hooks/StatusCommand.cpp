//===- StatusCommand.cpp - --thinlto-dist-status --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatusCommand.h"
#include "Host/FarmStatus.h"
#include "llvm/Support/WithColor.h"
#include <mutex>

using namespace llvm;
using namespace dtlto;

namespace {

/// LLD's error handler is not there without a driver of LLD's. Looks like it.
class PlainMessages : public Messages {
public:
  PlainMessages(StringRef Program, bool Verbose)
      : Program(Program), Verbose(Verbose) {}

  void emit(MessageLevel Level, const Twine &Text) override {
    if (Level == MessageLevel::Debug && !Verbose)
      return;
    std::string Line;
    raw_string_ostream(Line) << "dtlto: " << Text << '\n';
    std::lock_guard<std::mutex> Lock(Mutex);
    switch (Level) {
    case MessageLevel::Debug:
      errs() << Program << ": " << Line;
      break;
    case MessageLevel::Note:
      errs() << Program << ": note: " << Line;
      break;
    case MessageLevel::Warning:
    case MessageLevel::Diagnostic:
      WithColor::warning(errs(), Program) << Line;
      break;
    case MessageLevel::Error:
      WithColor::error(errs(), Program) << Line;
      break;
    }
  }
  void progress(StringRef) override {}
  std::optional<unsigned> columns() const override { return std::nullopt; }
  bool verbose() const override { return Verbose; }

private:
  const StringRef Program;
  const bool Verbose;
  std::mutex Mutex; // for whole lines
};

} // namespace

int dtlto::showStatus(const Linker &TheLinker, StringRef Program,
                      bool Verbose) {
  PlainMessages Msg(Program, Verbose);
  FarmStatus S = askFarm(*TheLinker.Plugin, TheLinker.Opts, Msg);
  for (const std::string &P : S.Problems) {
    std::string Text = "plugin '" + S.Plugin + "': " + P;
    if (S.isUp())
      Msg.warning(Text);
    else
      Msg.error(Text);
  }
  if (TheLinker.Opts.Status == StatusKind::JSON)
    printJSON(S, outs());
  else if (S.Workers || S.isUp())
    printTable(S, outs());
  return S.isUp() ? 0 : 1;
}
