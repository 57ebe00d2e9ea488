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

/// Where jobs of a link get optimised modules from, to generate code of, and
/// where those go that jobs make. Any thread.
class OptimizedModules {
public:
  virtual ~OptimizedModules() = default;

  /// What a job of the plugin's is to generate code of for \p T; null: the job
  /// optimises. Lives as long as this. May take a while.
  virtual ModuleFile *forPlugin(const Task &T) = 0;
  /// The same for a compile in this process.
  virtual std::optional<llvm::StringRef> forHere(const Task &T) = 0;

  /// Whether keep() should be called once \p T is optimised. \p IsHere: in this
  /// process.
  virtual bool wants(const Task &T, bool IsHere) = 0;
  /// Takes \p Optimized, bitcode that \p T was optimised to; empty: code that
  /// is generated of it may be other code. \p FirstObject: the object of a
  /// first round, if it is known.
  virtual void keep(const Task &T, llvm::StringRef Optimized, bool IsHere,
                    llvm::SmallVector<char, 0> FirstObject = {}) = 0;

  /// Code can't be generated of what forHere() returned for \p T. \p Why is one
  /// line.
  virtual void dropHere(const Task &T, llvm::StringRef Why) = 0;
  /// The object that another machine made of what is kept for \p T is wrong.
  /// Returns what was kept and what became of it, or nothing.
  virtual std::string dropForPlugin(const Task &T) = 0;

  /// The link's configuration, for code generation alone.
  virtual const llvm::lto::Config &codegenConfig() const = 0;

  /// After the last of \p NumJobs: returns what there is to tell, or nothing.
  virtual std::string finish(size_t NumJobs) = 0;
};

} // namespace dtlto

#endif // DTLTO_LTO_OPTIMIZEDMODULES_H
