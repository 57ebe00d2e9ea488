//===- Module.h - Modules and their bitcode ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_MODULE_H
#define DTLTO_LLVM_MODULE_H

#include "LLVM/Version.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/GlobalValue.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include <string>

namespace dtlto {

/// Returns the GUID of the function or variable with this identifier.
inline llvm::GlobalValue::GUID guidOf(llvm::StringRef Identifier) {
#if LLVM_VERSION_MAJOR >= 21
  return llvm::GlobalValue::getGUIDAssumingExternalLinkage(Identifier);
#else
  return llvm::GlobalValue::getGUID(Identifier);
#endif
}

inline llvm::GlobalValue::GUID guidOf(const llvm::GlobalValue &Value) {
#if LLVM_VERSION_MAJOR >= 23
  return Value.getGUIDOrFallback();
#else
  return Value.getGUID();
#endif
}

/// Whether \p Code is a record with a GUID for each value of a module, in two
/// 32-bit halves, the upper one first. 0: the value has no GUID of its own.
inline bool isGUIDList(unsigned Code) {
#if LLVM_VERSION_MAJOR >= 23
  return Code == llvm::bitc::MODULE_CODE_GUIDLIST;
#else
  (void)Code;
  return false;
#endif
}

/// Whether passes may use random numbers for a module with this bitcode. The
/// seed is the module's name (Module::createRNG()), which differs on other
/// machines. Metadata strings are plain bytes in bitcode.
inline bool mayUseRandomNumbers(llvm::StringRef Bitcode) {
  return LLVM_VERSION_MAJOR >= 22 && Bitcode.contains("alloc-token-mode") &&
         Bitcode.contains("random");
}

/// Whether \p Code is a record with properties of module assembly.
inline bool isAsmProperty(unsigned Code) {
#if LLVM_VERSION_MAJOR >= 23
  return Code == llvm::bitc::MODULE_CODE_ASM_PROPERTY;
#else
  (void)Code;
  return false;
#endif
}

/// Removes the module assembly of \p M.
inline void clearModuleAsm(llvm::Module &M) {
#if LLVM_VERSION_MAJOR >= 23
  M.setModuleInlineAsm({});
#else
  M.setModuleInlineAsm("");
#endif
}

/// Returns the module assembly of \p M.
inline std::string moduleAsm(const llvm::Module &M) {
#if LLVM_VERSION_MAJOR >= 23
  std::string Text;
  for (const auto &Fragment : M.getModuleInlineAsm())
    Text += Fragment.Asm;
  return Text;
#else
  return M.getModuleInlineAsm();
#endif
}

/// Returns \p T in the type that targets and modules expect.
inline auto toTargetTriple(const llvm::Triple &T) {
#if LLVM_VERSION_MAJOR >= 21
  return T;
#else
  return T.str();
#endif
}

} // namespace dtlto

#endif // DTLTO_LLVM_MODULE_H
