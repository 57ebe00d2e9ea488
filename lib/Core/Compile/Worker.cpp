//===- Worker.cpp - A backend compile from a bundle -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does what clang does for -fthinlto-index= (runThinLTOBackend in its
// BackendUtil.cpp), with modules in memory and the linker's configuration.
//
//===----------------------------------------------------------------------===//

#include "Compile/Worker.h"
#include "Bundle/CodegenData.h"
#include "Compile/Sandbox.h"
#include "Config/ConfigJSON.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"
#include "LLVM/Module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/LTO/LTO.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace dtlto;

namespace {

class Worker : public CompileClient {
public:
  Worker(const Bundle &JobBundle, ReadConfig Read,
         std::function<void(StringRef)> Report)
      : JobBundle(JobBundle), Read(std::move(Read)), Report(std::move(Report)) {
  }

  Expected<WorkerResult> run();

private:
  Expected<std::unique_ptr<Module>> read(LLVMContext &Context) override;
  void diagnose(const DiagnosticInfo &DI) override;
  void willOpenFiles() override {
    if (!Files.empty())
      Limit.lift();
  }
  Error willGenerate() override { return Limit.set(); }

  /// The names of profiles, and the fields for their paths.
  auto profiles() {
    return std::array{
        std::pair(&Extras.CSIRProfile, &Conf.CSIRProfile),
        std::pair(&Extras.SampleProfile, &Conf.SampleProfile),
        std::pair(&Extras.ProfileRemapping, &Conf.ProfileRemapping)};
  }
  Expected<StringRef> configFile(StringRef Name) const;
  Error makeFiles();
  Error useCodegenData();
  Error readIndex();
  void installHooks();
  Error explain(Error E, bool IsUnreadable);
  Expected<WorkerResult> take(CompiledModule Compiled);

  const Bundle &JobBundle;
  ReadConfig Read;
  lto::Config &Conf = Read.Conf;
  const ConfigExtras &Extras = Read.Extras;
  std::function<void(StringRef)> Report;
  TemporaryFiles Files;
  std::string Remarks; // the path of the file; empty: none
  NoDescriptors Limit;
  std::unique_ptr<ModuleSummaryIndex> Index;
  DefinedSummaries Defined;
  ModuleMapTy Modules; // the primary module and its imports, by path
  OwningImportList Imports;
};

} // namespace

static MemoryBufferRef buffer(const Bundle::Input &Input) {
  return MemoryBufferRef(StringRef(Input.Bytes.data(), Input.Bytes.size()),
                         Input.Path);
}

static Error inFile(const Bundle::Input &Input, Error E) {
  return failure(Input.Path + ": " + toString(std::move(E)));
}

static Error parseLLVMOptions(ArrayRef<std::string> Options) {
  std::vector<const char *> Argv = {"dtlto-codegen"};
  for (const std::string &Option : Options)
    Argv.push_back(Option.c_str());
  std::string Text;
  raw_string_ostream OS(Text);
  if (cl::ParseCommandLineOptions(static_cast<int>(Argv.size()), Argv.data(),
                                  "", &OS))
    return Error::success();
  // LLVM itself prints the error of a wrong value.
  StringRef Why = StringRef(OS.str()).trim();
  return failure("LLVM's options: " + (Why.empty() ? "a wrong value" : Why));
}

/// Returns the input \p Name, which the configuration names.
Expected<StringRef> Worker::configFile(StringRef Name) const {
  for (const Bundle::Input &Input : JobBundle.Inputs)
    if (Input.Path == Name && Input.Role == DTLTO_ROLE_OTHER)
      return StringRef(Input.Bytes.data(), Input.Bytes.size());
  return failure("the file '" + Name + "' of the configuration is missing");
}

