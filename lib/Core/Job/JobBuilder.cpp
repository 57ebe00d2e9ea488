//===- JobBuilder.cpp - From a task of LLVM to a job of the ABI -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/JobBuilder.h"
#include "Bitcode/Assembly.h"
#include "Bundle/JobOutputs.h"
#include "Config/CompilerArgs.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"
#include "LLVM/Module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral AssemblyReason =
    "assembly that may read files (.incbin, .include, macros)";

/// AArch64's code generation looks up what functions that may not be imported
/// do with their parameters, in all summaries that there are.
static Error readsIndex() {
  return failure("-fsanitize=memtag-stack (code generation reads the whole "
                 "index)");
}

static std::vector<StringRef> modules(const ModuleSummaryIndex &Index) {
  std::vector<StringRef> Names;
  for (const auto &Entry : Index.modulePaths())
    Names.push_back(Entry.first());
  return Names;
}

static constexpr uint32_t WithInputs =
    DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG;
static constexpr uint32_t OfInputs =
    DTLTO_JOB_DIGESTS | DTLTO_JOB_WHOLE_IMPORTS;

JobBuilder::JobBuilder(const LinkContext &L, uint32_t Needs, SlimImports *Slim,
                       KeptModules *Kept)
    : L(L), Slim(Slim), Kept(Kept),
      Needs(Needs & WithInputs ? Needs & (WithInputs | OfInputs) : 0),
      Names(modules(L.Index)), AllShards(L) {}

StringRef JobBuilder::triple(const Task &T) const {
  if (!L.Conf.OverrideTriple.empty())
    return L.Conf.OverrideTriple;
  return T.Triple.empty() ? StringRef(L.Conf.DefaultTriple) : T.Triple;
}

/// The file of \p Module as the primary or as an import, under the same name.
Expected<ModuleFile *> JobBuilder::moduleFile(const BitcodeModule &Module,
                                              uint32_t Role, bool IsWhole) {
  StringRef Name = Module.getModuleIdentifier();
  const bool MayBeSlim = Slim && Role == DTLTO_ROLE_IMPORT && !IsWhole;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (MayBeSlim) {
      if (auto It = ImportFiles.find(Name); It != ImportFiles.end())
        return It->second;
    } else if (auto It = Files.find(Name); It != Files.end()) {
      return It->second.get();
    }
  }
  auto Input = L.Inputs.find(Module);
  if (!Input)
    return failure("the file of module '" + Name + "' is not in memory");
  SlimImports::Import Import{Input->Bytes, /*IsWhole=*/true};
  if (MayBeSlim) {
    // Takes a while, and threads that want the same wait there.
    Import = Slim->slim(Module, Input->Bytes);
    if (Import.IsWhole) {
      // The same file as where it is the primary.
      Expected<ModuleFile *> Whole = moduleFile(Module, Role, true);
      if (!Whole)
        return Whole.takeError();
      std::lock_guard<std::mutex> Lock(Mutex);
      return ImportFiles[Name] = *Whole;
    }
  }
  std::optional<std::string> Path = Names.encode(Name);
  if (!Path)
    return failure("the name of module '" + Name +
                   "' is too long for other machines");
  auto File = std::make_unique<ModuleFile>();
  File->Path = std::move(*Path);
  File->Name = Name.str();
  File->WholeSize = Input->Bytes.size();
  File->Bytes = Import.Bytes;
  File->MayReadFiles = MayBeSlim ? Import.MayReadFiles
                                 : assemblyMayReadFiles(Module.getBuffer());
  File->MayDrawNumbers = mayDrawNumbers(Module.getBuffer());
  // Another thread may have been faster.
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!MayBeSlim)
    return Files.try_emplace(Name, std::move(File)).first->second.get();
  auto [It, IsNew] = ImportFiles.try_emplace(Name, File.get());
  if (IsNew)
    SlimFiles.push_back(std::move(File));
  return It->second;
}

