//===- LLVMOptions.cpp - LLVM's own command line options ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/LLVMOptions.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "LLVM/ConfigCompat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

/// What llvm::codegen::RegisterCodeGenFlags and
/// mc::RegisterMCTargetOptionsFlags register, in all versions that we know,
/// in the order of CommandFlags.cpp and MCTargetOptionsCommandFlags.cpp.
static bool isCodeGenFlag(StringRef Name) {
  static const StringSet<> Flags = {
      "march", "mcpu", "mattr", "relocation-model", "thread-model",
      "code-model", "large-data-threshold", "exception-model", "filetype",
      "frame-pointer", "enable-unsafe-fp-math", "enable-no-infs-fp-math",
      "enable-no-nans-fp-math", "enable-no-signed-zeros-fp-math",
      "enable-approx-func-fp-math", "enable-no-trapping-fp-math",
      "denormal-fp-math", "denormal-fp-math-f32",
      "enable-sign-dependent-rounding-fp-math", "float-abi", "fp-contract",
      "swift-async-fp", "nozero-initialized-in-bss", "vec-extabi",
      "tailcallopt", "disable-tail-calls", "stack-symbol-ordering",
      "stackrealign", "trap-func", "use-ctors", "data-sections",
      "function-sections", "ignore-xcoff-visibility", "xcoff-traceback-table",
      "basic-block-address-map", "basic-block-sections", "tls-size",
      "emulated-tls", "enable-tlsdesc", "unique-section-names",
      "unique-basic-block-section-names", "separate-named-sections", "meabi",
      "debugger-tune", "stack-size-section", "addrsig", "emit-call-site-info",
      "debug-entry-values", "split-machine-functions",
      "force-dwarf-frame-section", "xray-function-index", "strict-dwarf",
      "align-loops", "enable-jmc-instrument", "mxcoff-roptr",
      "no-integrated-as",
      // MC
      "mc-relax-all", "incremental-linker-compatible", "fdpic", "dwarf-version",
      "dwarf64", "emit-dwarf-unwind", "emit-compact-unwind-non-canonical",
      "asm-show-inst", "fatal-warnings", "no-warn", "no-deprecated-warn",
      "no-type-check", "save-temp-labels", "crel", "x86-relax-relocations",
      "x86-sse2avx", "target-abi", "as-secure-log-file"};
  return Flags.contains(Name) || isCodeGenFlagOfThisVersion(Name);
}

/// Options that do more than change the object, whatever their value.
static bool hasSideEffects(StringRef Name) {
  static const StringRef Prefixes[] = {
      "stats", "time-", "debug", "track-memory", "pass-remarks",
      "lto-embed-bitcode", "filter-print", "rng-seed", "thinlto-assume-merged",
      "help", "version", "write-experimental-debuginfo", "save-stats",
      // The static worker has no Polly.
      "polly",
      // Reads the sample profile during code generation, when a worker can open
      // no file.
      "enable-fs-discriminator"};
  // Between dashes.
  static const StringSet<> Words = {"print",  "dump",   "view",  "dot",
                                    "show",   "report", "stats", "verbose",
                                    "bisect", "counter"};
  if (any_of(Prefixes, [&](StringRef P) { return Name.starts_with(P); }))
    return true;
  return any_of(split(Name, "-"),
                [&](StringRef W) { return Words.contains(W); });
}

/// Options whose value is text, or isn't said to be something else, and names
/// no file.
static bool isPlainText(StringRef Name) {
  static const StringSet<> Names = {
      // Numbers
      "chr-bias-threshold", "cold-branch-ratio",
      "icp-vtable-percentage-threshold", "import-cold-multiplier",
      "import-critical-multiplier", "import-cutoff",
      "import-hot-evolution-factor", "import-hot-multiplier",
      "import-instr-evolution-factor", "import-instr-limit",
      "iterative-bfi-precision", "licm-versioning-invariant-threshold",
      "loop-predication-latch-probability-scale",
      "memprof-lifetime-access-density-cold-threshold", "min-region-size-ratio",
      "ml-advisor-size-increase-threshold",
      "openmp-ir-builder-unroll-threshold-factor",
      "partial-sample-profile-working-set-size-scale-factor",
      "ppc-fma-rp-factor", "regalloc-cheap-remat-weight",
      "regalloc-copy-weight", "regalloc-expensive-remat-weight",
      "regalloc-load-weight", "regalloc-store-weight",
      "sample-profile-check-record-coverage",
      "sample-profile-check-sample-coverage", "vp-counters-per-site",
      // Names of functions, attributes, sections and registers; choices
      "asan-memory-access-callback-prefix", "bbsections-cold-text-prefix",
      "break-anti-dependencies", "emscripten-cxx-exceptions-allowed",
      "expandvp-override-evl-transform", "expandvp-override-mask-transform",
      "force-attribute", "force-remove-attribute",
      "hotcoldsplit-cold-section-name", "hwasan-memory-access-callback-prefix",
      "internalize-public-api-list", "memprof-memory-access-callback-prefix",
      "nsan-shadow-type-mapping", "reserve-regs-for-regalloc",
      "wholeprogramdevirt-skip", "x86-align-branch"};
  return Names.contains(Name);
}

/// Whether the value of \p O may be any text. LLVM doesn't tell an option's
/// type, but how wide its name is in a help text, with one of `=<int>`,
/// `=<uint>` and so on, `=<value>` for a choice, or nothing for a flag.
static bool takesText(const cl::Option &O) {
  if (!O.ValueStr.empty())
    return true;
  // Around it are "  --" (one dash before a letter) and " - ".
  size_t Flag = O.ArgStr.size() + (O.ArgStr.size() == 1 ? 6 : 7);
  size_t Width = O.getOptionWidth();
  if (Width == Flag)
    return O.getValueExpectedFlag() == cl::ValueRequired; // another's name
  return Width < Flag || Width == Flag + StringRef("=<string>").size();
}

