//===- LLVMOptions.cpp - LLVM's own command line options ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/LLVMOptions.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/CodegenData.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace dtlto;

/// Whether llvm::codegen::RegisterCodeGenFlags or
/// mc::RegisterMCTargetOptionsFlags registers the option in any known version.
/// The flags are in the order of CommandFlags.cpp and
/// MCTargetOptionsCommandFlags.cpp.
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

/// Whether the option can do more than change the object.
static bool hasSideEffects(StringRef Name) {
  static const StringRef Prefixes[] = {
      "stats", "time-", "debug", "track-memory", "pass-remarks",
      "lto-embed-bitcode", "filter-print", "rng-seed", "thinlto-assume-merged",
      "help", "version", "write-experimental-debuginfo", "save-stats",
      // The static worker is built without Polly.
      "polly",
      // Reads the sample profile during code generation, when a worker can no
      // longer open files.
      "enable-fs-discriminator"};
  // Words between dashes.
  static const StringSet<> Words = {"print",  "dump",   "view",  "dot",
                                    "show",   "report", "stats", "verbose",
                                    "bisect", "counter"};
  if (any_of(Prefixes, [&](StringRef P) { return Name.starts_with(P); }))
    return true;
  return any_of(split(Name, "-"),
                [&](StringRef W) { return Words.contains(W); });
}

/// Whether the option's value is text or of an unknown type, and names no file.
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

/// Whether the value of \p O may be any text. LLVM doesn't expose an option's
/// type, only the width of its name in a help text. There, `=<int>`, `=<uint>`
/// and so on follow the name, `=<value>` for a choice, or nothing for a flag.
static bool mayTakeText(const cl::Option &O) {
  if (!O.ValueStr.empty())
    return true;
  // "  --" precedes the name (one dash before a single letter), " - " follows.
  size_t Flag = O.ArgStr.size() + (O.ArgStr.size() == 1 ? 6 : 7);
  size_t Width = O.getOptionWidth();
  if (Width == Flag)
    return O.getValueExpectedFlag() == cl::ValueRequired; // an alias
  return Width < Flag || Width == Flag + StringRef("=<string>").size();
}

/// Whether a worker accepts LLVM's option \p Name. Such an option prints
/// nothing, loads no library, opens no port, and reads and writes no file. The
/// linker and workers use this rule.
static bool isForCompiler(StringRef Name) {
  if (isCodeGenFlag(Name) || hasSideEffects(Name) || isCodegenData(Name) ||
      readsWholeIndex(Name))
    return false;
  const cl::Option *Opt = findOption(Name);
  return Opt && (!mayTakeText(*Opt) || isPlainText(Name));
}

namespace {
/// One word of LLVM's options.
struct OptionWord {
  StringRef Text;
  StringRef Name; // of the option; for a value, of the option before
  bool IsValue;
};
} // namespace

/// Parses words like LLVM: if an option needs a value and its own word has
/// none, the next word is the value, whatever it begins with.
static std::vector<OptionWord> readWords(ArrayRef<std::string> Words) {
  std::vector<OptionWord> Result;
  StringRef Name;
  bool NeedsValue = false;
  for (StringRef Word : Words) {
    bool IsValue = NeedsValue || !Word.starts_with("-");
    NeedsValue = false;
    if (!IsValue) {
      Name = Word.ltrim('-').split('=').first;
      const cl::Option *Opt = findOption(Name);
      NeedsValue = Opt && !Word.contains('=') &&
                   Opt->getValueExpectedFlag() == cl::ValueRequired;
    }
    Result.push_back({Word, Name, IsValue});
  }
  return Result;
}

/// LLVM replaces the word `@x` by the contents of the file `x` everywhere.
static bool isFileOfOptions(StringRef Word) { return Word.starts_with("@"); }

std::vector<std::string>
dtlto::filterParsedOptions(ArrayRef<std::string> Options) {
  std::vector<std::string> Result;
  for (const OptionWord &Word : readWords(Options)) {
    const cl::Option *Opt = findOption(Word.Name);
    if (isFileOfOptions(Word.Text) || (Opt && Opt->getNumOccurrences() > 0))
      Result.push_back(Word.Text.str());
  }
  return Result;
}

Expected<std::vector<std::string>>
dtlto::llvmOptionsForCompiler(ArrayRef<std::string> Options) {
  std::vector<std::string> Result;
  StringMap<int> Occurrences; // the number of occurrences, as LLVM counts
  bool IsForCompiler = false;
  for (const OptionWord &Word : readWords(Options)) {
    if (!Word.IsValue) {
      ++Occurrences[Word.Name];
      IsForCompiler = !isCodeGenFlag(Word.Name) && !isExpressedByJob(Word.Name);
      if (IsForCompiler && !isForCompiler(Word.Name))
        return failure("-mllvm -" + Word.Name);
    }
    // For a list, LLVM counts each element.
    if (const cl::Option *Opt = findOption(Word.Name);
        Opt && (Opt->getMiscFlags() & cl::CommaSeparated))
      Occurrences[Word.Name] += int(Word.Text.count(','));
    if (IsForCompiler || isFileOfOptions(Word.Text))
      Result.push_back(Word.Text.str());
  }

  // Detect options that were set in an unknown way, and words that were the
  // value of another option.
  for (const auto &Entry : cl::getRegisteredOptions()) {
    StringRef Name = Entry.second->ArgStr;
    int N = Entry.second->getNumOccurrences();
    if (N > 0 && Occurrences.lookup(Name) != N && !isCodeGenFlag(Name))
      return failure("LLVM option -" + Name);
  }
  return Result;
}

