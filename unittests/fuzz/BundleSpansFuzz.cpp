//===- BundleSpansFuzz.cpp - Any job through dtlto.bundle/2 ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: choices of the job's files, names and arguments.
//
//===----------------------------------------------------------------------===//

#include "BundleJob.h"
#include "Fuzz.h"
#include "Modules.h"
#include "llvm/Config/llvm-config.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  // Sizes around a block of the archive, and names too long for its header.
  return {std::string("\5\2\0\0\1\0\2\1\0\2\3\2\0", 13) + "m.a",
          std::string("\x8\1\3\xff\4\2\2\3\xfe\1\4\1", 12) + "path",
          std::string(200, '\7')};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  static const uint32_t Roles[] = {DTLTO_ROLE_IMPORT, DTLTO_ROLE_OTHER,
                                   DTLTO_ROLE_INDEX, DTLTO_ROLE_PRIMARY};
  std::vector<BundleJob::File> Files;
  for (unsigned I = 0, N = C.below(10); I != N; ++I) {
    // Most jobs are valid.
    uint32_t Role = I == 0   ? DTLTO_ROLE_PRIMARY
                    : I == 1 ? DTLTO_ROLE_INDEX
                             : Roles[C.below(8) < 7 ? I % 2 : C.below(4)];
    size_t Blocks = C.below(4), Around = C.below(5);
    std::string Bytes(Blocks * 512 + Around - (Blocks ? 2 : 0), char(C.take()));
    std::string Path = C.below(8) < 6 ? "f" + std::to_string(I) : C.text(20);
    if (C.below(4) == 0)
      Path += std::string(C.take(), 'x');
    Files.push_back({Path.c_str(), Role, Bytes});
  }
  std::vector<std::string> Args(C.below(3));
  for (std::string &Arg : Args)
    Arg = C.text(8).c_str();
  std::string Name = C.text(8).c_str();
  std::string Output = C.below(4) ? "out.o" : C.text(8).c_str();
  BundleJob Job(Files, "x86_64-pc-linux-gnu", Name, Args, Output,
                "{\"Level\":2}");

  Expected<BundleSpans> Made = makeBundleSpans(Job.get());
  Expected<SmallVector<char, 0>> Whole = writeBundle(Job.get());
  check(bool(Made) == bool(Whole));
  if (!Made) {
    check(isLine(toString(Made.takeError())));
    consumeError(Whole.takeError());
    return 0;
  }
  // Together, the spans are the bundle. Each input is a span of the job's own
  // memory, once and in order. The other spans aren't.
  std::string All;
  size_t Next = 0;
  const dtlto_input *const *Inputs = Job.get().inputs;
  for (const dtlto_bundle_span &S : Made->Spans) {
    check(S.bytes.size != 0);
    auto *Begin = static_cast<const char *>(S.bytes.data);
    All.append(Begin, S.bytes.size);
    if (!S.input) {
      check(Begin >= Made->TarBytes.begin() &&
            Begin + S.bytes.size <= Made->TarBytes.end());
      continue;
    }
    while (Next != Files.size() && Inputs[Next]->bytes.size == 0)
      ++Next;
    check(Next != Files.size() && S.input == Inputs[Next]);
    check(S.bytes.data == S.input->bytes.data &&
          S.bytes.size == S.input->bytes.size);
    ++Next;
  }
  for (; Next != Files.size(); ++Next)
    check(Inputs[Next]->bytes.size == 0);
  check(All == ref(*Whole));

  // A worker reads the same job.
  Bundle B = must(readBundle(All, LLVM_VERSION_STRING));
  check(B.Id == Made->Id && B.Inputs.size() == Files.size() && B.Args == Args);
  for (size_t I = 0; I != Files.size(); ++I)
    check(B.Inputs[I].Path == Files[I].Path &&
          B.Inputs[I].Role == Files[I].Role &&
          ref(B.Inputs[I].Bytes) == Files[I].Bytes);
  return 0;
}
