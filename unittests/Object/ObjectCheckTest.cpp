//===- ObjectCheckTest.cpp - Objects of many kinds, and what is none ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectCheck.h"
#include "Objects.h"
#include "llvm/BinaryFormat/COFF.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Object/MachO.h"
#include "llvm/Object/Wasm.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Target/TargetOptions.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

/// With code, data, a reference to another object, and debug information's
/// cousin: a named section.
constexpr StringLiteral IR = R"(
@counter = global i32 1
@zeros = global [16 x i32] zeroinitializer
@message = constant [6 x i8] c"hello\00"
declare i32 @other(ptr)
define i32 @f(i32 %x) {
  %r = call i32 @other(ptr @message)
  %c = load i32, ptr @counter
  %s = add i32 %r, %c
  %t = add i32 %s, %x
  ret i32 %t
}
define weak i32 @g() {
  %v = load i32, ptr @zeros
  ret i32 %v
}
)";

/// Targets, each of which differs from each other in what checkObject()
/// promises to look at: format, machine, width, byte order.
const char *const Triples[] = {
    // ELF
    "x86_64-pc-linux-gnu", "x86_64-pc-linux-gnux32", "i386-pc-linux-gnu",
    "aarch64-unknown-linux-gnu", "aarch64_be-unknown-linux-gnu",
    "armv7-unknown-linux-gnueabihf", "armebv7-unknown-linux-gnueabi",
    "riscv64-unknown-linux-gnu", "riscv32-unknown-elf",
    "powerpc64le-unknown-linux-gnu", "powerpc64-unknown-linux-gnu",
    "powerpc-unknown-linux-gnu", "mips64el-unknown-linux-gnuabi64",
    "mips64el-unknown-linux-gnuabin32", "mips-unknown-linux-gnu",
    "s390x-unknown-linux-gnu", "loongarch64-unknown-linux-gnu",
    "sparcv9-unknown-linux-gnu", "hexagon-unknown-linux-musl",
    // COFF
    "x86_64-pc-windows-msvc", "i686-pc-windows-msvc", "aarch64-pc-windows-msvc",
    "thumbv7-pc-windows-msvc",
    // Mach-O
    "x86_64-apple-macosx12.0.0", "arm64-apple-macosx12.0.0",
    "arm64_32-apple-watchos7.0.0", "i386-apple-macosx10.14.0",
    // WebAssembly
    "wasm32-unknown-unknown"};

const Bytes &objectFor(StringRef TheTriple) {
  static std::map<std::string, Bytes> Objects;
  auto [It, New] = Objects.try_emplace(TheTriple.str());
  if (New)
    It->second = compileObject(IR, TheTriple);
  return It->second;
}

/// What checkObject() says; empty if it accepts.
std::string check(StringRef Object, StringRef TheTriple) {
  // In memory of its own: a read past the end is seen by sanitizers.
  std::vector<char> Copy(Object.begin(), Object.end());
  return toString(
      checkObject(StringRef(Copy.data(), Copy.size()), Triple(TheTriple)));
}

std::string nameOf(const testing::TestParamInfo<const char *> &Info) {
  std::string Name = Info.param;
  for (char &C : Name)
    if (!isalnum(static_cast<unsigned char>(C)))
      C = '_';
  return Name;
}

class ObjectCheckTest : public testing::TestWithParam<const char *> {
protected:
  StringRef target() { return GetParam(); }
  StringRef object() { return ref(objectFor(target())); }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, ObjectCheckTest, testing::ValuesIn(Triples),
                         nameOf);

TEST_P(ObjectCheckTest, TheRightTarget) {
  EXPECT_EQ(check(object(), target()), "");
}

TEST_P(ObjectCheckTest, AtAnyAddress) {
  // A plugin may hand out a part of what it received.
  for (size_t Offset = 1; Offset != 8; ++Offset) {
    std::string Memory(Offset, 0);
    Memory += object();
    EXPECT_EQ(toString(checkObject(StringRef(Memory).drop_front(Offset),
                                   Triple(target()))),
              "")
        << Offset;
  }
}

TEST_P(ObjectCheckTest, OtherTargets) {
  for (const char *Other : Triples) {
    if (Other == target())
      continue;
    EXPECT_NE(check(object(), Other), "") << Other;
  }
}

TEST_P(ObjectCheckTest, MessagesNameBothSides) {
  std::string Elf = "x86_64-pc-linux-gnu", Wasm = "wasm32-unknown-unknown";
  std::string Other = target() == Elf ? Wasm : Elf;
  EXPECT_NE(check(object(), Other).find(Other), std::string::npos);
}

TEST_P(ObjectCheckTest, Truncated) {
  for (size_t Size = 0; Size < object().size(); Size += 16)
    EXPECT_NE(check(object().take_front(Size), target()), "") << Size;
  EXPECT_NE(check(object().drop_back(1), target()), "");
}

TEST_P(ObjectCheckTest, RandomChangesNeverCrash) {
  std::mt19937 Random(4711);
  for (unsigned I = 0; I != 400; ++I) {
    std::string Object = object().str();
    for (unsigned K = Random() % 4 + 1; K != 0; --K)
      Object[Random() % Object.size()] = char(Random());
    // Many changes don't matter; none may be worse than an error.
    (void)check(Object, target());
  }
  // Headers are where it matters.
  for (size_t Offset = 0; Offset != std::min<size_t>(96, object().size());
       ++Offset)
    for (unsigned char New : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string Object = object().str();
      Object[Offset] = char(New);
      (void)check(Object, target());
    }
}

TEST_P(ObjectCheckTest, BitcodeIsNoObject) {
  EXPECT_NE(check(ref(plainBitcode(IR)), target()).find("bitcode"),
            std::string::npos);
}

TEST_P(ObjectCheckTest, ArchivesAreNoObjects) {
  SmallVector<NewArchiveMember, 1> Members;
  Members.emplace_back(MemoryBufferRef(object(), "a.o"));
  auto Archive = must(writeArchiveToBuffer(
      Members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false));
  EXPECT_NE(check(Archive->getBuffer(), target()), "");
}

TEST_P(ObjectCheckTest, OtherThings) {
  EXPECT_EQ(check("", target()), "it is empty");
  EXPECT_NE(check("x", target()), "");
  EXPECT_NE(check("error: out of memory\n", target()), "");
  EXPECT_NE(check(std::string(4096, 0), target()), "");
  EXPECT_NE(check(std::string(4096, '\xff'), target()), "");
  EXPECT_NE(check(("BC\xC0\xDE" + object()).str(), target()), "");
}

//===----------------------------------------------------------------------===//
// All that code generation writes
//===----------------------------------------------------------------------===//

class RichObjectTest : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Targets, RichObjectTest,
                         testing::ValuesIn(linkedTargets().begin(),
                                           linkedTargets().end()),
                         nameOf);

