//===- Settings.cpp - The settings of a replay ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Text.h"
#include <charconv>

using namespace dtlto;
using namespace dtlto::replay;

static constexpr double Second = 1e9;

/// Parses a plain decimal number from \p Min to \p Max.
static bool parseReal(std::string_view Text, double Min, double Max,
                      double &Value) {
  const char *End = Text.data() + Text.size();
  auto [Stop, Code] =
      std::from_chars(Text.data(), End, Value, std::chars_format::fixed);
  return Code == std::errc() && Stop == End && Value >= Min && Value <= Max;
}

/// Splits \p Text at the first \p Mark, and sets \p Rest to the part after it.
static bool cut(std::string_view &Text, char Mark, std::string_view &Rest) {
  size_t At = Text.find(Mark);
  if (At == std::string_view::npos)
    return false;
  Rest = Text.substr(At + 1);
  Text = Text.substr(0, At);
  return true;
}

static bool parseFault(std::string_view Text, Fault &F) {
  std::string_view When, Factor;
  if (!cut(Text, '@', When))
    return false;
  if (F.Kind == Fault::Slow &&
      !(cut(Text, ':', Factor) && parseReal(Factor, 0.001, 1e6, F.Factor)))
    return false;
  if (!parseNumber(Text, 0, 4095, F.Machine))
    return false;
  // A number with one of these words isn't a time.
  for (auto [Word, Count] :
       {std::pair<std::string_view, uint64_t *>{"jobs", &F.AfterJobs},
        {"begun", &F.AtBegin}}) {
    if (When.size() < Word.size() ||
        When.substr(When.size() - Word.size()) != Word)
      continue;
    When.remove_suffix(Word.size());
    uint32_t Number;
    if (!parseNumber(When, Count == &F.AtBegin, UINT32_MAX, Number))
      return false;
    *Count = Number;
    return true;
  }
  double Seconds;
  if (!parseReal(When, 0, 1e6, Seconds))
    return false;
  F.At = static_cast<Time>(Seconds * Second);
  return true;
}

namespace {
/// The values in the user's units.
struct Values {
  double Gbps = 1, MachineGbps = 0, LatencyUs = 200, NoticeMs = 1000;
  uint32_t Seed = 1, Cache = 1, Config = 0, Compress = 0, Held = 0;
};
} // namespace

static bool parseOne(std::string_view Key, std::string_view Value, Settings &S,
                     Values &V) {
  ClusterSettings &C = S.Cluster;
  auto Number = [&](uint32_t Min, uint32_t Max, uint32_t &N) {
    return parseNumber(Value, Min, Max, N);
  };
  auto Path = [&](std::string &P) {
    P = Value;
    return !P.empty();
  };
  if (Key == "recording")
    return Path(S.Recording);
  if (Key == "stats")
    return Path(S.Stats);
  if (Key == "machines")
    return Number(1, 4096, C.Machines);
  if (Key == "slots")
    return Number(1, 4096, C.Slots);
  if (Key == "ahead")
    return Number(0, 4096, C.Ahead);
  if (Key == "gbps")
    return parseReal(Value, 0.001, 1e6, V.Gbps);
  if (Key == "machine-gbps")
    return parseReal(Value, 0.001, 1e6, V.MachineGbps);
  if (Key == "latency-us")
    return parseReal(Value, 0, 1e7, V.LatencyUs);
  if (Key == "cache")
    return Number(0, 1, V.Cache);
  if (Key == "held")
    return Number(0, 1, V.Held);
  if (Key == "spread")
    return parseReal(Value, 0, 0.99, C.Spread);
  if (Key == "seed")
    return Number(0, UINT32_MAX, V.Seed);
  if (Key == "notice-ms")
    return parseReal(Value, 0, 1e7, V.NoticeMs);
  if (Key == "scale")
    return parseReal(Value, 0.001, 1e4, S.Scale);
  if (Key == "config")
    return Number(0, 1, V.Config);
  if (Key == "compress")
    return Number(0, 1, V.Compress);
  if (Key == "die" || Key == "slow") {
    Fault F;
    F.Kind = Key == "die" ? Fault::Dies : Fault::Slow;
    if (!parseFault(Value, F))
      return false;
    C.Faults.push_back(F);
    return true;
  }
  return false;
}

bool dtlto::replay::parseSettings(const char *const *Args, size_t NumArgs,
                                  Settings &S, std::string &Error) {
  Values V;
  for (size_t I = 0; I != NumArgs; ++I) {
    std::string_view Key = Args[I], Value;
    if (!cut(Key, '=', Value) || !parseOne(Key, Value, S, V)) {
      Error = "bad argument " + quote(Args[I]) + ", see bench/replay --help";
      return false;
    }
  }
  if (S.Recording.empty()) {
    Error = "no recording=FOLDER is given";
    return false;
  }
  ClusterSettings &C = S.Cluster;
  for (Fault &F : C.Faults) {
    if (F.Machine >= C.Machines) {
      Error = "there is no machine " + std::to_string(F.Machine) +
              " to fail; they count from 0";
      return false;
    }
    if (F.At != Never)
      F.At = static_cast<Time>(double(F.At) / S.Scale);
  }
  // 1 Gb/s is an eighth of a byte a nanosecond.
  C.Rate = V.Gbps / 8 * S.Scale;
  C.MachineRate = (V.MachineGbps ? V.MachineGbps : V.Gbps) / 8 * S.Scale;
  C.Latency = static_cast<Time>(V.LatencyUs * 1e3 / S.Scale);
  C.Notice = static_cast<Time>(V.NoticeMs * 1e6 / S.Scale);
  C.Seed = V.Seed;
  C.Cache = V.Cache;
  S.Config = V.Config;
  S.Compress = V.Compress;
  S.Held = V.Held;
  return true;
}
