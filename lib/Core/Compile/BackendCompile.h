//===- BackendCompile.h - A backend compile of ThinLTO ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a module to an object, both on the linker's threads and in workers.
// A CompileClient does what differs between the two: it reads the module and
// receives the diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_BACKENDCOMPILE_H
#define DTLTO_COMPILE_BACKENDCOMPILE_H

#include "Config/CompileSpec.h"
#include "LLVM/ThinBackend.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DiagnosticInfo.h"
#include <atomic>
#include <functional>
#include <optional>

namespace dtlto {

/// The inputs of LLVM's backend. References must outlive the compile.
struct CompileInputs {
  const llvm::lto::Config &Conf;
  unsigned Task;
  const llvm::ModuleSummaryIndex &Index;
  const llvm::FunctionImporter::ImportMapTy &Imports;
  const llvm::GVSummaryMapTy &Defined; // summaries of the module
  ModuleMapTy *Modules;                // to import from
  LibFuncs Unavailable;
  llvm::StringRef Name;       // identifies the module
  llvm::StringRef ObjectName; // the object's name for itself, or empty
  llvm::StringRef Optimized;  // bitcode of the optimized module, or empty
};

/// Called on the compiling thread.
class CompileClient {
public:
  virtual ~CompileClient() = default;

  /// Reads the module to optimize. May also determine the imports.
  virtual llvm::Expected<std::unique_ptr<llvm::Module>>
  read(llvm::LLVMContext &Context) = 0;
  /// Receives a diagnostic from LLVM.
  virtual void diagnose(const llvm::DiagnosticInfo &DI) = 0;
  /// Called before LLVM opens the other output files of an optimized module.
  virtual void willOpenFiles() {}
  /// Called when all files are open, before code generation.
  virtual llvm::Error willGenerate() { return llvm::Error::success(); }
};

struct CompiledModule {
  /// The object, or its sections of codegen data (Bundle/CodegenData.h).
  llvm::SmallVector<char, 0> Object;
  /// The object, if Object has its sections.
  llvm::SmallVector<char, 0> FirstObject;
  /// Whether code was generated; the object may be empty.
  bool IsProduced = false;
  /// Whether any diagnostic was an error.
  bool HasErrors = false;
  /// Whether CompileInputs::Optimized is unreadable.
  bool IsUnreadable = false;
  /// The optimized module as bitcode, if requested. Empty if code generated
  /// from it might differ.
  std::optional<llvm::SmallVector<char, 0>> Optimized;
};

/// Compiles \p In according to \p Spec, as in-process ThinLTO does.
///
/// If \p Stop is not null and becomes true, the object is no longer needed:
/// skips the remaining passes and generates no code. Code generation that has
/// begun runs to its end.
llvm::Error compileModule(const CompileInputs &In, const CompileSpec &Spec,
                          CompileClient &Client, CompiledModule &Result,
                          const std::atomic<bool> *Stop = nullptr);

/// Makes LLVM reduce each module, once it has imported, to what the job of its
/// task compiles; then the hook that \p Conf has had so far runs. \p SpecOf
/// returns the spec of a task, on any thread. \p Conf and \p Index outlive the
/// hook.
void followSpecs(llvm::lto::Config &Conf, const llvm::ModuleSummaryIndex &Index,
                 std::function<CompileSpec(unsigned Task)> SpecOf);

/// Writes \p DI to \p OS like LLD's own handler, without the severity. If
/// LLVM's text lacks the module's name, the name comes first.
void printDiagnostic(const llvm::DiagnosticInfo &DI, llvm::raw_ostream &OS);

/// Returns the sections of codegen data of \p Object (packSections()).
llvm::Expected<llvm::SmallVector<char, 0>>
codegenSectionsOf(llvm::StringRef Object);

} // namespace dtlto

#endif // DTLTO_COMPILE_BACKENDCOMPILE_H
