//===- JobSaver.cpp - Saves the jobs of a link ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/JobSaver.h"
#include "Bundle/Bundle.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

JobSaver::JobSaver(const LinkContext &L, StringRef Folder, SlimImports *Slim)
    : L(L),
      Builder(L, DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS | DTLTO_PART_CONFIG,
              Slim),
      Folder(Folder) {}

std::string JobSaver::reason() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Reason;
}

Error JobSaver::save(const Task &T) {
  Expected<std::unique_ptr<BuiltJob>> Built = Builder.build(T, 1, 0);
  if (!Built) {
    ++NumLeftOut;
    std::lock_guard<std::mutex> Lock(Mutex);
    Reason = toString(Built.takeError());
    return Error::success();
  }
  SmallString<256> Path(Folder);
  sys::path::append(Path, (*Built)->Inputs.front().path);
  Path += partSuffix(T.Part) + L.roundSuffix() + ".tar";
  auto Fail = [&](const Twine &Why) {
    return failure("can't save the job of '" + T.title() + "' as '" + Path +
                   "': " + Why);
  };
  if (std::error_code EC =
          sys::fs::create_directories(sys::path::parent_path(Path)))
    return Fail(EC.message());
  Expected<SmallVector<char, 0>> Bytes = writeBundle((*Built)->Job);
  if (!Bytes)
    return Fail(toString(Bytes.takeError()));
  if (Error E = replaceFile(Path, [&](raw_ostream &OS) {
        OS.write(Bytes->data(), Bytes->size());
      }))
    return Fail(toString(std::move(E)));
  ++NumSaved;
  return Error::success();
}
