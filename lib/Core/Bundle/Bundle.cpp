//===- Bundle.cpp - One job as one stream ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <optional>

using namespace llvm;
using namespace dtlto;

//===----------------------------------------------------------------------===//
// Tar headers. A file's name and size determine all bytes of its header. The
// reader builds the expected header and compares, so it accepts exactly what
// the writer writes.
//===----------------------------------------------------------------------===//

/// The alignment of headers and files.
static constexpr uint64_t TarBlockSize = 512;
/// The zeros that end an archive.
static constexpr uint64_t TarEndSize = 2 * TarBlockSize;

// Fields of a header.
static constexpr size_t TarNameSize = 100, TarSizeAt = 124, TarSizeDigits = 11,
                        TarTypeAt = 156, TarMagicAt = 257, TarPrefixAt = 345,
                        TarPrefixSize = 155;
static constexpr StringRef TarMagic("ustar\00000", 8);

static std::string octal(uint64_t N, size_t Digits) {
  std::string Text(Digits, '0');
  for (size_t I = Digits; I != 0; N /= 8)
    Text[--I] = static_cast<char>('0' + N % 8);
  return Text;
}

static std::string tarBlock(StringRef Prefix, StringRef Name, uint64_t Size,
                            char Type) {
  std::string Block(TarBlockSize, '\0');
  auto Put = [&](size_t At, StringRef Text) {
    llvm::copy(Text, Block.begin() + At);
  };
  Put(0, Name);
  Put(100, "000644 "); // mode
  Put(108, "000000 "); // uid
  Put(116, "000000 "); // gid
  Put(TarSizeAt, octal(Size, TarSizeDigits) + " ");
  Put(136, "00000000000 "); // mtime
  Put(148, "        ");     // blanks while the checksum is computed
  Put(TarTypeAt, StringRef(&Type, 1));
  Put(TarMagicAt, TarMagic);
  Put(329, "000000 "); // devmajor
  Put(337, "000000 "); // devminor
  Put(TarPrefixAt, Prefix);
  unsigned Sum = 0;
  for (unsigned char C : Block)
    Sum += C;
  Put(148, octal(Sum, 6));
  Block[154] = '\0';
  return Block;
}

/// Returns a record of a pax header. The length includes its own digits.
static std::string paxRecord(StringRef Key, StringRef Value) {
  const std::string Rest = (" " + Key + "=" + Value + "\n").str();
  size_t Length = Rest.size() + 1;
  while (utostr(Length).size() + Rest.size() != Length)
    ++Length;
  return utostr(Length) + Rest;
}

/// Returns the header for \p Size bytes of the file \p Path: one ustar block,
/// with a pax header before it if the ustar fields are too small.
static std::string tarHeader(StringRef Path, uint64_t Size) {
  StringRef Prefix, Name = Path;
  bool Fits = Path.size() <= TarNameSize;
  if (!Fits) {
    // The first '/' after which the name is short enough; the prefix isn't
    // empty.
    size_t Slash =
        Path.find('/', std::max<size_t>(Path.size() - TarNameSize - 1, 1));
    Fits = Slash <= TarPrefixSize && Slash + 1 < Path.size();
    if (Fits) {
      Prefix = Path.take_front(Slash);
      Name = Path.drop_front(Slash + 1);
    }
  }
  std::string Records;
  if (!Fits) {
    Records += paxRecord("path", Path);
    Name = Path.take_front(TarNameSize);
  }
  if (Size >> (3 * TarSizeDigits)) {
    Records += paxRecord("size", utostr(Size));
    Size = 0;
  }
  std::string Header;
  if (!Records.empty()) {
    Header = tarBlock("", "PaxHeader", Records.size(), 'x') + Records;
    Header.resize(alignTo(Header.size(), TarBlockSize));
  }
  return Header + tarBlock(Prefix, Name, Size, '0');
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Expected<Bundle> manifestOf(const dtlto_job &Job) {
  Bundle M;
  M.LLVMVersion = LLVM_VERSION_STRING;
  M.Triple = Job.triple;
  M.Name = printable(Job.name);
  M.Output = Job.fields & DTLTO_JOB_ARGS ? Job.output : "out.o";
  if (Job.fields & DTLTO_JOB_ARGS)
    M.Args.assign(Job.args, Job.args + Job.num_args);
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs)) {
    StringRef Bytes(static_cast<const char *>(In->bytes.data),
                    static_cast<size_t>(In->bytes.size));
    std::string Digest =
        Job.fields & DTLTO_JOB_DIGESTS
            ? toHex(ArrayRef<uint8_t>(In->digest), /*LowerCase=*/true)
            : bundleDigest(Bytes);
    M.Inputs.push_back({In->path, In->role, In->bytes.size, Digest, {}});
  }
  if (!(Job.fields & DTLTO_JOB_CONFIG) || !Job.config)
    return failure("a job without a configuration has no bundle");
  M.Config = Job.config;
  if (Error E = checkConfigText(M.Config))
    return failure("the configuration of the bundle: " +
                   toString(std::move(E)));
  if (Error E = checkManifest(M))
    return std::move(E);
  return M;
}

