//===- Verifier.cpp - Compares results of the plugin with ours ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/Verifier.h"
#include "LTO/JobSaver.h"
#include "Object/ObjectDiff.h"
#include "Support/Text.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

Error Verifier::compare(const Task &T, const Made &There, StringRef Here) {
  std::string Differs;  // what differs, and where
  std::string NotSaved; // why not; otherwise empty
  std::string Stem;
  auto Compare = [&](const Twine &What, StringRef Extension, StringRef Theirs,
                     StringRef Ours) {
    if (Theirs == Ours)
      return;
    if (Stem.empty())
      Stem = stem(T);
    Differs +=
        ((Differs.empty() ? "" : "; ") + What + " of module '" +
         printable(T.title()) + "' differs from the one compiled locally, " +
         describeDifference(Theirs, Ours))
            .str();
    if (Error E = saveBoth(Stem, Extension, Theirs, Ours))
      NotSaved += (NotSaved.empty() ? "" : "; ") + toString(std::move(E));
  };
  Compare("the object", ".o", There.Object, Here);
  // Our own .dwo file is already in its place. Remarks are not compared: those
  // of LLVM 19 depend on addresses, so they differ in each run.
  if (There.Outputs.Dwo) {
    StringRef Path = There.Side.Dwo;
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File)
      return createFileError(Path, File.getError());
    Compare("the .dwo file", sys::path::extension(Path), *There.Outputs.Dwo,
            (*File)->getBuffer());
  }
  if (Differs.empty())
    return Error::success();

  std::string Text = Differs;
  if (!There.Worker.empty())
    Text += "; it was compiled on " + There.Worker;
  if (!There.CacheEntry.empty()) {
    std::error_code Why = sys::fs::remove(There.CacheEntry);
    Text += "; it came from the cache, '" + There.CacheEntry + "', which " +
            (Why ? "cannot be removed: " + Why.message() : "was removed");
  }
  Text += NotSaved.empty() ? ". Both are saved: " + Stem + ".remote.*, .local.*"
                           : ". They cannot be saved: " + NotSaved;
  return createStringError(inconvertibleErrorCode(), Text + saveJob(T, Stem));
}

/// Returns the folder for results that differ.
std::string Verifier::folder() const {
  return folderForDifferences(TheLink.Process.Opts.OutputFile);
}

/// Returns the path of the files of \p T, up to the extension.
std::string Verifier::stem(const Task &T) const {
  std::optional<std::string> Name = Names.encode(T.name());
  return folder() + "/" +
         (Name ? *Name : "module-" + std::to_string(T.Number)) +
         T.Spec.suffix();
}

/// Saves the job, and returns the command that repeats it.
std::string Verifier::saveJob(const Task &T, const std::string &Stem) {
  JobSaver Saver(TheLink.Jobs, folder(), Slim);
  if (Error E = Saver.save(T))
    return "; " + toString(std::move(E));
  if (Saver.numSaved() == 0)
    return "; the job cannot be saved: " + Saver.reason();
  return "; to repeat the job, run 'dtlto-codegen " + Stem + ".tar -o FILE'";
}
