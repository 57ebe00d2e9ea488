//===- CommandLine.h - dtlto-distributor's options --------------*- C++ -*-===//
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
  std::string List;        // the JSON file; empty with --index-only
  std::string IndexFolder; // --index-only
  PrefixReplace Prefix;
  std::vector<std::string> Compiler; // for IndexFolder, with its arguments
  unsigned Jobs = 0;                 // local, at a time; 0: as many as cores
  bool Verbose = false, Help = false, Version = false;
};

/// Reads the program's arguments, without its name. An error is one line that
/// names what is wrong.
llvm::Expected<Command> readCommand(llvm::ArrayRef<const char *> Args);

/// Prints the text of --help.
void printUsage(llvm::raw_ostream &OS);

} // namespace dtlto

#endif // DTLTO_DISTRIBUTOR_COMMANDLINE_H
