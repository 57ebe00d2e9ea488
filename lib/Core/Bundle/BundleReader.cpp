//===- BundleReader.cpp - From one stream to what is compiled -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libarchive reads much that calls itself tar. What is a bundle is narrower:
// between the data of two files, there is nothing but zeros and one header,
// which is of ustar, or has a pax header that says no more than a path or size.
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <archive.h>
#include <archive_entry.h>
#include <memory>

using namespace llvm;
using namespace dtlto;

const Bundle::Input &Bundle::index() const {
  return *find_if(Inputs,
                  [](const Input &In) { return In.Role == DTLTO_ROLE_INDEX; });
}

static constexpr uint64_t BlockSize = 512;

static Error fail(const Twine &What) {
  return createStringError(inconvertibleErrorCode(), What);
}

/// A name out of an archive, for a message.
static std::string quote(StringRef Name) {
  return "'" + displayName(Name.take_front(300)) + "'";
}

static bool isZero(StringRef Bytes) {
  return Bytes.find_first_not_of('\0') == StringRef::npos;
}

namespace {

class TarReader {
public:
  explicit TarReader(StringRef Bytes) : Bytes(Bytes) {}

  Error open();
  /// Goes to the next file; false: there is none, and the archive ends as it
  /// should.
  Expected<bool> next();
  StringRef path() const { return Path; }
  uint64_t size() const { return Size; }
  Error read(SmallVectorImpl<char> &Data);

private:
  Error checkEntry(archive_entry *Entry);
  Error checkHeader(StringRef Header);
  Error checkPadding(uint64_t End);
  Error broken(int Status);

  struct Free {
    void operator()(archive *A) { archive_read_free(A); }
  };
  StringRef Bytes;
  std::unique_ptr<archive, Free> A;
  std::string Path; // of the file before which the reader stands
  uint64_t Size = 0;
  uint64_t Begin = 0; // of its data
};

Error TarReader::broken(int Status) {
  const char *Why = A ? archive_error_string(A.get()) : "out of memory";
  return fail("the bundle is damaged or not a bundle: " +
              (Why ? displayName(Why) : "status " + std::to_string(Status)));
}

Error TarReader::open() {
  A.reset(archive_read_new());
  if (!A)
    return broken(ARCHIVE_FATAL);
  if (int Status = archive_read_support_format_tar(A.get()))
    return broken(Status);
  if (int Status =
          archive_read_open_memory(A.get(), Bytes.data(), Bytes.size()))
    return broken(Status);
  return Error::success();
}

/// The data of the last file ends with zeros, up to a whole block at \p End.
Error TarReader::checkPadding(uint64_t End) {
  uint64_t Data = Begin + Size;
  if (End != alignTo(Data, BlockSize) || End > Bytes.size() ||
      !isZero(Bytes.slice(Data, End)))
    return fail("the bundle is damaged: more than zeros follow " + quote(Path));
  return Error::success();
}

/// The one record of a pax header.
static std::string paxRecord(StringRef Key, StringRef Value) {
  std::string Rest = (" " + Key + "=" + Value + "\n").str();
  // The length counts its own digits.
  size_t Length = Rest.size() + 1;
  while (std::to_string(Length).size() + Rest.size() != Length)
    ++Length;
  return std::to_string(Length) + Rest;
}

/// \p Header is all that is before the data of the file.
Error TarReader::checkHeader(StringRef Header) {
  auto Other = [&] {
    return fail("the header of " + quote(Path) +
                " in the bundle says more than a name and a size");
  };
  StringRef Last = Header.take_back(BlockSize);
  if (Header.size() < BlockSize || Last[156] != '0' ||
      Last.substr(257, 8) != StringRef("ustar\00000", 8))
    return Other();
  StringRef Pax = Header.drop_back(BlockSize);
  bool Right = Pax.empty();
  if (!Right && Pax.size() > BlockSize && Pax[156] == 'x') {
    std::string Records;
    if (Path.size() > 100)
      Records += paxRecord("path", Path);
    if (Size >> 33)
      Records += paxRecord("size", std::to_string(Size));
    StringRef Body = Pax.drop_front(BlockSize);
    Right = !Records.empty() && Body.consume_front(Records) && isZero(Body) &&
            Body.size() < BlockSize;
  }
  if (!Right)
    return Other();
  return Error::success();
}

Error TarReader::checkEntry(archive_entry *Entry) {
  if (archive_entry_hardlink(Entry) || archive_entry_symlink(Entry) ||
      archive_entry_filetype(Entry) != AE_IFREG)
    return fail(quote(Path) + " in the bundle is not a regular file");
  if (archive_entry_sparse_count(Entry) != 0)
    return fail(quote(Path) + " in the bundle is a sparse file");
  if (archive_entry_xattr_count(Entry) != 0 || archive_entry_acl_types(Entry))
    return fail(quote(Path) + " in the bundle has attributes");
  const char *User = archive_entry_uname(Entry);
  const char *Group = archive_entry_gname(Entry);
  if (archive_entry_perm(Entry) != 0644 || archive_entry_uid(Entry) != 0 ||
      archive_entry_gid(Entry) != 0 || (User && *User) || (Group && *Group) ||
      archive_entry_mtime(Entry) != 0 || archive_entry_mtime_nsec(Entry) != 0)
    return fail(quote(Path) +
                " in the bundle has another mode, owner or time than all "
                "entries of a bundle");
  return Error::success();
}

Expected<bool> TarReader::next() {
  archive_entry *Entry = nullptr;
  bool First = Begin == 0;
  int Status = archive_read_next_header(A.get(), &Entry);
  if (Status != ARCHIVE_OK && Status != ARCHIVE_EOF)
    return broken(Status);
  uint64_t Position = archive_read_header_position(A.get());
  if (!First)
    if (Error E = checkPadding(Position))
      return std::move(E);
  if (Status == ARCHIVE_EOF) {
    StringRef Rest =
        Bytes.drop_front(std::min<uint64_t>(Position, Bytes.size()));
    // libarchive is content with less, and doesn't look at more.
    if (Rest.size() < 2 * BlockSize)
      return fail("the bundle is cut: its end is missing");
    if (Rest.size() > 2 * BlockSize || !isZero(Rest))
      return fail("the bundle goes on after its end");
    return false;
  }

  const char *Name = archive_entry_pathname(Entry);
  if (!Name)
    return fail("a name in the bundle has a character outside of ASCII");
  Path = Name;
  int64_t TheSize = archive_entry_size(Entry);
  Begin = archive_filter_bytes(A.get(), 0);
  if (Error E = checkEntry(Entry))
    return std::move(E);
  if (TheSize < 0 || Begin > Bytes.size() ||
      uint64_t(TheSize) > Bytes.size() - Begin)
    return fail("the bundle is cut, or " + quote(Path) +
                " says that it is longer than it is");
  Size = TheSize;
  if (Position > Begin)
    return broken(Status);
  if (Error E = checkHeader(Bytes.slice(Position, Begin)))
    return std::move(E);
  return true;
}

Error TarReader::read(SmallVectorImpl<char> &Data) {
  Data.reserve(Size); // not more than there are bytes: see next()
  while (true) {
    const void *Part = nullptr;
    size_t PartSize = 0;
    la_int64_t Offset = 0;
    int Status = archive_read_data_block(A.get(), &Part, &PartSize, &Offset);
    if (Status == ARCHIVE_EOF)
      break;
    if (Status != ARCHIVE_OK)
      return broken(Status);
    if (PartSize == 0)
      continue;
    if (uint64_t(Offset) != Data.size() || PartSize > Size - Data.size())
      return fail(quote(Path) + " in the bundle is a sparse file");
    auto *P = static_cast<const char *>(Part);
    Data.append(P, P + PartSize);
  }
  if (Data.size() != Size)
    return fail("the bundle is cut in " + quote(Path));
  return Error::success();
}

} // namespace

