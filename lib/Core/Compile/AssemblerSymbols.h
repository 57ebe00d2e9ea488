//===- AssemblerSymbols.h - Symbols that assembly names ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which symbols assembly defines or refers to, to keep them in its part.
//
// Module assembly is assembled: LLVM's MC knows all symbols then, whatever
// directive or macro made them. The assembly of a function can't be assembled
// before its operands are known. Its text is only classified, and what isn't
// known to be harmless counts as harmful.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_ASSEMBLERSYMBOLS_H
#define DTLTO_COMPILE_ASSEMBLERSYMBOLS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace dtlto {

/// Whether \p Assembly may name symbols that its text doesn't show, or defines
/// macros, which later assembly of its module can use.
bool hasMacros(llvm::StringRef Assembly);

/// The symbols, as in an object, that the module assembly of \p M defines or
/// refers to. None if that depends on files or can't be assembled.
std::optional<std::vector<std::string>>
moduleAssemblySymbols(const llvm::Module &M);

/// Stands for an operand in the text of a function's assembly.
constexpr char AnyText = '\0';
/// Stands for the number that each copy of a function's assembly has its own
/// of.
constexpr char UniqueText = '\1';

/// \p Assembly of a function with AnyText and UniqueText in place of what is
/// inserted when it is emitted. Names are put together with these.
std::string withPlaceholders(llvm::StringRef Assembly);

enum class AssemblyKind {
  Plain,   ///< Instructions and data in place: defines nothing.
  Defines, ///< May define symbols or use other sections. Its text shows names.
  Unknown, ///< May do anything.
};

/// \p Text is from withPlaceholders().
AssemblyKind classifyAssembly(llvm::StringRef Text);

/// Calls \p Tell with each word of \p Text, from withPlaceholders(), that may
/// name a symbol.
void forEachName(llvm::StringRef Text,
                 llvm::function_ref<void(llvm::StringRef)> Tell);

} // namespace dtlto

#endif // DTLTO_COMPILE_ASSEMBLERSYMBOLS_H
