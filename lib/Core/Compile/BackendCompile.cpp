//===- BackendCompile.cpp - A backend compile of ThinLTO ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps are the same as in InProcessThinBackend in LLVM's LTO.cpp.
//
//===----------------------------------------------------------------------===//

#include "Compile/BackendCompile.h"
#include "Bundle/CodegenData.h"
#include "LLVM/CodegenData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace dtlto;

namespace {

class Compile {
public:
  Compile(const CompileInputs &In, CompileClient &Client,
          CompiledModule &Result, const std::atomic<bool> *Stop)
      : In(In), Client(Client), Result(Result), Stop(Stop) {}

  Error both(const CompileSpec &Spec);
  Error optimize(SmallVectorImpl<char> &IR);
  Error generate(StringRef IR);
  bool isStopped() const { return Stop && *Stop; }

private:
  void setUp(lto::LTOLLVMContext &Context, bool IsMute = false);
  Error run(Module &M, const BackendStages &Stages,
            function_ref<void()> Before);

  const CompileInputs &In;
  CompileClient &Client;
  CompiledModule &Result;
  const std::atomic<bool> *Stop; // may be null
  std::optional<StopGate> Gate;
};

} // namespace

/// Empties all functions but keeps them, since other values refer to them.
static void emptyFunctions(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    F.dropAllReferences();
    new UnreachableInst(M.getContext(),
                        BasicBlock::Create(M.getContext(), "", &F));
  }
}

static AddStreamFn streamInto(SmallVectorImpl<char> &Bytes,
                              const std::string &Name = {}) {
  return [&Bytes,
          Name](unsigned,
                const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Bytes), Name);
  };
}

/// \p IsMute: drops warnings, which an earlier job has already reported.
void Compile::setUp(lto::LTOLLVMContext &Context, bool IsMute) {
  Context.DiagHandler = [this, IsMute](const DiagnosticInfo &DI) {
    bool IsError = DI.getSeverity() == DS_Error;
    Result.HasErrors |= IsError;
    if (IsError || !IsMute)
      Client.diagnose(DI);
  };
  if (Stop && !Context.getOptPassGate().isEnabled()) // -opt-bisect-limit
    Context.setOptPassGate(Gate.emplace(*Stop));
}

/// Runs LLVM's backend. Calls \p Before before code generation.
Error Compile::run(Module &M, const BackendStages &Stages,
                   function_ref<void()> Before) {
  AddStreamFn Object = streamInto(Result.Object, In.ObjectName.str());
  auto AddStream =
      [&](unsigned Task,
          const Twine &Name) -> Expected<std::unique_ptr<CachedFileStream>> {
    Result.IsProduced = true;
    if (isStopped())
      emptyFunctions(M);
    else
      Before();
    if (Error E = Client.willGenerate())
      return std::move(E);
    return Object(Task, Name);
  };
  return runThinBackend(In.Conf, In.Task, AddStream, M, In.Index, In.Imports,
                        In.Defined, In.Modules, In.Unavailable, Stages);
}

Error Compile::both(const CompileSpec &Spec) {
  lto::LTOLLVMContext Context(In.Conf);
  setUp(Context);
  Expected<std::unique_ptr<Module>> M = Client.read(Context);
  if (!M)
    return M.takeError();
  const std::string Flags = targetMachineFlags(**M);
  BackendStages Stages;
  if (Spec.ReturnsOptimized && Spec.returnsCodegenData()) // saved by LLVM
    Stages.SaveIR = streamInto(Result.Optimized.emplace());
  return run(**M, Stages, [&] {
    if (Spec.ReturnsOptimized && !Spec.returnsCodegenData())
      Result.Optimized = saveOptimized(**M, Flags);
  });
}

/// Repeats the optimization of the job that returned codegen data, without its
/// warnings.
Error Compile::optimize(SmallVectorImpl<char> &IR) {
  lto::LTOLLVMContext Context(In.Conf);
  setUp(Context, /*IsMute=*/true);
  Expected<std::unique_ptr<Module>> M = Client.read(Context);
  if (!M)
    return M.takeError();
  BackendStages Stages;
  Stages.SaveIR = streamInto(IR);
  Error E = run(**M, Stages, [&] { emptyFunctions(**M); });
  Result.Object.clear();
  return E;
}

/// Generates code from bitcode, as in-process ThinLTO does.
Error Compile::generate(StringRef IR) {
  lto::LTOLLVMContext Context(In.Conf);
  setUp(Context);
  Expected<std::unique_ptr<Module>> M =
      parseBitcodeFile(MemoryBufferRef(IR, "in-memory IR file"), Context);
  if (!M) {
    Result.IsUnreadable = true;
    return M.takeError();
  }
  (*M)->setModuleIdentifier(In.Name);
  Client.willOpenFiles();
  BackendStages Codegen;
  Codegen.OnlyCodegen = true;
  return run(**M, Codegen, [] {});
}

void dtlto::printDiagnostic(const DiagnosticInfo &DI, raw_ostream &OS) {
  if (const auto *Asm = dyn_cast<DiagnosticInfoSrcMgr>(&DI))
    if (Asm->isInlineAsmDiag())
      OS << Asm->getModuleName() << ' ';
  DiagnosticPrinterRawOStream Printer(OS);
  DI.print(Printer);
}

Expected<SmallVector<char, 0>> dtlto::codegenSectionsOf(StringRef Object) {
  CodegenSections Sections;
  if (Error E = forEachCodegenSection(Object, [&](bool IsMap, StringRef Bytes) {
        Sections.push_back(
            {IsMap ? CodegenSection::FunctionMap : CodegenSection::HashTree,
             Bytes});
      }))
    return std::move(E);
  return packSections(Sections);
}

/// Replaces the object by the contents of its sections of codegen data.
static Error takeSections(CompiledModule &Result) {
  Result.FirstObject = std::move(Result.Object);
  Expected<SmallVector<char, 0>> Sections =
      codegenSectionsOf(toStringRef(Result.FirstObject));
  if (!Sections)
    return Sections.takeError();
  Result.Object = std::move(*Sections);
  return Error::success();
}

Error dtlto::compileModule(const CompileInputs &In, const CompileSpec &Spec,
                           CompileClient &Client, CompiledModule &Result,
                           const std::atomic<bool> *Stop) {
  Compile C(In, Client, Result, Stop);
  if (Spec.IsOptimized)
    return C.generate(In.Optimized);
  if (Spec.usesMergedData()) {
    SmallVector<char, 0> IR;
    if (Error E = C.optimize(IR))
      return E;
    if (Result.HasErrors || !std::exchange(Result.IsProduced, false) ||
        C.isStopped())
      return Error::success();
    return C.generate(toStringRef(IR));
  }
  if (Error E = C.both(Spec))
    return E;
  if (Spec.returnsCodegenData() && Result.IsProduced && !Result.HasErrors &&
      !C.isStopped())
    return takeSections(Result);
  return Error::success();
}
