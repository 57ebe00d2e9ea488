//===- JobSaver.cpp - Saves the jobs of a link ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobSaver.h"
#include "Bundle/Bundle.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/FileTask.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

/// Runs \p Task, which uses \p Folder. Returns the error, or "".
static std::string useFolder(StringRef Folder, std::function<Error()> Task,
                             uint64_t Bytes = 0) {
  auto Why = std::make_shared<std::string>();
  if (runFileTask(
          Folder,
          [Why, Task = std::move(Task)] {
            if (Error E = Task())
              *Why = toString(std::move(E));
          },
          Bytes) != FileAccess::Done)
    return NoAnswer;
  return *Why;
}

Error dtlto::checkJobFolder(StringRef Folder) {
  std::string Why = useFolder(Folder, [Folder = Folder.str()]() -> Error {
    if (std::error_code EC = sys::fs::create_directories(Folder))
      return errorCodeToError(EC);
    SmallString<256> Path(Folder);
    sys::path::append(Path, "job.tar");
    return checkReplaceable(Path);
  });
  if (Why.empty())
    return Error::success();
  return failure("jobs cannot be saved in '" + Folder + "': " + Why);
}

JobSaver::JobSaver(const LinkContext &Ctx, StringRef Folder, SlimImports *Slim)
    : Builder(Ctx, DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG,
              Slim, Ctx.PriorData ? Ctx.Optimized : nullptr),
      Folder(Folder) {}

std::string JobSaver::reason() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Reason;
}

Error JobSaver::save(const Task &T) {
  Expected<std::unique_ptr<BuiltJob>> Built = Builder.build(T, 1, 0);
  if (!Built) {
    ++NumSkipped;
    std::lock_guard<std::mutex> Lock(Mutex);
    Reason = toString(Built.takeError());
    return Error::success();
  }
  SmallString<256> Path(Folder);
  sys::path::append(Path, (*Built)->Inputs.front().path);
  Path += T.Spec.suffix() + ".tar";
  Expected<SmallVector<char, 0>> Bytes = writeBundle((*Built)->Job);
  std::string Why;
  if (Bytes) {
    const uint64_t Size = Bytes->size();
    Why = useFolder(
        Folder,
        [Path = Path.str().str(),
         Bytes = std::make_shared<SmallVector<char, 0>>(
             std::move(*Bytes))]() -> Error {
          if (std::error_code EC =
                  sys::fs::create_directories(sys::path::parent_path(Path)))
            return errorCodeToError(EC);
          return replaceFile(Path, [&](raw_ostream &OS) {
            OS.write(Bytes->data(), Bytes->size());
          });
        },
        Size);
  } else {
    Why = toString(Bytes.takeError());
  }
  if (!Why.empty()) {
    // Report only the first error: it fails the link.
    if (HasFailed.exchange(true))
      return Error::success();
    return failure("cannot save the job of '" + T.title() + "' as '" + Path +
                   "': " + Why);
  }
  ++NumSaved;
  return Error::success();
}
