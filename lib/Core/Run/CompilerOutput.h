//===- CompilerOutput.h - The output of remote compilers --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the standard error of clang or dtlto-codegen as messages of the linker.
// Only this file depends on what compilers write. The text is already cleaned
// and has the user's module names (BuiltJob.h).
//
// dtlto-codegen returns warnings and remarks in the frame of its result
// (ObjectFrame.h). Its standard error has the diagnostics of a failed compile;
// anything else there is text of LLVM's.
//
// A stock clang writes diagnostics and other text to one stream. These lines
// begin a diagnostic:
//
//   <inline asm>:1:2: warning: TEXT         also error and note; the source and
//                                           a caret follow
//   warning: TEXT [-Wflag]                  also remark and [-Rflag]; the flag
//                                           may be on the next line
//   FILE:1:2: warning: TEXT                 with or without a flag
//   [FILE:1:2: ]error: TEXT                 also fatal error
//   note: TEXT                              after one of these
//   Error running ThinLTO backend: Function Import: TEXT
//                                           an error; clang ends with 0
//
// Other lines are text, such as a warning without a flag. What clang adds to
// LLVM's diagnostics is removed: the flag, the counts ("1 warning generated."),
// "cannot compile inline asm", and places in the bitcode file, which clang
// derives from the !srcloc of the program's source.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_COMPILEROUTPUT_H
#define DTLTO_RUN_COMPILEROUTPUT_H

#include "Support/Messages.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dtlto {

struct CompilerOutput {
  std::vector<std::string> Errors;
  std::vector<CompilerMessage> Messages; // all others
  /// Why clang couldn't read a module or the index; otherwise empty. clang
  /// exits with 0 in this case.
  std::string ReadError;
};

/// Reads \p Output, clang's standard error for \p Module (as LLD shows it;
/// empty if unknown).
CompilerOutput readClangOutput(llvm::StringRef Output, llvm::StringRef Module);

/// Reads \p Output, the standard error of dtlto-codegen.
CompilerOutput readWorkerOutput(llvm::StringRef Output);

} // namespace dtlto

#endif // DTLTO_RUN_COMPILEROUTPUT_H