TEST_P(RichObjectTest, IsAccepted) {
  for (const Bytes &Object : richObjects(GetParam()))
    EXPECT_EQ(check(ref(Object), GetParam()), "");
}

TEST_P(RichObjectTest, IsWhole) {
  for (const Bytes &Object : richObjects(GetParam()))
    for (size_t Size = 0; Size < Object.size(); Size += 61)
      EXPECT_NE(check(ref(Object).take_front(Size), GetParam()), "") << Size;
}

//===----------------------------------------------------------------------===//
// One kind of its own each
//===----------------------------------------------------------------------===//

namespace {

/// An object of 64-bit ELF whose fields can be changed.
class ElfFile {
public:
  static constexpr const char *Target = "x86_64-pc-linux-gnu";

  explicit ElfFile(Bytes Object, StringRef Triple = Target)
      : Object(std::move(Object)), Triple(Triple) {}

  template <typename T> T &at(uint64_t Offset) {
    return *reinterpret_cast<T *>(Object.data() + Offset);
  }
  ELF::Elf64_Shdr &section(size_t Index) {
    return at<ELF::Elf64_Shdr>(at<ELF::Elf64_Ehdr>(0).e_shoff +
                               Index * sizeof(ELF::Elf64_Shdr));
  }
  StringRef name(size_t Index) {
    const auto &Names = section(at<ELF::Elf64_Ehdr>(0).e_shstrndx);
    return Object.data() + Names.sh_offset + section(Index).sh_name;
  }
  ELF::Elf64_Shdr &section(StringRef Name) {
    for (size_t I = 0; I != at<ELF::Elf64_Ehdr>(0).e_shnum; ++I)
      if (name(I) == Name)
        return section(I);
    ADD_FAILURE() << "no " << Name.str();
    return section(size_t(0));
  }
  /// Entry \p Index of a section that is a table.
  template <typename T> T &entry(StringRef Section, size_t Index = 0) {
    return at<T>(section(Section).sh_offset + Index * sizeof(T));
  }
  /// The first entry of a table of relocations with that type, or for a symbol
  /// of that section.
  ELF::Elf64_Rela &relocation(StringRef Table, uint32_t Type) {
    return find<ELF::Elf64_Rela>(Table,
                                 [&](auto &R) { return R.getType() == Type; });
  }
  ELF::Elf64_Rela &relocation(StringRef Table, StringRef SymbolSection) {
    return find<ELF::Elf64_Rela>(Table, [&](auto &R) {
      const auto &S = entry<ELF::Elf64_Sym>(".symtab", R.getSymbol());
      return S.st_shndx < ELF::SHN_LORESERVE &&
             name(S.st_shndx) == SymbolSection;
    });
  }
  template <typename T, typename Function>
  T &find(StringRef Section, Function Is) {
    size_t Count = section(Section).sh_size / sizeof(T);
    for (size_t I = 0; I != Count; ++I)
      if (Is(entry<T>(Section, I)))
        return entry<T>(Section, I);
    ADD_FAILURE() << "no such entry of " << Section.str();
    return entry<T>(Section);
  }
  std::string check() { return ::check(ref(Object), Triple); }

private:
  Bytes Object;
  std::string Triple;
};

ElfFile richElf(size_t Which = 1) {
  return ElfFile(richObjects(ElfFile::Target)[Which]);
}

} // namespace

/// A change, and a part of what is said of it.
#define EXPECT_REFUSED(Change, Text)                                           \
  do {                                                                         \
    ElfFile F = richElf();                                                     \
    F.Change;                                                                  \
    EXPECT_NE(F.check().find(Text), std::string::npos) << F.check();           \
  } while (false)

TEST(ObjectCheckELFTest, Relocations) {
  EXPECT_EQ(richElf().check(), "");
  using Rela = ELF::Elf64_Rela;
  EXPECT_REFUSED(entry<Rela>(".rela.text.f").r_offset = 1 << 20,
                 ".rela.text.f: relocation 0 of .text.f is at 1048576 of");
  EXPECT_REFUSED(entry<Rela>(".rela.text.f", 1).setSymbol(10000),
                 "relocation 1 of .text.f is for symbol 10000 of");
  EXPECT_REFUSED(section(".rela.text.f").sh_link = 0,
                 "it is not for the symbol table");
  EXPECT_REFUSED(section(".rela.text.f").sh_link = 10000,
                 "sh_link is 10000 of");
  EXPECT_REFUSED(section(".rela.text.f").sh_info = 10000,
                 "it can't be for section 10000 of");
  EXPECT_REFUSED(section(".rela.eh_frame").sh_info =
                     F.section(".rela.text.f").sh_info,
                 "it can't be for section");
  EXPECT_REFUSED(section(".rela.text.f").sh_info =
                     F.section(".rela.eh_frame").sh_info,
                 "it stands before .eh_frame");
  EXPECT_REFUSED(section(".rela.text.f").sh_entsize = 16, "sh_entsize");
  EXPECT_REFUSED(section(".rela.text.f").sh_size -= 1, "broken");
}

TEST(ObjectCheckELFTest, RelocationsThatNeedTheNext) {
  // Of a variable of another thread's, whose address takes a call.
  Bytes Object = compileObject("@x = external thread_local global i32\n"
                               "define ptr @f() {\n"
                               "  %p = call ptr @llvm.threadlocal.address.p0("
                               "ptr @x)\n  ret ptr %p\n}\n"
                               "declare ptr @llvm.threadlocal.address.p0(ptr)",
                               ElfFile::Target);
  ElfFile F(Object);
  ASSERT_EQ(F.check(), "");
  ASSERT_EQ(F.entry<ELF::Elf64_Rela>(".rela.text").getType(),
            uint32_t(ELF::R_X86_64_TLSGD));
  F.section(".rela.text").sh_size = sizeof(ELF::Elf64_Rela);
  EXPECT_NE(F.check().find("needs another"), std::string::npos) << F.check();
}

TEST(ObjectCheckELFTest, CallsBeforeTheirMarks) {
  // On SystemZ the relocation that marks a call of __tls_get_offset may be the
  // last: LLD sorts them.
  StringRef Target = "s390x-unknown-linux-gnu";
  Bytes Object = compileObject("@x = external thread_local global i32\n"
                               "define ptr @f() {\n"
                               "  %p = call ptr @llvm.threadlocal.address.p0("
                               "ptr @x)\n  ret ptr %p\n}\n"
                               "declare ptr @llvm.threadlocal.address.p0(ptr)",
                               Target);
  EXPECT_EQ(check(ref(Object), Target), "");
}

