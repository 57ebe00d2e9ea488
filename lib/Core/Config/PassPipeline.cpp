//===- PassPipeline.cpp - Pass pipelines that other machines run ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/PassPipeline.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

/// A pass that isn't here, also one of another version of LLVM's, keeps a job
/// in the linker. Of those that are here, no parameter is a file's name.
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
    // Nothing stands between two of these characters.
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
