//===- CommandLine.h - Our options out of LLD's command line ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLD's option tables can't be extended from outside, so our options are taken
// out before LLD sees the command line:
//
//   ELF, MinGW, Mach-O, wasm   --thinlto-dist-x=y  -thinlto-dist-x=y
//                              -plugin-opt=thinlto-dist-x=y  (one dash or two,
//                              as one word or two)
//   COFF                       /thinlto-dist-x:y  -thinlto-dist-x:y, with a `=`
//                              as well
//
// Two kinds of options of others are arguments of a plugin:
//
//   --thinlto-distributor=, --thinlto-remote-compiler=, ...   LLD's own, if the
//                              plugin distributor is named
//   --distribute-cc=TOOL       beside --thinlto-distribute, which then is the
//                              plugin make
//
// Response files are expanded only if one of our options is in there; all other
// command lines reach LLD as they are.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_COMMANDLINE_H
#define DTLTO_LLD_HOOKS_COMMANDLINE_H

#include "Run/Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/StringSaver.h"

namespace dtlto {

/// Moves our options from \p Args (with the program's name first) to \p Opts,
/// and notes in \p Opts what else of the command line matters to us. Memory for
/// expanded response files comes from \p Saver.
llvm::Error extractOptions(llvm::SmallVectorImpl<const char *> &Args,
                           bool IsCOFF, llvm::StringSaver &Saver,
                           Options &Opts);

/// Whether LLD will run its driver for Mach-O, as far as the program's name and
/// `-flavor` tell.
bool isMachO(llvm::ArrayRef<const char *> Args);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_COMMANDLINE_H
