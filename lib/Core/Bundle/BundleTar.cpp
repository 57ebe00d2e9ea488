//===- BundleTar.cpp - The one form of a bundle's tar headers -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleTar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace dtlto;

static std::string octal(uint64_t N, size_t Digits) {
  std::string Text(Digits, '0');
  for (size_t I = Digits; I != 0; N /= 8)
    Text[--I] = static_cast<char>('0' + N % 8);
  return Text;
}

static std::string block(StringRef Prefix, StringRef Name, uint64_t Size,
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
  Put(148, "        ");     // the sum is of a block with blanks for it
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

/// A record of a pax header. Its length counts its own digits.
static std::string paxRecord(StringRef Key, StringRef Value) {
  const std::string Rest = (" " + Key + "=" + Value + "\n").str();
  size_t Length = Rest.size() + 1;
  while (utostr(Length).size() + Rest.size() != Length)
    ++Length;
  return utostr(Length) + Rest;
}

std::string dtlto::tarHeader(StringRef Path, uint64_t Size) {
  StringRef Prefix, Name = Path;
  bool Fits = Path.size() <= TarNameSize;
  if (!Fits) {
    // The first '/' that leaves a name short enough, and has a prefix.
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
    Header = block("", "PaxHeader", Records.size(), 'x') + Records;
    Header.resize(alignTo(Header.size(), TarBlockSize));
  }
  return Header + block(Prefix, Name, Size, '0');
}
