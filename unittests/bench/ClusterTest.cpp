//===- ClusterTest.cpp - The model of a simulated cluster -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time is just a number: no test waits. A byte takes one nanosecond on the wire
// unless a test says otherwise.
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include <gtest/gtest.h>
#include <map>

using namespace dtlto::replay;
using Report = Cluster::Report;

namespace {

ClusterSettings settings(uint32_t Machines, uint32_t Slots, uint32_t Ahead) {
  ClusterSettings S;
  S.Machines = Machines;
  S.Slots = Slots;
  S.Ahead = Ahead;
  S.Rate = S.MachineRate = 1;
  return S;
}

Cluster::Job job(uint64_t Id, Time Cpu, uint64_t Bytes = 0,
                 uint64_t ObjectBytes = 0) {
  return {Id, {{static_cast<uint32_t>(Id), Bytes}}, Cpu, ObjectBytes};
}

Fault dies(uint32_t Machine, Time At) {
  Fault F;
  F.Machine = Machine;
  F.At = At;
  return F;
}

/// Runs the cluster until nothing is left to happen; returns all reports.
std::vector<Report> finish(Cluster &C) {
  while (C.next() != Never)
    C.advance(C.next());
  return C.takeReports();
}

/// Returns the time when each job ended.
std::map<uint64_t, Time> ends(const std::vector<Report> &Reports) {
  std::map<uint64_t, Time> Ends;
  for (const Report &R : Reports)
    if (R.Kind >= Report::Done)
      Ends[R.Id] = R.At;
  return Ends;
}

const Report *find(const std::vector<Report> &Reports, uint64_t Id,
                   Report::KindTy Kind) {
  for (const Report &R : Reports)
    if (R.Id == Id && R.Kind == Kind)
      return &R;
  return nullptr;
}

TEST(ClusterTest, OneJob) {
  ClusterSettings S = settings(1, 1, 0);
  S.Latency = 7;
  Cluster C(S);
  ASSERT_TRUE(C.submit(5, job(1, 1000, 100, 30)));
  std::vector<Report> R = finish(C);
  ASSERT_EQ(R.size(), 4u);
  EXPECT_EQ(R[0].Kind, Report::Sending);
  EXPECT_EQ(R[0].At, 5);
  EXPECT_EQ(R[1].Kind, Report::Running);
  EXPECT_EQ(R[1].At, 5 + 100 + 7);
  EXPECT_EQ(R[2].Kind, Report::Receiving);
  EXPECT_EQ(R[2].At, 112 + 1000);
  EXPECT_EQ(R[3].Kind, Report::Done);
  EXPECT_EQ(R[3].At, 1112 + 30 + 7);
  EXPECT_EQ(C.totals().BytesSent, 100u);
  EXPECT_EQ(C.totals().BytesUseful, 100u);
  EXPECT_EQ(C.totals().BytesBack, 30u);
  EXPECT_EQ(C.totals().SlotTime, 1000);
  EXPECT_EQ(C.totals().UsefulTime, 1000);
  EXPECT_EQ(C.totals().Sending, 100);
}

TEST(ClusterTest, TheLinkersLinkSendsOneAfterTheOther) {
  Cluster C(settings(2, 1, 0));
  ASSERT_TRUE(C.submit(0, job(1, 1000, 100)));
  ASSERT_TRUE(C.submit(0, job(2, 1000, 50)));
  auto R = finish(C);
  EXPECT_EQ(find(R, 1, Report::Running)->At, 100);
  EXPECT_EQ(find(R, 2, Report::Sending)->At, 100);
  EXPECT_EQ(find(R, 2, Report::Running)->At, 150);
}

TEST(ClusterTest, SlowMachineLinksWorkAtTheSameTime) {
  ClusterSettings S = settings(2, 1, 0);
  S.MachineRate = 0.1;
  Cluster C(S);
  ASSERT_TRUE(C.submit(0, job(1, 0, 100, 10)));
  ASSERT_TRUE(C.submit(0, job(2, 0, 100, 10)));
  auto R = finish(C);
  EXPECT_EQ(find(R, 1, Report::Running)->At, 1000);
  EXPECT_EQ(find(R, 2, Report::Running)->At, 1100);
  EXPECT_EQ(ends(R)[1], 1100);
  EXPECT_EQ(ends(R)[2], 1200);
}

TEST(ClusterTest, ObjectsShareTheWayBack) {
  Cluster C(settings(2, 1, 0));
  ASSERT_TRUE(C.submit(0, job(1, 10, 0, 100)));
  ASSERT_TRUE(C.submit(0, job(2, 20, 0, 100)));
  auto E = ends(finish(C));
  EXPECT_EQ(E[1], 110);
  EXPECT_EQ(E[2], 210);
}

TEST(ClusterTest, ContentIsSentOnceToEachMachine) {
  for (bool Cache : {true, false}) {
    ClusterSettings S = settings(2, 2, 0);
    S.Cache = Cache;
    Cluster C(S);
    // They go to machines 0, 1, 0, 1.
    for (uint64_t Id = 1; Id != 5; ++Id)
      ASSERT_TRUE(C.submit(0, {Id, {{1, 100}, {uint32_t(Id + 1), 10}}, 50, 0}));
    finish(C);
    EXPECT_EQ(C.totals().BytesSent, Cache ? 240u : 440u);
  }
}

TEST(ClusterTest, InputsThatAreThereDecideBetweenEquals) {
  Cluster C(settings(2, 2, 0));
  ASSERT_TRUE(C.submit(0, {1, {{1, 100}}, 10, 0}));
  ASSERT_TRUE(C.submit(0, {2, {{2, 100}}, 10, 0}));
  finish(C);
  ASSERT_TRUE(C.submit(1000, {3, {{2, 100}}, 10, 0}));
  auto R = finish(C);
  EXPECT_EQ(find(R, 3, Report::Done)->Machine, 1u);
  EXPECT_EQ(C.totals().BytesSent, 200u);
}

TEST(ClusterTest, BusyBeyondTheJobsAhead) {
  Cluster C(settings(2, 1, 1));
  for (uint64_t Id = 1; Id != 5; ++Id)
    EXPECT_TRUE(C.submit(0, job(Id, 100 * Time(Id))));
  C.takeLoadChanged();
  EXPECT_FALSE(C.submit(0, job(5, 100)));
  EXPECT_EQ(C.totals().Busy, 1u);
  EXPECT_FALSE(C.takeLoadChanged());
  C.advance(99);
  EXPECT_FALSE(C.takeLoadChanged());
  C.advance(100);
  EXPECT_TRUE(C.takeLoadChanged());
  EXPECT_TRUE(C.submit(100, job(5, 100)));
}

TEST(ClusterTest, AJobAheadStartsWhenTheSlotIsIdle) {
  Cluster C(settings(1, 1, 1));
  ASSERT_TRUE(C.submit(0, job(1, 1000, 100)));
  ASSERT_TRUE(C.submit(0, job(2, 1000, 100)));
  auto R = finish(C);
  EXPECT_EQ(find(R, 2, Report::Running)->At, 1100);
  EXPECT_EQ(ends(R)[2], 2100);
}

TEST(ClusterTest, AMachineWithAnIdleSlotIsServedFirst) {
  Cluster C(settings(2, 1, 1));
  ASSERT_TRUE(C.submit(0, job(1, 100)));
  ASSERT_TRUE(C.submit(0, job(2, 10000)));
  C.advance(1);
  ASSERT_TRUE(C.submit(1, job(3, 10000, 500))); // ahead, being sent
  ASSERT_TRUE(C.submit(2, job(4, 10000, 500))); // ahead, waiting
  C.advance(100);                               // machine 0 is idle
  C.cancel(100, 3);
  ASSERT_TRUE(C.submit(101, job(5, 10, 500)));
  auto R = finish(C);
  EXPECT_EQ(find(R, 5, Report::Sending)->At, 501);
  EXPECT_EQ(find(R, 4, Report::Sending)->At, 1001);
}

TEST(ClusterTest, ALateCallerDoesNotSlowItDown) {
  Cluster C(settings(1, 1, 3));
  for (uint64_t Id = 1; Id != 4; ++Id)
    ASSERT_TRUE(C.submit(0, job(Id, 100)));
  C.advance(100000);
  auto E = ends(C.takeReports());
  EXPECT_EQ(E[1], 100);
  EXPECT_EQ(E[2], 200);
  EXPECT_EQ(E[3], 300);
}

TEST(ClusterTest, CancelFreesTheSlotAtOnce) {
  Cluster C(settings(1, 1, 1));
  ASSERT_TRUE(C.submit(0, job(1, 1000)));
  ASSERT_TRUE(C.submit(0, job(2, 1000)));
  C.cancel(300, 1);
  auto R = finish(C);
  EXPECT_EQ(find(R, 1, Report::Cancelled)->At, 300);
  EXPECT_EQ(find(R, 2, Report::Running)->At, 300);
  EXPECT_EQ(ends(R)[2], 1300);
  EXPECT_EQ(C.totals().SlotTime, 1300);
  EXPECT_EQ(C.totals().UsefulTime, 1000);
  EXPECT_EQ(C.load().Free, 1u);
}

TEST(ClusterTest, CancelledJobsAreNotSent) {
  Cluster C(settings(2, 1, 0));
  ASSERT_TRUE(C.submit(0, job(1, 10, 100)));
  ASSERT_TRUE(C.submit(0, job(2, 10, 100)));
  C.cancel(50, 2);
  C.cancel(50, 77); // unknown job
  finish(C);
  EXPECT_EQ(C.totals().BytesSent, 100u);
  EXPECT_EQ(C.totals().Done, 1u);
  EXPECT_EQ(C.totals().Cancelled, 1u);
}

TEST(ClusterTest, CancelInEachStage) {
  for (Time At : {0, 50, 150, 1150}) { // sending twice, running, receiving
    Cluster C(settings(1, 1, 0));
    ASSERT_TRUE(C.submit(0, job(1, 1000, 100, 100)));
    C.cancel(At, 1);
    auto R = finish(C);
    EXPECT_EQ(find(R, 1, Report::Done), nullptr);
    EXPECT_EQ(find(R, 1, Report::Cancelled)->At, At);
    EXPECT_EQ(C.load().Free, 1u);
    EXPECT_EQ(C.load().Queued, 0u);
  }
}

TEST(ClusterTest, ADeadMachinesJobsAreLostAfterADelay) {
  ClusterSettings S = settings(2, 1, 1);
  S.Notice = 50;
  S.Faults.push_back(dies(0, 300));
  Cluster C(S);
  for (uint64_t Id = 1; Id != 5; ++Id) // 1 and 3 go to machine 0
    ASSERT_TRUE(C.submit(0, job(Id, 1000, 10)));
  C.takeLoadChanged();
  C.advance(300);
  EXPECT_TRUE(C.takeLoadChanged());
  EXPECT_EQ(C.load().Slots, 1u);
  EXPECT_EQ(C.load().Machines, 1u);
  EXPECT_EQ(C.load().Queued, 1u);
  EXPECT_FALSE(C.submit(301, job(5, 10)));
  auto R = finish(C);
  EXPECT_EQ(find(R, 1, Report::Lost)->At, 350);
  EXPECT_EQ(find(R, 3, Report::Lost)->At, 350);
  EXPECT_NE(find(R, 2, Report::Done), nullptr);
  EXPECT_NE(find(R, 4, Report::Done), nullptr);
  EXPECT_EQ(C.totals().Lost, 2u);
  EXPECT_EQ(C.totals().Deaths, 1u);
}

TEST(ClusterTest, ALostJobCanStillBeCancelled) {
  ClusterSettings S = settings(2, 1, 0);
  S.Notice = 1000;
  S.Faults.push_back(dies(0, 300));
  Cluster C(S);
  ASSERT_TRUE(C.submit(0, job(1, 1000)));
  C.cancel(400, 1);
  auto R = finish(C);
  EXPECT_EQ(find(R, 1, Report::Cancelled)->At, 400);
  EXPECT_EQ(find(R, 1, Report::Lost), nullptr);
}

TEST(ClusterTest, DeathAfterANumberOfJobs) {
  ClusterSettings S = settings(2, 1, 5);
  Fault F = dies(1, Never);
  F.AfterJobs = 3;
  S.Faults.push_back(F);
  Cluster C(S);
  for (uint64_t Id = 1; Id != 11; ++Id)
    ASSERT_TRUE(C.submit(0, job(Id, 100 + Time(Id))));
  auto R = finish(C);
  EXPECT_EQ(C.totals().Deaths, 1u);
  // Jobs 1, 2 and 3 ended, then machine 1 died with the other four.
  EXPECT_EQ(C.totals().Lost, 4u);
  EXPECT_EQ(C.totals().Done, 6u);
}

TEST(ClusterTest, DeathWithTheSecondJob) {
  ClusterSettings S = settings(2, 1, 5);
  Fault F = dies(1, Never);
  F.AtBegin = 2;
  S.Faults.push_back(F);
  Cluster C(S);
  for (uint64_t Id = 1; Id != 11; ++Id) // even jobs go to machine 1
    ASSERT_TRUE(C.submit(0, job(Id, 100)));
  finish(C);
  // The object of machine 1's first job was lost with it.
  EXPECT_EQ(C.totals().Done, 5u);
  EXPECT_EQ(C.totals().Lost, 5u);
}

TEST(ClusterTest, ASlowMachine) {
  ClusterSettings S = settings(1, 1, 1);
  Fault F;
  F.Kind = Fault::Slow;
  F.At = 50;
  F.Factor = 3;
  S.Faults.push_back(F);
  Cluster C(S);
  ASSERT_TRUE(C.submit(0, job(1, 100)));
  ASSERT_TRUE(C.submit(0, job(2, 100)));
  auto E = ends(finish(C));
  EXPECT_EQ(E[1], 100);
  EXPECT_EQ(E[2], 400);
}

TEST(ClusterTest, WorkConserving) {
  // Equal jobs without transfers never leave a slot idle.
  Cluster C(settings(4, 3, 2));
  uint64_t Id = 0;
  Time Now = 0;
  while (Id != 120) {
    if (C.submit(Now, job(Id + 1, 100)))
      ++Id;
    else
      C.advance(Now = C.next());
  }
  Time Last = 0;
  for (auto [Job, At] : ends(finish(C)))
    Last = std::max(Last, At);
  EXPECT_EQ(Last, 1000);
  EXPECT_EQ(C.totals().SlotTime, 120 * 100);
}

} // namespace