Expected<BundleSpans> dtlto::makeBundleSpans(const dtlto_job &Job) {
  Expected<Bundle> M = manifestOf(Job);
  if (!M)
    return M.takeError();
  std::string Text = writeManifest(*M);
  if (Text.size() > MaxManifestSize)
    return failure("the manifest of the bundle is too long");

  BundleSpans Out;
  Out.Id = bundleId(Text);
  auto TarBytes = [&](StringRef Bytes) {
    if (Bytes.empty())
      return;
    if (Out.Spans.empty() || Out.Spans.back().input)
      Out.Spans.push_back({{nullptr, 0}, nullptr});
    Out.Spans.back().bytes.size += Bytes.size();
    Out.TarBytes.append(Bytes.begin(), Bytes.end());
  };
  auto Pad = [&](uint64_t Size) {
    TarBytes(std::string(alignTo(Size, TarBlockSize) - Size, '\0'));
  };
  TarBytes(tarHeader(ManifestPath, Text.size()));
  TarBytes(Text);
  Pad(Text.size());
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs)) {
    TarBytes(tarHeader(In->path, In->bytes.size));
    if (In->bytes.size)
      Out.Spans.push_back({In->bytes, In});
    Pad(In->bytes.size);
  }
  TarBytes(std::string(TarEndSize, '\0'));

  const char *Next = Out.TarBytes.data(); // the spans point into it
  for (dtlto_bundle_span &S : Out.Spans)
    if (!S.input) {
      S.bytes.data = Next;
      Next += S.bytes.size;
    }
  return Out;
}

SmallVector<char, 0> dtlto::joinBundle(const BundleSpans &Bundle) {
  SmallVector<char, 0> Out;
  uint64_t Size = 0;
  for (const dtlto_bundle_span &S : Bundle.Spans)
    Size += S.bytes.size;
  Out.reserve(Size);
  for (const dtlto_bundle_span &S : Bundle.Spans) {
    auto *Bytes = static_cast<const char *>(S.bytes.data);
    Out.append(Bytes, Bytes + S.bytes.size);
  }
  return Out;
}