/// Creates the files that fields of the configuration name.
Error Worker::makeFiles() {
  for (auto [Name, Field] : profiles()) {
    if (Name->empty())
      continue;
    Expected<StringRef> Bytes = configFile(*Name);
    if (!Bytes)
      return Bytes.takeError();
    if (Error E = Files.create("profile", *Bytes).moveInto(*Field))
      return E;
  }
  if (StringRef Name = Extras.FunctionList; !Name.empty()) {
    Expected<StringRef> List = configFile(Name);
    if (!List)
      return List.takeError();
    Conf.Options.BBSectionsFuncListBuf =
        MemoryBuffer::getMemBufferCopy(*List, Name);
  }
  // The object records the name in the linker; the actual file is another.
  if (!Extras.DwoName.empty()) {
    Conf.SplitDwarfFile = Extras.DwoName;
    if (Error E = Files.create("dwo").moveInto(Conf.SplitDwarfOutput))
      return E;
  }
  if (!Extras.Remarks)
    return Error::success();
  if (Error E = Files.create("remarks").moveInto(Conf.RemarksFilename))
    return E;
  Remarks = sideFiles(Conf, 0).Remarks;
  Files.add(Remarks);
  return Error::success();
}

/// Makes code generation emit data, or use the job's data.
Error Worker::useCodegenData() {
  if (Extras.Spec.emitsCodegenData())
    emitCodegenData();
  if (Extras.CodegenData.empty())
    return Error::success();
  Expected<StringRef> Bytes = configFile(Extras.CodegenData);
  if (!Bytes)
    return Bytes.takeError();
  if (Error E = checkCodegenDataFile(*Bytes))
    return failure(Extras.CodegenData + ": " + toString(std::move(E)));
  if (Extras.Spec.returnsCodegenData())
    return Error::success();
  return publishCodegenData(*Bytes, /*Finalize=*/Extras.Spec.usesMergedData());
}

Error Worker::readIndex() {
  if (Error E =
          getModuleSummaryIndex(buffer(JobBundle.index())).moveInto(Index))
    return inFile(JobBundle.index(), std::move(E));
  Index->collectDefinedGVSummariesPerModule(Defined);
  return Error::success();
}

/// Fails if a definition of \p M lacks a summary, since LLVM doesn't check
/// this.
static Error checkSummaries(const Module &M, const GVSummaryMapTy &Defined,
                            const Bundle::Input &Input) {
  for (const GlobalValue &GV : M.global_values())
    if (GV.hasName() && !GV.isDeclarationForLinker() &&
        !GV.getName().starts_with("llvm.") &&
        !isa_and_nonnull<GlobalIFunc>(GV.getAliaseeObject()) &&
        !Defined.count(guidOf(GV)) && !Defined.count(guidOf(GV.getName())))
      return failure(Input.Path + ": the index has no summary of '" +
                     printable(GV.getName()) + "'");
  return Error::success();
}

Expected<std::unique_ptr<Module>> Worker::read(LLVMContext &Context) {
  // The importer finds modules by their paths in the index.
  for (const Bundle::Input &Input : JobBundle.Inputs) {
    if (Input.Role != DTLTO_ROLE_PRIMARY && Input.Role != DTLTO_ROLE_IMPORT)
      continue;
    Expected<BitcodeModule> Module = lto::findThinLTOModule(buffer(Input));
    if (!Module)
      return inFile(Input, Module.takeError());
    Modules.insert({Input.Path, *Module});
  }
  Expected<std::unique_ptr<Module>> M =
      Modules.find(JobBundle.primary().Path)->second.parseModule(Context);
  if (!M)
    return inFile(JobBundle.primary(), M.takeError());
  if (Error E = checkSummaries(**M, Defined[JobBundle.primary().Path],
                               JobBundle.primary()))
    return std::move(E);
  if (!lto::initImportList(**M, *Index, Imports.List))
    return failure("the index does not describe the imports of the module");
  // LLVM ends the process if it can't find a module.
  for (StringRef Name : importedModules(Imports.List))
    if (!Modules.count(Name))
      return failure("module '" + Name + "' is imported but not in the bundle");
  return M;
}

void Worker::diagnose(const DiagnosticInfo &DI) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << LLVMContext::getDiagnosticMessagePrefix(DI.getSeverity()) << ": ";
  printDiagnostic(DI, OS);
  Text = replacePath(OS.str(), JobBundle.primary().Path, JobBundle.Name);
  for (auto [Name, Path] : profiles())
    if (!Name->empty())
      Text = replacePath(Text, *Path, *Name);
  Report(Text);
}

