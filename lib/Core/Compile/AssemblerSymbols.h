//===- AssemblerSymbols.h - Symbols that assembly names ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the symbols that assembly defines or refers to, to keep them in the
// same object.
//
// Module assembly is assembled, so LLVM's MC knows all symbols, whatever
// directive or macro created them. Inline assembly of a function can't be
// assembled before its operands are known. Its text is only classified;
// anything not known to be harmless counts as harmful.
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
/// macros that later assembly of the module can use.
bool hasMacros(llvm::StringRef Assembly);

/// Returns the symbols that the module assembly of \p M defines or refers to,
/// with their names in the object. Returns nullopt if they depend on files or
/// the assembly is invalid.
std::optional<std::vector<std::string>>
moduleAssemblySymbols(const llvm::Module &M);

/// Replaces an operand in the text of a function's assembly.
constexpr char AnyText = '\0';
/// Replaces the number that differs in each copy of a function's assembly.
constexpr char UniqueText = '\1';

/// Returns \p Assembly of a function with AnyText and UniqueText in place of
/// what is inserted on emission. Names may contain both.
std::string withPlaceholders(llvm::StringRef Assembly);

enum class AssemblyKind {
  Plain,   ///< Instructions and data in place: defines nothing.
  Defines, ///< May define symbols or use other sections. Its text shows names.
  Unknown, ///< May do anything.
};

/// Classifies \p Text, a result of withPlaceholders().
AssemblyKind classifyAssembly(llvm::StringRef Text);

/// Calls \p Visit with each word of \p Text that may name a symbol. \p Text is
/// a result of withPlaceholders().
void forEachName(llvm::StringRef Text,
                 llvm::function_ref<void(llvm::StringRef)> Visit);

} // namespace dtlto

#endif // DTLTO_COMPILE_ASSEMBLERSYMBOLS_H
