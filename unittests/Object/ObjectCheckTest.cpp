//===- ObjectCheckTest.cpp - Valid and invalid objects of many kinds ------===//
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

/// Has code, data, an external reference, and a named section as debug info has
/// it.
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

/// Targets that differ in what checkObject() checks: format, machine, width,
/// byte order.
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

/// Returns checkObject()'s error; empty if it accepts the object.
std::string check(StringRef Object, StringRef TheTriple) {
  // The copy lets sanitizers detect a read past the end.
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
  // A plugin may pass a part of what it received.
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
    // Many changes have no effect, and others cause an error; none may crash.
    (void)check(Object, target());
  }
  // Changes in headers matter most.
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
// Everything that code generation emits
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
// Details of each format
//===----------------------------------------------------------------------===//

namespace {

/// A 64-bit ELF object whose fields can be changed.
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
  /// Returns entry \p Index of a section that is a table.
  template <typename T> T &entry(StringRef Section, size_t Index = 0) {
    return at<T>(section(Section).sh_offset + Index * sizeof(T));
  }
  StringRef bytes() const { return ref(Object); }
  std::string check() { return ::check(ref(Object), Triple); }

private:
  Bytes Object;
  std::string Triple;
};

} // namespace

/// Returns the error for an object after \p Change.
template <typename Function> static std::string after(Function Change) {
  ElfFile F(richObjects(ElfFile::Target)[1]);
  EXPECT_EQ(F.check(), "");
  Change(F);
  return F.check();
}

static void expectWithin(const std::string &Part, const std::string &Whole) {
  EXPECT_NE(Whole.find(Part), std::string::npos) << Whole;
}

TEST(ObjectCheckELFTest, Relocations) {
  using Rela = ELF::Elf64_Rela;
  expectWithin("a relocation refers to symbol 10000 of", after([](ElfFile &F) {
                 F.entry<Rela>(".rela.text.f", 1).setSymbol(10000);
               }));
  expectWithin("sh_entsize", after([](ElfFile &F) {
                 F.section(".rela.text.f").sh_entsize = 16;
               }));
  expectWithin("it is damaged (section ", after([](ElfFile &F) {
                 F.section(".rela.text.f").sh_size -= 1;
               }));
}

TEST(ObjectCheckELFTest, Symbols) {
  using Sym = ELF::Elf64_Sym;
  expectWithin("symbol 3: st_name", after([](ElfFile &F) {
                 F.entry<Sym>(".symtab", 3).st_name = 1 << 20;
               }));
  expectWithin("symbol 3: invalid section index: 1000", after([](ElfFile &F) {
                 F.entry<Sym>(".symtab", 3).st_shndx = 1000;
               }));
  expectWithin("symbol 3: ", after([](ElfFile &F) {
                 F.entry<Sym>(".symtab", 3).st_shndx = ELF::SHN_XINDEX;
               }));
}

TEST(ObjectCheckELFTest, Sections) {
  expectWithin("greater than the file size", after([](ElfFile &F) {
                 F.section(".text.f").sh_offset = 1 << 30;
               }));
  expectWithin("section name", after([](ElfFile &F) {
                 F.section(".text.f").sh_name = 1 << 20;
               }));
  expectWithin("null",
               after([](ElfFile &F) { F.section(".strtab").sh_size -= 1; }));
}

/// Returns the integrated assembler's object for \p Text.
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

