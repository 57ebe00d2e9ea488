//===- CommandLine.h - Our options on LLD's command line --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLD's option tables can't be extended, so our options are removed before LLD
// sees the command line:
//
//   ELF, MinGW, Mach-O, wasm   --thinlto-dist-x=y  -thinlto-dist-x=y
//                              -plugin-opt=thinlto-dist-x=y  (one dash or two,
//                              as one word or two)
//   COFF                       /thinlto-dist-x:y  -thinlto-dist-x:y, with a `=`
//                              as well
//
// Two kinds of other options are arguments of a plugin:
//
//   --thinlto-distributor=, --thinlto-remote-compiler=, ...   LLD's own, if the
//                              plugin is distributor
//   --distribute-cc=TOOL       next to --thinlto-distribute, which then selects
//                              the plugin make
//
// Response files are expanded only if they contain one of our options; all
// other command lines reach LLD unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_COMMANDLINE_H
#define DTLTO_LLD_HOOKS_COMMANDLINE_H

#include "Run/Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/StringSaver.h"

namespace dtlto {

/// Moves our options from \p Args (which begins with the program's name) to
/// \p Opts. Also notes in \p Opts other facts of the command line that we need.
/// Memory for expanded response files comes from \p Saver.
llvm::Error extractOptions(llvm::SmallVectorImpl<const char *> &Args,
                           bool IsCOFF, llvm::StringSaver &Saver,
                           Options &Opts);

/// Whether LLD will run its driver for Mach-O, judging by the program's name
/// and `-flavor`.
bool isMachO(llvm::ArrayRef<const char *> Args);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_COMMANDLINE_H