Expected<SmallVector<char, 0>> dtlto::writeBundle(const dtlto_job &Job) {
  Expected<BundleSpans> Spans = makeBundleSpans(Job);
  if (!Spans)
    return Spans.takeError();
  return joinBundle(*Spans);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

const Bundle::Input &Bundle::index() const {
  return *find_if(Inputs,
                  [](const Input &In) { return In.Role == DTLTO_ROLE_INDEX; });
}

/// Quotes a name from an archive for a message.
static std::string quote(StringRef Name) {
  return "'" + printable(Name.take_front(300)) + "'";
}

static bool isZero(StringRef Bytes) {
  return Bytes.find_first_not_of('\0') == StringRef::npos;
}

/// Returns the reason why \p Path is wrong where input \p I is expected.
static Error misplacedError(const Bundle &M, size_t I, StringRef Path) {
  for (size_t K = 0; K != M.Inputs.size(); ++K)
    if (M.Inputs[K].Path == Path)
      return failure(quote(Path) + (K < I ? " is in the bundle twice"
                                          : " is out of order in the bundle"));
  if (Path == ManifestPath)
    return failure(quote(Path) + " is in the bundle twice");
  return failure(quote(Path) + " in the bundle is not in its manifest");
}

/// Returns the file name in \p Block if it is the header of a file.
static std::optional<std::string> fileName(StringRef Block) {
  if (Block.size() < TarBlockSize || Block[TarTypeAt] != '0' ||
      Block.substr(TarMagicAt, TarMagic.size()) != TarMagic)
    return std::nullopt;
  auto Text = [&](size_t At, size_t Size) {
    return Block.substr(At, Size).split('\0').first.str();
  };
  std::string Prefix = Text(TarPrefixAt, TarPrefixSize);
  return (Prefix.empty() ? "" : Prefix + "/") + Text(0, TarNameSize);
}

/// Returns the size in \p Header if it is valid.
static std::optional<uint64_t> fileSize(StringRef Header) {
  uint64_t Size;
  if (Header.substr(TarSizeAt, TarSizeDigits).getAsInteger(8, Size))
    return std::nullopt;
  return Size;
}

static Error tooLongError(StringRef Path) {
  return failure("the bundle is cut off, or the header of " + quote(Path) +
                 " has too large a size");
}

/// Returns the reason why \p Rest doesn't begin with the header that take()
/// expects.
static Error headerError(StringRef Rest, StringRef Path, uint64_t Size,
                         const Bundle *M, size_t I) {
  StringRef Block = Rest.take_front(TarBlockSize);
  if (isZero(Block))
    return failure(quote(Path) + " is missing in the bundle");
  if (Block.size() < TarBlockSize)
    return failure("the bundle is cut off: its end is missing");
  if (std::optional<std::string> Name = fileName(Block)) {
    if (M && *Name != Path)
      return misplacedError(*M, I, *Name);
    std::optional<uint64_t> ActualSize = fileSize(Block);
    if (ActualSize && *ActualSize > Rest.size())
      return tooLongError(Path);
    if (ActualSize && *ActualSize != Size)
      return failure(quote(Path) + " has " + Twine(*ActualSize) +
                     " bytes in the bundle, and " + Twine(Size) +
                     " in its manifest");
  }
  return failure("the header of " + quote(Path) +
                 " in the bundle has more than a name and a size");
}

/// Removes the header and the \p Size bytes of the file \p Path from the start
/// of \p Rest; returns the bytes. The file is input \p I of \p M, or the
/// manifest if \p M is null.
static Expected<StringRef> take(StringRef &Rest, StringRef Path, uint64_t Size,
                                const Bundle *M = nullptr, size_t I = 0) {
  if (!Rest.consume_front(tarHeader(Path, Size)))
    return headerError(Rest, Path, Size, M, I);
  if (Size > Rest.size())
    return tooLongError(Path);
  StringRef Bytes = Rest.take_front(Size);
  StringRef Padding =
      Rest.substr(Size, offsetToAlignment(Size, Align(TarBlockSize)));
  if (!isZero(Padding))
    return failure("the bundle is damaged: bytes other than zeros follow " +
                   quote(Path));
  Rest = Rest.drop_front(Size + Padding.size());
  return Bytes;
}

/// Sets the bytes of \p In. Returns false if their digest is wrong.
static bool setBytes(Bundle::Input &In, StringRef Bytes) {
  if (bundleDigest(Bytes) != In.Digest)
    return false;
  In.Bytes.assign(Bytes.begin(), Bytes.end());
  return true;
}

Expected<Bundle> dtlto::readBundle(StringRef Bytes, StringRef LLVMVersion) {
  std::optional<uint64_t> Size = fileSize(Bytes);
  if (!Bytes.starts_with(ManifestPath) || !Size)
    return failure(
        "the bundle is damaged or not a bundle: it does not begin with " +
        Twine(ManifestPath));
  StringRef Rest = Bytes;
  Expected<StringRef> Text = take(Rest, ManifestPath, *Size);
  if (!Text)
    return Text.takeError();
  if (*Size > MaxManifestSize)
    return failure(Twine(ManifestPath) + " of the bundle: it is longer than " +
                   Twine(MaxManifestSize >> 20) + " MiB");
  Expected<Bundle> B = readManifest(*Text, LLVMVersion);
  if (!B)
    return B;
  for (size_t I = 0; I != B->Inputs.size(); ++I) {
    Bundle::Input &In = B->Inputs[I];
    Expected<StringRef> Contents = take(Rest, In.Path, In.Size, &*B, I);
    if (!Contents)
      return Contents.takeError();
    if (!setBytes(In, *Contents))
      return failure("the BLAKE3 digest of " + quote(In.Path) +
                     " differs from the one in the bundle's manifest");
  }
  if (Rest.size() < TarEndSize)
    return failure("the bundle is cut off: its end is missing");
  if (std::optional<std::string> Name = fileName(Rest))
    return misplacedError(*B, B->Inputs.size(), *Name);
  if (Rest.size() > TarEndSize || !isZero(Rest))
    return failure("the bundle has data after its end");
  return B;
}

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef Folder,
                                                        StringRef Name) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Name);
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return failure("cannot read '" + printable(Name) +
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
  Expected<Bundle> B = readManifest((*Text)->getBuffer(), LLVMVersion);
  if (!B)
    return B;
  for (Bundle::Input &In : B->Inputs) {
    auto File = readFile(Folder, In.Path);
    if (!File)
      return File.takeError();
    const std::string Name = "'" + printable(In.Path) + "'";
    StringRef Bytes = (*File)->getBuffer();
    if (Bytes.size() != In.Size)
      return failure(Name + " of the job has " + Twine(Bytes.size()) +
                     " bytes, and " + Twine(In.Size) + " in its manifest");
    if (!setBytes(In, Bytes))
      return failure("the BLAKE3 digest of " + Name +
                     " differs from the one in the job's manifest");
  }
  return B;
}
