//===- BufferTest.cpp - Buffers are released once -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Buffer.h"
#include "gtest/gtest.h"
#include <thread>
#include <type_traits>

using namespace llvm;
using namespace dtlto;

namespace {

/// Counts releases, and checks that each passes the right address and size.
struct Owner {
  unsigned NumReleases = 0;
  bool Right = true;
  std::string Data = "some bytes";
  std::thread::id Thread;

  Buffer make() {
    return Buffer(dtlto_buffer{Data.data(), Data.size(), this,
                               [](void *Raw, const void *Data, uint64_t Size) {
                                 auto *O = static_cast<Owner *>(Raw);
                                 ++O->NumReleases;
                                 O->Right &= Data == O->Data.data() &&
                                             Size == O->Data.size();
                                 O->Thread = std::this_thread::get_id();
                               }});
  }
};

static_assert(!std::is_copy_constructible_v<Buffer>, "two owners");
static_assert(!std::is_copy_assignable_v<Buffer>, "two owners");

} // namespace

TEST(BufferTest, Empty) {
  Buffer B;
  EXPECT_TRUE(B.bytes().empty());
  B.reset();
  EXPECT_EQ(B.take().release, nullptr);
}

TEST(BufferTest, ReleasedOnceAtTheEnd) {
  Owner O;
  {
    Buffer B = O.make();
    EXPECT_EQ(B.bytes(), "some bytes");
    EXPECT_EQ(B.bytes().data(), O.Data.data()); // in place
    EXPECT_EQ(O.NumReleases, 0u);
  }
  EXPECT_EQ(O.NumReleases, 1u);
  EXPECT_TRUE(O.Right);
}

TEST(BufferTest, ResetReleases) {
  Owner O;
  Buffer B = O.make();
  B.reset();
  EXPECT_EQ(O.NumReleases, 1u);
  EXPECT_TRUE(B.bytes().empty());
  B.reset();
  EXPECT_EQ(O.NumReleases, 1u);
}

TEST(BufferTest, MovingKeepsOneOwner) {
  Owner O;
  {
    Buffer A = O.make();
    Buffer B = std::move(A);
    EXPECT_TRUE(A.bytes().empty());
    EXPECT_EQ(B.bytes(), "some bytes");
    Buffer C;
    C = std::move(B);
    EXPECT_TRUE(B.bytes().empty());
    EXPECT_EQ(O.NumReleases, 0u);
  }
  EXPECT_EQ(O.NumReleases, 1u);
}

TEST(BufferTest, AssignmentReleasesWhatWasThere) {
  Owner Old, New;
  Buffer B = Old.make();
  B = New.make();
  EXPECT_EQ(Old.NumReleases, 1u);
  EXPECT_EQ(New.NumReleases, 0u);
}

TEST(BufferTest, AssignmentToItself) {
  Owner O;
  Buffer B = O.make();
  Buffer &Same = B;
  B = std::move(Same);
  EXPECT_EQ(O.NumReleases, 0u);
  EXPECT_EQ(B.bytes(), "some bytes");
}

TEST(BufferTest, TakenBuffersAreTheCallers) {
  Owner O;
  dtlto_buffer Raw;
  {
    Buffer B = O.make();
    Raw = B.take();
    EXPECT_TRUE(B.bytes().empty());
  }
  EXPECT_EQ(O.NumReleases, 0u);
  EXPECT_EQ(Raw.data, O.Data.data());
  Raw.release(Raw.owner, Raw.data, Raw.size);
  EXPECT_TRUE(O.Right);
}

TEST(BufferTest, NothingToRelease) {
  // A null `release` is allowed, for constant memory.
  Buffer B(dtlto_buffer{"constant", 8, nullptr, nullptr});
  EXPECT_EQ(B.bytes(), "constant");
  B.reset();
}

TEST(BufferTest, ReleasedWithoutData) {
  // An owner may have to clean up even if there are no bytes.
  static unsigned NumReleases;
  NumReleases = 0;
  {
    Buffer B(
        dtlto_buffer{nullptr, 17, nullptr,
                     [](void *, const void *, uint64_t) { ++NumReleases; }});
    EXPECT_TRUE(B.bytes().empty());
  }
  EXPECT_EQ(NumReleases, 1u);
}

TEST(BufferTest, OfOurOwn) {
  StringRef Text = "our own";
  Buffer B = Buffer::own(SmallVector<char, 0>(Text.begin(), Text.end()));
  EXPECT_EQ(B.bytes(), Text);
  dtlto_buffer Raw = B.take();
  // Released through the ABI, as by a plugin.
  Raw.release(Raw.owner, Raw.data, Raw.size);
  EXPECT_TRUE(Buffer::own(SmallVector<char, 0>()).bytes().empty());
}

TEST(BufferTest, AnyThread) {
  Owner O;
  Buffer B = O.make();
  std::thread Other([Moved = std::move(B)]() mutable { Moved.reset(); });
  std::thread::id Id = Other.get_id();
  Other.join();
  EXPECT_EQ(O.NumReleases, 1u);
  EXPECT_EQ(O.Thread, Id);
}
