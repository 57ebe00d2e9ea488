//===- GoldPlugin.cpp - ThinLTO with a plugin in linkers besides LLD ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libdtlto_gold.so is a linker plugin in the place of LLVMgold.so, which it
// loads and lets do the work: it removes our options, takes over LLVMgold's
// calls of LLVM (GoldHooks.h), and hands everything else on. Without our
// options, it hands on all.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Host/PluginGuard.h"
#include "LTO/Backend.h"
#include "LTOHooks.h"
#include "Report/PlainMessages.h"
#include "Run/Configuration.h"
#include "Startup.h"
#include "Support/Failure.h"
#include "gold/GoldHooks.h"
#include "gold/PluginInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cerrno>

using namespace llvm;
using namespace dtlto;

using OnLoad = gold::Status(gold::Transfer *);

static gold::MessageFunction Print = nullptr;

namespace {

/// Errors and a compiler's diagnostics go through the linker, as LLVMgold's do,
/// so that it fails or counts them. It has no level for our other messages,
/// which go to standard error. Thread-safe.
class GoldMessages : public PlainMessages {
public:
  GoldMessages(StatusLine &Errors, StringRef Program, bool IsVerbose,
               bool IsDumb)
      : PlainMessages(Errors, Program, "dtlto: ", IsVerbose, IsDumb),
        Errors(Errors) {}

  void emit(MessageLevel Level, const Twine &Text) override {
    switch (Level) {
    case MessageLevel::Error:
      return throughLinker(gold::Error, "dtlto: ", Text);
    // As in LLVMgold's diagnosticHandler().
    case MessageLevel::Diagnostic:
      return throughLinker(gold::Warning, "LLVM gold plugin: ", Text);
    case MessageLevel::Remark:
      return throughLinker(gold::Info, "LLVM gold plugin: ", Text);
    default:
      return PlainMessages::emit(Level, Text);
    }
  }

private:
  void throughLinker(gold::Level To, const char *Prefix, const Twine &Text) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Errors.show("");
    Print(To, "%s%s", Prefix, Text.str().c_str());
  }

  StatusLine &Errors;
  std::mutex Mutex; // linkers don't expect calls from several threads
};

} // namespace

//===----------------------------------------------------------------------===//
// The end of a link
//===----------------------------------------------------------------------===//

static gold::Status (*LinkersRegister)(gold::Handler) = nullptr;
static gold::Handler StockHandler = nullptr;

/// Runs LTO, if there is bitcode.
static gold::Status onAllSymbolsRead() {
  gold::Status Status = StockHandler();
  if (Status == gold::Ok && !wasBackendRequested())
    finishLink(*hookedLinker());
  return Status;
}

