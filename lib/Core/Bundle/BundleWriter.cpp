//===- BundleWriter.cpp - From a job to one stream ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include <archive.h>
#include <archive_entry.h>
#include <cstring>
#include <memory>

using namespace llvm;
using namespace dtlto;

static StringRef bytesOf(const dtlto_input &In) {
  return {static_cast<const char *>(In.bytes.data),
          static_cast<size_t>(In.bytes.size)};
}

static Expected<Manifest> manifestOf(const dtlto_job &Job) {
  Manifest M;
  M.LLVMVersion = LLVM_VERSION_STRING;
  M.Triple = Job.triple;
  M.Name = displayName(Job.name);
  M.Output = Job.parts & DTLTO_PART_ARGS ? Job.output : "out.o";
  if (Job.parts & DTLTO_PART_ARGS)
    M.Args.assign(Job.args, Job.args + Job.num_args);
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs)) {
    std::string Digest =
        Job.parts & DTLTO_PART_DIGESTS
            ? toHex(ArrayRef<uint8_t>(In->digest), /*LowerCase=*/true)
            : bundleDigest(bytesOf(*In));
    M.Inputs.push_back({In->path, In->role, In->bytes.size, Digest});
  }
  if (!(Job.parts & DTLTO_PART_CONFIG) || !Job.config)
    return createStringError(inconvertibleErrorCode(),
                             "a job without a configuration has no bundle");
  M.Config = Job.config;
  if (Error E = checkConfigText(M.Config))
    return createStringError(inconvertibleErrorCode(),
                             "the configuration of the bundle: " +
                                 toString(std::move(E)));
  if (Error E = checkManifest(M))
    return std::move(E);
  return M;
}

namespace {

class TarWriter {
public:
  explicit TarWriter(SmallVectorImpl<char> &Out) : Out(Out) {}

  Error open();
  Error add(StringRef Path, StringRef Bytes);
  Error close();

private:
  static la_ssize_t append(archive *, void *Self, const void *Data,
                           size_t Size) {
    auto *Begin = static_cast<const char *>(Data);
    static_cast<TarWriter *>(Self)->Out.append(Begin, Begin + Size);
    return Size;
  }
  Error check(int Status) {
    if (Status == ARCHIVE_OK)
      return Error::success();
    const char *Why = A ? archive_error_string(A.get()) : nullptr;
    return createStringError(
        inconvertibleErrorCode(),
        Twine("libarchive can't make the bundle: ") +
            (Why ? displayName(Why) : std::string("out of memory")));
  }

  struct Free {
    void operator()(archive *A) { archive_write_free(A); }
    void operator()(archive_entry *E) { archive_entry_free(E); }
  };
  SmallVectorImpl<char> &Out;
  std::unique_ptr<archive, Free> A;
};

Error TarWriter::open() {
  A.reset(archive_write_new());
  if (!A)
    return check(ARCHIVE_FATAL);
  // ustar, and pax headers for what ustar has no room for.
  if (Error E = check(archive_write_set_format_pax_restricted(A.get())))
    return E;
  // No blocks, and so no zeros after the two that end an archive.
  if (Error E = check(archive_write_set_bytes_per_block(A.get(), 0)))
    return E;
  return check(
      archive_write_open(A.get(), this, nullptr, &TarWriter::append, nullptr));
}

Error TarWriter::add(StringRef Path, StringRef Bytes) {
  std::unique_ptr<archive_entry, Free> Entry(archive_entry_new2(A.get()));
  if (!Entry)
    return check(ARCHIVE_FATAL);
  archive_entry_set_pathname(Entry.get(), Path.str().c_str());
  archive_entry_set_size(Entry.get(), Bytes.size());
  archive_entry_set_filetype(Entry.get(), AE_IFREG);
  archive_entry_set_perm(Entry.get(), 0644);
  archive_entry_set_mtime(Entry.get(), 0, 0);
  archive_entry_set_uid(Entry.get(), 0);
  archive_entry_set_gid(Entry.get(), 0);
  if (Error E = check(archive_write_header(A.get(), Entry.get())))
    return E;
  if (archive_write_data(A.get(), Bytes.data(), Bytes.size()) !=
      static_cast<la_ssize_t>(Bytes.size()))
    return check(ARCHIVE_FATAL);
  return check(archive_write_finish_entry(A.get()));
}

Error TarWriter::close() { return check(archive_write_close(A.get())); }

} // namespace

Expected<SmallVector<char, 0>> dtlto::writeBundle(const dtlto_job &Job) {
  Expected<Manifest> M = manifestOf(Job);
  if (!M)
    return M.takeError();
  std::string Text = writeManifest(*M);
  if (Text.size() > MaxManifestSize)
    return createStringError(inconvertibleErrorCode(),
                             "the manifest of the bundle is too long");

  SmallVector<char, 0> Out;
  uint64_t Size = Text.size() + 4096;
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs))
    Size += In->bytes.size + 2048;
  Out.reserve(Size);

  TarWriter Tar(Out);
  if (Error E = Tar.open())
    return std::move(E);
  if (Error E = Tar.add(ManifestPath, Text))
    return std::move(E);
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs))
    if (Error E = Tar.add(In->path, bytesOf(*In)))
      return std::move(E);
  if (Error E = Tar.close())
    return std::move(E);
  return Out;
}
