//===- EventsTest.cpp - A queue between threads ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/SessionEvents.h"
#include "gtest/gtest.h"
#include <map>
#include <thread>
#include <vector>

using namespace dtlto;

namespace {

constexpr auto Long = std::chrono::seconds(60);

Event makeEvent(uint64_t Job, int32_t Status = 0) {
  Event E{Event::State};
  E.Job = Job;
  E.Status = Status;
  return E;
}

} // namespace

TEST(EventsTest, NothingComes) {
  EventQueue Queue;
  EXPECT_TRUE(Queue.popAll(Clock::now()).empty());
  EXPECT_TRUE(Queue.popAll(Clock::now() - Long).empty());
  EXPECT_TRUE(
      Queue.popAll(Clock::now() + std::chrono::milliseconds(5)).empty());
}

TEST(EventsTest, AllInOrder) {
  EventQueue Queue;
  for (uint64_t I = 1; I != 10; ++I)
    Queue.push(makeEvent(I));
  std::deque<Event> Events = Queue.popAll(Clock::now());
  ASSERT_EQ(Events.size(), 9u);
  for (uint64_t I = 1; I != 10; ++I)
    EXPECT_EQ(Events[I - 1].Job, I);
  EXPECT_TRUE(Queue.popAll(Clock::now()).empty());
}

TEST(EventsTest, WhatIsThereIsTakenAfterTheDeadline) {
  EventQueue Queue;
  Queue.push(makeEvent(1));
  EXPECT_EQ(Queue.popAll(Clock::now() - Long).size(), 1u);
}

TEST(EventsTest, WaitsForTheFirst) {
  EventQueue Queue;
  std::thread Other([&] { Queue.push(makeEvent(7)); });
  std::deque<Event> Events = Queue.popAll(Clock::now() + Long);
  Other.join();
  ASSERT_EQ(Events.size(), 1u);
  EXPECT_EQ(Events[0].Job, 7u);
}

TEST(EventsTest, ManyThreads) {
  constexpr int NumThreads = 4, NumEvents = 2000;
  EventQueue Queue;
  std::vector<std::thread> Threads;
  for (int T = 0; T != NumThreads; ++T)
    Threads.emplace_back([&Queue, T] {
      for (int I = 0; I != NumEvents; ++I)
        Queue.push(makeEvent(T, I));
    });
  std::map<uint64_t, int32_t> Next;
  int NumSeen = 0;
  while (NumSeen != NumThreads * NumEvents) {
    std::deque<Event> Events = Queue.popAll(Clock::now() + Long);
    ASSERT_FALSE(Events.empty());
    for (Event &E : Events) {
      ++NumSeen;
      ASSERT_EQ(E.Status, Next[E.Job]++); // each thread's in its order
    }
  }
  for (std::thread &T : Threads)
    T.join();
  EXPECT_TRUE(Queue.popAll(Clock::now()).empty());
}

TEST(EventsTest, ObjectsOfEventsThatNobodyTookAreReleased) {
  static unsigned NumReleases;
  NumReleases = 0;
  {
    EventQueue Queue;
    Event E = makeEvent(1);
    E.Object = Buffer(
        dtlto_buffer{"x", 1, nullptr,
                     [](void *, const void *, uint64_t) { ++NumReleases; }});
    Queue.push(std::move(E));
    EXPECT_EQ(NumReleases, 0u);
  }
  EXPECT_EQ(NumReleases, 1u);
}
