//===- LzoTest.cpp - Compression, and buffers of pages --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lzo.h"
#include "gtest/gtest.h"
#include <cstring>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace dtlto::distcc;
using dtlto::sdk::Buffer;
using Bytes = std::vector<uint8_t>;

static Bytes randomBytes(size_t Size) {
  std::mt19937 Random(1);
  Bytes Result(Size);
  for (uint8_t &B : Result)
    B = uint8_t(Random());
  return Result;
}

static bool same(const Buffer &P, const Bytes &Want) {
  return P.size() == Want.size() &&
         (Want.empty() || !std::memcmp(P.data(), Want.data(), Want.size()));
}

static bool isMapped(const char *Data) {
  unsigned char Resident;
  size_t PageSize = size_t(sysconf(_SC_PAGESIZE));
  auto Page = reinterpret_cast<uintptr_t>(Data) / PageSize * PageSize;
  return mincore(reinterpret_cast<void *>(Page), 1, &Resident) == 0;
}

TEST(LzoTest, RoundTrip) {
  for (size_t Size : {1, 2, 3, 4, 17, 18, 238, 239, 4095, 4096, 4097, 1 << 20})
    for (const Bytes &In :
         {Bytes(Size, 0), Bytes(Size, 'x'), randomBytes(Size)}) {
      Bytes Compressed = lzoCompress(view(In));
      Buffer Out;
      std::string Error;
      // The limit is the exact size.
      ASSERT_TRUE(lzoDecompress(view(Compressed), Size, Out, Error)) << Error;
      EXPECT_TRUE(same(Out, In)) << Size;
      ASSERT_TRUE(lzoDecompress(view(Compressed), 1u << 30, Out, Error))
          << Error;
      EXPECT_TRUE(same(Out, In)) << Size;
    }
}

TEST(LzoTest, Nothing) {
  EXPECT_TRUE(lzoCompress({}).empty());
  Buffer Out("x");
  std::string Error;
  EXPECT_TRUE(lzoDecompress({}, 100, Out, Error));
  EXPECT_EQ(Out.size(), 0u);
  // A stream that has only an end mark.
  EXPECT_TRUE(lzoDecompress(view({0x11, 0, 0}), 0, Out, Error)) << Error;
  EXPECT_EQ(Out.size(), 0u);
}

TEST(LzoTest, HighestRatio) {
  // One byte, then a match that each 0 makes longer.
  Bytes In = {18, 'x'};
  In.push_back(0x20);
  In.insert(In.end(), 10000, 0);
  In.insert(In.end(), {255, 0, 0, 0x11, 0, 0});
  size_t Size = 1 + 2 + 31 + 255 * 10000 + 255;
  Buffer Out;
  std::string Error;
  ASSERT_TRUE(lzoDecompress(view(In), size_t(1) << 30, Out, Error)) << Error;
  EXPECT_TRUE(same(Out, Bytes(Size, 'x'))) << Out.size();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAKES_ADDRESSES
#endif
#endif
#ifndef TAKES_ADDRESSES
namespace {
/// Limits the process to \p Free more bytes of address space.
class FewAddresses {
public:
  explicit FewAddresses(rlim_t Free) {
    getrlimit(RLIMIT_AS, &Before);
    rlim_t Pages = 0;
    std::ifstream("/proc/self/statm") >> Pages;
    rlimit Few = {Pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + Free,
                  Before.rlim_max};
    setrlimit(RLIMIT_AS, &Few);
  }
  ~FewAddresses() { setrlimit(RLIMIT_AS, &Before); }

private:
  rlimit Before;
};
} // namespace

/// Address space is reserved for the largest object, which few objects need.
TEST(LzoTest, FewAddresses) {
  Bytes Plain = randomBytes(9 << 20);
  Bytes In = lzoCompress(view(Plain));
  ASSERT_GT(In.size(), size_t(8) << 20);
  Buffer Out;
  std::string Error;
  {
    FewAddresses Enough(size_t(400) << 20);
    EXPECT_TRUE(lzoDecompress(view(In), size_t(2) << 30, Out, Error)) << Error;
    EXPECT_TRUE(same(Out, Plain));
  }
  FewAddresses TooFew(size_t(64) << 20);
  EXPECT_FALSE(lzoDecompress(view(In), size_t(2) << 30, Out, Error));
  EXPECT_EQ(Error, "no address space for 2048 MiB");
}
#endif

TEST(LzoTest, TooLarge) {
  Bytes In = lzoCompress(view(Bytes(3 << 20, 0)));
  Buffer Out;
  std::string Error;
  EXPECT_TRUE(lzoDecompress(view(In), 3 << 20, Out, Error)) << Error;
  EXPECT_FALSE(lzoDecompress(view(In), (3 << 20) - 1, Out, Error));
  EXPECT_EQ(Error, "becomes larger than 2 MiB");
  EXPECT_EQ(Out.size(), 0u);
  EXPECT_FALSE(lzoDecompress(view(In), 100, Out, Error));
  EXPECT_EQ(Error, "becomes larger than 100 bytes");
}

TEST(LzoTest, Damaged) {
  Bytes In = lzoCompress(view(randomBytes(5000)));
  Buffer Out;
  std::string Error;
  for (size_t Size : {size_t(1), size_t(2), In.size() / 2, In.size() - 1}) {
    EXPECT_FALSE(lzoDecompress(view(In).substr(0, Size), 10000, Out, Error))
        << Size;
    EXPECT_NE(Error.find("damaged LZO data"), std::string::npos) << Error;
  }
  In.push_back(0);
  EXPECT_FALSE(lzoDecompress(view(In), 10000, Out, Error));
  EXPECT_EQ(Error, "damaged LZO data: bytes after its end");
  // A match that begins before the data.
  EXPECT_FALSE(lzoDecompress(view({18, 'x', 0x20, 1, 255, 255, 0x11, 0, 0}),
                             10000, Out, Error));
  EXPECT_NE(Error.find("damaged LZO data"), std::string::npos) << Error;
}

TEST(LzoTest, ManyThreads) {
  std::vector<std::thread> Threads;
  std::vector<int> Ok(4);
  for (int &Result : Ok)
    Threads.emplace_back([&Result] {
      Bytes In = randomBytes(100000);
      Buffer Out;
      std::string Error;
      Result =
          lzoDecompress(view(lzoCompress(view(In))), In.size(), Out, Error) &&
          same(Out, In);
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Ok, std::vector<int>(4, 1));
}

TEST(LzoTest, TakesNoMorePagesThanItNeeds) {
  size_t PageSize = size_t(sysconf(_SC_PAGESIZE));
  Bytes Plain = randomBytes(3 * PageSize + 1);
  Buffer Out;
  std::string Error;
  ASSERT_TRUE(lzoDecompress(view(lzoCompress(view(Plain))), 100 * PageSize, Out,
                            Error));
  ASSERT_TRUE(same(Out, Plain));
  const char *Begin = Out.data();
  EXPECT_TRUE(isMapped(Begin + 3 * PageSize));
  EXPECT_FALSE(isMapped(Begin + 4 * PageSize));
  {
    Buffer Taken = std::move(Out);
    EXPECT_EQ(Out.data(), nullptr);
    EXPECT_EQ(Taken.data(), Begin);
    EXPECT_EQ(Taken.size(), 3 * PageSize + 1);
    EXPECT_TRUE(isMapped(Begin + 3 * PageSize));
  }
  EXPECT_FALSE(isMapped(Begin));
  EXPECT_FALSE(isMapped(Begin + 3 * PageSize));
}
