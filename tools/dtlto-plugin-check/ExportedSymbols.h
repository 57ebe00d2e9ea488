//===- ExportedSymbols.h - What a shared library exports --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_EXPORTEDSYMBOLS_H
#define DTLTO_PLUGINCHECK_EXPORTEDSYMBOLS_H

#include <string>
#include <vector>

namespace dtlto::check {

/// The symbols that an ELF file, of which \p File is all bytes, exports for all
/// to see; without weak ones: those that templates of C++ leave are no harm.
/// The bytes may be anything: where they are no such file, \p Error says so.
std::vector<std::string> exportedSymbols(const std::string &File,
                                         std::string &Error);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_EXPORTEDSYMBOLS_H