/// Why \p Path, which is not the name of input \p I, is there.
static Error misplaced(const Manifest &M, size_t I, StringRef Path) {
  for (size_t K = 0; K != M.Inputs.size(); ++K)
    if (M.Inputs[K].Path == Path)
      return fail(quote(Path) + (K < I ? " is in the bundle twice"
                                       : " is out of order in the bundle"));
  if (Path == ManifestPath)
    return fail(quote(Path) + " is in the bundle twice");
  return fail(quote(Path) + " in the bundle is not in its manifest");
}

static Error readInputs(TarReader &Tar, const Manifest &M, Bundle &B) {
  for (size_t I = 0;; ++I) {
    Expected<bool> More = Tar.next();
    if (!More)
      return More.takeError();
    if (!*More) {
      if (I != M.Inputs.size())
        return fail(quote(M.Inputs[I].Path) + " is missing in the bundle");
      return Error::success();
    }
    if (I == M.Inputs.size() || Tar.path() != M.Inputs[I].Path)
      return misplaced(M, I, Tar.path());
    const Manifest::Input &Said = M.Inputs[I];
    if (Tar.size() != Said.Size)
      return fail(quote(Said.Path) + " has " + Twine(Tar.size()) +
                  " bytes in the bundle, and " + Twine(Said.Size) +
                  " in its manifest");
    Bundle::Input In;
    In.Path = Said.Path;
    In.Role = Said.Role;
    if (Error E = Tar.read(In.Bytes))
      return E;
    if (bundleDigest(StringRef(In.Bytes.data(), In.Bytes.size())) !=
        Said.Digest)
      return fail(quote(Said.Path) +
                  " has another BLAKE3 digest than the bundle's manifest says");
    B.Inputs.push_back(std::move(In));
  }
}

Expected<Bundle> dtlto::readBundle(StringRef Bytes, StringRef LLVMVersion) {
  TarReader Tar(Bytes);
  if (Error E = Tar.open())
    return std::move(E);
  Expected<bool> More = Tar.next();
  if (!More)
    return More.takeError();
  if (!*More || Tar.path() != ManifestPath)
    return fail("the bundle does not begin with " + Twine(ManifestPath));
  if (Tar.size() > MaxManifestSize)
    return fail(Twine(ManifestPath) + " of the bundle: it is longer than " +
                Twine(MaxManifestSize >> 20) + " MiB");
  SmallVector<char, 0> Text;
  if (Error E = Tar.read(Text))
    return std::move(E);
  Expected<Manifest> M =
      readManifest(StringRef(Text.data(), Text.size()), LLVMVersion);
  if (!M)
    return M.takeError();

  Bundle B;
  if (Error E = readInputs(Tar, *M, B))
    return std::move(E);
  B.LLVMVersion = std::move(M->LLVMVersion);
  B.Triple = std::move(M->Triple);
  B.Name = std::move(M->Name);
  B.Args = std::move(M->Args);
  B.Output = std::move(M->Output);
  B.Config = std::move(M->Config);
  return B;
}