Error dtlto::checkCompilerOptions(ArrayRef<std::string> Words) {
  bool HasOption = false;
  for (const OptionWord &Word : readWords(Words)) {
    if (Word.IsValue ? HasOption : isForCompiler(Word.Name)) {
      HasOption = true;
      continue;
    }
    return failure("-mllvm " + sanitizedLine(Word.Text, 60));
  }
  return Error::success();
}

/// Whether only machine code passes or the object writer read the option:
/// alignment and sections of basic blocks.
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

//===----------------------------------------------------------------------===//
// Pass pipelines
//===----------------------------------------------------------------------===//

/// Whether a worker accepts the pass. Any other pass, for instance one of
/// another LLVM version, makes a job compile locally. No parameter of these
/// passes is a file name.
static bool isPlainPass(StringRef Name) {
  static const StringSet<> Names = {
      // Nesting, and LLVM's own pipelines
      "module", "cgscc", "function", "loop", "loop-mssa", "repeat", "devirt",
      "default", "thinlto-pre-link", "thinlto", "lto-pre-link", "lto",
      "require", "invalidate", "verify",
      // Modules
      "always-inline", "annotation2metadata", "attributor", "attributor-light",
      "called-value-propagation", "canonicalize-aliases", "cg-profile",
      "constmerge", "coro-cleanup", "coro-early", "cross-dso-cfi",
      "deadargelim", "elim-avail-extern", "expand-variadics", "forceattrs",
      "globaldce", "globalopt", "globalsplit", "global-merge", "hotcoldsplit",
      "inferattrs", "inliner-wrapper", "inliner-wrapper-no-mandatory-first",
      "ipsccp", "iroutliner", "lower-emutls", "lower-global-dtors",
      "lower-ifunc", "mergefunc", "module-inline", "name-anon-globals",
      "no-op-module", "openmp-opt", "openmp-opt-postlink", "partial-inliner",
      "pgo-icall-prom", "pre-isel-intrinsic-lowering", "recompute-globalsaa",
      "rel-lookup-table-converter", "rpo-function-attrs", "strip",
      "strip-dead-debug-info", "strip-dead-prototypes", "strip-debug-declare",
      "strip-nondebug", "strip-nonlinetable-debuginfo",
      // Strongly connected components of the call graph
      "argpromotion", "attributor-cgscc", "attributor-light-cgscc",
      "coro-split", "function-attrs", "inline", "no-op-cgscc",
      "openmp-opt-cgscc",
      // Functions
      "adce", "add-discriminators", "aggressive-instcombine",
      "alignment-from-assumptions", "assume-builder", "assume-simplify", "bdce",
      "break-crit-edges", "callsite-splitting", "chr", "consthoist",
      "constraint-elimination", "coro-elide", "correlated-propagation", "dce",
      "dfa-jump-threading", "div-rem-pairs", "dse", "early-cse",
      "fix-irreducible", "flatten-cfg", "float2int", "function-simplification",
      "gvn", "gvn-hoist", "gvn-sink", "infer-address-spaces", "infer-alignment",
      "inject-tli-mappings", "instcombine", "instnamer", "instsimplify",
      "interleaved-load-combine", "irce", "jump-table-to-switch",
      "jump-threading", "lcssa", "libcalls-shrinkwrap", "load-store-vectorizer",
      "loop-data-prefetch", "loop-distribute", "loop-fusion", "loop-load-elim",
      "loop-simplify", "loop-sink", "loop-unroll", "loop-vectorize",
      "loop-versioning", "lower-atomic", "lower-constant-intrinsics",
      "lower-expect", "lower-invoke", "lower-matrix-intrinsics", "lower-switch",
      "mem2reg", "memcpyopt", "mergeicmps", "mergereturn", "mldst-motion",
      "move-auto-init", "nary-reassociate", "newgvn", "no-op-function",
      "objc-arc", "objc-arc-contract", "objc-arc-expand",
      "partially-inline-libcalls", "pgo-memop-opt", "reassociate",
      "redundant-dbg-inst-elim", "reg2mem", "scalarize-masked-mem-intrin",
      "scalarizer", "sccp", "separate-const-offset-from-gep", "simplifycfg",
      "sink", "slp-vectorizer", "slsr", "speculative-execution", "sroa",
      "structurizecfg", "tailcallelim", "typepromotion", "unify-loop-exits",
      "vector-combine",
      // Loops
      "canon-freeze", "guard-widening", "indvars", "licm", "lnicm",
      "loop-bound-split", "loop-deletion", "loop-flatten", "loop-idiom",
      "loop-instsimplify", "loop-interchange", "loop-predication",
      "loop-reduce", "loop-rotate", "loop-simplifycfg", "loop-unroll-and-jam",
      "loop-unroll-full", "loop-versioning-licm", "no-op-loop",
      "no-op-loopnest", "simple-loop-unswitch",
      // Alias analyses; `default` is above
      "basic-aa", "globals-aa", "objc-arc-aa", "scev-aa", "scoped-noalias-aa",
      "tbaa"};
  return Names.contains(Name);
}

bool dtlto::isPlainPipeline(StringRef Text) {
  while (!Text.empty()) {
    size_t End = Text.find_first_of(",()<>");
    StringRef Name = Text.take_front(End);
    if (!Name.empty() && !isPlainPass(Name))
      return false;
    Text = Text.substr(End);
    if (Text.consume_front("<")) {
      size_t Close = Text.find('>');
      if (Close == StringRef::npos || Text.take_front(Close).contains('<'))
        return false;
      Text = Text.substr(Close);
    }
    Text = Text.drop_front(Text.empty() ? 0 : 1);
  }
  return true;
}