/// Odd assembly of a program is accepted: the linker judges it.
TEST(ObjectCheckELFTest, OddAssembly) {
  for (const char *Text :
       {// Unterminated strings, and incomplete entries.
        ".section .a,\"aMS\",@progbits,1\n.ascii \"abc\"",
        ".section .b,\"aM\",@progbits,8\n.byte 1,2,3",
        ".section .c,\"aMw\",@progbits,8\n.quad 1",
        ".section .d,\"aMS\",@progbits,1\n.reloc 0, R_X86_64_64, f\n.quad 0",
        // Thread-local variables and their access models.
        ".globl slot\n.type slot,@tls_object\nslot = 8",
        ".text\nlea v@tlsgd(%rip),%rdi\ncall __tls_get_addr@PLT",
        ".text\nmov u@gottpoff(%rip),%eax",
        // Relocations outside of the contents.
        ".section .e,\"aw\"\n.byte 1\n.reloc .e+50, R_X86_64_NONE, far",
        ".section .f,\"aw\"\n.quad 0\n.reloc 7, R_X86_64_64, far",
        // Handwritten unwind tables, notes, groups and debug information.
        ".section .eh_frame,\"a\",@unwind\n.long 5\n.byte 1,2,3",
        ".section .eh_frame,\"a\",@unwind\n.long 100000",
        ".section .note.gnu.property,\"a\",@note\n.long 4, 1000, 5",
        ".section .g,\"axG\",@progbits,one,comdat\nnop\n"
        ".section .note.gnu.build-id,\"aG\",@note,one,comdat\n.quad one",
        ".section .debug_info,\"\",@progbits\n.long -1\n"
        ".section .debug_abbrev,\"\",@progbits\n.byte 1\n"
        ".section .debug_line,\"\",@progbits\n.byte 7",
        ".section .llvm_addrsig,\"e\",@0x6fff4c03\n.byte 255",
        ".section .h,\"ao\",@progbits,.text\n.byte 1",
        ".section .i,\"a\",@0x12345678\n.byte 1",
        ".symver f, f@V1\n.globl f\nf:", ".weakref f, g\ncall f",
        ".set a, b+5\n.globl a\n.quad a", ".lcomm x, 8\n.comm y, 8, 8"})
    EXPECT_EQ(check(ref(assembled(Text, ElfFile::Target)), ElfFile::Target), "")
        << Text;
}

TEST(ObjectCheckCOFFTest, OddAssembly) {
  for (const char *Text :
       {".section .drectve,\"yn\"\n.ascii \" /include:\"",
        ".section .debug$S,\"dr\"\n.long 4, 5", ".section .debug$T,\"dr\"",
        ".globl _tls_used\n_tls_used = 5", ".weak _tls_used\n.long _tls_used",
        ".section .x,\"dr\",discard,one\n.globl one\none: .byte 1",
        ".weak one\n.weak two\none = two"})
    EXPECT_EQ(check(ref(assembled(Text, "x86_64-pc-windows-msvc")),
                    "x86_64-pc-windows-msvc"),
              "")
        << Text;
}

TEST(ObjectCheckMachOTest, OddAssembly) {
  for (const char *Text :
       {".section __TEXT,__cstring,cstring_literals\n.ascii \"abc\"",
        ".section __TEXT,__literal8,8byte_literals\n.byte 1",
        ".section __LD,__compact_unwind,regular,debug\n.byte 1",
        ".section __TEXT,__eh_frame\n.long 100000",
        "_f:\nL1: ret\nL2: ret\n.loh AdrpAdd L1, L2",
        ".section __DWARF,__debug_info,regular,debug\n.long -1",
        ".zerofill __DATA,__bss,_z,8,3", ".comm _y, 8, 3"})
    EXPECT_EQ(check(ref(assembled(Text, "arm64-apple-macosx12.0.0")),
                    "arm64-apple-macosx12.0.0"),
              "")
        << Text;
}

/// The header's flags name the processor, or none.
TEST(ObjectCheckELFTest, GraphicsProcessors) {
  for (const char *CPU : {"", "gfx906"}) {
    Bytes Object = compileObject("define void @f() { ret void }",
                                 "amdgcn-amd-amdhsa", TargetOptions(), CPU);
    EXPECT_EQ(check(ref(Object), "amdgcn-amd-amdhsa"), "") << CPU;
    EXPECT_NE(check(ref(Object), ElfFile::Target), "") << CPU;
  }
}

