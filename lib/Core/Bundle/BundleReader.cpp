//===- BundleReader.cpp - From one stream to what is compiled -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Bundle/BundleTar.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace dtlto;

const Bundle::Input &Bundle::index() const {
  return *find_if(Inputs,
                  [](const Input &In) { return In.Role == DTLTO_ROLE_INDEX; });
}

/// A name out of an archive, for a message.
static std::string quote(StringRef Name) {
  return "'" + printable(Name.take_front(300)) + "'";
}

static bool isZero(StringRef Bytes) {
  return Bytes.find_first_not_of('\0') == StringRef::npos;
}

/// Why \p Path, which is not the name of input \p I, is there.
static Error misplaced(const Manifest &M, size_t I, StringRef Path) {
  for (size_t K = 0; K != M.Inputs.size(); ++K)
    if (M.Inputs[K].Path == Path)
      return failure(quote(Path) + (K < I ? " is in the bundle twice"
                                          : " is out of order in the bundle"));
  if (Path == ManifestPath)
    return failure(quote(Path) + " is in the bundle twice");
  return failure(quote(Path) + " in the bundle is not in its manifest");
}

/// The name in \p Block, if that is the header of a file.
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

/// The size in \p Header, if it has one.
static std::optional<uint64_t> fileSize(StringRef Header) {
  uint64_t Size;
  if (Header.substr(TarSizeAt, TarSizeDigits).getAsInteger(8, Size))
    return std::nullopt;
  return Size;
}

static Error tooLong(StringRef Path) {
  return failure("the bundle is cut, or " + quote(Path) +
                 " says that it is longer than it is");
}

/// Takes the \p Size bytes of the file \p Path off \p Rest. It is the \p I-th
/// of \p M, or without M the manifest.
static Expected<StringRef> take(StringRef &Rest, StringRef Path, uint64_t Size,
                                const Manifest *M = nullptr, size_t I = 0) {
  StringRef Block = Rest.take_front(TarBlockSize);
  if (!Rest.consume_front(tarHeader(Path, Size))) {
    if (isZero(Block))
      return failure(quote(Path) + " is missing in the bundle");
    if (Block.size() < TarBlockSize)
      return failure("the bundle is cut: its end is missing");
    if (std::optional<std::string> Name = fileName(Block)) {
      if (M && *Name != Path)
        return misplaced(*M, I, *Name);
      std::optional<uint64_t> Is = fileSize(Block);
      if (Is && *Is > Rest.size())
        return tooLong(Path);
      if (Is && *Is != Size)
        return failure(quote(Path) + " has " + Twine(*Is) +
                       " bytes in the bundle, and " + Twine(Size) +
                       " in its manifest");
    }
    return failure("the header of " + quote(Path) +
                   " in the bundle says more than a name and a size");
  }
  if (Size > Rest.size())
    return tooLong(Path);
  StringRef Bytes = Rest.take_front(Size);
  StringRef Padding =
      Rest.substr(Size, offsetToAlignment(Size, Align(TarBlockSize)));
  if (!isZero(Padding))
    return failure("the bundle is damaged: more than zeros follow " +
                   quote(Path));
  Rest = Rest.drop_front(Size + Padding.size());
  return Bytes;
}

static Error readInputs(StringRef Rest, const Manifest &M, Bundle &B) {
  for (size_t I = 0; I != M.Inputs.size(); ++I) {
    const Manifest::Input &Said = M.Inputs[I];
    Expected<StringRef> Bytes = take(Rest, Said.Path, Said.Size, &M, I);
    if (!Bytes)
      return Bytes.takeError();
    if (bundleDigest(*Bytes) != Said.Digest)
      return failure(
          quote(Said.Path) +
          " has another BLAKE3 digest than the bundle's manifest says");
    B.Inputs.push_back({Said.Path, Said.Role, {Bytes->begin(), Bytes->end()}});
  }
  if (Rest.size() < TarEndSize)
    return failure("the bundle is cut: its end is missing");
  if (std::optional<std::string> Name = fileName(Rest))
    return misplaced(M, M.Inputs.size(), *Name);
  if (Rest.size() > TarEndSize || !isZero(Rest))
    return failure("the bundle goes on after its end");
  return Error::success();
}

void dtlto::takeManifest(Manifest M, StringRef Text, Bundle &B) {
  B.Id = bundleId(Text);
  B.LLVMVersion = std::move(M.LLVMVersion);
  B.Triple = std::move(M.Triple);
  B.Name = std::move(M.Name);
  B.Args = std::move(M.Args);
  B.Output = std::move(M.Output);
  B.Config = std::move(M.Config);
}

Expected<Bundle> dtlto::readBundle(StringRef Bytes, StringRef LLVMVersion) {
  std::optional<uint64_t> Size = fileSize(Bytes);
  if (!Bytes.starts_with(ManifestPath) || !Size)
    return failure(
        "the bundle is damaged or not a bundle: it does not begin with " +
        Twine(ManifestPath));
  Expected<StringRef> Text = take(Bytes, ManifestPath, *Size);
  if (!Text)
    return Text.takeError();
  if (*Size > MaxManifestSize)
    return failure(Twine(ManifestPath) + " of the bundle: it is longer than " +
                   Twine(MaxManifestSize >> 20) + " MiB");
  Expected<Manifest> M = readManifest(*Text, LLVMVersion);
  if (!M)
    return M.takeError();

  Bundle B;
  if (Error E = readInputs(Bytes, *M, B))
    return std::move(E);
  takeManifest(std::move(*M), *Text, B);
  return B;
}
