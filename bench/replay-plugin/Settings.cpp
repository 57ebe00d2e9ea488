//===- Settings.cpp - The settings of a replay ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Text.h"
#include "dtlto/sdk/Arguments.hpp"
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

/// Returns an argument whose value is a decimal number from \p Min to \p Max.
static sdk::Argument realArgument(const char *Name, double Min, double Max,
                                  double &To, const char *Help) {
  return {Name, "X", Help, [Min, Max, &To](std::string_view Value) {
            return parseReal(Value, Min, Max, To);
          }};
}

static sdk::Argument boolArgument(const char *Name, bool &To,
                                  const char *Help) {
  return sdk::choiceArgument<bool>(Name, {{"0", false}, {"1", true}}, To, Help);
}

static sdk::Argument faultArgument(const char *Name, Fault::KindTy Kind,
                                   std::vector<Fault> &To, const char *Value,
                                   const char *Help) {
  return {Name, Value, Help, [Kind, &To](std::string_view Text) {
            To.emplace_back();
            To.back().Kind = Kind;
            return parseFault(Text, To.back());
          }};
}

namespace {
/// Values in the user's units.
struct Values {
  double Gbps = 1, MachineGbps = 0, LatencyUs = 200, NoticeMs = 1000;
};
} // namespace

static sdk::ArgumentTable argumentTable(Settings &S, Values &V) {
  using sdk::numberArgument;
  ClusterSettings &C = S.Cluster;
  return {
      sdk::fileArgument("recording", S.Recording, "The recording's folder"),
      sdk::fileArgument("stats", S.Stats, "The output of statistics, as JSON"),
      numberArgument("machines", "N", 1, 4096, C.Machines, "How many"),
      numberArgument("slots", "N", 1, 4096, C.Slots, "Of each machine"),
      numberArgument("ahead", "N", 0, 4096, C.Ahead,
                     "Jobs that each machine takes in addition to its slots"),
      realArgument("gbps", 0.001, 1e6, V.Gbps, "The linker's bandwidth"),
      realArgument("machine-gbps", 0.001, 1e6, V.MachineGbps,
                   "Each machine's bandwidth, if not the same"),
      realArgument("latency-us", 0, 1e7, V.LatencyUs, "Of each message"),
      boolArgument("cache", C.Cache, "Machines keep inputs during the link"),
      boolArgument("held", S.Held,
                   "Machines have all inputs, and are sent only digests"),
      realArgument("notice-ms", 0, 1e7, V.NoticeMs,
                   "From a machine's death to the report of its jobs"),
      faultArgument("die", Fault::Dies, C.Faults, "M@T",
                    "Machine M dies after T seconds, Njobs or Nbegun jobs"),
      faultArgument("slow", Fault::Slow, C.Faults, "M:X@T",
                    "Machine M gets X times slower"),
      realArgument("scale", 0.001, 1e4, S.Scale,
                   "CPU times, latencies and the times of faults are divided "
                   "by X, bandwidths multiplied"),
      boolArgument("config", S.Config,
                   "Jobs carry what dtlto-codegen needs, not a command line"),
      boolArgument("compress", S.Compress,
                   "Inputs are compressed by zstd at level 1")};
}

Settings dtlto::replay::readSettings(const char *const *Args,
                                     uint32_t NumArgs) {
  Settings S;
  Values V;
  ClusterSettings &C = S.Cluster;
  sdk::readArguments(argumentTable(S, V), Args, NumArgs);
  if (S.Recording.empty())
    throw sdk::Error(DTLTO_ERROR_CALLER, "no recording=FOLDER is given");
  for (Fault &F : C.Faults) {
    if (F.Machine >= C.Machines)
      throw sdk::Error(DTLTO_ERROR_CALLER, "there is no machine " +
                                               std::to_string(F.Machine) +
                                               " to fail; they count from 0");
    if (F.At != Never)
      F.At = static_cast<Time>(double(F.At) / S.Scale);
  }
  // 1 Gb/s is an eighth of a byte a nanosecond.
  C.Rate = V.Gbps / 8 * S.Scale;
  C.MachineRate = (V.MachineGbps ? V.MachineGbps : V.Gbps) / 8 * S.Scale;
  C.Latency = static_cast<Time>(V.LatencyUs * 1e3 / S.Scale);
  C.Notice = static_cast<Time>(V.NoticeMs * 1e6 / S.Scale);
  return S;
}