void Worker::installHooks() {
  // Importing and code generation parse assembly, so set the limit for both.
  // LLVM opens the job's files before and in between.
  if (!Conf.CodeGenOnly && !Files.empty()) {
    Limit.lift();
    Conf.PreOptModuleHook = [this](unsigned, const Module &) {
      return !errorToBool(Limit.set());
    };
    Conf.PostImportModuleHook = [this](unsigned, const Module &) {
      Limit.lift();
      return true;
    };
  }
  followSpecs(Conf, *Index, [this](unsigned) { return Extras.Spec; });
  // Code generation describes a module by its name, which must be in the index.
  if (!Extras.ModuleName.empty())
    Conf.PreCodeGenModuleHook = [this](unsigned, const Module &Of) {
      if (Index->modulePaths().count(Of.getModuleIdentifier()))
        Index->addModule(Extras.ModuleName);
      const_cast<Module &>(Of).setModuleIdentifier(Extras.ModuleName);
      return true;
    };
}

/// Converts \p E of LLVM's backend to an error for the user.
Error Worker::explain(Error E, bool IsUnreadable) {
  if (IsUnreadable)
    return inFile(JobBundle.primary(), std::move(E));
  // Modules that don't match are an error in the program.
  std::string Text = toString(std::move(E));
  if (!StringRef(Text).starts_with("Function Import: "))
    return failure(Text);
  Report("error: " + Text);
  return failure("code generation failed");
}

static Error takeFile(StringRef Path, std::unique_ptr<MemoryBuffer> &Bytes) {
  if (Path.empty())
    return Error::success();
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!File)
    return createFileError(Path, File.getError());
  Bytes = std::move(*File);
  return Error::success();
}

Expected<WorkerResult> Worker::take(CompiledModule Compiled) {
  WorkerResult Result{std::move(Compiled), nullptr, nullptr};
  if (Error E = takeFile(Conf.SplitDwarfOutput, Result.Dwo))
    return std::move(E);
  if (Error E = takeFile(Remarks, Result.Remarks))
    return std::move(E);
  return std::move(Result);
}

Expected<WorkerResult> Worker::run() {
  if (Error E = makeFiles())
    return std::move(E);
  if (Error E = Limit.set())
    return std::move(E);
  if (Error E = parseLLVMOptions(Read.LLVMOptions))
    return std::move(E);
  if (Error E = useCodegenData())
    return std::move(E);
  if (Error E = readIndex())
    return std::move(E);
  installHooks();

  const std::vector<StringRef> Unavailable(Extras.Unavailable.begin(),
                                           Extras.Unavailable.end());
  CompileSpec Spec = Extras.Spec;
  Spec.IsOptimized = Conf.CodeGenOnly;
  CompiledModule Compiled;
  Error E =
      compileModule({Conf, /*Task=*/0, *Index, Imports.List,
                     Defined[JobBundle.primary().Path], &Modules, Unavailable,
                     JobBundle.primary().Path, Extras.ObjectName,
                     buffer(JobBundle.primary()).getBuffer()},
                    Spec, *this, Compiled);
  Limit.lift();
  Files.removeOnSignal();
  if (E)
    return explain(std::move(E), Compiled.IsUnreadable);
  if (Compiled.HasErrors)
    return failure("code generation failed");
  return take(std::move(Compiled));
}

JobOutputs WorkerResult::outputs() const {
  JobOutputs Result;
  Result.Object = toStringRef(Object);
  if (Dwo)
    Result.Dwo = Dwo->getBuffer();
  if (Remarks)
    Result.Remarks = Remarks->getBuffer();
  if (Optimized)
    Result.Optimized = toStringRef(*Optimized);
  return Result;
}

Expected<WorkerResult> dtlto::runBundle(const Bundle &JobBundle,
                                        std::function<void(StringRef)> Report) {
  Expected<ReadConfig> Read = readConfig(JobBundle.Config);
  if (!Read)
    return Read.takeError();
  return Worker(JobBundle, std::move(*Read), std::move(Report)).run();
}