namespace {

constexpr StringLiteral PowerPC = "powerpc64le-unknown-linux-gnu";

/// A change to the first relocation of a type in an object for PowerPC, and a
/// part of what is said of it.
void expectRefusedPPC64(uint32_t Type, uint32_t NewType, int64_t Addend,
                        StringRef Text) {
  ElfFile F(richObjects(PowerPC)[1], PowerPC);
  ASSERT_EQ(F.check(), "");
  ELF::Elf64_Rela &R = F.relocation(".rela.text.f", Type);
  R.setType(NewType);
  R.r_addend = Addend;
  EXPECT_NE(F.check().find(Text), std::string::npos) << F.check();
}

} // namespace

TEST(ObjectCheckELFTest, ThreadLocalAccessesThatAreNotRelaxed) {
  for (uint32_t Type : {ELF::R_PPC64_DTPREL16_HIGHESTA,
                        ELF::R_PPC64_GOT_TLSGD16_HI, ELF::R_PPC64_GOT16})
    expectRefusedPPC64(ELF::R_PPC64_TLSGD, Type, 0,
                       "can't be for a thread's own variable");
  expectRefusedPPC64(ELF::R_PPC64_REL16_HA, ELF::R_PPC64_TLS, 0,
                     "is for no thread's own variable");
  EXPECT_REFUSED(
      entry<ELF::Elf64_Rela>(".rela.text.start").setType(ELF::R_X86_64_TPOFF32),
      "is for no thread's own variable");
  auto IsOwn = [](const ELF::Elf64_Sym &S) {
    return S.getType() == ELF::STT_TLS && S.st_shndx != ELF::SHN_UNDEF;
  };
  EXPECT_REFUSED(find<ELF::Elf64_Sym>(".symtab", IsOwn).st_shndx = ELF::SHN_ABS,
                 "a thread's own variable outside of sections");
}

TEST(ObjectCheckELFTest, InstructionsOutsideOfTheSection) {
  for (int64_t Distance : {-1, 1 << 19})
    expectRefusedPPC64(ELF::R_PPC64_REL16_HA, ELF::R_PPC64_PCREL_OPT, Distance,
                       "relocation 0 of .text.f reaches");
}

TEST(ObjectCheckELFTest, SomeCallsAreMarked) {
  std::string Text = "@x = external thread_local global i32\n"
                     "declare ptr @llvm.threadlocal.address.p0(ptr)\n";
  for (StringRef Name : {"f", "g"})
    Text += ("define ptr @" + Name + "() section \"." + Name +
             "\" {\n  %p = call ptr @llvm.threadlocal.address.p0(ptr @x)\n"
             "  ret ptr %p\n}\n")
                .str();
  ElfFile F(compileObject(Text, PowerPC), PowerPC);
  ASSERT_EQ(F.check(), "");
  F.relocation(".rela.f", uint32_t(ELF::R_PPC64_TLSGD))
      .setType(ELF::R_PPC64_NONE);
  EXPECT_NE(F.check().find("only some calls"), std::string::npos) << F.check();
  F.relocation(".rela.g", uint32_t(ELF::R_PPC64_TLSGD))
      .setType(ELF::R_PPC64_NONE);
  EXPECT_EQ(F.check(), "");
}

TEST(ObjectCheckELFTest, DistancesToWhatIsNotDefined) {
  StringRef Target = "aarch64-unknown-linux-gnu";
  ElfFile F(objectFor(Target), Target);
  ASSERT_EQ(F.check(), "");
  F.relocation(".rela.text", uint32_t(ELF::R_AARCH64_CALL26))
      .setType(ELF::R_AARCH64_MOVW_PREL_G0);
  EXPECT_NE(F.check().find("is for a symbol that isn't defined"),
            std::string::npos)
      << F.check();
}

TEST(ObjectCheckELFTest, RelocationsOfUnknownTypes) {
  // Without a table of addends, for a section: LLD applies it with -r.
  StringRef Target = "i386-pc-linux-gnu";
  bool Found = false;
  std::string Object = ref(objectFor(Target)).str();
  auto *Header = reinterpret_cast<ELF::Elf32_Ehdr *>(Object.data());
  auto *Sections =
      reinterpret_cast<ELF::Elf32_Shdr *>(Object.data() + Header->e_shoff);
  for (size_t I = 0; I != Header->e_shnum; ++I) {
    if (Sections[I].sh_type != ELF::SHT_REL)
      continue;
    auto *Relocs =
        reinterpret_cast<ELF::Elf32_Rel *>(&Object[Sections[I].sh_offset]);
    auto *Symbols = reinterpret_cast<ELF::Elf32_Sym *>(
        &Object[Sections[Sections[I].sh_link].sh_offset]);
    for (size_t K = 0; K != Sections[I].sh_size / sizeof(*Relocs); ++K)
      if (Symbols[Relocs[K].getSymbol()].getType() == ELF::STT_SECTION) {
        Relocs[K].setType(239);
        Found = true;
      }
  }
  ASSERT_TRUE(Found);
  EXPECT_NE(check(Object, Target).find("is of the unknown type 239"),
            std::string::npos)
      << check(Object, Target);
}

TEST(ObjectCheckELFTest, Symbols) {
  using Sym = ELF::Elf64_Sym;
  EXPECT_REFUSED(entry<Sym>(".symtab", 3).st_name = 1 << 20,
                 "symbol 3: its name is outside of the string table");
  EXPECT_REFUSED(entry<Sym>(".symtab", 3).st_shndx = 1000,
                 "symbol 3: its section is 1000 of");
  EXPECT_REFUSED(entry<Sym>(".symtab", 3).st_shndx = ELF::SHN_XINDEX,
                 "symbol 3: its section's index is nowhere");
  EXPECT_REFUSED(section(".symtab").sh_info = 0, "sh_info is 0 of");
  EXPECT_REFUSED(section(".symtab").sh_info = 10000, "sh_info is 10000 of");
  EXPECT_REFUSED(section(".symtab").sh_info -= 1,
                 "local and global symbols are mixed");
}

TEST(ObjectCheckELFTest, Groups) {
  EXPECT_REFUSED(section(".group").sh_info = 10000,
                 ".group: its signature is symbol 10000 of");
  EXPECT_REFUSED(entry<uint32_t>(".group", 0) = 0x80, "unknown flags");
  EXPECT_REFUSED(entry<uint32_t>(".group", 1) = 10000,
                 ".group: it has section 10000 of");
  EXPECT_REFUSED(entry<uint32_t>(".group", 1) = 1, ".group: it can't have");
  // LLD drops it where it keeps its relocations.
  EXPECT_REFUSED(section(".text.inline").sh_type = ELF::SHT_LLVM_LTO,
                 ".rela.text.inline: it is in another group than");
}

