//===- ConfigJSONFuzz.cpp - Configurations of any bytes -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is read as the text of a configuration. Unless it begins with a
// brace, its bytes are also used as the values of the fields of a
// configuration, which is then written.
//
//===----------------------------------------------------------------------===//

#include "Config/ConfigFields.h"
#include "Config/ConfigJSON.h"
#include "Fuzz.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

namespace {

/// A visitor of ConfigFields.h that takes values from bytes. Produces all
/// values of a field's type, including values out of range.
class FromBytes : public FieldVisitor {
public:
  explicit FromBytes(StringRef Bytes) : Bytes(Bytes) {}

  void flag(StringRef, bool &Value) { Value = take() & 1; }
  void number(StringRef, int64_t &Value, int64_t Min, int64_t Max) {
    // If an enum's bits allow it, include one value above its maximum.
    if (Max < 16)
      Value = Min + take() % (Max - Min + ((Max & (Max + 1)) ? 2 : 1));
    else if (Max < 256)
      Value = take();
    else if (take() & 1)
      Value = take() & 1 ? Min : Max;
    else
      Value = take();
  }
  void pair(StringRef, std::array<int64_t, 2> &Value, int64_t Min,
            int64_t Max) {
    for (int64_t &N : Value)
      number("", N, Min, Max);
  }
  void optional(StringRef, std::optional<uint64_t> &Value, uint64_t Max) {
    unsigned Kind = take() % 4;
    if (Kind == 0)
      Value = std::nullopt;
    else if (Max < 16)
      Value = take() % (Max + 2);
    else
      Value = Kind == 1 ? Max - take() : uint64_t(take()) << take() % 57;
  }
  void text(StringRef, std::string &Value) {
    size_t Size = take() % 16;
    Value = Bytes.take_front(Size).str();
    Bytes = Bytes.drop_front(Value.size());
  }
  void texts(StringRef, std::vector<std::string> &Value) {
    Value.resize(take() % 4);
    for (std::string &S : Value)
      text("", S);
  }

private:
  uint8_t take() {
    if (Bytes.empty())
      return 0;
    uint8_t Byte = Bytes.front();
    Bytes = Bytes.drop_front();
    return Byte;
  }

  StringRef Bytes;
};

} // namespace

static lto::Config fromBytes(StringRef Bytes,
                             std::vector<std::string> &LLVMOptions) {
  FromBytes Visit(Bytes);
  lto::Config Conf;
  Visit.texts("", LLVMOptions);
  visitConfig(Visit, Conf);
  visitTarget(Visit, Conf.Options);
  visitMC(Visit, Conf.Options.MCOptions);
  visitTuning(Visit, Conf.PTO);
  return Conf;
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  auto add = [&](const lto::Config &Conf,
                 const std::vector<std::string> &Options) {
    Expected<std::string> Text = writeConfig(Conf, Options);
    if (!Text)
      abort();
    Seeds.push_back(std::move(*Text));
  };
  lto::Config Conf;
  add(Conf, {});
  Conf.CPU = "x86-64-v3";
  Conf.MAttrs = {"+avx2", "-sse4a"};
  Conf.CodeModel = CodeModel::Large;
  Conf.Options.FunctionSections = Conf.Options.DataSections = true;
  Conf.Options.BinutilsVersion = {2, 40};
  Conf.Options.MCOptions.ABIName = "lp64d";
  Conf.RemarksHotnessThreshold = std::numeric_limits<uint64_t>::max();
  add(Conf, {"-inline-threshold=7", "-unroll-count=4"});
  Conf.RelocModel = std::nullopt;
  Conf.RunCSIRInstr = true;
  Conf.CSIRProfile = "a \"profile\"\n\xC3\xA4";
  Conf.OptPipeline = "globaldce,function(dce)";
  Conf.PTO.InlinerThreshold = -1;
  add(Conf, {});

  Seeds.push_back(std::string(200, '\0'));
  Seeds.push_back(std::string("\x01\x04-x=y", 6) + std::string(300, '\x01'));
  return Seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Input(reinterpret_cast<const char *>(Data), Size);
  Expected<ReadConfig> Read = readConfig(Input);
  if (!Read) {
    // The error is one short line.
    std::string Why = toString(Read.takeError());
    if (Why.empty() || Why.size() > 250 || StringRef(Why).contains('\n'))
      abort();
  } else {
    // A configuration has only one text. It can't be written if its options
    // name local files.
    Expected<std::string> Text = writeConfig(Read->Conf, Read->LLVMOptions);
    if (Text ? *Text != Input : Read->LLVMOptions.empty())
      abort();
    consumeError(Text.takeError());
  }

  if (Input.starts_with("{"))
    return 0;
  std::vector<std::string> Options;
  lto::Config Conf = fromBytes(Input, Options);
  Expected<std::string> Text = writeConfig(Conf, Options);
  if (!Text) {
    consumeError(Text.takeError());
    return 0;
  }
  // The text can be read, and is written in the same way again.
  Expected<ReadConfig> Again = readConfig(*Text);
  if (!Again)
    abort();
  Expected<std::string> Same = writeConfig(Again->Conf, Options);
  if (!Same || *Same != *Text)
    abort();
  return 0;
}
