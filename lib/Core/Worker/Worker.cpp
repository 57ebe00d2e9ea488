//===- Worker.cpp - A backend compile from a bundle -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What clang does for -fthinlto-index= (runThinLTOBackend in its
// BackendUtil.cpp), with modules in memory and the linker's own configuration.
//
//===----------------------------------------------------------------------===//

#include "Worker/Worker.h"
#include "Bundle/CodegenData.h"
#include "Bundle/CodegenDataFile.h"
#include "Config/ConfigJSON.h"
#include "Split/ModulePart.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Diagnostics.h"
#include "LLVM/Index.h"
#include "LLVM/Module.h"
#include "LLVM/Optimized.h"
#include "LLVM/ThinBackend.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/LTO/LTO.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <fcntl.h>
#include <optional>
#include <sys/resource.h>

using namespace llvm;
using namespace dtlto;

static MemoryBufferRef buffer(const Bundle::Input &Input) {
  return MemoryBufferRef(StringRef(Input.Bytes.data(), Input.Bytes.size()),
                         Input.Path);
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
  // Of a wrong value it says why by itself.
  StringRef Why = StringRef(OS.str()).trim();
  return failure("LLVM's options: " + (Why.empty() ? "a wrong value" : Why));
}

/// The input of \p B called \p Name.
static Expected<StringRef> configFile(const Bundle &B, StringRef Name) {
  for (const Bundle::Input &Input : B.Inputs)
    if (Input.Path == Name && Input.Role == DTLTO_ROLE_OTHER)
      return StringRef(Input.Bytes.data(), Input.Bytes.size());
  return failure("the file '" + Name + "' of the configuration is missing");
}

namespace {

/// Keeps this process from getting new descriptors: it can open no file, no
/// library and no socket, whatever a bundle makes LLVM try. Those that are open
/// stay so.
class NoDescriptors {
public:
  ~NoDescriptors() { lift(); }

  /// Returns false if the system doesn't let us.
  bool set() {
    if (Before)
      return true;
    rlimit Limit;
    if (::getrlimit(RLIMIT_NOFILE, &Limit) != 0)
      return false;
    // poll() of one descriptor needs a limit of one. So 0 must be in use.
    if (::fcntl(0, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != 0)
      return false;
    Before = Limit;
    Limit.rlim_cur = 1;
    return ::setrlimit(RLIMIT_NOFILE, &Limit) == 0;
  }

  void lift() {
    if (Before)
      ::setrlimit(RLIMIT_NOFILE, &*Before);
    Before.reset();
  }

private:
  std::optional<rlimit> Before;
};

/// Files on disk for as long as this lives: LLVM opens them by their names.
/// They are also gone when a signal or a fatal error of LLVM's ends the
/// process.
class TemporaryFiles {
public:
  ~TemporaryFiles() {
    for (const std::string &Path : Paths) {
      sys::fs::remove(Path);
      sys::DontRemoveFileOnSignal(Path);
    }
  }

  bool empty() const { return Paths.empty(); }

  /// Once more after LLVM has written them: it takes them off its list then.
  void removeOnSignal() const {
    for (const std::string &Path : Paths)
      sys::RemoveFileOnSignal(Path);
  }

  /// Writes the input of \p B called \p Name and sets \p Field to where. Does
  /// nothing without a name.
  Error write(const Bundle &B, StringRef Name, std::string &Field) {
    if (Name.empty())
      return Error::success();
    Expected<StringRef> Bytes = configFile(B, Name);
    if (!Bytes)
      return Bytes.takeError();
    Expected<int> Fd = create("profile", Field);
    if (!Fd)
      return Fd.takeError();
    raw_fd_ostream OS(*Fd, /*shouldClose=*/true);
    OS << *Bytes;
    OS.close();
    if (std::error_code EC = OS.error()) {
      OS.clear_error();
      return createFileError(Field, EC);
    }
    return Error::success();
  }

  /// Sets \p Field to a file that LLVM may write.
  Error makeRoom(StringRef Kind, std::string &Field) {
    Expected<int> Fd = create(Kind, Field);
    if (!Fd)
      return Fd.takeError();
    sys::fs::file_t File = sys::fs::convertFDToNativeFile(*Fd);
    sys::fs::closeFile(File);
    return Error::success();
  }