bool JobBuilder::staysHere(const Task &T) {
  if (Needs == 0)
    return true;
  if (Needs & DTLTO_JOB_ARGS && !argsFor(triple(T)).Reason.empty())
    return true;
  if (Needs & DTLTO_JOB_CONFIG)
    if (Error E = config().takeError()) {
      consumeError(std::move(E));
      return true;
    }
  return false;
}

/// Lets \p Field say that the file \p Path is an input called \p Name.
Error JobBuilder::addConfigFile(StringRef Path, StringRef Name,
                                std::string &Field) {
  if (Path.empty())
    return Error::success();
  ErrorOr<std::unique_ptr<MemoryBuffer>> File = MemoryBuffer::getFile(
      Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!File)
    return failure("'" + Path +
                   "', which can't be read: " + File.getError().message());
  auto Kept = std::make_unique<ModuleFile>();
  Kept->Path = Field = Name.str();
  Kept->Name = Path.str();
  Kept->Bytes = (*File)->getBuffer();
  ConfigFiles.push_back(std::move(Kept));
  ConfigBuffers.push_back(std::move(*File));
  return Error::success();
}

/// The configuration of the job \p Built of \p T, or without these, of one that
/// has nothing of its own.
Expected<std::string> JobBuilder::configText(const Task *T,
                                             const BuiltJob *Built) const {
  ConfigExtras OfJob = Extras;
  SideFiles Files = sideFiles(L.Conf, T ? T->Number : 0);
  if (T) {
    OfJob.ObjectName = T->ObjectName;
    OfJob.Part = T->Part;
    if (emitsCodegenData())
      OfJob.ModuleName = T->name().str();
    if (L.round() == 2)
      OfJob.IsOptimized = L.TwoRounds->irToSend(T->Number).has_value();
  }
  OfJob.DwoName = Files.Dwo;
  OfJob.Remarks = !Files.Remarks.empty();
  // Makes LLVM put the file's absolute path into the object.
  if (OfJob.Remarks)
    for (StringRef Word : L.JobOpts.LLVMOptions)
      if (Word.contains("remarks-section"))
        return failure("-mllvm " + Word);
  if (!Built || !Built->Optimized) {
    OfJob.ReturnsOptimized = Built && Built->ReturnsOptimized;
    return writeConfig(L.Conf, L.JobOpts.LLVMOptions, OfJob);
  }
  OfJob.Part = {};
  OfJob.HasPartHook = false;
  return writeConfig(Kept->codegenConfig(), L.JobOpts.LLVMOptions, OfJob);
}

/// What code generation learnt before, which is an input of each job; null:
/// nothing.
Expected<ModuleFile *> JobBuilder::codegenData() {
  std::call_once(DataOnce, [&] {
    auto File = std::make_unique<ModuleFile>();
    if (L.TwoRounds) {
      File->Bytes = L.TwoRounds->data();
    } else if (std::string Path = usedCodegenData(); !Path.empty()) {
      auto Read = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
      if (!Read) {
        WhyNoData =
            "'" + Path + "', which can't be read: " + Read.getError().message();
        return;
      }
      File->Bytes = (*Read)->getBuffer();
      DataBuffer = std::move(*Read);
    }
    File->Path = "codegen.data";
    if (!File->Bytes.empty())
      DataFile = std::move(File);
  });
  if (!WhyNoData.empty())
    return failure(WhyNoData);
  return DataFile.get();
}

