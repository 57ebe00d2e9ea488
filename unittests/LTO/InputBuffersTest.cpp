//===- InputBuffersTest.cpp - The file that contains a module -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/InputBuffers.h"
#include "Modules.h"
#include "TempFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <atomic>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

constexpr StringLiteral IR = "define i32 @f() {\n  ret i32 0\n}\n";

/// Returns the only module of \p File. It refers to the memory of \p File.
BitcodeModule moduleOf(StringRef File) {
  std::vector<BitcodeModule> Modules =
      must(getBitcodeModuleList(MemoryBufferRef(File, "file")));
  EXPECT_EQ(Modules.size(), 1u);
  return Modules.front();
}

} // namespace

TEST(InputBuffersTest, Unknown) {
  Bytes File = thinBitcode(IR);
  InputBuffers Inputs;
  EXPECT_FALSE(Inputs.find(moduleOf(ref(File))));
}

TEST(InputBuffersTest, TheWholeFileInPlace) {
  Bytes File = thinBitcode(IR);
  InputBuffers Inputs;
  Inputs.add({ref(File), "a.o"}, "x86_64-pc-linux-gnu");
  auto Found = Inputs.find(moduleOf(ref(File)));
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Bytes.data(), File.data());
  EXPECT_EQ(Found->Bytes.size(), File.size());
  EXPECT_EQ(Found->Triple, "x86_64-pc-linux-gnu");
  // LLVM's slice is smaller than the file: it lacks the string table.
  EXPECT_LT(moduleOf(ref(File)).getBuffer().size(), File.size());
}

TEST(InputBuffersTest, TheTripleIsCopied) {
  Bytes File = thinBitcode(IR);
  InputBuffers Inputs;
  {
    std::string Triple = "aarch64-unknown-linux-gnu";
    Inputs.add({ref(File), "a.o"}, Triple);
    Triple.assign(Triple.size(), 'x');
  }
  EXPECT_EQ(Inputs.find(moduleOf(ref(File)))->Triple,
            "aarch64-unknown-linux-gnu");
}

TEST(InputBuffersTest, MembersOfAnArchive) {
  // Members follow each other in one mapping, with other bytes in between.
  Bytes File = thinBitcode(IR);
  std::string Archive = "!<arch>\n";
  std::vector<std::pair<size_t, size_t>> Members;
  for (unsigned I = 0; I != 5; ++I) {
    Archive += std::string(60, ' ');
    Members.emplace_back(Archive.size(), File.size());
    Archive += ref(File);
  }
  InputBuffers Inputs;
  // In any order.
  for (unsigned I : {3, 0, 4, 1}) {
    auto [Offset, Size] = Members[I];
    Inputs.add({StringRef(Archive).substr(Offset, Size), "member"},
               "triple" + std::to_string(I));
  }
  for (unsigned I : {0, 1, 3, 4}) {
    auto [Offset, Size] = Members[I];
    StringRef Member = StringRef(Archive).substr(Offset, Size);
    auto Found = Inputs.find(moduleOf(Member));
    ASSERT_TRUE(Found) << I;
    EXPECT_EQ(Found->Bytes.data(), Member.data());
    EXPECT_EQ(Found->Bytes.size(), Member.size());
    EXPECT_EQ(Found->Triple, "triple" + std::to_string(I));
  }
  // This member wasn't added, and isn't mistaken for the one before it.
  auto [Offset, Size] = Members[2];
  EXPECT_FALSE(Inputs.find(moduleOf(StringRef(Archive).substr(Offset, Size))));
}

TEST(InputBuffersTest, ReadTwice) {
  Bytes File = thinBitcode(IR);
  InputBuffers Inputs;
  Inputs.add({ref(File), "a.o"}, "one");
  Inputs.add({ref(File), "a.o"}, "one");
  auto Found = Inputs.find(moduleOf(ref(File)));
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Bytes.size(), File.size());
}