TEST(ObjectCheckELFTest, OtherSections) {
  EXPECT_REFUSED(section(".strtab").sh_size -= 1, "null");
  EXPECT_REFUSED(section(".rodata.str1.1").sh_size -= 1,
                 ".rodata.str1.1: its last string doesn't end");
  EXPECT_REFUSED(section(".rodata.str1.1").sh_entsize = 1000,
                 ".rodata.str1.1: it can't be merged");
  EXPECT_REFUSED(section("in_order").sh_link = 1, // the table of names
                 "in_order: it can't follow");
  EXPECT_REFUSED(section(".text.f").sh_addralign = 3,
                 ".text.f: its alignment is 3");
  EXPECT_REFUSED(section(".eh_frame").sh_type = ELF::SHT_NOBITS,
                 ".eh_frame: it has no contents");
  EXPECT_REFUSED(entry<uint32_t>(".eh_frame", 0) = 1 << 20,
                 ".eh_frame: the entry at 0 has");
  EXPECT_REFUSED(entry<uint8_t>(".eh_frame", 8) = 2, // the version
                 ".eh_frame: a CIE of an unknown kind");
  EXPECT_REFUSED(entry<uint8_t>(".eh_frame", 9) = 'q', // augmentation
                 ".eh_frame: a CIE of an unknown kind");
  EXPECT_REFUSED(entry<uint32_t>(".note.gnu.property", 1) = 24,
                 ".note.gnu.property: a note of 40 bytes");
  EXPECT_REFUSED(entry<uint32_t>(".note.gnu.property", 5) = 9,
                 ".note.gnu.property: a property is too short");
  EXPECT_REFUSED(entry<uint8_t>(".llvm_addrsig", 0) = 0x7f,
                 ".llvm_addrsig: symbol 127 of");
  EXPECT_REFUSED(section(".llvm.call-graph-profile").sh_size -= 8, "");
  EXPECT_REFUSED(section(".deplibs").sh_size -= 1,
                 ".deplibs: its last string doesn't end");
  EXPECT_REFUSED(section(".text.f").sh_type = ELF::SHT_DYNAMIC,
                 ".text.f: no section of an object");
}

TEST(ObjectCheckELFTest, CompressedSections) {
  ElfFile F = richElf(2);
  ASSERT_EQ(F.check(), "");
  // Nobody has that much memory.
  F.entry<object::ELF64LE::Chdr>(".debug_names").ch_size = uint64_t(1) << 60;
  EXPECT_NE(F.check().find(".debug_names: it can't have 1152921504606846976 "
                           "bytes before compression"),
            std::string::npos)
      << F.check();
}

/// What the integrated assembler makes of \p Text.
static Bytes assembled(const std::string &Text, StringRef Triple,
                       const TargetOptions &Options = {}) {
  std::string IR;
  for (StringRef Rest = Text, Line; !Rest.empty();) {
    std::tie(Line, Rest) = Rest.split('\n');
    IR += "module asm \"";
    for (char C : Line)
      IR += C == '"' ? "\\22" : std::string(1, C);
    IR += "\"\n";
  }
  return compileObject(IR, Triple, Options);
}

/// As <sys/sdt.h> has it in an inline function, and as LLD wouldn't place it.
TEST(ObjectCheckELFTest, NotesInGroups) {
  for (bool IsDropped : {false, true}) {
    std::string Text =
        ".section .text.f,\"axG\",@progbits,f,comdat\n"
        ".weak f\n"
        "f: nop\n"
        ".pushsection " +
        std::string(IsDropped ? ".note.gnu.build-id" : ".note.stapsdt") +
        ",\"?\",\"note\"\n"
        ".balign 4\n"
        ".4byte 8, 8, 3\n"
        ".asciz \"stapsdt\"\n"
        ".8byte f\n"
        ".popsection";
    std::string Why =
        check(ref(assembled(Text, ElfFile::Target)), ElfFile::Target);
    EXPECT_EQ(Why.find("it is in another group") != std::string::npos,
              IsDropped)
        << Why;
    EXPECT_EQ(Why.empty(), !IsDropped) << Why;
  }
}

TEST(ObjectCheckELFTest, ZerosThatZstdPacks) {
  if (!compression::zstd::isAvailable())
    GTEST_SKIP();
  TargetOptions Options;
  Options.MCOptions.CompressDebugSections = DebugCompressionType::Zstd;
  ElfFile F(assembled(".section .debug_addr,\"\",@progbits\n.zero 1000000",
                      ElfFile::Target, Options));
  ASSERT_LT(F.section(".debug_addr").sh_size, 500u);
  EXPECT_EQ(F.check(), "");
  F.entry<object::ELF64LE::Chdr>(".debug_addr").ch_size = uint64_t(1) << 40;
  EXPECT_NE(F.check().find(".debug_addr: it can't have 1099511627776 bytes"),
            std::string::npos)
      << F.check();
}

static std::string checkAssembled(const std::string &Text, StringRef Triple) {
  return check(ref(assembled(Text, Triple)), Triple);
}
static void expectWithin(const std::string &Part, const std::string &Whole) {
  EXPECT_NE(Whole.find(Part), std::string::npos) << Whole;
}

/// Linkers leave out bytes, one relocation after the other.
TEST(ObjectCheckELFTest, CodeThatIsShortened) {
  constexpr StringLiteral RISCV = "riscv64-unknown-linux-gnu",
                          LoongArch = "loongarch64-unknown-linux-gnu";
  for (StringRef Triple : {RISCV, LoongArch}) {
    std::string Text = "declare void @other()\n";
    for (const char *Name : {"f", "g", "h"})
      Text += std::string("define void @") + Name +
              "(ptr %p) \"target-features\"=\"+relax\" align 32 {\n"
              "  call void @other()\n  store volatile ptr @f, ptr %p\n"
              "  call void @other()\n  ret void\n}\n";
    Bytes Object = compileObject(Text, Triple, {});
    EXPECT_EQ(check(ref(Object), Triple), "");
    EXPECT_NE(Object.size(), 0u);
  }
  expectWithin("relocations overlap at 58 of .text",
               checkAssembled(".reloc 0, R_RISCV_ALIGN, 62\n"
                              ".reloc 58, R_RISCV_ALIGN, 6\n.zero 64",
                              RISCV));
  expectWithin("relocations overlap at 4 of .text",
               checkAssembled(".reloc 0, R_RISCV_CALL_PLT, f\n"
                              ".reloc 4, R_RISCV_CALL_PLT, f\n.zero 12",
                              RISCV));
  expectWithin("relocation 0 of .text aligns by 536870908",
               checkAssembled(".reloc 4, R_LARCH_ALIGN, 0x1ffffffc\n.zero 4",
                              LoongArch));
}