Error JobBuilder::makeConfig() {
  const lto::Config &Conf = L.Conf;
  if (L.Index.hasParamAccess())
    return readsIndex();
  Expected<ModuleFile *> Data = codegenData();
  if (!Data)
    return Data.takeError();
  if (*Data)
    Extras.CodegenData = (*Data)->Path;
  Extras.Round = L.round();
  // With RunCSIRInstr it is the name of a file that the program will write.
  if (!Conf.RunCSIRInstr)
    if (Error E =
            addConfigFile(Conf.CSIRProfile, "profile.cs", Extras.CSIRProfile))
      return E;
  if (Error E = addConfigFile(Conf.SampleProfile, "profile.sample",
                              Extras.SampleProfile))
    return E;
  if (Error E = addConfigFile(Conf.ProfileRemapping, "profile.remapping",
                              Extras.ProfileRemapping))
    return E;
  if (Conf.Options.BBSectionsFuncListBuf) {
    auto Kept = std::make_unique<ModuleFile>();
    Kept->Path = Extras.FunctionList = "basic-block-sections";
    Kept->Bytes = Conf.Options.BBSectionsFuncListBuf->getBuffer();
    ConfigFiles.push_back(std::move(Kept));
  }
  Extras.Unavailable.assign(L.Unavailable.begin(), L.Unavailable.end());
  Extras.HasPartHook = L.HasPartHook;
  Extras.ObjCARCContract = L.IsMachO && Conf.PreCodeGenPassesHook != nullptr;
  Expected<std::string> Text = configText(nullptr, nullptr);
  if (!Text)
    return Text.takeError();
  Config = std::move(*Text);
  return Error::success();
}

/// The link's configuration as text, which lives as long as the builder.
Expected<const char *> JobBuilder::config() {
  std::call_once(ConfigOnce, [&] {
    if (Error E = makeConfig())
      WhyNoConfig = toString(std::move(E));
  });
  if (!WhyNoConfig.empty())
    return failure(WhyNoConfig);
  return Config.c_str();
}

const std::string &JobBuilder::configId() {
  std::call_once(ConfigIdOnce, [&] {
    BLAKE3 Hash;
    auto Add = [&](StringRef Text) {
      Hash.update(Text);
      Hash.update(StringRef("", 1));
    };
    if (Expected<const char *> Text = config()) {
      Add(*Text);
      for (const auto &File : ConfigFiles) {
        Add(File->Path);
        Hash.update(ArrayRef(File->digest(), 32));
      }
    } else { // at least what LLVM's keys have nothing of
      Add(toString(Text.takeError()));
      for (const std::string &Word : L.JobOpts.LLVMOptions)
        Add(Word);
    }
    ConfigId = toHex(Hash.final());
  });
  return ConfigId;
}

const JobBuilder::TripleArgs &JobBuilder::argsFor(StringRef TheTriple) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto [It, New] = Triples.try_emplace(TheTriple);
  if (New) {
    Expected<std::vector<std::string>> Args = compilerArgs(
        L.Conf, Triple(TheTriple), L.JobOpts.LLVMOptions, L.HasPartHook);
    Expected<ModuleFile *> Data = codegenData();
    if (Data && *Data && Args)
      Args->insert(
          Args->end(),
          {"-mllvm", ("-" + CodegenDataOption + "=" + (*Data)->Path).str()});
    if (!Data) {
      It->second.Reason = toString(Data.takeError());
      if (!Args)
        consumeError(Args.takeError());
    } else if (Args && L.Index.hasParamAccess())
      It->second.Reason = toString(readsIndex());
    else if (Args && L.TwoRounds)
      It->second.Reason = ("-mllvm -" + TwoRoundsOption).str();
    else if (Args && emitsCodegenData())
      It->second.Reason = "-mllvm -codegen-data-generate";
    else if (Args && !L.Unavailable.empty())
      It->second.Reason = ("library functions that must not be called, '" +
                           L.Unavailable.front() + "'")
                              .str();
    else if (Args)
      It->second.Args = std::move(*Args);
    else
      It->second.Reason = toString(Args.takeError());
  }
  return It->second;
}

/// What the job of \p T begins with if it only generates code; null: it does
/// more. No command line says so.
const ModuleFile *JobBuilder::optimized(const Task &T) const {
  return Kept && Needs & DTLTO_JOB_CONFIG && !(Needs & DTLTO_JOB_ARGS)
             ? Kept->forPlugin(T)
             : nullptr;
}

