//===- PackCacheTest.cpp - Each module is compressed once -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lzo.h"
#include "Request.h"
#include "gtest/gtest.h"
#include <random>
#include <set>
#include <thread>

using namespace dtlto::distcc;

static dtlto_input input(const std::string &Bytes,
                         uint32_t Role = DTLTO_ROLE_IMPORT) {
  dtlto_input I = {};
  I.size = sizeof(I);
  I.role = Role;
  I.path = "m";
  I.bytes = {Bytes.data(), Bytes.size()};
  return I;
}

/// Returns incompressible bytes.
static std::string noise(size_t Size, unsigned Seed) {
  std::string Bytes(Size, '\0');
  std::minstd_rand Random(Seed + 1);
  for (char &C : Bytes)
    C = static_cast<char>(Random() >> 8);
  return Bytes;
}

static std::string unpacked(const PackedBytes &P) {
  dtlto::sdk::Buffer Plain;
  std::string Error;
  EXPECT_TRUE(lzoDecompress(view(*P), 1 << 30, Plain, Error)) << Error;
  return std::string(Plain.data(), Plain.data() + Plain.size());
}

TEST(PackCacheTest, Once) {
  dtlto::ByteCache Cache(1 << 20);
  std::string A = noise(1000, 1), B = A;
  PackedBytes First = pack(Cache, input(A));
  EXPECT_EQ(unpacked(First), A);
  EXPECT_EQ(pack(Cache, input(A)), First);
  // Another address counts as other contents.
  EXPECT_NE(pack(Cache, input(B)), First);
}

TEST(PackCacheTest, WhatOneJobReadsIsNotKept) {
  dtlto::ByteCache Cache(1 << 20);
  std::string A = noise(1000, 1);
  for (uint32_t Role :
       {DTLTO_ROLE_PRIMARY, DTLTO_ROLE_INDEX, DTLTO_ROLE_OTHER}) {
    PackedBytes First = pack(Cache, input(A, Role));
    A[0] ^= 1; // another job's input at the same address
    EXPECT_EQ(unpacked(pack(Cache, input(A, Role))), A);
    EXPECT_NE(unpacked(First), A);
  }
}

TEST(PackCacheTest, Empty) {
  dtlto::ByteCache Cache(1000);
  std::string Empty;
  EXPECT_TRUE(pack(Cache, input(Empty))->empty());
  EXPECT_TRUE(pack(Cache, input(Empty))->empty());
}

TEST(PackCacheTest, LeastRecentlyUsedGoesFirst) {
  std::string M[4];
  for (unsigned I = 0; I != 4; ++I)
    M[I] = noise(1000, I);
  dtlto::ByteCache Cache(3500); // room for three
  std::weak_ptr<const std::vector<uint8_t>> Kept[4];
  for (unsigned I = 0; I != 3; ++I)
    Kept[I] = pack(Cache, input(M[I]));
  pack(Cache, input(M[0]));
  Kept[3] = pack(Cache, input(M[3]));
  EXPECT_FALSE(Kept[0].expired());
  EXPECT_TRUE(Kept[1].expired());
  EXPECT_FALSE(Kept[2].expired());
  EXPECT_FALSE(Kept[3].expired());
  // It can be packed again.
  EXPECT_EQ(unpacked(pack(Cache, input(M[1]))), M[1]);
  EXPECT_TRUE(Kept[2].expired());
}

TEST(PackCacheTest, LargerThanAll) {
  dtlto::ByteCache Cache(1000);
  std::string Large = noise(5000, 1), Small = noise(500, 2);
  std::weak_ptr<const std::vector<uint8_t>> Kept;
  {
    PackedBytes P = pack(Cache, input(Large));
    Kept = P;
    EXPECT_EQ(unpacked(P), Large); // a job still holds it
  }
  EXPECT_TRUE(Kept.expired());
  // There is room for others again.
  Kept = pack(Cache, input(Small));
  EXPECT_FALSE(Kept.expired());
}

TEST(PackCacheTest, ManyThreads) {
  constexpr unsigned NumModules = 20, NumThreads = 8;
  std::vector<std::string> Modules;
  for (unsigned I = 0; I != NumModules; ++I)
    Modules.push_back(noise(20000, I));
  dtlto::ByteCache Cache(1 << 20); // room for all
  std::vector<std::vector<PackedBytes>> Results(NumThreads);
  std::vector<std::thread> Threads;
  for (std::vector<PackedBytes> &OwnResults : Results)
    Threads.emplace_back([&] {
      for (const std::string &M : Modules)
        OwnResults.push_back(pack(Cache, input(M)));
    });
  for (std::thread &T : Threads)
    T.join();
  for (unsigned I = 0; I != NumModules; ++I) {
    EXPECT_EQ(unpacked(Results[0][I]), Modules[I]);
    // All threads got the same: each module was compressed once.
    for (const std::vector<PackedBytes> &OwnResults : Results)
      EXPECT_EQ(OwnResults[I], Results[0][I]);
  }
}

TEST(PackCacheTest, ManyThreadsWithLittleRoom) {
  constexpr unsigned NumModules = 20, NumThreads = 8;
  std::vector<std::string> Modules;
  for (unsigned I = 0; I != NumModules; ++I)
    Modules.push_back(noise(3000, I));
  dtlto::ByteCache Cache(10000);
  std::vector<std::weak_ptr<const std::vector<uint8_t>>>
      PackedModules[NumThreads];
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T != NumThreads; ++T)
    Threads.emplace_back([&, T] {
      for (unsigned I = 0; I != 100; ++I) {
        const std::string &M = Modules[I * (T + 1) % NumModules];
        PackedBytes P = pack(Cache, input(M));
        EXPECT_EQ(unpacked(P), M);
        PackedModules[T].push_back(P);
      }
    });
  for (std::thread &T : Threads)
    T.join();
  std::set<const void *> Alive;
  uint64_t Bytes = 0;
  for (auto &List : PackedModules)
    for (auto &Weak : List)
      if (PackedBytes P = Weak.lock(); P && Alive.insert(P.get()).second)
        Bytes += P->size();
  EXPECT_LE(Bytes, 10000u);
  EXPECT_GT(Bytes, 5000u);
}