  /// Also removes \p Path in the end.
  void add(std::string Path) {
    sys::RemoveFileOnSignal(Path);
    Paths.push_back(std::move(Path));
  }

private:
  Expected<int> create(StringRef Kind, std::string &Field) {
    std::error_code EC;
    for (unsigned Tries = 0; Tries != 128; ++Tries) {
      SmallString<128> Path;
      sys::fs::createUniquePath("dtlto-%%%%%%." + Kind, Path,
                                /*MakeAbsolute=*/true);
      Field = Path.str().str();
      // First, so that there is no moment at which a signal leaves it.
      sys::RemoveFileOnSignal(Field);
      int Fd;
      EC = sys::fs::openFileForReadWrite(
          Field, Fd, sys::fs::CD_CreateNew, sys::fs::OF_None,
          sys::fs::owner_read | sys::fs::owner_write);
      if (!EC) {
        Paths.push_back(Field);
        return Fd;
      }
      sys::DontRemoveFileOnSignal(Field); // somebody else's
      if (EC != errc::file_exists)
        break;
    }
    return createFileError(Field, EC);
  }

  std::vector<std::string> Paths;
};

} // namespace

/// Leaves what an object of the first round tells in its place.
static Error keepSections(SmallVector<char, 0> &Object) {
  CodegenSections Sections;
  SmallVector<char, 0> Whole = std::move(Object);
  if (Error E = forEachCodegenSection(StringRef(Whole.data(), Whole.size()),
                                      [&](bool IsMap, StringRef Bytes) {
                                        Sections.push_back(
                                            {IsMap ? CodegenSection::FunctionMap
                                                   : CodegenSection::HashTree,
                                             Bytes});
                                      }))
    return E;
  Object = packSections(Sections);
  return Error::success();
}

static Error inFile(const Bundle::Input &Input, Error E) {
  return failure(Input.Path + ": " + toString(std::move(E)));
}

/// LLVM follows the summary of each definition of \p M, whether there is one or
/// not.
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

namespace {

/// What a job optimises.
struct ModuleInputs {
  ModuleMapTy Modules; // and what it imports from, by their paths
  std::unique_ptr<Module> M;
  OwnImportList Imports;
};

} // namespace

static Error readModules(const Bundle &B, LLVMContext &Context,
                         ModuleSummaryIndex &Index, DefinedSummaries &Defined,
                         ModuleInputs &In) {
  // The importer knows a module by its path, as the index has it.
  for (const Bundle::Input &Input : B.Inputs) {
    if (Input.Role != DTLTO_ROLE_PRIMARY && Input.Role != DTLTO_ROLE_IMPORT)
      continue;
    Expected<BitcodeModule> Module = lto::findThinLTOModule(buffer(Input));
    if (!Module)
      return inFile(Input, Module.takeError());
    In.Modules.insert({Input.Path, *Module});
  }
  Expected<std::unique_ptr<Module>> M =
      In.Modules.find(B.primary().Path)->second.parseModule(Context);
  if (!M)
    return inFile(B.primary(), M.takeError());
  In.M = std::move(*M);
  if (Error E = checkSummaries(*In.M, Defined[In.M->getModuleIdentifier()],
                               B.primary()))
    return E;
  if (!lto::initImportList(*In.M, Index, In.Imports.List))
    return failure("the index has nothing to import by");
  // LLVM ends the process over a module that it can't find.
  for (StringRef Name : importedModules(In.Imports.List))
    if (!In.Modules.count(Name))
      return failure("module '" + Name + "' is imported but not in the bundle");
  return Error::success();
}

/// The module of \p B once it is optimised.
static Expected<std::unique_ptr<Module>>
readOptimized(const Bundle &B, LLVMContext &Context, MemoryBufferRef Bitcode) {
  Expected<std::unique_ptr<Module>> M = parseBitcodeFile(Bitcode, Context);
  if (!M)
    return inFile(B.primary(), M.takeError());
  (*M)->setModuleIdentifier(B.primary().Path);
  return M;
}

/// Bytes for LLVM to write.
static AddStreamFn streamInto(SmallVectorImpl<char> &Bytes) {
  return [&](unsigned,
             const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Bytes));
  };
}

JobOutputs WorkerResult::outputs() const {
  JobOutputs Result;
  Result.Object = StringRef(Object.data(), Object.size());
  if (Dwo)
    Result.Dwo = Dwo->getBuffer();
  if (Remarks)
    Result.Remarks = Remarks->getBuffer();
  if (Optimized)
    Result.Optimized = StringRef(Optimized->data(), Optimized->size());
  return Result;
}

