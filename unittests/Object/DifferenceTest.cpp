//===- DifferenceTest.cpp - The differences of two files ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectDiff.h"
#include "TempFolder.h"
#include "llvm/Object/ELFTypes.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

/// Returns an ELF object with \p Text as .text and \p Data as .data.
static std::string makeObject(StringRef Text, StringRef Data) {
  const std::string Names("\0.text\0.data\0.strtab\0", 21);
  std::string Body = Text.str() + Data.str() + Names;
  ELF::Elf64_Ehdr H = {};
  memcpy(H.e_ident, ELF::ElfMagic, 4);
  H.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
  H.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  H.e_ident[ELF::EI_VERSION] = 1;
  H.e_type = ELF::ET_REL;
  H.e_machine = ELF::EM_X86_64;
  H.e_version = 1;
  H.e_ehsize = sizeof(H);
  H.e_shentsize = sizeof(ELF::Elf64_Shdr);
  H.e_shnum = 4;
  H.e_shstrndx = 3;
  Body.resize((Body.size() + 7) / 8 * 8);
  H.e_shoff = sizeof(H) + Body.size();
  ELF::Elf64_Shdr S[4] = {};
  uint64_t At = sizeof(H);
  auto Fill = [&](ELF::Elf64_Shdr &Section, unsigned Name, unsigned Type,
                  size_t Size) {
    Section.sh_name = Name;
    Section.sh_type = Type;
    Section.sh_offset = At;
    Section.sh_size = Size;
    At += Size;
  };
  Fill(S[1], 1, ELF::SHT_PROGBITS, Text.size());
  Fill(S[2], 7, ELF::SHT_PROGBITS, Data.size());
  Fill(S[3], 13, ELF::SHT_STRTAB, Names.size());
  return std::string(reinterpret_cast<char *>(&H), sizeof(H)) + Body +
         std::string(reinterpret_cast<char *>(S), sizeof(S));
}

TEST(DifferenceTest, AnyFiles) {
  EXPECT_EQ(describeDifference("abcd", "abXd"), "first in byte 2; 4 bytes");
  EXPECT_EQ(describeDifference("ab", "abc"), "first in byte 2; 2 bytes, not 3");
  EXPECT_EQ(describeDifference("", "a"), "first in byte 0; 0 bytes, not 1");
}

TEST(DifferenceTest, Sections) {
  std::string LocalObject = makeObject("12345678", "data");
  EXPECT_EQ(describeDifference(makeObject("12345X78", "data"), LocalObject),
            "first in byte 69 (section .text, byte 5), in .text; " +
                std::to_string(LocalObject.size()) + " bytes");
  EXPECT_EQ(describeDifference(makeObject("12345678", "dXXa"), LocalObject),
            "first in byte 73 (section .data, byte 1), in .data; " +
                std::to_string(LocalObject.size()) + " bytes");
}

TEST(DifferenceTest, SectionsAlthoughTheHeaderDiffersFirst) {
  std::string Text =
      describeDifference(makeObject("12345678", "a longer text that moves all"),
                         makeObject("12345678", "data"));
  EXPECT_NE(Text.find("(in no section), in .data; "), std::string::npos)
      << Text;
}

TEST(DifferenceTest, HalfObjects) {
  std::string LocalObject = makeObject("12345678", "data");
  for (size_t Size = 0; Size != LocalObject.size(); ++Size) {
    std::string Text =
        describeDifference(LocalObject.substr(0, Size), LocalObject);
    EXPECT_NE(Text.find("first in byte " + std::to_string(Size)),
              std::string::npos)
        << Text;
  }
}

// LLVM's reader would end the process, because the section's name is longer
// than the file.
TEST(DifferenceTest, DamagedWebAssembly) {
  const char Damaged[] = "\0asm\1\0\0\0\0\5\xff\x61"
                         "bcd";
  EXPECT_EQ(describeDifference(StringRef(Damaged, sizeof(Damaged) - 1), ""),
            "first in byte 0; 15 bytes, not 0");
}

TEST(DifferenceTest, SaveBoth) {
  test::TempFolder Folder;
  EXPECT_EQ(toString(saveResults(Folder.path("new/deep/a.b"), ".o", "t", "h")),
            "");
  EXPECT_EQ(Folder.read("new/deep/a.b.remote.o"), "t");
  EXPECT_EQ(Folder.read("new/deep/a.b.local.o"), "h");
}

TEST(DifferenceTest, CannotBeSaved) {
  test::TempFolder Folder;
  Folder.write("file", "");
  std::string Path = Folder.path("file/a");
  EXPECT_NE(toString(saveResults(Path, ".o", "t", "h")).find(Path),
            std::string::npos);
}
