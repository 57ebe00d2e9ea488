//===- CompileSpec.cpp - How a module is compiled -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/CompileSpec.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace dtlto;

/// Increment with each change to the assignment of definitions to parts
/// (Compile/Partition.h). All parts of a module, from workers and caches, must
/// have the same version.
static constexpr unsigned PartitionVersion = 9;

static std::string partSuffix(PartNumber Part) {
  if (Part.isWhole())
    return "";
  return "-" + std::to_string(Part.Index + 1) + "-of-" +
         std::to_string(Part.Count);
}

std::string CompileSpec::title(std::string Module) const {
  if (Part.isWhole())
    return Module;
  return std::move(Module) + " [" + std::to_string(Part.Index + 1) + "/" +
         std::to_string(Part.Count) + "]";
}

std::string CompileSpec::fileName(std::string Name) const {
  if (Part.isWhole())
    return Name;
  size_t Before = Name.find_last_of("/\\(");
  return Name.insert(Before == std::string::npos ? 0 : Before + 1,
                     partSuffix(Part).substr(1) + "-");
}

std::string CompileSpec::suffix() const {
  return partSuffix(Part) +
         (Round == 0 ? "" : ".round" + std::to_string(Round));
}

std::string CompileSpec::objectKey() const {
  if (Part.isWhole())
    return "";
  return "dtlto: partition " + std::to_string(PartitionVersion) +
         partSuffix(Part);
}

void CompileSpec::addTo(function_ref<void(StringRef)> Add) const {
  Add(partSuffix(Part));
  Add(std::to_string(PartitionVersion));
}

void CompileSpec::writeInput(json::OStream &OS) const {
  if (Part.isWhole())
    return;
  OS.attribute("part", json::Array{Part.Index, Part.Count});
  OS.attribute("partition", PartitionVersion);
}

void CompileSpec::writeResult(json::OStream &OS, bool OmitsCodegen) const {
  if (Round != 0)
    OS.attribute("round", Round);
  if (ReturnsOptimized && !OmitsCodegen)
    OS.attribute("optimized", true);
}

bool CompileSpec::read(const json::Object &Members) {
  if (const json::Array *Numbers = Members.getArray("part")) {
    if (Numbers->size() != 2)
      return false;
    int64_t Index = (*Numbers)[0].getAsInteger().value_or(-1);
    int64_t Count = (*Numbers)[1].getAsInteger().value_or(0);
    if (Count < 2 || Count > MaxParts || Index < 0 || Index >= Count)
      return false;
    Part = {static_cast<unsigned>(Index), static_cast<unsigned>(Count)};
  }
  int64_t Number = Members.getInteger("round").value_or(0);
  Round = static_cast<unsigned>(Number);
  ReturnsOptimized = Members.getBoolean("optimized").value_or(false);
  return Number >= 0 && Number <= 2;
}