/// A compiler's object may be as odd as its program, but must have one target.
TEST(ObjectCheckTest, OfACompiler) {
  Bytes Object = richObjects(ElfFile::Target)[1];
  ElfFile F(Object);
  F.section(".rela.text.f").sh_entsize = 16;
  auto Check = [&](StringRef Bytes, StringRef Target) {
    return toString(checkObject(Bytes, Triple(Target), Origin::Compiler));
  };
  EXPECT_NE(F.check(), "");
  EXPECT_EQ(Check(F.bytes(), ElfFile::Target), "");
  EXPECT_NE(Check(F.bytes(), "aarch64-unknown-linux-gnu"), "");
  EXPECT_NE(Check(F.bytes(), "x86_64-pc-windows-msvc"), "");
  EXPECT_NE(Check(ref(plainBitcode(IR)), ElfFile::Target), "");
  EXPECT_NE(Check("", ElfFile::Target), "");
  EXPECT_NE(Check("no object", ElfFile::Target), "");
}

TEST(ObjectCheckCOFFTest, Relocations) {
  StringRef Target = "x86_64-pc-windows-msvc";
  Bytes Object = objectFor(Target);
  auto *Sections =
      reinterpret_cast<COFF::section *>(Object.data() + COFF::Header16Size);
  ASSERT_NE(Sections[0].NumberOfRelocations, 0u);
  char *R = Object.data() + Sections[0].PointerToRelocations;
  uint32_t Old = support::endian::read32le(R + 4);
  support::endian::write32le(R + 4, 100000);
  expectWithin("a relocation refers to symbol 100000",
               check(ref(Object), Target));
  support::endian::write32le(R + 4, Old);
  EXPECT_EQ(check(ref(Object), Target), "");
  Sections[0].NumberOfRelocations = 0xffff;
  EXPECT_NE(check(ref(Object), Target).find("outside of the file"),
            std::string::npos);
  Sections[0].NumberOfRelocations = 0;
  // A symbol's auxiliary records extend past the table's end.
  char *Symbols = Object.data() + support::endian::read32le(Object.data() + 8);
  Symbols[COFF::Symbol16Size - 1] = char(0xff);
  EXPECT_NE(check(ref(Object), Target).find("auxiliary records"),
            std::string::npos);
}

TEST(ObjectCheckCOFFTest, SymbolTableBeyond32Bits) {
  // The table's size is the same modulo 2^32, so LLVM finds no error.
  StringRef Target = "x86_64-pc-windows-msvc";
  Bytes Object = objectFor(Target);
  char *NumSymbols = Object.data() + 12;
  uint32_t Old = support::endian::read32le(NumSymbols);
  support::endian::write32le(NumSymbols, Old + (uint32_t(1) << 31));
  EXPECT_NE(check(ref(Object), Target).find("symbol table is outside"),
            std::string::npos)
      << check(ref(Object), Target);
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
  uint32_t Old = support::endian::read32le(R + 4);
  support::endian::write32le(R + 4, Old | 0xffff | 1 << 27); // external
  expectWithin("a relocation refers to symbol", check(ref(Object), Target));
  support::endian::write32le(R + 4, Old);
  EXPECT_EQ(check(ref(Object), Target), "");
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
  // A magic number and a version: a valid module, but not a relocatable one.
  EXPECT_NE(check(StringRef("\0asm\1\0\0\0", 8), "wasm32-unknown-unknown"), "");
}

TEST(ObjectCheckWasmTest, TablesThatEndTooEarly) {
  StringRef Target = "wasm32-unknown-unknown";
  // The section keeps its size, but claims to have more entries.
  for (StringRef Name : {"linking", "reloc.CODE"}) {
    std::string Object = ref(objectFor(Target)).str();
    size_t At = Object.find(Name.str());
    ASSERT_NE(At, std::string::npos) << Name.str();
    At += Name.size();
    // Skip what precedes the count. Symbols: a version, a type and a size of
    // five bytes. Relocations: a section's number.
    At += Name == "linking" ? 7 : 1;
    Object[At] = 0x7f;
    EXPECT_NE(check(Object, Target).find("it is damaged"), std::string::npos)
        << check(Object, Target);
  }
}

TEST(ObjectCheckTest, ThumbIsArm) {
  // ARM and Thumb code are in objects of the same machine.
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
