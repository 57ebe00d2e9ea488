//===- OtherLinkers.h - Running mold, GNU ld and gold -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linkers other than LLD get ThinLTO from LLVMgold.so, which clang names on
// their command line. The executable has their names, too, and then runs the
// linker of that name with libdtlto_gold.so in the place of LLVMgold.so. So
// `--ld-path=<prefix>/lib/dtlto/bin/ld.mold` is all that a user changes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_OTHERLINKERS_H
#define DTLTO_LLD_HOOKS_OTHERLINKERS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/StringSaver.h"
#include <string>

namespace dtlto {

/// Whether \p Program is the name of a linker that runOtherLinker() runs.
bool isOtherLinker(llvm::StringRef Program);

/// Removes LLVMgold.so from \p Args (which begins with the program's name), and
/// makes \p Plugin the first option. Also does this if there is no plugin but
/// an option of ours, which the linker would refuse otherwise. Expands response
/// files if one of them names LLVMgold.so. Memory comes from \p Saver.
void replacePlugin(llvm::SmallVectorImpl<const char *> &Args,
                   llvm::StringRef Plugin, llvm::StringSaver &Saver);

/// Replaces the process by the first linker in PATH that has the name of
/// \p Args[0] and isn't this executable. Its plugin is in \p PluginFolder.
/// Fails if there is no such linker or it can't be run.
llvm::Error runOtherLinker(llvm::ArrayRef<const char *> Args,
                           const std::string &PluginFolder);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_OTHERLINKERS_H