/// The optimised module, and no other, as inputs: what code generation needs
/// in the second round.
Error JobBuilder::addOptimized(BuiltJob &Built, const Task &T, StringRef IR) {
  Expected<ModuleFile *> File =
      moduleFile(T.Module, DTLTO_ROLE_PRIMARY, /*IsWhole=*/true);
  if (!File)
    return File.takeError();
  if (assemblyMayReadFiles(IR))
    return failure(AssemblyReason);
  Built.Inputs.push_back(
      makeInput(DTLTO_ROLE_PRIMARY, (*File)->Path.c_str(), IR));
  Built.Files.push_back(nullptr);
  OwnImportList Nothing;
  return addIndex(Built, T, Nothing.List,
                  {{T.name(), StringRef((*File)->Path)}});
}

Error JobBuilder::addModules(BuiltJob &Built, const Task &T) {
  // The primary module first, then imports as the importer visits them.
  SmallVector<StringRef, 0> Imported = importedModules(*T.ImportList);
  sort(Imported);

  const bool Whole = Needs & DTLTO_JOB_WHOLE_IMPORTS;
  if (Slim && !Whole && !Built.Optimized)
    for (StringRef Name : Imported)
      if (auto It = T.ModuleMap->find(Name); It != T.ModuleMap->end())
        if (auto Input = L.Inputs.find(It->second))
          Slim->start(It->second, Input->Bytes);
  StringMap<StringRef> Paths; // the linker's name -> the name that travels
  StringSet<> Encoded;        // some of the latter
  auto AddModule = [&](uint32_t Role, const BitcodeModule &Module) -> Error {
    Expected<ModuleFile *> File = moduleFile(Module, Role, Whole);
    if (!File)
      return File.takeError();
    if ((*File)->MayReadFiles)
      return failure(AssemblyReason);
    if ((*File)->MayDrawNumbers)
      return failure("-falloc-token-mode=random (tokens depend on the module's "
                     "name)");
    Built.Inputs.push_back(
        makeInput(Role, (*File)->Path.c_str(), (*File)->Bytes));
    Built.Files.push_back(*File);
    if (Role == DTLTO_ROLE_IMPORT)
      Built.WholeImportBytes += (*File)->WholeSize;
    Paths[Module.getModuleIdentifier()] = (*File)->Path;
    return Error::success();
  };
  if (Error E = AddModule(DTLTO_ROLE_PRIMARY, T.Module))
    return E;
  if (const ModuleFile *File = Built.Optimized) {
    if (File->MayReadFiles)
      return failure(AssemblyReason);
    Built.Inputs.back().bytes = {File->Bytes.data(), File->Bytes.size()};
    Built.Files.back() = const_cast<ModuleFile *>(File); // for its digest
  }
  for (StringRef Name : Imported) {
    // It is imported. The index still has what is said of it.
    if (Built.Optimized) {
      if (std::optional<std::string> Path = Names.encode(Name))
        Paths[Name] = Encoded.insert(*Path).first->first();
      continue;
    }
    auto It = T.ModuleMap->find(Name);
    if (It == T.ModuleMap->end())
      return failure("no imported module '" + Name + "'");
    if (Error E = AddModule(DTLTO_ROLE_IMPORT, It->second))
      return E;
  }

  return addIndex(Built, T, *T.ImportList, Paths);
}

/// \p Paths: as for Shards.
Error JobBuilder::addIndex(BuiltJob &Built, const Task &T,
                           const FunctionImporter::ImportMapTy &Imports,
                           const StringMap<StringRef> &Paths) {
  Expected<Shards::Shard> Shard = AllShards.get(T, Imports, Paths);
  if (!Shard)
    return Shard.takeError();
  Built.Shard = std::move(*Shard);
  Built.Inputs.push_back(
      makeInput(DTLTO_ROLE_INDEX, IndexPath.data(), Built.shard()));
  Built.Files.push_back(nullptr);
  return Error::success();
}

Error JobBuilder::addInputs(BuiltJob &Built, const Task &T) {
  std::optional<StringRef> IR;
  if (L.round() == 2)
    IR = L.TwoRounds->irToSend(T.Number);
  if (Error E = IR ? addOptimized(Built, T, *IR) : addModules(Built, T))
    return E;
  Expected<ModuleFile *> Data = codegenData();
  if (!Data)
    return Data.takeError();
  if (*Data) {
    Built.Inputs.push_back(
        makeInput(DTLTO_ROLE_OTHER, (*Data)->Path.c_str(), (*Data)->Bytes));
    Built.Files.push_back(*Data);
  }
  setInputs(Built);
  Built.Job.fields |= DTLTO_JOB_INPUTS | (Needs & DTLTO_JOB_WHOLE_IMPORTS);
  return Error::success();
}