TEST(InputBuffersTest, FilesWithTwoModules) {
  // As in split LTO units.
  LLVMContext Context;
  Bytes File;
  BitcodeWriter Writer(File);
  for (const char *Name : {"one", "two"})
    Writer.writeModule(Module(Name, Context));
  Writer.writeStrtab();
  StringRef AllBytes = ref(File);
  std::vector<BitcodeModule> Modules =
      must(getBitcodeModuleList(MemoryBufferRef(AllBytes, "both")));
  ASSERT_EQ(Modules.size(), 2u);
  InputBuffers Inputs;
  Inputs.add({AllBytes, "both"}, "one");
  for (const BitcodeModule &M : Modules) {
    auto Found = Inputs.find(M);
    ASSERT_TRUE(Found);
    EXPECT_EQ(Found->Bytes.data(), AllBytes.data());
    EXPECT_EQ(Found->Bytes.size(), AllBytes.size());
  }
}

#ifdef __linux__
/// Returns the resident KiB of the mapping that contains \p At.
static unsigned residentAt(const char *At) {
  std::string Text =
      must(errorOrToExpected(MemoryBuffer::getFileAsStream("/proc/self/smaps")))
          ->getBuffer()
          .str();
  bool IsInMapping = false;
  for (StringRef Line : split(Text, '\n')) {
    uintptr_t Begin, End;
    StringRef Rest = Line;
    if (!Rest.consumeInteger(16, Begin) && Rest.consume_front("-") &&
        !Rest.consumeInteger(16, End))
      IsInMapping = Begin <= uintptr_t(At) && uintptr_t(At) < End;
    unsigned KiB;
    if (IsInMapping && Line.consume_front("Rss:") &&
        !Line.ltrim().consumeInteger(10, KiB))
      return KiB;
  }
  ADD_FAILURE() << "not mapped";
  return 0;
}

TEST(InputBuffersTest, DropsWhatCanBeReadAgain) {
  TempFolder Folder;
  std::string Content(1 << 20, 'a');
  Folder.write("read", Content);
  Folder.write("written", Content);
  // A mapped file, a mapped file that was changed in memory, and heap memory.
  auto Read = must(errorOrToExpected(MemoryBuffer::getFile(
      Folder.path("read"), false, /*RequiresNullTerminator=*/false)));
  auto Changed = must(
      errorOrToExpected(WritableMemoryBuffer::getFile(Folder.path("written"))));
  std::fill(Changed->getBufferStart(), Changed->getBufferEnd(), 'b');
  StringRef ChangedBytes(Changed->getBufferStart(), Changed->getBufferSize());
  std::string Heap(1 << 20, 'c');

  InputBuffers Inputs;
  StringRef Bytes = Read->getBuffer();
  // Small members of an archive, several per page.
  for (size_t At = 0; At != Bytes.size(); At += 1024)
    Inputs.add({Bytes.substr(At, 1000), "member"}, "");
  Inputs.add({ChangedBytes, "changed"}, "");
  Inputs.add({Heap, "heap"}, "");
  EXPECT_EQ(Bytes, Content);
  EXPECT_GE(residentAt(Bytes.data() + 8192), 1024u);
  Inputs.drop();
  EXPECT_LE(residentAt(Bytes.data() + 8192), 16u);
  EXPECT_EQ(Bytes, Content);
  EXPECT_EQ(ChangedBytes, std::string(1 << 20, 'b'));
  EXPECT_EQ(Heap, std::string(1 << 20, 'c'));
}
#endif

TEST(InputBuffersTest, AnyThread) {
  constexpr unsigned NumThreads = 4, NumFiles = 16;
  std::vector<Bytes> Files;
  for (unsigned I = 0; I != NumThreads * NumFiles; ++I)
    Files.push_back(plainBitcode(IR));
  InputBuffers Inputs;
  std::vector<std::thread> Threads;
  std::atomic<unsigned> NumFound{0};
  for (unsigned T = 0; T != NumThreads; ++T)
    Threads.emplace_back([&, T] {
      for (unsigned I = 0; I != NumFiles; ++I) {
        StringRef File = ref(Files[T * NumFiles + I]);
        Inputs.add({File, "file"}, "triple");
        auto Found = Inputs.find(moduleOf(File));
        NumFound += Found && Found->Bytes.data() == File.data();
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(NumFound, NumThreads * NumFiles);
}
