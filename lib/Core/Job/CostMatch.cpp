//===- CostMatch.cpp - How well estimates matched -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/CostMatch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace dtlto;

void CostMatch::add(double Estimate, double Actual) {
  double Ratio = Actual / Estimate;
  if (std::isfinite(Estimate) && std::isfinite(Actual) && Estimate > 0 &&
      Actual > 0 && std::isfinite(Ratio) && Ratio > 0)
    Pairs.push_back({Estimate, Actual});
}

static double median(std::vector<double> Values) {
  llvm::sort(Values);
  size_t Half = Values.size() / 2;
  return Values.size() % 2 ? Values[Half]
                           : Values[Half - 1] / 2 + Values[Half] / 2;
}

/// The rank of each value among all; equal ones share the mean of theirs.
static std::vector<double> ranks(const std::vector<double> &Values) {
  std::vector<size_t> Order(Values.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](size_t A, size_t B) { return Values[A] < Values[B]; });
  std::vector<double> Ranks(Values.size());
  for (size_t I = 0; I != Order.size();) {
    size_t End = I;
    while (End != Order.size() && Values[Order[End]] == Values[Order[I]])
      ++End;
    double Mean = double(I + End - 1) / 2;
    for (; I != End; ++I)
      Ranks[Order[I]] = Mean;
  }
  return Ranks;
}

std::optional<double> CostMatch::rankCorrelation() const {
  std::vector<double> Estimates, Actuals;
  for (const Pair &P : Pairs) {
    Estimates.push_back(P.Estimate);
    Actuals.push_back(P.Actual);
  }
  std::vector<double> X = ranks(Estimates), Y = ranks(Actuals);
  double Mean = (double(Pairs.size()) - 1) / 2; // of both
  double XX = 0, YY = 0, XY = 0;
  for (size_t I = 0; I != Pairs.size(); ++I) {
    XX += (X[I] - Mean) * (X[I] - Mean);
    YY += (Y[I] - Mean) * (Y[I] - Mean);
    XY += (X[I] - Mean) * (Y[I] - Mean);
  }
  if (XX == 0 || YY == 0)
    return std::nullopt;
  return XY / std::sqrt(XX) / std::sqrt(YY);
}

std::optional<double> CostMatch::factor() const {
  if (Pairs.empty())
    return std::nullopt;
  std::vector<double> Ratios;
  for (const Pair &P : Pairs)
    Ratios.push_back(P.Actual / P.Estimate);
  return median(std::move(Ratios));
}

std::optional<double> CostMatch::medianError() const {
  std::optional<double> Factor = factor();
  if (!Factor)
    return std::nullopt;
  std::vector<double> Errors;
  for (const Pair &P : Pairs)
    Errors.push_back(std::fabs(P.Estimate * *Factor - P.Actual) / P.Actual);
  return median(std::move(Errors));
}

std::string CostMatch::text() const {
  if (Pairs.empty())
    return "";
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "estimates of " << Pairs.size() << " jobs: ";
  if (std::optional<double> R = rankCorrelation())
    OS << "rank correlation " << format("%.2f", *R) << ", ";
  OS << "median error " << format("%.0f", *medianError() * 100)
     << "% after a factor of " << format("%.3g", *factor());
  return OS.str();
}