namespace {
/// An object with \p NumUnits compile units, all of one line table with
/// \p NumEntries directories, and one more at \p Last.
std::string lineTables(unsigned NumUnits, unsigned NumEntries, unsigned Last,
                       unsigned NumFlags = 0) {
  auto Unit = [](unsigned At) {
    return ".long 13\n.short 5\n.byte 1, 8\n.long 0\n.byte 1\n.long " +
           std::to_string(At) + "\n";
  };
  std::string Text = ".section .debug_abbrev,\"\",@progbits\n"
                     ".byte 1, 0x11, 0, 0x10, 0x17\n";
  for (unsigned I = 0; I != NumFlags; ++I)
    Text += ".byte 0x3f, 0x19\n"; // it takes no bytes in the unit
  Text += ".byte 0, 0, 0\n"
          ".section .debug_info,\"\",@progbits\n"
          ".rept " +
          std::to_string(NumUnits) + "\n" + Unit(0) + ".endr\n" + Unit(Last) +
          ".section .debug_line,\"\",@progbits\n"
          ".long 4f-1f\n"
          "1: .short 5\n.byte 8, 0\n.long 3f-2f\n"
          "2: .byte 1, 1, 1, -5, 14, 13\n.zero 12\n.byte 1, 1, 8\n.uleb128 " +
          std::to_string(NumEntries) + "\n.zero " + std::to_string(NumEntries) +
          "\n.byte 0, 0\n"
          "3: .byte 0\n"
          "4:";
  return check(ref(assembled(Text, ElfFile::Target)), ElfFile::Target);
}
} // namespace

/// Each byte is looked at once: this would take hours otherwise.
TEST(ObjectCheckELFTest, ManyUnitsOfOneLineTable) {
  EXPECT_EQ(lineTables(200000, 200000, 0), "");
  EXPECT_NE(lineTables(1, 100, 60).find("line tables overlap"),
            std::string::npos);
  EXPECT_NE(lineTables(1, 1, 0, 200).find("has 201 attributes"),
            std::string::npos);
}

/// Where version 5 of a line table has the form of its directories' names.
static constexpr size_t FormInLineTable = 32;

TEST(ObjectCheckELFTest, FormsInLineTables) {
  ASSERT_EQ(richElf().at<uint8_t>(richElf().section(".debug_line").sh_offset +
                                  FormInLineTable),
            dwarf::DW_FORM_line_strp);
  // None that LLVM knows, and one without bytes: a list of 2^64 fits.
  for (unsigned Form : {0x7f, 0x19})
    EXPECT_REFUSED(
        at<uint8_t>(F.section(".debug_line").sh_offset + FormInLineTable) =
            uint8_t(Form),
        "a line table's entries have the form " + std::to_string(Form));
  // Another object may define the symbol.
  EXPECT_REFUSED(relocation(".rela.debug_info", ".debug_line")
                     .setSymbol(F.section(".symtab").sh_info),
                 "its line tables are where another object says");
  EXPECT_REFUSED(relocation(".rela.debug_info", ".debug_abbrev")
                     .setSymbol(F.section(".symtab").sh_info),
                 "its compile units are where another object says");
}

TEST(ObjectCheckCOFFTest, FormsInLineTables) {
  StringRef Target = "i686-w64-windows-gnu";
  Bytes Object = richObjects(Target).front();
  ASSERT_EQ(check(ref(Object), Target), "");
  auto Obj = cantFail(
      object::COFFObjectFile::create(MemoryBufferRef(ref(Object), "object")));
  bool Found = false;
  for (const object::SectionRef &S : Obj->sections())
    if (cantFail(S.getName()) == ".debug_line") {
      char &Form =
          Object[Obj->getCOFFSection(S)->PointerToRawData + FormInLineTable];
      EXPECT_EQ(Form, dwarf::DW_FORM_line_strp);
      Form = 0x6c;
      Found = true;
    }
  ASSERT_TRUE(Found);
  EXPECT_NE(check(ref(Object), Target)
                .find("a line table's entries have the form 108"),
            std::string::npos)
      << check(ref(Object), Target);
}

TEST(ObjectCheckCOFFTest, ComdatsThatAreDropped) {
  StringRef Target = "x86_64-pc-windows-msvc";
  Bytes Object = richObjects(Target).front();
  auto *Section =
      reinterpret_cast<COFF::section *>(Object.data() + COFF::Header16Size);
  while (!(Section->Characteristics & COFF::IMAGE_SCN_LNK_COMDAT))
    ++Section;
  ASSERT_EQ(check(ref(Object), Target), "");
  Section->Characteristics |= COFF::IMAGE_SCN_LNK_REMOVE;
  EXPECT_NE(check(ref(Object), Target).find("in a section that is dropped"),
            std::string::npos)
      << check(ref(Object), Target);
}

TEST(ObjectCheckCOFFTest, ExternalSymbolsInDebugInformation) {
  StringRef Target = "x86_64-pc-windows-msvc";
  Bytes Object = richObjects(Target).front();
  ASSERT_EQ(check(ref(Object), Target), "");
  auto Obj = cantFail(
      object::COFFObjectFile::create(MemoryBufferRef(ref(Object), "object")));
  for (const object::SymbolRef &S : Obj->symbols())
    if (cantFail(S.getName()) == ".debug$S")
      Object[reinterpret_cast<const char *>(S.getRawDataRefImpl().p) -
             Object.data() + COFF::Symbol16Size - 2] =
          COFF::IMAGE_SYM_CLASS_EXTERNAL;
  EXPECT_NE(check(ref(Object), Target).find("in a section that is dropped"),
            std::string::npos)
      << check(ref(Object), Target);
}

TEST(ObjectCheckCOFFTest, Directives) {
  StringRef Target = "x86_64-pc-windows-msvc";
  std::string Object = ref(richObjects(Target).front()).str();
  size_t Symbol = Object.find(" /include:");
  ASSERT_NE(Symbol, std::string::npos);
  Object[Symbol + strlen(" /include:")] = ' ';
  EXPECT_NE(check(Object, Target).find("it asks for a symbol without a name"),
            std::string::npos)
      << check(Object, Target);
}

TEST(ObjectCheckCOFFTest, Relocations) {
  StringRef Target = "x86_64-pc-windows-msvc";
  Bytes Object = objectFor(Target);
  auto *Sections =
      reinterpret_cast<COFF::section *>(Object.data() + COFF::Header16Size);
  ASSERT_NE(Sections[0].NumberOfRelocations, 0u);
  char *R = Object.data() + Sections[0].PointerToRelocations;
  for (size_t Field : {0, 4}) {
    uint32_t Old = support::endian::read32le(R + Field);
    support::endian::write32le(R + Field, 100000);
    EXPECT_NE(check(ref(Object), Target).find("relocation 0 is"),
              std::string::npos)
        << check(ref(Object), Target);
    support::endian::write32le(R + Field, Old);
  }
  EXPECT_EQ(check(ref(Object), Target), "");
  Sections[0].NumberOfRelocations = 0xffff;
  EXPECT_NE(check(ref(Object), Target).find("outside of the file"),
            std::string::npos);
  Sections[0].NumberOfRelocations = 0;
  // A symbol's auxiliary records reach past the table's end.
  char *Symbols = Object.data() + support::endian::read32le(Object.data() + 8);
  Symbols[COFF::Symbol16Size - 1] = char(0xff);
  EXPECT_NE(check(ref(Object), Target).find("auxiliary records"),
            std::string::npos);
}

