//===- Batch.cpp - Several small jobs in one trip -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch.h"
#include <algorithm>

using namespace dtlto::icecc;

// At most a quarter of a trip's time may be overhead.
static constexpr double WorkPerOverhead = 3;
// Jobs of one trip wait for each other. The linker considers a job slow if it
// is late by half a second.
static constexpr double MaxWork = 0.4;
// The first batch, of two jobs to learn the overhead, needs jobs whose trips
// take at most this long.
static constexpr double MaxTrial = 0.4;
static constexpr unsigned MaxFailed = 3;

void Pace::learn(double Trip, double WorkTime, uint64_t Cost) {
  if (WorkTime <= 0) {
    if (Shortest == 0 || Trip < Shortest) {
      Shortest = Trip;
      CostOfShortest = Cost;
    }
    return;
  }
  double TripOverhead = std::max(0.0, Trip - WorkTime);
  Overhead = Costs == 0 ? TripOverhead : std::min(Overhead, TripOverhead);
  Work += std::min(WorkTime, Trip);
  Costs += double(Cost);
}

bool Pace::mayAdd(size_t N, uint64_t TotalCost, uint64_t Cost) const {
  if (N >= MaxJobs || NumFailed >= MaxFailed)
    return false;
  if (Fixed)
    return N < Fixed;
  if (Costs == 0)
    return N == 1 && Shortest != 0 && Shortest <= MaxTrial &&
           std::max(TotalCost, Cost) <= CostOfShortest;
  return (double(TotalCost) + double(Cost)) * Work / Costs <=
         std::min(WorkPerOverhead * Overhead, MaxWork);
}

size_t Pace::jobs(uint64_t Cost) const {
  size_t N = 1;
  while (mayAdd(N, N * Cost, Cost))
    ++N;
  return N;
}

std::string dtlto::icecc::batchHeader(uint64_t Size) {
  std::string Head;
  for (unsigned I = 0; I != 8; ++I)
    Head += static_cast<char>(Size >> 8 * I);
  return Head;
}

static uint64_t number(std::string_view Bytes) {
  uint64_t N = 0;
  for (unsigned I = 8; I-- != 0;)
    N = N << 8 | static_cast<unsigned char>(Bytes[I]);
  return N;
}

bool dtlto::icecc::readBatchReply(std::string_view Bytes, size_t N,
                                  std::vector<BatchEntry> &Entries) {
  Entries.clear();
  while (Entries.size() != N) {
    if (Bytes.size() < 16 || Bytes.size() - 16 < number(Bytes))
      return false;
    size_t Size = static_cast<size_t>(number(Bytes));
    Entries.push_back(
        {Bytes.substr(16, Size), double(number(Bytes.substr(8))) / 1e6});
    Bytes.remove_prefix(16 + Size);
  }
  return Bytes.empty();
}
