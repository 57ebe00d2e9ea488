//===- Diagnostics.h - LLVM's diagnostics in LLD's form ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_DIAGNOSTICS_H
#define DTLTO_LLVM_DIAGNOSTICS_H

#include "Support/Messages.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace dtlto {

/// Writes \p DI to \p OS like LLD's own handler, without the severity. If
/// LLVM's text lacks the module's name, the name comes first.
inline void printDiagnostic(const llvm::DiagnosticInfo &DI,
                            llvm::raw_ostream &OS) {
  if (const auto *Asm = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&DI))
    if (Asm->isInlineAsmDiag())
      OS << Asm->getModuleName() << ' ';
  llvm::DiagnosticPrinterRawOStream Printer(OS);
  DI.print(Printer);
}

/// Returns \p DI as LLD's own handler shows it.
inline CompilerMessage toMessage(const llvm::DiagnosticInfo &DI) {
  CompilerMessage M{MessageLevel::Remark, ""};
  if (DI.getSeverity() == llvm::DS_Error)
    M.Level = MessageLevel::Error;
  else if (DI.getSeverity() == llvm::DS_Warning)
    M.Level = MessageLevel::Diagnostic;
  llvm::raw_string_ostream OS(M.Text);
  printDiagnostic(DI, OS);
  OS.flush();
  return M;
}

} // namespace dtlto

#endif // DTLTO_LLVM_DIAGNOSTICS_H
