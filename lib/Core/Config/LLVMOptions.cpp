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

std::vector<std::string>
dtlto::optionsThatAreSet(ArrayRef<std::string> Options) {
  std::vector<std::string> Result;
  const auto &Known = cl::getRegisteredOptions();
  bool IsSet = false; // what a value belongs to
  for (const std::string &Word : Options) {
    if (StringRef(Word).starts_with("-")) {
      auto It = Known.find(StringRef(Word).ltrim('-').split('=').first);
      IsSet = It != Known.end() && It->second->getNumOccurrences() > 0;
    }
    if (IsSet)
      Result.push_back(Word);
  }
  return Result;
}

Expected<std::vector<std::string>>
dtlto::llvmOptionsForCompiler(ArrayRef<std::string> Options) {
  std::vector<std::string> Result;
  StringSet<> Seen;
  bool TakesNextWord = false;
  for (const std::string &Word : Options) {
    StringRef Name = Word;
    if (!Name.starts_with("-")) {
      // The value of the option before it.
      if (TakesNextWord)
        Result.push_back(Word);
      continue;
    }
    Name = Name.ltrim('-').split('=').first;
    Seen.insert(Name);
    TakesNextWord = false;
    if (isCodeGenFlag(Name) || isOfLinker(Name))
      continue;
    if (!isForCompiler(Name))
      return failure("-mllvm -" + Name);
    Result.push_back(Word);
    TakesNextWord = true;
  }

  // An option that was set on a way that we don't know of.
  for (const auto &Entry : cl::getRegisteredOptions())
    if (StringRef Name = Entry.second->ArgStr;
        Entry.second->getNumOccurrences() > 0 && !Seen.contains(Name) &&
        !isCodeGenFlag(Name))
      return failure("LLVM option -" + Name);
  return Result;
}

Error dtlto::checkOptionsOfCompiler(ArrayRef<std::string> Words) {
  bool TakesNextWord = false;
  for (StringRef Word : Words) {
    bool IsOption = Word.starts_with("-");
    StringRef Name = Word.ltrim('-').split('=').first;
    if (IsOption ? isForCompiler(Name) : TakesNextWord) {
      TakesNextWord = true;
      continue;
    }
    std::string Why = "-mllvm ";
    raw_string_ostream OS(Why);
    printEscapedString(Word.take_front(60), OS);
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
  bool TakesNextWord = false;
  for (StringRef Word : Words) {
    if (Word.starts_with("-"))
      TakesNextWord = !isOnlyCodegen(Word.ltrim('-').split('=').first);
    if (TakesNextWord)
      Result.push_back(Word.str());
  }
  return Result;
}
