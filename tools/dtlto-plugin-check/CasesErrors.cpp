//===- CasesErrors.cpp - Cases about jobs that fail -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace llvm;
using namespace dtlto::check;

/// A compile error must reach the user: other workers would fail in the same
/// way.
static void compilerError(const CaseContext &B) {
  if (B.Refused.empty())
    return note("not tried: --jobs has no job that fails to compile");
  Session S(B, 1);
  uint64_t Id = S.submit(B.Refused.front());
  S.waitForAll();
  const JobRecord *R = S.job(Id);
  if (expect(R, "dtlto_plugin.submit", "submit() refused a job",
             "let the compiler decide whether a job can be compiled") &&
      expect(R->Status == DTLTO_ERROR_COMPILER, "DTLTO_ERROR_COMPILER",
             "this job fails to compile (its inline assembly is invalid), and "
             "the compiler exits with 1, but the job ended with the status " +
                 dtlto::statusName(R->Status) + ": " +
                 (R->Message.empty() ? "(no message)" : R->Message),
             "if the compiler ran and failed, report DTLTO_ERROR_COMPILER "
             "(18); otherwise the linker retries the job on other workers") &&
      expect(!StringRef(R->Message).trim().empty(), "dtlto_result.message",
             "a job ended with DTLTO_ERROR_COMPILER, and without a message",
             "`message` holds the compiler's own output: return what it wrote "
             "to stderr") &&
      expect(StringRef(R->Message).contains(RefusedWord),
             "dtlto_result.message",
             "the compiler's error names '" + Twine(RefusedWord) +
                 "', but the message is '" + R->Message + "'",
             "return what the compiler wrote to stderr, unchanged, in place of "
             "words of your own"))
    expect(!S.hasGivenUp(), "DTLTO_LOG_ERROR",
           "one job did not compile, and the plugin reports that it cannot "
           "continue",
           OneJobFailed);
}

/// Gives the plugin a job changed by \p Damage, which must end with an error,
/// and then an unchanged job.
static void expectError(const CaseContext &B,
                        function_ref<void(Sample &)> Damage) {
  Sample Bad = B.largest();
  Bad.Object.clear();
  Damage(Bad);
  Session S(B, 2);
  uint64_t Id = S.submit(Bad);
  S.waitForAll();
  // submit() may have refused it.
  expect(Id == 0 || S.job(Id)->Status != DTLTO_OK, "dtlto_result.status",
         "a job that cannot be compiled ended with DTLTO_OK",
         "detect failures by the compiler's exit code alone; if results are "
         "cached, their keys must contain the digests of all inputs");
  // The session must continue, unless the plugin has given up.
  if (S.hasGivenUp())
    return;
  Id = S.submit(B.smallest());
  S.waitForAll();
  if (!S.hasGivenUp())
    S.expectObject(Id, B.smallest());
}

/// Returns a case in which the input of \p Role is \p Text.
static auto wrongInput(uint32_t Role, const char *Text) {
  return [=](const CaseContext &B) {
    expectError(B, [=](Sample &Bad) { Bad.input(Role)->Bytes = Text; });
  };
}

static void truncatedBitcode(const CaseContext &B) {
  expectError(B, [](Sample &Bad) {
    std::string &Bytes = Bad.input(DTLTO_ROLE_PRIMARY)->Bytes;
    Bytes.resize(Bytes.size() / 2 / 4 * 4);
  });
}

static void missingIndex(const CaseContext &B) {
  expectError(
      B, [](Sample &Bad) { Bad.Inputs.erase(Bad.input(DTLTO_ROLE_INDEX)); });
}

const std::vector<Case> dtlto::check::ErrorCases = {
    {"compiler-error",
     "a job that fails to compile has the compiler's own error", compilerError},
    {"truncated-bitcode", "half a module is an error", truncatedBitcode},
    {"no-bitcode", "text in place of a module is an error",
     wrongInput(DTLTO_ROLE_PRIMARY, "This was no module.\n")},
    {"empty-input", "an empty module is an error",
     wrongInput(DTLTO_ROLE_PRIMARY, "")},
    {"missing-index", "a job without its index is an error", missingIndex},
    {"broken-index", "text in place of an index is an error",
     wrongInput(DTLTO_ROLE_INDEX, "This was no index.\n")},
};