TEST(ObjectCheckCOFFTest, SymbolTableBeyond32Bits) {
  // The table's size in 32 bits is what it was: LLVM takes it for whole.
  StringRef Target = "x86_64-pc-windows-msvc";
  Bytes Object = objectFor(Target);
  char *NumSymbols = Object.data() + 12;
  uint32_t Old = support::endian::read32le(NumSymbols);
  support::endian::write32le(NumSymbols, Old + (uint32_t(1) << 31));
  EXPECT_NE(check(ref(Object), Target).find("symbol table is outside"),
            std::string::npos)
      << check(ref(Object), Target);
}

namespace {

/// An object with CodeView, and where the contents of its sections begin.
class CodeViewFile {
public:
  static constexpr const char *Target = "x86_64-pc-windows-msvc";

  CodeViewFile() : Object(richObjects(Target).front()) {}

  COFF::section &section(StringRef Name) {
    auto *Sections =
        reinterpret_cast<COFF::section *>(Object.data() + COFF::Header16Size);
    for (size_t I = 0; I != support::endian::read16le(&Object[2]); ++I)
      if (StringRef(Sections[I].Name, COFF::NameSize) == Name)
        return Sections[I];
    ADD_FAILURE() << "no " << Name.str();
    return Sections[0];
  }
  char *contents(StringRef Name) {
    return Object.data() + section(Name).PointerToRawData;
  }
  std::string check() { return ::check(ref(Object), Target); }

private:
  Bytes Object;
};

} // namespace

TEST(ObjectCheckCOFFTest, ListsOfTypes) {
  // The first type is a list of arguments, of eight bytes.
  CodeViewFile F;
  ASSERT_EQ(F.check(), "");
  char *Type = F.contents(".debug$T") + 4;
  ASSERT_EQ(support::endian::read16le(Type), 10u);
  ASSERT_EQ(support::endian::read16le(Type + 2), 0x1201u);
  // A nested type whose name doesn't end.
  support::endian::write16le(Type + 2, 0x1203); // LF_FIELDLIST
  support::endian::write16le(Type + 4, 0x1510); // LF_NESTTYPE
  EXPECT_NE(F.check().find("type 4096 is broken"), std::string::npos)
      << F.check();
  // A method with four bytes more than there are.
  support::endian::write16le(Type + 2, 0x1206); // LF_METHODLIST
  support::endian::write16le(Type + 4, 4 << 2); // it is virtual, and new
  EXPECT_NE(F.check().find("type 4096 is broken"), std::string::npos)
      << F.check();
  support::endian::write16le(Type + 4, 0);
  EXPECT_EQ(F.check(), "");
}

TEST(ObjectCheckCOFFTest, HashesOfTypes) {
  CodeViewFile F;
  // Debug information of something else, in which nobody looks.
  memcpy(F.section(".debug$S").Name, ".debug$H", COFF::NameSize);
  EXPECT_EQ(F.check(), "");
  support::endian::write32le(F.contents(".debug$H"),
                             COFF::DEBUG_HASHES_SECTION_MAGIC);
  EXPECT_NE(F.check().find("hashes of"), std::string::npos) << F.check();
}

TEST(ObjectCheckCOFFTest, RelocationsInTwoRecords) {
  CodeViewFile F;
  COFF::section &S = F.section(".debug$S");
  ASSERT_NE(S.NumberOfRelocations, 0u);
  // The last byte of the magic number, and the first of a part.
  support::endian::write32le(
      F.contents(".debug$S") - S.PointerToRawData + S.PointerToRelocations, 11);
  EXPECT_NE(F.check().find("relocation 0 is in two records"), std::string::npos)
      << F.check();
}

TEST(ObjectCheckMachOTest, Relocations) {
  StringRef Target = "arm64-apple-macosx12.0.0";
  Bytes Object = objectFor(Target);
  constexpr size_t Section =
      sizeof(MachO::mach_header_64) + sizeof(MachO::segment_command_64);
  const auto &Text =
      *reinterpret_cast<MachO::section_64 *>(Object.data() + Section);
  ASSERT_NE(Text.nreloc, 0u);
  char *R = Object.data() + Text.reloff;
  for (size_t Field : {0, 4}) {
    uint32_t Old = support::endian::read32le(R + Field);
    support::endian::write32le(R + Field, Old | 0xffff);
    EXPECT_NE(check(ref(Object), Target).find("__TEXT,__text: relocation 0 is"),
              std::string::npos)
        << check(ref(Object), Target);
    support::endian::write32le(R + Field, Old);
  }
  EXPECT_EQ(check(ref(Object), Target), "");
}

TEST(ObjectCheckMachOTest, RelocationsOfUnwindTables) {
  StringRef Target = "arm64-apple-macosx12.0.0";
  Bytes Object = objectFor(Target);
  ASSERT_EQ(check(ref(Object), Target), "");
  auto *Section = reinterpret_cast<MachO::section_64 *>(
      Object.data() + sizeof(MachO::mach_header_64) +
      sizeof(MachO::segment_command_64));
  while (StringRef(Section->sectname, 16) != StringRef("__compact_unwind", 16))
    ++Section;
  ASSERT_NE(Section->nreloc, 0u);
  // An addend's symbol is a number of any size.
  support::endian::write32le(Object.data() + Section->reloff + 4,
                             unsigned(MachO::ARM64_RELOC_ADDEND) << 28 |
                                 1 << 27 | 0xffffff);
  EXPECT_NE(check(ref(Object), Target).find("relocation 0 is for no function"),
            std::string::npos)
      << check(ref(Object), Target);
}

TEST(ObjectCheckMachOTest, NamesInSectionsThatAreNotWritten) {
  StringRef Target = "arm64-apple-macosx12.0.0";
  Bytes Object = richObjects(Target).front();
  ASSERT_EQ(check(ref(Object), Target), "");
  auto Obj = cantFail(object::ObjectFile::createMachOObjectFile(
      MemoryBufferRef(ref(Object), "object")));
  bool Found = false;
  for (const object::SymbolRef &S : Obj->symbols()) {
    auto In = cantFail(S.getSection());
    if (In == Obj->section_end() ||
        cantFail(In->getName()) != "__compact_unwind")
      continue;
    // A private name is one that begins with L or l.
    Object[cantFail(S.getName()).data() - Object.data()] = 'x';
    Found = true;
  }
  ASSERT_TRUE(Found);
  EXPECT_NE(
      check(ref(Object), Target).find("in __compact_unwind, and not private"),
      std::string::npos)
      << check(ref(Object), Target);
}

