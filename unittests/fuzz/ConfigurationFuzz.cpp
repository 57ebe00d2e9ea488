//===- ConfigurationFuzz.cpp - Configuration files of any bytes -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a file, which is also used as DTLTO_OPTIONS. It is accepted, or there
// is one line that says what is wrong. What --thinlto-dist-show-config shows is
// read as the same options.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Run/Configuration.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"# comment\nplugin = distcc\nplugin-arg = hosts=a/4 b\n",
          "--thinlto-dist-plugin=local verify=5:7 'plugin-arg=a b'",
          "thinlto-dist-memory=2G\r\nsplit = auto\nthinlto-distribute\n"};
}

static std::string shown(const Options &Opts) {
  std::string Text;
  raw_string_ostream OS(Text);
  printOptions(Opts, OS);
  return OS.str();
}

/// Returns the lines of \p Shown that aren't defaults as a file.
static std::string asFile(StringRef Shown) {
  std::string File;
  for (StringRef Line : split(Shown, '\n'))
    if (Line.consume_front("(/f:") || Line.consume_front("(DTLTO_OPTIONS"))
      File += (Line.split(") ").second + "\n").str();
  return File;
}

static std::string withoutPlaces(StringRef Shown) {
  std::string Text;
  for (StringRef Line : split(Shown, '\n'))
    Text += (Line.split(") ").second + "\n").str();
  return Text;
}

static void use(Error E, Options &Opts) {
  if (E)
    return check(isLine(toString(std::move(E))));
  cantFail(finishOptions(Opts, "--"));
  for (const OptionUse &Use : Opts.Uses)
    if (StringRef(Use.Value).trim() != Use.Value || !isLine(Use.Value))
      return; // a file can't have it
  Options Again;
  cantFail(readConfigurationText(Again, asFile(shown(Opts)), "/f",
                                 OptionLevel::UserFile));
  check(withoutPlaces(shown(Again)) == withoutPlaces(shown(Opts)));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  Options FromFile, FromVariable;
  use(readConfigurationText(FromFile, Text, "/f", OptionLevel::UserFile),
      FromFile);
  use(readOptionsVariable(FromVariable, Text), FromVariable);
  return 0;
}
