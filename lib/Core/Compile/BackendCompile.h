//===- BackendCompile.h - A backend compile of ThinLTO ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one way in which a module becomes an object, on a thread of the linker
// and in a worker. A CompileClient has what differs between the two: it reads
// the module and takes the diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_BACKENDCOMPILE_H
#define DTLTO_COMPILE_BACKENDCOMPILE_H

#include "Config/CompileSpec.h"
#include "LLVM/ThinBackend.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DiagnosticInfo.h"
#include <atomic>
#include <optional>

namespace dtlto {

/// What LLVM's backend reads. References outlive the compile.
struct CompileInputs {
  const llvm::lto::Config &Conf;
  unsigned Task;
  const llvm::ModuleSummaryIndex &Index;
  const llvm::FunctionImporter::ImportMapTy &Imports;
  const llvm::GVSummaryMapTy &Defined; // summaries of the module
  ModuleMapTy *Modules;                // to import from
  LibFuncs Unavailable;
  llvm::StringRef Name;       // identifies the module
  llvm::StringRef ObjectName; // what the object calls itself, or empty
  llvm::StringRef Optimized;  // bitcode of an optimised module, or empty
};

/// Called on the compiling thread.
class CompileClient {
public:
  virtual ~CompileClient() = default;

  /// Reads the module to optimise. Imports may be found by it.
  virtual llvm::Expected<std::unique_ptr<llvm::Module>>
  read(llvm::LLVMContext &Context) = 0;
  /// Takes a diagnostic of LLVM's.
  virtual void diagnose(const llvm::DiagnosticInfo &DI) = 0;
  /// LLVM opens the files that an optimised module is compiled to beside the
  /// object.
  virtual void willOpenFiles() {}
  /// All files are open, and code generation begins.
  virtual llvm::Error willGenerate() { return llvm::Error::success(); }
};

struct CompiledModule {
  /// The object; of a first round, what it tells (Bundle/CodegenData.h).
  llvm::SmallVector<char, 0> Object;
  /// Of a first round: the object that tells it.
  llvm::SmallVector<char, 0> FirstObject;
  /// Whether code generation finished, if with an empty object.
  bool IsProduced = false;
  /// A diagnostic was an error.
  bool HasErrors = false;
  /// What was given as the optimised module is none.
  bool IsUnreadable = false;
  /// If it was to be returned: the optimised module as bitcode; empty where the
  /// code that is generated of it may be other code.
  std::optional<llvm::SmallVector<char, 0>> Optimized;
};

/// Compiles what \p In says as \p Spec says, as in-process ThinLTO does.
///
/// Once \p Stop (may be null) is true, the object is not needed any more: the
/// remaining passes are skipped and no code is generated. Code generation that
/// has begun runs to its end.
llvm::Error compileModule(const CompileInputs &In, const CompileSpec &Spec,
                          CompileClient &Client, CompiledModule &Result,
                          const std::atomic<bool> *Stop = nullptr);

/// Returns the sections of \p Object, of a first round, that describe its
/// module (packSections()).
llvm::Expected<llvm::SmallVector<char, 0>>
codegenSectionsOf(llvm::StringRef Object);

} // namespace dtlto

#endif // DTLTO_COMPILE_BACKENDCOMPILE_H