TEST(ObjectCheckMachOTest, SymbolsInTheMiddleOfEntries) {
  StringRef Target = "arm64-apple-macosx12.0.0";
  for (StringRef Name : {"__compact_unwind", "__eh_frame"}) {
    Bytes Object = richObjects(Target).front();
    ASSERT_EQ(check(ref(Object), Target), "");
    auto Obj = cantFail(object::ObjectFile::createMachOObjectFile(
        MemoryBufferRef(ref(Object), "object")));
    bool Found = false;
    for (const object::SymbolRef &S : Obj->symbols()) {
      auto In = cantFail(S.getSection());
      if (In == Obj->section_end() || cantFail(In->getName()) != Name)
        continue;
      size_t At = reinterpret_cast<const char *>(S.getRawDataRefImpl().p) -
                  Object.data();
      reinterpret_cast<MachO::nlist_64 *>(&Object[At])->n_value += 2;
      Found = true;
    }
    ASSERT_TRUE(Found) << Name.str();
    EXPECT_NE(check(ref(Object), Target).find("is at no entry"),
              std::string::npos)
        << check(ref(Object), Target);
  }
}

TEST(ObjectCheckMachOTest, ANameWithoutAnEnd) {
  for (StringRef Target :
       {"arm64-apple-macosx12.0.0", "arm64_32-apple-watchos7.0.0"}) {
    Bytes Object = richObjects(Target).front();
    ASSERT_EQ(check(ref(Object), Target), "");
    auto Obj = cantFail(object::ObjectFile::createMachOObjectFile(
        MemoryBufferRef(ref(Object), "object")));
    StringRef Names = cast<object::MachOObjectFile>(*Obj).getStringTableData();
    size_t At = static_cast<size_t>(Names.data() - Object.data());
    size_t Last = Names.rtrim(StringRef("\0", 1)).size();
    std::fill_n(Object.begin() + At + Last, Names.size() - Last, 'x');
    EXPECT_NE(check(ref(Object), Target).find("its name has no end"),
              std::string::npos)
        << check(ref(Object), Target);
  }
}

TEST(ObjectCheckMachOTest, FunctionsThatNeedAnFDE) {
  // LLD can't write one for this target, and drops those that compact unwind
  // information stands in for.
  StringRef Target = "arm64_32-apple-watchos7.0.0";
  Bytes Object = richObjects(Target).front();
  ASSERT_EQ(check(ref(Object), Target), "");
  auto *Section = reinterpret_cast<MachO::section *>(
      Object.data() + sizeof(MachO::mach_header) +
      sizeof(MachO::segment_command));
  while (StringRef(Section->sectname, 16) != StringRef("__compact_unwind", 16))
    ++Section;
  // Of a function elsewhere, or with a frame, which LLD takes for "see its
  // FDE".
  constexpr size_t EntrySize = 20, Encoding = 8;
  char *Last = Object.data() + Section->offset + Section->size - EntrySize;
  for (auto [Field, Change] :
       {std::pair(size_t(0), 0x4f000000u), std::pair(Encoding, 0x04000000u)}) {
    uint32_t Old = support::endian::read32le(Last + Field);
    support::endian::write32le(Last + Field, (Old & 0xffffff) | Change);
    EXPECT_NE(
        check(ref(Object), Target).find("without compact unwind information"),
        std::string::npos)
        << check(ref(Object), Target);
    support::endian::write32le(Last + Field, Old);
  }
}

TEST(ObjectCheckMachOTest, DebugInformationWithoutItsTables) {
  // LLD doesn't see a section that isn't marked as one for debuggers, and
  // follows the name that it then doesn't find.
  StringRef Target = "arm64-apple-macosx12.0.0";
  Bytes Object = richObjects(Target).front();
  ASSERT_EQ(check(ref(Object), Target), "");
  auto *Section = reinterpret_cast<MachO::section_64 *>(
      Object.data() + sizeof(MachO::mach_header_64) +
      sizeof(MachO::segment_command_64));
  while (StringRef(Section->sectname) != "__debug_abbrev")
    ++Section;
  Section->flags &= ~uint32_t(MachO::S_ATTR_DEBUG);
  EXPECT_NE(check(ref(Object), Target).find("names no file"), std::string::npos)
      << check(ref(Object), Target);
}

TEST(ObjectCheckELFTest, OtherKindsOfFiles) {
  for (uint16_t Type :
       {ELF::ET_NONE, ELF::ET_EXEC, ELF::ET_DYN, ELF::ET_CORE}) {
    std::string Object = ref(objectFor("x86_64-pc-linux-gnu")).str();
    support::endian::write16le(&Object[16], Type); // e_type
    EXPECT_NE(
        check(Object, "x86_64-pc-linux-gnu").find("not a relocatable object"),
        std::string::npos)
        << Type;
  }
}

TEST(ObjectCheckELFTest, NoSections) {
  std::string Object = ref(objectFor("x86_64-pc-linux-gnu")).str();
  support::endian::write64le(&Object[40], 0); // e_shoff
  support::endian::write16le(&Object[60], 0); // e_shnum
  support::endian::write16le(&Object[62], 0); // e_shstrndx
  EXPECT_NE(check(Object, "x86_64-pc-linux-gnu"), "");
}

TEST(ObjectCheckMachOTest, OtherKindsOfFiles) {
  for (uint32_t Type :
       {MachO::MH_EXECUTE, MachO::MH_DYLIB, MachO::MH_BUNDLE, MachO::MH_DSYM}) {
    std::string Object = ref(objectFor("arm64-apple-macosx12.0.0")).str();
    support::endian::write32le(&Object[12], Type); // filetype
    EXPECT_NE(check(Object, "arm64-apple-macosx12.0.0"), "") << Type;
  }
}

TEST(ObjectCheckWasmTest, ModulesThatAreNoObjects) {
  // A magic number and a version: a module, but nothing that can be linked.
  EXPECT_NE(check(StringRef("\0asm\1\0\0\0", 8), "wasm32-unknown-unknown"), "");
}

TEST(ObjectCheckWasmTest, ReferencesToWhatIsStripped) {
  // With --strip-debug LLD keeps a section of another name.
  StringRef Target = "wasm32-unknown-unknown";
  std::string Object = ref(richObjects(Target).front()).str();
  ASSERT_EQ(check(Object, Target), "");
  size_t Name = Object.find(".debug_str_offsets");
  ASSERT_NE(Name, std::string::npos);
  Object[Name + 1] = 'x';
  EXPECT_NE(check(Object, Target).find("which it can't be"), std::string::npos)
      << check(Object, Target);
}