static gold::Status registerAllSymbolsRead(gold::Handler Handler) {
  StockHandler = Handler;
  return LinkersRegister(onAllSymbolsRead);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The words of the linker's command line, which the interface lacks.
static std::vector<std::string> commandLine() {
  std::vector<std::string> Args;
  auto Text = MemoryBuffer::getFileAsStream("/proc/self/cmdline");
  if (!Text)
    return Args;
  SmallVector<StringRef, 64> Words;
  (*Text)->getBuffer().split(Words, '\0');
  for (StringRef Word : Words)
    Args.push_back(Word.str());
  return Args;
}

/// Returns `<prefix>/lib/dtlto`, the folder of this library.
static std::string pluginFolder() {
  SmallString<256> Path;
  (void)sys::fs::real_path(libraryOf(reinterpret_cast<void *>(&pluginFolder)),
                           Path);
  return sys::path::parent_path(Path).str();
}

/// Removes our options from \p Vector, and reads them and what else concerns
/// us. \p Saver holds the memory.
static Error readOptions(SmallVectorImpl<gold::Transfer> &Vector,
                         StringSaver &Saver, Options &Opts) {
  constexpr StringLiteral Prefix = "-plugin-opt=";
  SmallVector<const char *, 64> Args = {"ld"};
  DenseMap<const char *, const char *> Texts; // from words to the linker's
  for (const gold::Transfer &T : Vector) {
    if (T.Kind != gold::Option)
      continue;
    Args.push_back(Saver.save(Prefix + T.Text).data());
    Texts[Args.back()] = T.Text;
    StringRef Text = T.Text;
    if (Text.consume_front("cache-dir="))
      Opts.CacheFolder = Text.str();
  }
  if (Error E = readConfiguration(Opts))
    return E;
  if (Error E = extractOptions(Args, /*IsCOFF=*/false, Saver, Opts))
    return E;
  DenseSet<const char *> Remaining;
  for (const char *Arg : Args)
    Remaining.insert(Texts.lookup(Arg));
  erase_if(Vector, [&](const gold::Transfer &T) {
    return T.Kind == gold::Option && !Remaining.count(T.Text);
  });
  for (const gold::Transfer &T : Vector)
    if (T.Kind == gold::OutputName)
      Opts.OutputFile = T.Text;
    else if (T.Kind == gold::LinkerOutput && T.Number == gold::Relocatable)
      Opts.NoSplitOption = "-r"; // symbols that parts share would stay
  return finishOptions(Opts, "-plugin-opt=");
}

/// Loads the plugin that the options name, and installs the hooks for it.
static Error usePlugin(Linker &TheLinker, bool IsVerbose) {
  const char *Program = program_invocation_short_name;
  TheLinker.Opts.Linker = lld::getLLDVersion();
  const SignalActions SignalsOfLinker = exchangeSignals(nullptr);
  Error E = startPlugin(TheLinker,
                        {Program, pluginFolder(), "-plugin-opt=", IsVerbose});
  limitDestructors();
  setSignalsOfLTO(exchangeSignals(&SignalsOfLinker));
  if (E)
    return E;
  TheLinker.Msg = new GoldMessages(*new StatusLine(errs()), Program, IsVerbose,
                                   TheLinker.Opts.DumbTerminal);
  installHooks(TheLinker, [](const Twine &Text) {
    Print(gold::Fatal, "%s", Text.str().c_str());
  });
  return Error::success();
}

static Expected<gold::Status> load(SmallVectorImpl<gold::Transfer> &Vector) {
  // Never freed: the linker may end the process while threads of an abandoned
  // plugin use these.
  auto *TheLinker = new Linker;
  StringSaver Saver(*new BumpPtrAllocator);
  Options &Opts = TheLinker->Opts;
  if (Error E = readOptions(Vector, Saver, Opts))
    return std::move(E);
  if (Opts.ShowConfig)
    sys::Process::Exit(showConfig(Opts, program_invocation_short_name),
                       /*NoCleanup=*/true);
  if (Opts.isPluginQuery())
    sys::Process::Exit(showPlugins(Opts, {program_invocation_short_name,
                                          pluginFolder(), "-plugin-opt="}),
                       /*NoCleanup=*/true);
  Expected<void *> Stock =
      loadLLVMgold(Opts.LLVMgold.empty() ? DTLTO_LLVMGOLD : Opts.LLVMgold);
  if (!Stock)
    return Stock.takeError();
  const std::vector<std::string> Args = commandLine();
  // mold starts itself again after LTO.
  if (!Opts.Plugin.empty() && !is_contained(Args, "--:lto-pass2")) {
    if (Error E = usePlugin(*TheLinker, is_contained(Args, "--verbose")))
      return std::move(E);
    for (gold::Transfer &T : Vector)
      if (T.Kind == gold::RegisterAllSymbolsRead)
        LinkersRegister = std::exchange(T.Register, registerAllSymbolsRead);
  }
  Vector.push_back({});
  return reinterpret_cast<OnLoad *>(*Stock)(Vector.data());
}

extern "C" __attribute__((visibility("default"))) gold::Status
onload(gold::Transfer *First) {
  // The linker may not keep its own vector, and LLVMgold keeps only texts.
  auto *Vector = new SmallVector<gold::Transfer, 64>;
  for (gold::Transfer *T = First; T->Kind != gold::End; ++T) {
    Vector->push_back(*T);
    if (T->Kind == gold::Message)
      Print = T->Print;
  }
  if (!Print)
    return gold::Failed;
  Expected<gold::Status> Status = load(*Vector);
  if (Status)
    return *Status;
  Print(gold::Fatal, "dtlto: %s", toString(Status.takeError()).c_str());
  return gold::Failed;
}
