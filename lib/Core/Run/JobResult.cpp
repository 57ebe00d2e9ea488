//===- JobResult.cpp - The result of an attempt at a job ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/JobResult.h"
#include "Run/CompilerOutput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace llvm;
using namespace dtlto;

using plan::Cause;

ObjectDigest dtlto::digestOf(StringRef Object) {
  return BLAKE3::hash<32>(arrayRefFromStringRef(Object));
}

/// Whether \p Text contains \p Worker as a separate word.
static bool namesWorker(StringRef Text, StringRef Worker) {
  auto IsWordChar = [](char C) { return isAlnum(C) || C == '-' || C == '_'; };
  if (Worker.empty())
    return true;
  for (size_t At = 0; (At = Text.find(Worker, At)) != StringRef::npos; ++At) {
    size_t End = At + Worker.size();
    if ((At == 0 || !IsWordChar(Text[At - 1])) &&
        (End == Text.size() || !IsWordChar(Text[End])))
      return true;
  }
  return false;
}

Error dtlto::unpack(JobResult &R, const SideFiles &Side) {
  Expected<JobOutputs> Outputs = unpackOutputs(R.Object.bytes(), Side);
  if (!Outputs)
    return Outputs.takeError();
  R.Packed = std::move(R.Object);
  R.Outputs = *Outputs;
  SmallVector<char, 0> Copy(Outputs->Object.begin(), Outputs->Object.end());
  R.Object = Buffer::own(std::move(Copy));
  return Error::success();
}

/// Turns the text that came with a remote result into messages. Returns why a
/// stock compiler couldn't read its inputs, or "".
static std::string readOutput(Event &E, StringRef Module) {
  if (E.RanLocally ||
      (E.Status != DTLTO_OK && E.Status != DTLTO_ERROR_COMPILER))
    return "";
  CompilerOutput Output = E.IsBundleResult ? readWorkerOutput(E.Message)
                                           : readClangOutput(E.Message, Module);
  // The messages of dtlto-codegen came with its object. Its other output is
  // text, as in-process.
  if (E.IsBundleResult && E.Status == DTLTO_OK) {
    Output = {};
    if (StringRef Text = StringRef(E.Message).rtrim(); !Text.empty())
      Output.Messages.push_back({MessageLevel::Text, Text.str()});
  }
  E.Errors = std::move(Output.Errors);
  llvm::append_range(E.Messages, std::move(Output.Messages));
  // A clang that can't import exits with 0.
  if (E.Status == DTLTO_OK && !E.Errors.empty())
    E.Status = DTLTO_ERROR_COMPILER;
  return E.Status == DTLTO_OK ? Output.ReadError : "";
}

CheckedResult dtlto::checkResult(Event Done, StringRef Module,
                                 const SideFiles &Side,
                                 function_ref<Error(StringRef)> Check) {
  CheckedResult C;
  C.E = std::move(Done);
  Event &E = C.E;
  JobResult &R = C.Result;
  R = {std::move(E.Object), E.RanLocally && E.NoObject, {}, {}};
  std::string Where = E.Worker.empty() ? "" : " on " + E.Worker;
  auto Invalid = [&](const char *What, Error Reason) {
    C.Failure = Cause::BadResult;
    C.Why = "invalid " + std::string(What) +
            (E.Worker.empty() ? "" : " from " + E.Worker) + ": " +
            toString(std::move(Reason));
  };

  std::string ReadError = readOutput(E, Module);
  switch (E.Status) {
  case DTLTO_OK:
    if (!ReadError.empty()) {
      C.Failure = Cause::BadResult;
      C.Why =
          "the compiler could not read its inputs" + Where + ": " + ReadError;
      break;
    }
    if (E.RanLocally)
      break;
    // A stock compiler makes an object, and no outputs that aren't files.
    if (!Side.empty() || (Side.Optimized && arePackedOutputs(R.Object.bytes())))
      if (Error Reason = unpack(R, Side)) {
        Invalid("result", std::move(Reason));
        break;
      }
    if (Error Reason = Check(R.Object.bytes()))
      Invalid("object", std::move(Reason));
    break;
  case DTLTO_ERROR_COMPILER:
    C.Failure = E.RanLocally ? Cause::LocalCompiler : Cause::Compiler;
    C.Why = "the compiler failed" + Where;
    break;
  case DTLTO_ERROR_CALLER:
    C.Failure = Cause::Caller;
    C.Why = "it refused the job: " + E.Message;
    break;
  case DTLTO_CANCELLED:
    C.Failure = Cause::Cancelled;
    C.Why = "the plugin cancelled the job without a request";
    break;
  default:
    C.Failure = Cause::Infrastructure;
    C.Why = StringRef(E.Message).rtrim().str();
    if (C.Why.empty())
      C.Why = "no reason given (error " + std::to_string(E.Status) + ")";
    if (!namesWorker(C.Why, E.Worker))
      C.Why += Where;
  }
  if (C.Failure == Cause::BadResult)
    C.Digest = digestOf(R.Object.bytes());
  return C;
}
