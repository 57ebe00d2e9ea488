//===- BuiltJob.cpp - A job of the ABI and its memory ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/BuiltJob.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;

const uint8_t *ModuleFile::digest() {
  std::call_once(HashOnce, [&] {
    auto Hash = BLAKE3::hash(arrayRefFromStringRef(Bytes));
    std::copy(Hash.begin(), Hash.end(), Digest);
  });
  return Digest;
}

void dtlto::setInputs(BuiltJob &Built) {
  Built.InputPointers.clear();
  for (const BuiltInput &Input : Built.Inputs)
    Built.InputPointers.push_back(&Input);
  Built.Job.inputs = Built.InputPointers.data();
  Built.Job.num_inputs = Built.InputPointers.size();
}

dtlto_job dtlto::bundledJob(const dtlto_job &Job) {
  dtlto_job Bundled = Job;
  if (Job.num_inputs != 0)
    Bundled.name = Job.inputs[0]->path;
  return Bundled;
}

/// Returns the user's name for \p File: that of a module, or of a job's own
/// file, whose name is its module's with an extension and, if two attempts have
/// one, a number. Returns "" for other files.
static std::string userName(StringRef File,
                            function_ref<std::string(StringRef)> UserName) {
  if (std::string Name = UserName(File); !Name.empty())
    return Name;
  for (StringRef Extension : {".native.o", ".thinlto.bc", ".i"})
    if (StringRef Base = File; Base.consume_back(Extension)) {
      std::string Name = UserName(Base);
      if (Name.empty())
        Name = UserName(Base.rtrim("0123456789").rtrim('.'));
      if (!Name.empty())
        return Name + Extension.str();
    }
  return "";
}

std::string
dtlto::withUserNames(StringRef Text,
                     function_ref<std::string(StringRef)> UserName) {
  auto IsInPath = [](char C) {
    return isAlnum(C) || C & 0x80 || StringRef("+,-./=_`~").contains(C);
  };
  std::string Out;
  while (!Text.empty()) {
    StringRef Path = Text.take_while(IsInPath);
    Text = Text.drop_front(Path.size());
    StringRef Stem = Path.rtrim(".,"); // a sentence may end here
    // A name is a whole path, or the end of a path in the worker's own folder.
    std::string Name;
    bool IsInFolder = Path.starts_with("/") || Path.starts_with("./");
    for (size_t At = 0; Name.empty() && At < Stem.size();) {
      // Modules are "m.*"; others, such as profiles, have no folder.
      if (At == 0 || Stem.drop_front(At).starts_with("m."))
        Name = userName(Stem.drop_front(At), UserName);
      size_t Slash = Stem.find('/', At);
      At = IsInFolder && Slash != StringRef::npos ? Slash + 1 : Stem.size();
    }
    if (Name.empty())
      Out += Path;
    else
      Out += printable(Name) + Path.drop_front(Stem.size()).str();
    StringRef Between = Text.take_until([&](char C) { return IsInPath(C); });
    Out += Between;
    Text = Text.drop_front(Between.size());
  }
  return Out;
}

std::string dtlto::withUserNames(StringRef Text, const BuiltJob &Built) {
  return withUserNames(Text, [&](StringRef Path) {
    for (const BuiltInput &Input : Built.Inputs)
      if (Path == Input.path)
        return Input.File && !Input.File->Name.empty() ? Input.File->Name
               : &Input == &Built.Inputs.front()       ? Built.Name
                                                       : std::string();
    return std::string();
  });
}

void dtlto::addDigests(BuiltJob &Built) {
  for (BuiltInput &Input : Built.Inputs) {
    if (Input.File) {
      const uint8_t *Digest = Input.File->digest();
      std::copy(Digest, Digest + sizeof(Input.digest), Input.digest);
      continue;
    }
    auto Hash =
        BLAKE3::hash(ArrayRef(static_cast<const uint8_t *>(Input.bytes.data),
                              static_cast<size_t>(Input.bytes.size)));
    std::copy(Hash.begin(), Hash.end(), Input.digest);
  }
  Built.Job.fields |= DTLTO_JOB_DIGESTS;
}

ResultKey dtlto::resultKey(const BuiltJob &Built, StringRef Compiler) {
  assert(Built.Job.fields & DTLTO_JOB_DIGESTS);
  BLAKE3 Hash;
  // Each text has its size before it, so that different lists differ.
  auto Add = [&](StringRef Text) {
    char Size[8];
    support::endian::write64le(Size, Text.size());
    Hash.update(StringRef(Size, sizeof(Size)));
    Hash.update(Text);
  };
  Add("dtlto: result 1");
  Add(Compiler);
  Add(Built.Triple);
  Add(Built.Job.config ? Built.Job.config : "");
  Add(std::to_string(Built.Args.size()));
  for (const std::string &Arg : Built.Args)
    Add(Arg);
  for (const BuiltInput &Input : Built.Inputs) {
    Add(std::to_string(Input.role));
    Add(Input.path);
    Hash.update(ArrayRef(Input.digest));
  }
  return Hash.final();
}

void dtlto::setAvoid(BuiltJob &Built, StringRef Avoid) {
  Built.Avoid = Avoid.str();
  Built.Job.avoid = Avoid.empty() ? nullptr : Built.Avoid.c_str();
}

void dtlto::setArgs(BuiltJob &Built, const char *Output) {
  Built.ArgPointers.clear();
  for (const std::string &Arg : Built.Args)
    Built.ArgPointers.push_back(Arg.c_str());
  Built.ArgPointers.push_back(nullptr);
  Built.Job.args = Built.ArgPointers.data();
  Built.Job.num_args = Built.Args.size();
  Built.Job.output = Output;
  Built.Job.fields |= DTLTO_JOB_ARGS;
}
