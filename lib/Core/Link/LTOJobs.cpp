//===- LTOJobs.cpp - The jobs of an LTO in this process -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link/LTOJobs.h"
#include "Bundle/CodegenData.h"
#include "Job/LocalCodegen.h"
#include "Link/Verifier.h"
#include "Object/ObjectCheck.h"
#include "Run/CostHistory.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "LLVM/Cache.h"
#include "LLVM/Index.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;

// Each input file is a system call, and malloc_trim() takes milliseconds.
static constexpr uint64_t BytesOfDrop = 16 << 20;

std::string dtlto::costKey(const ModuleNames &Names, StringRef Original,
                           StringRef Triple, const lto::Config &Conf) {
  return costKey(Names, Original, Triple,
                 utostr(Conf.OptLevel) + "," +
                     utostr(unsigned(Conf.CGOptLevel)) + "," +
                     utostr(Conf.RunCSIRInstr) + "," +
                     utostr(Conf.CodeGenOnly) + "," + Conf.OptPipeline);
}

JobFacts LTOJobs::facts(size_t J) const {
  const Task &T = Tasks[J];
  const JobBuilder &Builder = Preparer.builder();
  JobFacts F;
  F.Name = T.name().str();
  F.Title = printable(T.title());
  F.CostKey =
      dtlto::costKey(Builder.names(), T.name(), Builder.triple(T), L.Conf) +
      partSuffix(T.Part) + (L.round() == 0 ? "" : ",round" + utostr(L.round()));
  F.Number = T.Number;
  uint64_t Size = T.Module.getBuffer().size();
  F.Size = Size / T.Part.Count;
  F.SizeBeside = Size - F.Size;
  F.ImportWork = importWork(*T.ImportList);
  return F;
}

/// A job is prepared, or done here. It has read its module, and made \p Bytes.
/// The next jobs import from few of all modules; shards and objects of those
/// that have ended leave gaps on the heap.
void LTOJobs::dropNowAndThen(size_t J, size_t Bytes) {
  Bytes += Tasks[J].Module.getBuffer().size();
  uint64_t Before = NumBytes.fetch_add(Bytes);
  if (Before / BytesOfDrop == (Before + Bytes) / BytesOfDrop)
    return;
  L.Inputs.drop();
  returnFreeMemory();
}

Event LTOJobs::prepare(const plan::Action &A, size_t J, uint64_t Cost,
                       StringRef Avoid) {
  Event E = Preparer.prepare(A, Tasks[J], Cost, Avoid);
  dropNowAndThen(J, E.Built ? E.Built->shard().size() : 0);
  return E;
}

CodegenResult LTOJobs::compileHere(size_t J, const std::atomic<bool> *Stop) {
  CodegenResult R = runLocalCodegen(L, Tasks[J], Stop);
  dropNowAndThen(J, R.Object.size());
  return R;
}

SideFiles LTOJobs::sideFiles(size_t J) const {
  return dtlto::sideFiles(L.Conf, Tasks[J].Number);
}

Error LTOJobs::check(size_t J, StringRef Object, bool IsAsWritten) const {
  if (L.round() == 1)
    return unpackSections(Object, Tasks[J].name()).takeError();
  if (L.Conf.CGFileType != CodeGenFileType::ObjectFile)
    return Error::success();
  return checkObject(Object, Triple(Preparer.builder().triple(Tasks[J])),
                     IsAsWritten ? Origin::Compiler : Origin::Unknown);
}

Error LTOJobs::compare(size_t J, const Made &There, StringRef Here) {
  Error E = Verifier(L, Preparer.builder().names(), Preparer.slim())
                .compare(Tasks[J], There, Here);
  if (!E || !L.Kept)
    return E;
  // It would be the same in each link.
  std::string Dropped = L.Kept->dropForPlugin(Tasks[J]);
  if (Dropped.empty())
    return E;
  return failure(toString(std::move(E)) + "; " + Dropped);
}

Error LTOJobs::deliver(size_t J, const JobResult &R, const SideFiles &Side,
                       const AddStreamFn &Out) {
  const Task &T = Tasks[J];
  if (L.round() == 1) {
    L.TwoRounds->keep(T.Number, T.name(), R.Object.bytes());
    if (R.Outputs.Optimized && !R.Outputs.Optimized->empty())
      L.TwoRounds->keepSentIR(T.Number, *R.Outputs.Optimized);
    return Out ? Preparer.firstRound()->store(T, R.Object.bytes(), Out)
               : Error::success();
  }
  if (Error E = writeSideFiles(R.Outputs, Side))
    return E;
  if (L.Kept && R.Outputs.Optimized)
    L.Kept->keep(T, *R.Outputs.Optimized, /*IsHere=*/false);
  Expected<std::unique_ptr<CachedFileStream>> Stream =
      (Out ? Out : L.AddStream)(T.Number, partFile(T.name().str(), T.Part));
  if (!Stream)
    return Stream.takeError();
  *(*Stream)->OS << R.Object.bytes();
  // A cache stores the object and adds it to the link here, or where the stream
  // ends.
  return commitStream(**Stream);
}

std::vector<std::string> LTOJobs::notes() const {
  std::vector<std::string> Notes;
  if (L.Kept && Preparer.builder().areCommands())
    Notes.push_back("the workers are plain compilers, so no optimised module "
                    "of theirs is kept or used (--thinlto-dist-keep-ir)");
  const JobSaver *Saver = Preparer.saver();
  if (!Saver || Saver->numLeftOut() == 0)
    return Notes;
  std::string Text = std::to_string(Saver->numLeftOut()) + " of " +
                     std::to_string(Tasks.size()) +
                     " jobs were not saved, since " + Saver->reason() +
                     " cannot be expressed in a bundle";
  Notes.push_back(std::move(Text));
  return Notes;
}

std::vector<std::string> LTOJobs::debugNotes() const {
  std::vector<std::string> Notes;
  if (const SlimImports *Slim = Preparer.slim())
    Notes = Slim->describe();
  if (L.Kept)
    Notes.push_back(L.Kept->finish(Tasks.size()));
  return Notes;
}