TEST(ObjectCheckWasmTest, LocalSymbolsThatAreUndefined) {
  // Called in a shared object, LLD would crash.
  StringRef Target = "wasm32-unknown-unknown";
  std::string Object = ref(compileObject("declare void @other()\n"
                                         "define void @f() {\n"
                                         "  call void @other()\n"
                                         "  ret void\n"
                                         "}\n",
                                         Target))
                           .str();
  ASSERT_EQ(check(Object, Target), "");
  const char Undefined[] = {wasm::WASM_SYMBOL_TYPE_FUNCTION,
                            wasm::WASM_SYMBOL_UNDEFINED, /*Index=*/0};
  size_t At = Object.find(StringRef(Undefined, 3), Object.find("linking"));
  ASSERT_NE(At, std::string::npos);
  Object[At + 1] |= wasm::WASM_SYMBOL_BINDING_LOCAL;
  EXPECT_NE(check(Object, Target).find("is broken"), std::string::npos)
      << check(Object, Target);
}

/// Functions whose address is taken, with the one table that CPUs before
/// reference types have: it is imported, but no symbol.
TEST(ObjectCheckWasmTest, ATableWithoutASymbol) {
  StringRef Target = "wasm32-unknown-unknown";
  const char *IR = "@table = global ptr @f\n"
                   "define i32 @f(i32 %x) { ret i32 %x }\n";
  const Bytes Object = compileObject(IR, Target, TargetOptions(), "mvp");
  auto File = must(object::ObjectFile::createWasmObjectFile(
      MemoryBufferRef(ref(Object), "object")));
  for (const object::BasicSymbolRef &Symbol : File->symbols())
    EXPECT_FALSE(File->getWasmSymbol(Symbol).isTypeTable());
  EXPECT_EQ(check(ref(Object), Target), "");
  // Not any import will do.
  std::string Other = ref(Object).str();
  size_t Name = Other.find("__indirect_function_table");
  ASSERT_NE(Name, std::string::npos);
  Other[Name] = 'x';
  EXPECT_NE(check(Other, Target).find("which it can't be"), std::string::npos)
      << check(Other, Target);
}

TEST(ObjectCheckTest, ThumbIsArm) {
  // Code of both kinds is in objects of one machine.
  EXPECT_EQ(check(ref(objectFor("armv7-unknown-linux-gnueabihf")),
                  "thumbv7-unknown-linux-gnueabihf"),
            "");
}

TEST(ObjectCheckTest, SystemsWithoutADifference) {
  EXPECT_EQ(
      check(ref(objectFor("x86_64-pc-linux-gnu")), "x86_64-unknown-freebsd"),
      "");
  EXPECT_EQ(
      check(ref(objectFor("x86_64-pc-windows-msvc")), "x86_64-w64-windows-gnu"),
      "");
  EXPECT_EQ(check(ref(objectFor("arm64-apple-macosx12.0.0")),
                  "arm64-apple-ios15.0.0"),
            "");
}

TEST(ObjectCheckTest, TargetsWithoutAFormatOfOurs) {
  for (const char *Other : {"powerpc64-ibm-aix", "", "unknown-unknown-unknown",
                            "dxil-unknown-shadermodel6.0"})
    EXPECT_NE(check(ref(objectFor("x86_64-pc-linux-gnu")), Other), "") << Other;
}

/// LLD takes them for what runtimes define.
TEST(ObjectCheckCOFFTest, SymbolsThatLinkersLookAt) {
  for (const char *Triple :
       {"x86_64-pc-windows-msvc", "i686-pc-windows-msvc"}) {
    std::string Name = Triple[0] == 'i' ? "__tls_used" : "_tls_used";
    EXPECT_EQ(checkAssembled(".data\n.globl " + Name + "\n" + Name +
                                 ": .long 1\n.globl other\nother = 5",
                             Triple),
              "");
    expectWithin(
        "_tls_used is in no section",
        checkAssembled(".globl " + Name + "\n" + Name + " = 5", Triple));
    expectWithin("a weak",
                 checkAssembled(".weak " + Name + "\n.long " + Name, Triple));
  }
}

/// LLD follows them for ever.
TEST(ObjectCheckCOFFTest, WeakSymbolsForOneAnother) {
  constexpr const char *Target = "x86_64-pc-windows-msvc";
  Bytes Object = assembled(".weak one\n.weak two\n.weak three\n"
                           ".long one\n.long two\n.long three",
                           Target);
  ASSERT_EQ(check(ref(Object), Target), "");
  auto Obj = cantFail(
      object::COFFObjectFile::create(MemoryBufferRef(ref(Object), "object")));
  std::map<std::string, uint32_t> Symbols;
  for (uint32_t I = 0; I < Obj->getNumberOfSymbols(); ++I) {
    object::COFFSymbolRef S = cantFail(Obj->getSymbol(I));
    Symbols[cantFail(Obj->getSymbolName(S)).str()] = I;
    I += S.getNumberOfAuxSymbols();
  }
  auto Make = [&](const char *From, const char *To) {
    char *Table = Object.data() + Obj->getPointerToSymbolTable();
    support::endian::write32le(
        Table + (Symbols.at(From) + 1) * COFF::Symbol16Size, Symbols.at(To));
  };
  Make("one", "two");
  Make("two", "three");
  EXPECT_EQ(check(ref(Object), Target), "");
  Make("three", "two");
  expectWithin("weak symbols for one another", check(ref(Object), Target));
  Make("two", "two");
  expectWithin("weak symbols for one another", check(ref(Object), Target));
}

/// LLD follows the addresses without a look at the first of them.
TEST(ObjectCheckMachOTest, HintsForLinkers) {
  constexpr StringLiteral Triple = "arm64-apple-macosx12.0.0";
  std::string Object =
      ref(assembled("_f:\nL1: adrp x0, _g@PAGE\nL2: add x0, x0, _g@PAGEOFF\n"
                    "ret\n.loh AdrpAdd L1, L2",
                    Triple))
          .str();
  EXPECT_EQ(check(Object, Triple), "");
  size_t At = Object.find(std::string("\7\2\0\4", 4));
  ASSERT_NE(At, std::string::npos);
  auto With = [&](size_t Byte, char Value) {
    std::string Changed = Object;
    Changed[At + Byte] = Value;
    return check(Changed, Triple);
  };
  expectWithin("a hint for linkers is for 64", With(2, 64));
  expectWithin("a hint for linkers is for 3", With(3, 3));
  expectWithin("of kind 7 has 1 addresses", With(1, 1));
  expectWithin("of kind 3 has two addresses", With(0, 3));
  expectWithin("of kind 99 has 2 addresses", With(0, 99));
}
