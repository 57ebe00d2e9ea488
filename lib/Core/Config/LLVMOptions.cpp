//===- LLVMOptions.cpp - LLVM's own command line options ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/LLVMOptions.h"
#include "Support/Failure.h"
#include "LLVM/ConfigCompat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
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

/// Options that do more than change the object.
static bool hasSideEffects(StringRef Name) {
  static const StringRef Prefixes[] = {"print-",
                                       "stats",
                                       "time-",
                                       "debug",
                                       "view-",
                                       "dot-",
                                       "dump-",
                                       "info-output-file",
                                       "track-memory",
                                       "pass-remarks",
                                       "opt-bisect",
                                       "lto-embed-bitcode",
                                       "filter-print",
                                       "rng-seed",
                                       "thinlto-assume-merged",
                                       "help",
                                       "version",
                                       "write-experimental-debuginfo",
                                       "crash-diagnostics-dir",
                                       "save-stats",
                                       "summary-file",
                                       "thinlto-workload-def"};
  return any_of(Prefixes, [&](StringRef P) { return Name.starts_with(P); }) ||
         Name.ends_with("-dump") || Name.ends_with("-verbose") ||
         Name.contains("bisect") || Name.contains("debug-counter");
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
      if (sys::fs::exists(Name))
        return failure("-mllvm option that names the file '" + Name + "'");
      if (TakesNextWord)
        Result.push_back(Word);
      continue;
    }
    Name = Name.ltrim('-');
    StringRef Value;
    std::tie(Name, Value) = Name.split('=');
    Seen.insert(Name);
    TakesNextWord = false;
    if (isCodeGenFlag(Name))
      continue;
    if (hasSideEffects(Name))
      return failure("-mllvm -" + Name);
    if (!Value.empty() && sys::fs::exists(Value))
      return failure("-mllvm -" + Name + " with the file '" + Value + "'");
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
    if (IsOption ? !isCodeGenFlag(Name) && !hasSideEffects(Name)
                 : TakesNextWord) {
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
