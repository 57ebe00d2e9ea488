//===- Optimized.h - Modules between the halves of a backend ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backend optimises a module and then generates code of it. What it would
// generate of the optimised module in another process, LLVM doesn't promise.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_OPTIMIZED_H
#define DTLTO_LLVM_OPTIMIZED_H

#include "LLVM/Version.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace dtlto {

/// What of \p M decides on the target machine. LLVM makes that (in
/// createTargetMachine() of LTOBackend.cpp) before a module imports anything,
/// which may change it.
inline std::string targetMachineFlags(const llvm::Module &M) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const char *Name : {"PIC Level", "PIE Level", "Code Model",
                           "Large Data Threshold", "target-abi"}) {
    OS << Name << ' ';
    if (llvm::Metadata *Flag = M.getModuleFlag(Name))
      Flag->print(OS);
    OS << '\n';
  }
  return OS.str();
}

/// \p M, which is optimised, as bitcode of which the same code is generated;
/// nothing where that isn't certain. \p Before is what targetMachineFlags()
/// were when the module was read.
inline llvm::SmallVector<char, 0> saveOptimized(const llvm::Module &M,
                                                llvm::StringRef Before) {
  llvm::SmallVector<char, 0> Bytes;
  if (targetMachineFlags(M) != Before)
    return Bytes;
  llvm::raw_svector_ostream OS(Bytes);
  llvm::WriteBitcodeToFile(M, OS, /*ShouldPreserveUseListOrder=*/true);
  return Bytes;
}

} // namespace dtlto

#endif // DTLTO_LLVM_OPTIMIZED_H