/// Options that workers never see: jobs say in another way what they mean
/// (LLVM/CodegenData.h).
static bool isOfLinker(StringRef Name) {
  return HasCodegenData &&
         (Name == CodegenDataOption || Name == TwoRoundsOption);
}

/// Whether a worker may be given the option \p Name, which LLVM has: it prints
/// nothing, loads no library, opens no port, and reads and writes no file. The
/// rule for both sides.
static bool isForCompiler(StringRef Name) {
  if (isCodeGenFlag(Name) || hasSideEffects(Name) || isOfLinker(Name) ||
      readsWholeIndex(Name))
    return false;
  // LLVM 21's objects then have names of modules in them, which travel as
  // others.
  if (!HasCodegenData && Name.starts_with("codegen-data"))
    return false;
  const auto &Known = cl::getRegisteredOptions();
  auto It = Known.find(Name);
  return It != Known.end() && (!takesText(*It->second) || isPlainText(Name));
}

namespace {
/// One of LLVM's words.
struct OptionWord {
  StringRef Text;
  StringRef Name; // of the option; of the one before it, if this is a value
  bool IsValue;
};
} // namespace

/// As LLVM reads them: the word behind an option that needs a value, and has
/// none in its own word, is that, whatever it begins with.
static std::vector<OptionWord> readWords(ArrayRef<std::string> Words) {
  std::vector<OptionWord> Result;
  const auto &Known = cl::getRegisteredOptions();
  StringRef Name;
  bool NeedsValue = false;
  for (StringRef Word : Words) {
    bool IsValue = NeedsValue || !Word.starts_with("-");
    NeedsValue = false;
    if (!IsValue) {
      Name = Word.ltrim('-').split('=').first;
      auto It = Known.find(Name);
      NeedsValue = It != Known.end() && !Word.contains('=') &&
                   It->second->getValueExpectedFlag() == cl::ValueRequired;
    }
    Result.push_back({Word, Name, IsValue});
  }
  return Result;
}

/// LLVM reads the file `x` in place of `@x`, wherever it stands.
static bool isFileOfOptions(StringRef Word) { return Word.starts_with("@"); }

std::vector<std::string>
dtlto::optionsThatAreSet(ArrayRef<std::string> Options) {
  std::vector<std::string> Result;
  const auto &Known = cl::getRegisteredOptions();
  for (const OptionWord &Word : readWords(Options)) {
    auto It = Known.find(Word.Name);
    if (isFileOfOptions(Word.Text) ||
        (It != Known.end() && It->second->getNumOccurrences() > 0))
      Result.push_back(Word.Text.str());
  }
  return Result;
}

Expected<std::vector<std::string>>
dtlto::llvmOptionsForCompiler(ArrayRef<std::string> Options) {
  std::vector<std::string> Result;
  const auto &Known = cl::getRegisteredOptions();
  StringMap<int> Seen; // how often, as LLVM counts
  bool IsForCompiler = false;
  for (const OptionWord &Word : readWords(Options)) {
    if (!Word.IsValue) {
      ++Seen[Word.Name];
      IsForCompiler = !isCodeGenFlag(Word.Name) && !isOfLinker(Word.Name);
      if (IsForCompiler && !isForCompiler(Word.Name))
        return failure("-mllvm -" + Word.Name);
    }
    // Each of a list's elements.
    if (auto It = Known.find(Word.Name);
        It != Known.end() && (It->second->getMiscFlags() & cl::CommaSeparated))
      Seen[Word.Name] += int(Word.Text.count(','));
    if (IsForCompiler || isFileOfOptions(Word.Text))
      Result.push_back(Word.Text.str());
  }

  // An option that was set on a way that we don't know of, or a word that is
  // none: another option's value.
  for (const auto &Entry : Known) {
    StringRef Name = Entry.second->ArgStr;
    int N = Entry.second->getNumOccurrences();
    if (N > 0 && Seen.lookup(Name) != N && !isCodeGenFlag(Name))
      return failure("LLVM option -" + Name);
  }
  return Result;
}

Error dtlto::checkOptionsOfCompiler(ArrayRef<std::string> Words) {
  bool HasOption = false;
  for (const OptionWord &Word : readWords(Words)) {
    if (Word.IsValue ? HasOption : isForCompiler(Word.Name)) {
      HasOption = true;
      continue;
    }
    std::string Why = "-mllvm ";
    raw_string_ostream OS(Why);
    printEscapedString(Word.Text.take_front(60), OS);
    return failure(OS.str());
  }
  return Error::success();
}

/// How basic blocks are aligned, and what becomes of their sections. Each is
/// read by passes over machine code, or by what writes objects.
static bool isOnlyCodegen(StringRef Name) {
  static const StringSet<> Names = {"align-all-blocks",
                                    "align-all-functions",
                                    "align-all-nofallthru-blocks",
                                    "basic-block-address-map-skip-bb-entries",
                                    "bbsections-cold-text-prefix",
                                    "bbsections-detect-source-drift",
                                    "bbsections-guided-section-prefix",
                                    "pgo-analysis-map"};
  return Names.contains(Name);
}

std::vector<std::string>
dtlto::withoutCodegenOptions(ArrayRef<std::string> Words) {
  std::vector<std::string> Result;
  bool HasOption = false;
  for (const OptionWord &Word : readWords(Words)) {
    if (!Word.IsValue)
      HasOption = !isOnlyCodegen(Word.Name);
    if (HasOption)
      Result.push_back(Word.Text.str());
  }
  return Result;
}
