//===- Lend.h - The ABI's structs as loans ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies of what a host has for a plugin, which the plugin gets instead. \p
// More is the number of bytes of a later ABI after each struct.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RULES_LEND_H
#define DTLTO_RULES_LEND_H

#include "Rules/Loan.h"
#include "Rules/Rules.h"
#include <algorithm>

namespace dtlto {

/// Returns a copy in \p Memory, a new loan.
const dtlto_session_params *lendParams(const dtlto_session_params &Params,
                                       Loan *&Memory, uint32_t More = 0);

/// A copy of a job.
struct LentJob {
  Loan *Memory = nullptr; // not sealed yet
  dtlto_job *Job = nullptr;
  std::vector<dtlto_input *> Inputs;
};

/// \p Name is the job's. Modules aren't copied, since many jobs share them, nor
/// are inputs of more than \p MaxCopy bytes.
LentJob lendJob(const dtlto_job &Job, const std::string &Name, uint64_t MaxCopy,
                uint32_t More = 0);

/// Lets the plugin's function \p Name fill in \p Struct, a \p Type, by \p Fn.
/// \p Why is a literal, "NAME() has returned".
template <typename T, typename F>
void fillIn(const Rules &R, const char *Name, const char *Type, const char *Why,
            T &Struct, F Fn, uint32_t More = 0) {
  auto *Memory =
      new Loan(std::string("the ") + Type,
               std::string("fill it in ") + Name + "(), and do not keep it");
  T *Copy = Memory->addStruct(Struct, More);
  const uint32_t Size = Copy->size += More;
  Fn(Copy);
  R.keptSize(Size, Copy->size, Name, Type);
  auto *After = reinterpret_cast<const char *>(Copy + 1);
  R.expect(std::all_of(After, After + More,
                       [](char C) { return C == Loan::Filler; }),
           "Compatibility",
           llvm::Twine(Name) + "() wrote past the fields that this ABI has",
           "write your own fields, and no more");
  Struct = *Copy;
  Memory->end(Why);
}

} // namespace dtlto

#endif // DTLTO_RULES_LEND_H
