//===- PluginInterface.h - The linkers' interface for plugins ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the linker plugin interface that this library uses itself. GNU
// ld, gold and mold implement it; GCC's wiki specifies it on the page "whopr
// driver" (https://gcc.gnu.org/wiki/whopr/driver). A linker calls the plugin's
// onload() with a vector of tags and values that ends with the tag 0: numbers,
// texts, and functions that the plugin may call.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_GOLD_PLUGININTERFACE_H
#define DTLTO_LLD_HOOKS_GOLD_PLUGININTERFACE_H

namespace dtlto::gold {

enum Status : int { Ok = 0, Failed = 3 };

enum Level : int { Info = 0, Warning = 1, Error = 2, Fatal = 3 };

enum Tag : int {
  End = 0,
  LinkerOutput = 3, // an OutputKind
  Option = 4,       // of -plugin-opt, one for each
  RegisterAllSymbolsRead = 6,
  Message = 11,
  OutputName = 15,
};

enum OutputKind : int { Relocatable = 0 };

using Handler = Status (*)();

/// Prints a text like printf() and, for Fatal, ends the process.
using MessageFunction = Status (*)(int Level, const char *Format, ...);

/// An element of the vector.
struct Transfer {
  Tag Kind;
  union {
    int Number;
    const char *Text;
    MessageFunction Print;
    Status (*Register)(Handler); // for RegisterAllSymbolsRead
  };
};

} // namespace dtlto::gold

#endif // DTLTO_LLD_HOOKS_GOLD_PLUGININTERFACE_H
