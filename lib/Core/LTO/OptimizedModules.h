//===- OptimizedModules.h - Modules that are optimised ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_OPTIMIZEDMODULES_H
#define DTLTO_LTO_OPTIMIZEDMODULES_H

#include "Host/BuiltJob.h"
#include "LTO/LinkContext.h"
#include <optional>
#include <string>

namespace dtlto {

/// Provides optimised modules to jobs of a link, which generate code from them,
/// and takes those that jobs make. Thread-safe.
class OptimizedModules {
public:
  virtual ~OptimizedModules() = default;

  /// Returns the module from which a plugin job generates code for \p T; null:
  /// the job optimises. The result lives as long as this object. May take a
  /// while.
  virtual ModuleFile *forPlugin(const Task &T) = 0;
  /// Like forPlugin(), for a compile in this process.
  virtual std::optional<llvm::StringRef> forLocalCompile(const Task &T) = 0;

  /// Whether keep() should be called once \p T is optimised; in this process if
  /// \p IsLocal.
  virtual bool wants(const Task &T, bool IsLocal) = 0;
  /// Takes \p Optimized, the optimised bitcode of \p T; empty if code generated
  /// from it could differ. \p FirstObject is the object that was generated with
  /// it, if known.
  virtual void keep(const Task &T, llvm::StringRef Optimized, bool IsLocal,
                    llvm::SmallVector<char, 0> FirstObject = {}) = 0;

  /// Reports that code can't be generated from what forLocalCompile() returned
  /// for \p T. \p Why is one line.
  virtual void dropForLocalCompile(const Task &T, llvm::StringRef Why) = 0;
  /// Reports that another machine's object from the optimised module of \p T is
  /// wrong. Returns what was kept and whether it was removed, or "".
  virtual std::string dropForPlugin(const Task &) { return ""; }

  /// The link's configuration, for code generation only.
  virtual const llvm::lto::Config &codegenConfig() const = 0;

  /// Called after the last of \p NumJobs jobs. Returns a note for the user, or
  /// "".
  virtual std::string finish(size_t /*NumJobs*/) { return ""; }
};

} // namespace dtlto

#endif // DTLTO_LTO_OPTIMIZEDMODULES_H