Expected<WorkerResult> dtlto::runBundle(const Bundle &B,
                                        std::function<void(StringRef)> Say) {
  Expected<ReadConfig> Read = readConfig(B.Config);
  if (!Read)
    return Read.takeError();
  lto::Config &Conf = Read->Conf;
  TemporaryFiles Files;
  if (Error E = Files.write(B, Read->Extras.CSIRProfile, Conf.CSIRProfile))
    return std::move(E);
  if (Error E = Files.write(B, Read->Extras.SampleProfile, Conf.SampleProfile))
    return std::move(E);
  if (Error E =
          Files.write(B, Read->Extras.ProfileRemapping, Conf.ProfileRemapping))
    return std::move(E);
  if (StringRef Name = Read->Extras.FunctionList; !Name.empty()) {
    Expected<StringRef> List = configFile(B, Name);
    if (!List)
      return List.takeError();
    Conf.Options.BBSectionsFuncListBuf =
        MemoryBuffer::getMemBufferCopy(*List, Name);
  }
  // What the object says is the name in the linker; the file is another.
  if (!Read->Extras.DwoName.empty()) {
    Conf.SplitDwarfFile = Read->Extras.DwoName;
    if (Error E = Files.makeRoom("dwo", Conf.SplitDwarfOutput))
      return std::move(E);
  }
  std::string RemarksPath;
  if (Read->Extras.Remarks) {
    if (Error E = Files.makeRoom("remarks", Conf.RemarksFilename))
      return std::move(E);
    RemarksPath = sideFiles(Conf, 0).Remarks;
    Files.add(RemarksPath);
  }
  // Assembly is parsed by the importer and by code generation. In between, a
  // job that has files opens them.
  NoDescriptors Limit;
  if (!Limit.set())
    return failure("the limit of open files can't be changed");
  if (Error E = parseLLVMOptions(Read->LLVMOptions))
    return std::move(E);
  const unsigned Round = Read->Extras.Round;
  // Then the primary module is all that there is: it has no summary, and
  // imports nothing.
  const bool IsOptimized = Conf.CodeGenOnly;
  std::optional<StringRef> Data; // what code generation learnt before
  if (StringRef Name = Read->Extras.CodegenData; !Name.empty()) {
    Expected<StringRef> Bytes = configFile(B, Name);
    if (!Bytes)
      return Bytes.takeError();
    if (Error E = checkCodegenDataFile(*Bytes))
      return failure(Name + ": " + toString(std::move(E)));
    Data = *Bytes;
  }
  if (Round != 0)
    emitCodegenData();
  else if (Data)
    if (Error E = publishCodegenData(*Data, /*Finalize=*/false))
      return std::move(E);

  bool Failed = false, IsMute = false;
  Conf.DiagHandler = [&](const DiagnosticInfo &DI) {
    Failed |= DI.getSeverity() == DS_Error;
    if (IsMute && DI.getSeverity() != DS_Error)
      return;
    std::string Text;
    raw_string_ostream OS(Text);
    OS << LLVMContext::getDiagnosticMessagePrefix(DI.getSeverity()) << ": ";
    printDiagnostic(DI, OS);
    Text = withName(OS.str(), B.primary().Path, B.Name);
    const ConfigExtras &Names = Read->Extras;
    for (auto [Path, Name] :
         {std::pair(StringRef(Conf.CSIRProfile), StringRef(Names.CSIRProfile)),
          std::pair(StringRef(Conf.SampleProfile),
                    StringRef(Names.SampleProfile)),
          std::pair(StringRef(Conf.ProfileRemapping),
                    StringRef(Names.ProfileRemapping))})
      if (!Name.empty())
        Text = withName(Text, Path, Name);
    Say(Text);
  };
  lto::LTOLLVMContext Context(Conf);

  Expected<std::unique_ptr<ModuleSummaryIndex>> Index =
      getModuleSummaryIndex(buffer(B.index()));
  if (!Index)
    return inFile(B.index(), Index.takeError());

  DefinedSummaries Defined;
  (*Index)->collectDefinedGVSummariesPerModule(Defined);
  ModuleInputs In;
  if (!IsOptimized) {
    if (Error E = readModules(B, Context, **Index, Defined, In))
      return std::move(E);
  } else if (Round != 2) {
    Expected<std::unique_ptr<Module>> M =
        readOptimized(B, Context, buffer(B.primary()));
    if (!M)
      return M.takeError();
    In.M = std::move(*M);
  }

  if (!IsOptimized && !Files.empty()) {
    Limit.lift();
    Conf.PreOptModuleHook = [&](unsigned, const Module &) {
      return Limit.set();
    };
    Conf.PostImportModuleHook = [&](unsigned, const Module &) {
      Limit.lift();
      return true;
    };
  }
  PartNumber Part = Read->Extras.Part;
  if (!Part.isWhole()) {
    Conf.PostImportModuleHook = [Part, &Conf, &Index = **Index,
                                 Path = B.primary().Path,
                                 Before = std::move(Conf.PostImportModuleHook)](
                                    unsigned Number, const Module &Imported) {
      keepPart(const_cast<Module &>(Imported), Part, Conf, Index, Path);
      return !Before || Before(Number, Imported);
    };
  }
  // It is in what code generation tells of a module, if the index has that.
  if (!Read->Extras.ModuleName.empty())
    Conf.PreCodeGenModuleHook = [&](unsigned, const Module &Of) {
      if ((*Index)->modulePaths().count(Of.getModuleIdentifier()))
        (*Index)->addModule(Read->Extras.ModuleName);
      const_cast<Module &>(Of).setModuleIdentifier(Read->Extras.ModuleName);
      return true;
    };
  const std::vector<StringRef> Unavailable(Read->Extras.Unavailable.begin(),
                                           Read->Extras.Unavailable.end());
  WorkerResult Result;
  const bool SavesOptimized = Read->Extras.ReturnsOptimized && Round == 0;
  const std::string Flags = SavesOptimized ? targetMachineFlags(*In.M) : "";
  auto AddStream =
      [&](unsigned,
          const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    Result.Produced = true;
    if (SavesOptimized)
      Result.Optimized = saveOptimized(*In.M, Flags);
    if (!Limit.set())
      return failure("the limit of open files can't be changed");
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Result.Object),
        Read->Extras.ObjectName);
  };
  auto Run = [&](Module &Of, const AddStreamFn &To,
                 const Halves &Which) -> Error {
    Error E = runThinBackend(Conf, 0, To, Of, **Index, In.Imports.List,
                             Defined[B.primary().Path], &In.Modules,
                             Unavailable, Which);
    if (!E)
      return E;
    // Modules that don't fit together are an error in the program.
    std::string Text = toString(std::move(E));
    if (!StringRef(Text).starts_with("Function Import: "))
      return failure(Text);
    Say("error: " + Text);
    return failure("code generation failed");
  };
  SmallVector<char, 0> IR; // the optimised module
  if (Round != 2) {
    Halves Both;
    if (Read->Extras.ReturnsOptimized && Round == 1)
      Both.SaveIR = streamInto(IR);
    // Files are opened before code generation.
    if (IsOptimized && !Files.empty())
      Limit.lift();
    if (Error E = Run(*In.M, AddStream, Both))
      return std::move(E);
  } else if (!IsOptimized) {
    // What the module is optimised to was the first round's, and warned of
    // there. As in-process, it becomes bitcode, then code.
    Halves Optimize;
    Optimize.SaveIR = streamInto(IR);
    std::string RemarksFile = std::exchange(Conf.RemarksFilename, "");
    std::string DwoFile = std::exchange(Conf.SplitDwarfOutput, "");
    auto Named = std::exchange(Conf.PreCodeGenModuleHook,
                               [](unsigned, const Module &) { return false; });
    IsMute = true;
    if (Error E = Run(*In.M, AddStream, Optimize))
      return std::move(E);
    IsMute = false;
    Conf.PreCodeGenModuleHook = std::move(Named);
    Conf.RemarksFilename = std::move(RemarksFile);
    Conf.SplitDwarfOutput = std::move(DwoFile);
    if (Failed)
      return failure("code generation failed");
  }
  if (Round == 2) {
    if (Data)
      if (Error E = publishCodegenData(*Data, /*Finalize=*/true))
        return std::move(E);
    // Files are opened before code generation, and nothing is imported.
    if (!Files.empty())
      Limit.lift();
    lto::LTOLLVMContext Second(Conf);
    Expected<std::unique_ptr<Module>> Optimized = readOptimized(
        B, Second,
        IsOptimized ? buffer(B.primary())
                    : MemoryBufferRef(StringRef(IR.data(), IR.size()),
                                      "in-memory IR file"));
    if (!Optimized)
      return Optimized.takeError();
    Halves Codegen;
    Codegen.OnlyCodegen = true;
    if (Error E = Run(**Optimized, AddStream, Codegen))
      return std::move(E);
  }
  Limit.lift();
  Files.removeOnSignal();
  if (Failed)
    return failure("code generation failed");
  if (Round == 1 && Result.Produced)
    if (Error E = keepSections(Result.Object))
      return std::move(E);
  if (Read->Extras.ReturnsOptimized && Round != 0)
    Result.Optimized = std::move(IR);

  auto Take = [](StringRef Path,
                 std::unique_ptr<MemoryBuffer> &Bytes) -> Error {
    if (Path.empty())
      return Error::success();
    auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false,
                                      /*IsVolatile=*/true);
    if (!File)
      return createFileError(Path, File.getError());
    Bytes = std::move(*File);
    return Error::success();
  };
  if (Error E = Take(Conf.SplitDwarfOutput, Result.Dwo))
    return std::move(E);
  if (Error E = Take(RemarksPath, Result.Remarks))
    return std::move(E);
  return std::move(Result);
}
