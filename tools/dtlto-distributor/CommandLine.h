//===- CommandLine.h - What dtlto-distributor is asked to do ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTRIBUTOR_COMMANDLINE_H
#define DTLTO_DISTRIBUTOR_COMMANDLINE_H

#include "Files/IndexFolder.h"
#include "Run/Options.h"

namespace dtlto {

struct Command {
  Options Opts;
  std::string List;        // the JSON file; empty: there is a folder
  std::string IndexFolder; // --index-only
  PrefixReplace Prefix;
  std::vector<std::string> Compiler; // of IndexFolder, with its arguments
  unsigned Jobs = 0;                 // at a time, here; 0: as many as cores
  bool Verbose = false, Help = false, Version = false;
};

/// Reads the arguments of the program, but for its name. Fails with one line
/// that names what is wrong.
llvm::Expected<Command> readCommand(llvm::ArrayRef<const char *> Args);

/// Prints what --help tells.
void printUsage(llvm::raw_ostream &OS);

} // namespace dtlto

#endif // DTLTO_DISTRIBUTOR_COMMANDLINE_H
