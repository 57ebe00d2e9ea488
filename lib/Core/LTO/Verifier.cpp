//===- Verifier.cpp - Compares results of the plugin with ours ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/Verifier.h"
#include "LTO/JobSaver.h"
#include "Object/ObjectDiff.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

/// Saves the job of \p T in \p Folder, and returns the command that repeats it.
static std::string saveJob(const LinkContext &Ctx, SlimImports *Slim,
                           const Task &T, const std::string &Folder,
                           const std::string &Stem) {
  JobSaver Saver(Ctx, Folder, Slim);
  if (Error E = Saver.save(T))
    return "; " + toString(std::move(E));
  if (Saver.numSaved() == 0)
    return "; the job cannot be saved: " + Saver.reason();
  return "; to repeat the job, run 'dtlto-codegen " + Stem + ".tar -o FILE'";
}

Error dtlto::compareResults(const Link &TheLink, const ModuleNames &Names,
                            SlimImports *Slim, const Task &T,
                            const RemoteResult &Remote, StringRef LocalObject) {
  const std::string Folder =
      folderForDifferences(TheLink.Process.Opts.OutputFile);
  std::string Differences; // what differs, and where
  std::string SaveErrors;  // why not; otherwise empty
  const std::string Stem =
      Folder + "/" +
      Names.encode(T.name()).value_or("module-" + std::to_string(T.Number)) +
      T.Spec.suffix(); // of the saved files
  auto Compare = [&](const Twine &What, StringRef Extension,
                     StringRef RemoteBytes, StringRef LocalBytes) {
    if (RemoteBytes == LocalBytes)
      return;
    Differences +=
        ((Differences.empty() ? "" : "; ") + What + " of module '" +
         printable(T.title()) + "' differs from the one compiled locally, " +
         describeDifference(RemoteBytes, LocalBytes))
            .str();
    if (Error E = saveResults(Stem, Extension, RemoteBytes, LocalBytes))
      SaveErrors += (SaveErrors.empty() ? "" : "; ") + toString(std::move(E));
  };
  Compare("the object", ".o", Remote.Object, LocalObject);
  // Our own .dwo file is already in its place. Remarks are not compared: those
  // of LLVM 19 depend on addresses, so they differ in each run.
  if (Remote.Outputs.Dwo) {
    StringRef Path = Remote.Side.Dwo;
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File)
      return createFileError(Path, File.getError());
    Compare("the .dwo file", sys::path::extension(Path), *Remote.Outputs.Dwo,
            (*File)->getBuffer());
  }
  if (Differences.empty())
    return Error::success();

  std::string Text = Differences;
  if (!Remote.Worker.empty())
    Text += "; it was compiled on " + Remote.Worker;
  if (!Remote.CacheEntry.empty()) {
    std::error_code Why = sys::fs::remove(Remote.CacheEntry);
    Text += "; it came from the cache, '" + Remote.CacheEntry + "', which " +
            (Why ? "cannot be removed: " + Why.message() : "was removed");
  }
  Text += SaveErrors.empty()
              ? ". Both are saved: " + Stem + ".remote.*, .local.*"
              : ". They cannot be saved: " + SaveErrors;
  return failure(Text + saveJob(TheLink.Jobs, Slim, T, Folder, Stem));
}