Error JobBuilder::addConfig(BuiltJob &Built, const Task &T) {
  Built.ReturnsOptimized =
      L.round() == 1 ? L.TwoRounds->wantsIR()
                     : Kept && !(Needs & DTLTO_JOB_ARGS) && !Built.Optimized &&
                           Kept->wants(T, /*IsHere=*/false);
  Expected<const char *> OfLink = config();
  if (!OfLink)
    return OfLink.takeError();
  const char *Text = *OfLink;
  // Names of files that the job makes are its own.
  if (!sideFiles(L.Conf, T.Number).empty() || !T.ObjectName.empty() ||
      !T.Part.isWhole() || L.round() != 0 || emitsCodegenData() ||
      Built.Optimized || Built.ReturnsOptimized) {
    Expected<std::string> Own = configText(&T, &Built);
    if (!Own)
      return Own.takeError();
    Built.Config = std::move(*Own);
    Text = Built.Config.c_str();
  }
  for (auto &File : ConfigFiles) {
    Built.Inputs.push_back(
        makeInput(DTLTO_ROLE_OTHER, File->Path.c_str(), File->Bytes));
    Built.Files.push_back(File.get());
  }
  setInputs(Built);
  Built.Job.config = Text;
  Built.Job.fields |= DTLTO_JOB_CONFIG;
  return Error::success();
}

Error JobBuilder::addArgs(BuiltJob &Built, const Task &T) {
  if (!T.Part.isWhole())
    return failure("--thinlto-dist-split");
  const TripleArgs &Common = argsFor(Built.Triple);
  if (!Common.Reason.empty())
    return failure(Common.Reason);

  std::vector<std::string> &Args = Built.Args;
  // A worker's own configuration files must not have a say, and a crash must
  // leave nothing behind. Diagnostics have no lines of the bitcode file, where
  // clang looks for the program's source.
  Args = {"clang",
          "--no-default-config",
          "-fno-crash-diagnostics",
          "-Wno-unused-command-line-argument",
          "-fno-color-diagnostics",
          "-fno-caret-diagnostics"};
  Args.insert(Args.end(), Common.Args.begin(), Common.Args.end());
  if (!T.ObjectName.empty()) {
    Args.push_back("-Xclang");
    Args.push_back("-object-file-name=" + T.ObjectName);
  }
  for (const std::string &Arg :
       {std::string("-c"), "-fthinlto-index=" + IndexPath.str(),
        std::string("-x"), std::string("ir"),
        std::string(Built.Inputs.front().path), std::string("-o"),
        OutputPath.str()})
    Args.push_back(Arg);

  setArgs(Built, OutputPath.data());
  return Error::success();
}

Expected<std::unique_ptr<BuiltJob>>
JobBuilder::build(const Task &T, uint64_t Id, uint64_t Cost) {
  auto Built = std::make_unique<BuiltJob>();
  Built->Name = T.title();
  Built->Triple = triple(T).str();
  Built->Job.size = sizeof(dtlto_job);
  Built->Job.id = Id;
  Built->Job.name = Built->Name.c_str();
  Built->Job.triple = Built->Triple.c_str();
  Built->Job.cost = Cost;
  Built->Optimized = optimized(T);
  // The command line and the configuration mean nothing without the inputs.
  if (Needs != 0)
    if (Error E = addInputs(*Built, T))
      return std::move(E);
  if (Needs & DTLTO_JOB_ARGS)
    if (Error E = addArgs(*Built, T))
      return std::move(E);
  if (Needs & DTLTO_JOB_CONFIG)
    if (Error E = addConfig(*Built, T))
      return std::move(E);
  if (Needs & DTLTO_JOB_DIGESTS)
    addDigests(*Built);
  return Built;
}
