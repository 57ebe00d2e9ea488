//===- BundlePiecesTest.cpp - Where a bundle's inputs lie -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundlePieces.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <cstring>
#include <string>

using namespace dtlto::icecc;

namespace {

class BundlePiecesTest : public testing::Test {
protected:
  /// Adds a file to the bundle.
  void add(const std::string &Bytes, char Type = '0') {
    std::string Header(512, '\0');
    std::snprintf(&Header[124], 12, "%011o",
                  static_cast<unsigned>(Bytes.size()));
    Header[156] = Type;
    Bundle += Header + Bytes;
    Bundle.resize((Bundle.size() + 511) / 512 * 512);
  }

  /// Adds an input to the job.
  void input(const std::string &Bytes, uint32_t Role = DTLTO_ROLE_IMPORT) {
    dtlto_input In = {};
    In.role = Role;
    In.bytes = {Bytes.data(), Bytes.size()};
    Inputs.push_back(In);
  }

  std::vector<BundlePiece> cut() {
    std::vector<const dtlto_input *> Pointers;
    for (const dtlto_input &In : Inputs)
      Pointers.push_back(&In);
    dtlto_job Job = {};
    Job.inputs = Pointers.data();
    Job.num_inputs = static_cast<uint32_t>(Pointers.size());
    std::vector<BundlePiece> Pieces =
        bundlePieces(Bundle.data(), Bundle.size(), Job);
    // Whatever is cut: nothing is lost, and nothing sent twice.
    std::string All;
    for (const BundlePiece &P : Pieces) {
      EXPECT_NE(P.Size, 0u);
      All.append(P.Data, P.Size);
    }
    EXPECT_EQ(All, Bundle);
    return Pieces;
  }

  /// Of the pieces that many jobs have, the bytes and the address.
  void expectKept(const std::vector<const std::string *> &Wanted) {
    std::vector<const std::string *> Left = Wanted;
    for (const BundlePiece &P : cut()) {
      if (!P.Content)
        continue;
      ASSERT_FALSE(Left.empty());
      EXPECT_EQ(P.Content, Left.front()->data());
      EXPECT_EQ(std::string(P.Data, P.Size), *Left.front());
      Left.erase(Left.begin());
    }
    EXPECT_TRUE(Left.empty());
  }

  const std::string Manifest = "{}", Primary = std::string(40000, 'p'),
                    A = std::string(20000, 'a'), B = std::string(50001, 'b'),
                    Small = "small", Index = std::string(30000, 'i');
  std::string Bundle;
  std::vector<dtlto_input> Inputs;
};

TEST_F(BundlePiecesTest, ImportsAreCutOut) {
  for (const std::string *File : {&Manifest, &Primary, &A, &Small, &B, &Index})
    add(*File);
  Bundle += std::string(1024, '\0');
  input(Primary, DTLTO_ROLE_PRIMARY);
  input(A);
  input(Small);
  input(B);
  input(Index, DTLTO_ROLE_INDEX);
  expectKept({&A, &B});
}

TEST_F(BundlePiecesTest, LongNamesArePassedOver) {
  add(Manifest);
  add("30 path=a long name\n", 'x');
  add(A);
  input(A);
  expectKept({&A});
}

TEST_F(BundlePiecesTest, NothingIsCutFromAnInputOfAnotherSizeOn) {
  for (const std::string *File : {&Manifest, &A, &Primary, &B})
    add(*File);
  input(A);
  input(A);
  input(B);
  expectKept({&A});
}

TEST_F(BundlePiecesTest, MoreFilesThanInputs) {
  for (const std::string *File : {&Manifest, &A, &B})
    add(*File);
  input(A);
  expectKept({&A});
}

TEST_F(BundlePiecesTest, ASizeThatIsNoNumber) {
  for (const std::string *File : {&Manifest, &A, &B})
    add(*File);
  input(A);
  input(B);
  Bundle[512 * 2 + 124] = 'x';
  expectKept({});
}

TEST_F(BundlePiecesTest, EachCutLength) {
  for (const std::string *File : {&Manifest, &A, &B})
    add(*File);
  input(A);
  input(B);
  const std::string Whole = Bundle;
  for (size_t Size = 0; Size < Whole.size(); Size += 97) {
    Bundle.assign(Whole, 0, Size);
    Bundle.shrink_to_fit(); // for the address sanitizer
    cut();
  }
}

TEST_F(BundlePiecesTest, SizesThatAreTooLarge) {
  add(Manifest);
  add(A);
  std::memcpy(&Bundle[512 * 2 + 124], "77777777777", 11);
  input(A);
  expectKept({});
}

} // namespace
