//===- BundleFolder.cpp - A job whose parts are files ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef Folder,
                                                        StringRef Name) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Name);
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return failure("can't read '" + printable(Name) +
                   "' of the job: " + File.getError().message());
  return std::move(*File);
}

Expected<Bundle> dtlto::readBundleFolder(StringRef Folder,
                                         StringRef LLVMVersion) {
  auto Text = readFile(Folder, ManifestPath);
  if (!Text)
    return Text.takeError();
  if ((*Text)->getBufferSize() > MaxManifestSize)
    return failure(Twine(ManifestPath) + " of the job: it is longer than " +
                   Twine(MaxManifestSize >> 20) + " MiB");
  Expected<Manifest> M = readManifest((*Text)->getBuffer(), LLVMVersion);
  if (!M)
    return M.takeError();
  Bundle B;
  for (const Manifest::Input &Said : M->Inputs) {
    auto File = readFile(Folder, Said.Path);
    if (!File)
      return File.takeError();
    StringRef Bytes = (*File)->getBuffer();
    if (Bytes.size() != Said.Size)
      return failure("'" + printable(Said.Path) + "' of the job has " +
                     Twine(Bytes.size()) + " bytes, and " + Twine(Said.Size) +
                     " in its manifest");
    if (bundleDigest(Bytes) != Said.Digest)
      return failure("'" + printable(Said.Path) +
                     "' has another BLAKE3 digest than the job's manifest "
                     "says");
    B.Inputs.push_back({Said.Path, Said.Role, {Bytes.begin(), Bytes.end()}});
  }
  takeManifest(std::move(*M), (*Text)->getBuffer(), B);
  return B;
}
