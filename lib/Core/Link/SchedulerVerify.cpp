//===- SchedulerVerify.cpp - What the plugin made, and what we made -------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-verify. Where the results of a job differ, the link fails,
// and both stay beside the output with the job itself, so that somebody can
// find out why.
//
//===----------------------------------------------------------------------===//

#include "Link/Scheduler.h"
#include "Object/ObjectDiff.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

/// The worker's object is \p J's ToVerify, and \p Here is ours. Fails, with one
/// line, if they or the files beside them differ.
Error Scheduler::verify(const Job &J, StringRef Here) {
  std::string Differs; // what, and where
  std::string Kept;    // why not; empty: it is
  std::string Stem;
  auto Compare = [&](const Twine &What, StringRef Extension, StringRef There,
                     StringRef Ours) {
    if (There == Ours)
      return;
    if (Stem.empty())
      Stem = verifyStem(J);
    Differs += ((Differs.empty() ? "" : "; ") + What + " of module '" +
                J.T.name() + "' differs from the one compiled here, " +
                describeDifference(There, Ours))
                   .str();
    if (Error E = keepBoth(Stem, Extension, There, Ours))
      Kept += (Kept.empty() ? "" : "; ") + toString(std::move(E));
  };
  Compare("the object", ".o", J.ToVerify.bytes(), Here);
  // Ours have been written where they belong.
  for (const auto &[What, Path, Bytes] :
       {std::tuple("the .dwo file", StringRef(J.Side.Dwo), J.Outputs.Dwo),
        std::tuple("the file of remarks", StringRef(J.Side.Remarks),
                   J.Outputs.Remarks)}) {
    if (!Bytes)
      continue;
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File)
      return createFileError(Path, File.getError());
    Compare(What, sys::path::extension(Path), *Bytes, (*File)->getBuffer());
  }
  if (Differs.empty())
    return Error::success();

  std::string Text = Differs;
  if (!J.Worker.empty())
    Text += "; it was compiled on " + J.Worker;
  Text += Kept.empty() ? ". Both are kept: " + Stem + ".there.*, .here.*"
                       : ". They can't be kept: " + Kept;
  return createStringError(inconvertibleErrorCode(), Text + keepJob(J, Stem));
}

/// For what somebody has to look at.
std::string Scheduler::verifyFolder() const {
  const std::string &Output = L.opts().OutputFile;
  return (Output.empty() ? "a.out" : Output) + ".dtlto-verify";
}

/// What the files of \p J begin with there.
std::string Scheduler::verifyStem(const Job &J) const {
  std::optional<std::string> Name = Builder.names().encode(J.T.name());
  return verifyFolder() + "/" +
         (Name ? *Name : "module-" + std::to_string(J.T.Number));
}

/// Keeps the job, and says how to do it again.
std::string Scheduler::keepJob(const Job &J, const std::string &Stem) {
  JobSaver Keeper(L, verifyFolder(), Slim.get());
  if (Error E = Keeper.save(J.T))
    return "; " + toString(std::move(E));
  if (Keeper.numSaved() == 0)
    return "; the job itself can't be: " + Keeper.reason();
  return "; 'dtlto-codegen " + Stem + ".tar -o FILE' does the job again";
}
