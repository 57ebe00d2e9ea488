//===- ObjectCheckTest.cpp - Objects of many kinds, and what is none ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectCheck.h"
#include "Modules.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/Endian.h"
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

class ObjectCheckTest : public testing::TestWithParam<const char *> {
protected:
  StringRef target() { return GetParam(); }
  StringRef object() { return ref(objectFor(target())); }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, ObjectCheckTest, testing::ValuesIn(Triples),
                         [](const auto &Info) {
                           std::string Name = Info.param;
                           for (char &C : Name)
                             if (!isalnum(static_cast<unsigned char>(C)))
                               C = '_';
                           return Name;
                         });

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
// One kind of its own each
//===----------------------------------------------------------------------===//

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
