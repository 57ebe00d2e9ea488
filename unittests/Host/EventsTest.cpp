//===- EventsTest.cpp - The event queue between threads -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/SessionEvents.h"
#include "gtest/gtest.h"
#include <atomic>
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

TEST(EventsTest, NewsOfTheLoadIsOnce) {
  EventQueue Queue;
  for (unsigned I = 0; I != 10; ++I)
    Queue.push(Event{Event::LoadChanged});
  Queue.push(makeEvent(1));
  Queue.push(Event{Event::LoadChanged});
  EXPECT_EQ(Queue.popAll(Clock::now()).size(), 3u);
  Queue.push(Event{Event::LoadChanged});
  EXPECT_EQ(Queue.popAll(Clock::now()).size(), 1u);
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

namespace {

/// Tests with a thread that waits patiently.
class PatientTest : public testing::Test {
protected:
  PatientTest() {
    WakeUpPolicy P;
    P.DefersUpdates = true;
    P.NumResults = 1;
    P.Limit = Long;
    Waiter = std::thread([this, P] {
      while (!Ended)
        Queue.popAll(Clock::now() + Long, P);
    });
    // Once an event doesn't wake the thread, the thread is waiting.
    while (add(Event::Submitted, false, DTLTO_OK))
      std::this_thread::yield();
  }
  ~PatientTest() override {
    Ended = true;
    Queue.push(Event{Event::Violation});
    Waiter.join();
  }

  /// Returns whether that wakes the thread.
  bool add(Event::KindTy Kind, bool RanLocally, int32_t Status) {
    Event E{Kind};
    E.RanLocally = RanLocally;
    E.Status = Status;
    bool Wakes = Queue.add(std::move(E));
    if (Wakes)
      Queue.wake();
    return Wakes;
  }

  EventQueue Queue;
  std::atomic<bool> Ended = false;
  std::thread Waiter;
};

} // namespace

TEST_F(PatientTest, WhatCanWait) {
  EXPECT_FALSE(add(Event::State, true, DTLTO_STATE_LOCAL));
  EXPECT_FALSE(add(Event::Done, true, DTLTO_OK));
  EXPECT_TRUE(add(Event::Done, true, DTLTO_OK)); // One event too many.
}

TEST_F(PatientTest, NotThatItIsBusy) {
  EXPECT_TRUE(add(Event::Submitted, false, DTLTO_BUSY));
}

TEST_F(PatientTest, NorNewsFromElsewhere) {
  EXPECT_TRUE(add(Event::State, false, DTLTO_STATE_RUNNING));
}

TEST_F(PatientTest, NorResultsFromThere) {
  EXPECT_TRUE(add(Event::Done, false, DTLTO_OK));
}

TEST_F(PatientTest, NorErrors) {
  EXPECT_TRUE(add(Event::Done, true, DTLTO_ERROR_COMPILER));
}

TEST(EventsTest, ManyThreads) {
  constexpr int NumThreads = 4, NumEvents = 2000;
  EventQueue Queue;
  std::vector<std::thread> Threads;
  for (int T = 0; T != NumThreads; ++T)
    Threads.emplace_back([&Queue, T] {
      for (int I = 0; I != NumEvents; ++I) {
        Event E = makeEvent(T, I);
        E.RanLocally = I % 2;
        Queue.push(std::move(E));
      }
    });
  WakeUpPolicy P;
  P.Limit = std::chrono::microseconds(100);
  std::map<uint64_t, int32_t> Next;
  int NumSeen = 0;
  while (NumSeen != NumThreads * NumEvents) {
    P.DefersUpdates = !P.DefersUpdates;
    std::deque<Event> Events = Queue.popAll(Clock::now() + Long, P);
    ASSERT_FALSE(Events.empty());
    for (Event &E : Events) {
      ++NumSeen;
      ASSERT_EQ(E.Status, Next[E.Job]++); // In order, for each thread.
    }
  }
  for (std::thread &T : Threads)
    T.join();
  EXPECT_TRUE(Queue.popAll(Clock::now()).empty());
}

TEST(EventsTest, ReleasesObjectsOfUnhandledEvents) {
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
