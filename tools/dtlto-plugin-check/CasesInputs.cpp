//===- CasesInputs.cpp - Jobs that can't be compiled ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Cases.h"
#include <algorithm>

using namespace dtlto::check;

/// Gives the plugin \p Bad, which has to end with an error, and then a job that
/// has not.
static void expectError(const Bench &B, Sample Bad) {
  Bad.Object.clear();
  Bad.digest();
  Play S(B.plugin(), B.W);
  S.mustOpen(2);
  uint64_t Id = S.submit(Bad);
  S.waitForAll();
  int32_t Status = S.result(Id).Status;
  // submit() may have refused it.
  if (Id != 0 && Status == DTLTO_OK)
    fail("dtlto_result.status",
         "a job that can't be compiled ended with DTLTO_OK",
         "look at the compiler's exit code, and at nothing else, to tell "
         "success "
         "from failure; and don't keep results by less than all inputs' "
         "digests");
  // The session goes on, unless the plugin has said that it can't.
  if (!S.hasGivenUp()) {
    uint64_t Good = S.submit(B.Samples.back());
    S.waitForAll();
    if (!S.hasGivenUp())
      S.expectObject(Good, B.Samples.back());
  }
  S.close();
}

static Sample::Input &input(Sample &S, uint32_t Role) {
  return *std::find_if(
      S.Inputs.begin(), S.Inputs.end(),
      [&](const Sample::Input &In) { return In.Role == Role; });
}

/// The compiler's words must reach the user: no other worker would say anything
/// else.
static void compilerError(const Bench &B) {
  if (B.Refused.empty())
    return note("not tried: --jobs has none that a compiler says no to");
  Play S(B.plugin(), B.W);
  S.mustOpen(1);
  uint64_t Id = S.submit(B.Refused.front());
  S.waitForAll();
  Ended E = S.result(Id);
  if (Id == 0)
    fail("dtlto_plugin.submit", "submit() refused a job",
         "whether a job can be compiled is the compiler's to say");
  else if (E.Status != DTLTO_ERROR_COMPILER)
    fail(
        "DTLTO_ERROR_COMPILER",
        "a compiler says no to this job (its inline assembler isn't any), and "
        "ends with 1; the job ended with the status " +
            std::to_string(E.Status) + ": " +
            (E.Message.empty() ? "(no message)" : E.Message),
        "where the compiler ran and said no, report DTLTO_ERROR_COMPILER (18); "
        "else the linker gives the job to worker after worker");
  else if (E.Message.find_first_not_of(" \t\r\n") == std::string::npos)
    fail("dtlto_result.message",
         "a job ended with DTLTO_ERROR_COMPILER, and without a message",
         "`message` holds the compiler's own words: send back what it wrote to "
         "stderr");
  else if (S.hasGivenUp())
    fail("DTLTO_LOG_ERROR",
         "one job didn't compile, and the plugin says that it can't go on",
         "log(DTLTO_LOG_ERROR) ends the session; what is wrong with one job "
         "belongs in its job_done()");
  S.close();
}

static void truncatedBitcode(const Bench &B) {
  Sample Bad = B.Samples.front();
  std::string &Bytes = input(Bad, DTLTO_ROLE_PRIMARY).Bytes;
  Bytes.resize(Bytes.size() / 2 / 4 * 4);
  expectError(B, std::move(Bad));
}

static void noBitcode(const Bench &B) {
  Sample Bad = B.Samples.front();
  input(Bad, DTLTO_ROLE_PRIMARY).Bytes = "This was no module.\n";
  expectError(B, std::move(Bad));
}

static void emptyInput(const Bench &B) {
  Sample Bad = B.Samples.front();
  input(Bad, DTLTO_ROLE_PRIMARY).Bytes.clear();
  expectError(B, std::move(Bad));
}

static void missingIndex(const Bench &B) {
  Sample Bad = B.Samples.front();
  Bad.Inputs.erase(std::find_if(
      Bad.Inputs.begin(), Bad.Inputs.end(),
      [](const Sample::Input &In) { return In.Role == DTLTO_ROLE_INDEX; }));
  expectError(B, std::move(Bad));
}

static void brokenIndex(const Bench &B) {
  Sample Bad = B.Samples.front();
  input(Bad, DTLTO_ROLE_INDEX).Bytes = "This was no index.\n";
  expectError(B, std::move(Bad));
}

const std::vector<Case> &dtlto::check::inputCases() {
  static const std::vector<Case> All = {
      {"compiler-error",
       "what the compiler says no to is its own error, in its words",
       compilerError, false},
      {"truncated-bitcode", "half a module is an error", truncatedBitcode,
       false},
      {"no-bitcode", "text in the place of a module is an error", noBitcode,
       false},
      {"empty-input", "an empty module is an error", emptyInput, false},
      {"missing-index", "a job without its index is an error", missingIndex,
       false},
      {"broken-index", "text in the place of an index is an error", brokenIndex,
       false},
  };
  return All;
}
