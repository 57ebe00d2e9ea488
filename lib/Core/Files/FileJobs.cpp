//===- FileJobs.cpp - Jobs whose modules are files ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/FileJobs.h"
#include "Bitcode/Assembly.h"
#include "Bitcode/ShardNames.h"
#include "Object/ObjectCheck.h"
#include "Object/ObjectDiff.h"
#include "Run/CompilerOutput.h"
#include "Run/CostHistory.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "LLVM/Version.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

FileJobs::FileJobs(const RunContext &Ctx, JobList List, Compiler Clang,
                   std::string Folder, std::vector<std::string> Launcher)
    : List(std::move(List)), Clang(std::move(Clang)),
      LLVMVersion(Ctx.Host.LLVMVersion), Folder(std::move(Folder)),
      Launcher(std::move(Launcher)),
      Needs(Ctx.Host.Config.Needs &
            (DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG |
             DTLTO_JOB_DIGESTS | DTLTO_JOB_WHOLE_IMPORTS)) {
  for (size_t I = 0; I != this->List.Inputs.size(); ++I)
    CommonPaths.push_back("common." + std::to_string(I));
}

/// Follows the file that makes a job compile locally: "'a.o', which ...".
static constexpr StringLiteral UnreadableSuffix = ", which cannot be read: ";

/// Returns \p Path in the form of clang's object names in debug info.
static std::string absolute(StringRef Path) {
  SmallString<256> Whole(Path);
  sys::fs::make_absolute(Whole);
  return Whole.str().str();
}

/// If \p Path is a member of an archive, returns it without the folder, task
/// and process: LLD writes members to files like `a.a(b.o at 123).7.1A2B.o`.
static StringRef memberName(StringRef Path) {
  StringRef Rest = Path;
  if (!Rest.consume_back(".o"))
    return Path;
  auto [Front, Process] = Rest.rsplit('.');
  auto [Member, Task] = Front.rsplit('.');
  bool IsMember = Member.ends_with(")") && all_of(Task, isDigit) &&
                  all_of(Process, isHexDigit);
  return IsMember ? sys::path::filename(Member) : Path;
}

JobFacts FileJobs::facts(size_t J) const {
  const FileJob &Job = List.Jobs[J];
  JobFacts F;
  F.Name = F.Title = printable(Job.module());
  std::string Settings;
  for (StringRef Arg : List.Args)
    if (Arg.starts_with("-O"))
      Settings += Arg;
  F.CostKey = costKey(Names, memberName(Job.module()), Clang.Triple, Settings);
  F.Number = static_cast<unsigned>(J);
  // The compile reports a missing file.
  if (sys::fs::file_size(Job.module(), F.Size))
    F.Size = 0;
  return F;
}

//===----------------------------------------------------------------------===//
// For the plugin
//===----------------------------------------------------------------------===//

Event FileJobs::prepare(const plan::Action &A, size_t J, uint64_t Cost,
                        StringRef Avoid) {
  Event E{Event::Prepared};
  E.Job = A.Attempt;
  Clock::time_point Begin = Clock::now();
  if (A.ForPlugin)
    E.setBuilt(build(J, A.Attempt, Cost, Needs), Avoid);
  E.setEnded(Begin);
  return E;
}

std::optional<ResultKey> FileJobs::resultKey(size_t J) {
  auto Built =
      build(J, /*Id=*/1, /*Cost=*/1, DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS);
  if (Built)
    return dtlto::resultKey(**Built, Clang.Linker + "\n" + LLVMVersion);
  consumeError(Built.takeError());
  return std::nullopt;
}

Expected<FileJobs::File *> FileJobs::open(const std::string &Path) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = Files.find(Path); It != Files.end())
      return It->second.get();
  }
  auto New = std::make_unique<File>();
  if (Error E = openFile(Path, UnreadableSuffix).moveInto(New->Buffer))
    return std::move(E);
  New->Bytes = New->Buffer->getBuffer();
  New->WholeSize = New->Bytes.size();
  std::optional<std::string> Encoded = Names.encode(Path);
  if (!Encoded)
    return failure("a module name that is too long for other machines, '" +
                   printable(Path) + "'");
  New->Path = std::move(*Encoded);
  New->Name = Path;
  New->MayReadFiles = assemblyMayReadFiles(New->Bytes);
  // Another thread may have been faster; keep its result.
  std::lock_guard<std::mutex> Lock(Mutex);
  return Files.try_emplace(Path, std::move(New)).first->second.get();
}

Expected<std::unique_ptr<BuiltJob>>
FileJobs::build(size_t J, uint64_t Id, uint64_t Cost, uint32_t Fields) {
  auto Built = std::make_unique<BuiltJob>();
  Built->Name = printable(List.Jobs[J].module());
  Built->Triple = Clang.Triple;
  Built->Job.size = sizeof(dtlto_job);
  Built->Job.id = Id;
  Built->Job.name = Built->Name.c_str();
  Built->Job.triple = Built->Triple.c_str();
  Built->Job.cost = Cost;
  if (Fields & DTLTO_JOB_CONFIG)
    return failure("the configuration (which only dtlto's linker knows)");
  if (Fields & (DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS))
    if (Error E = addInputs(*Built, List.Jobs[J]))
      return std::move(E);
  if (Fields & DTLTO_JOB_ARGS)
    if (Error E = addArgs(*Built, List.Jobs[J]))
      return std::move(E);
  if (Fields & DTLTO_JOB_DIGESTS && Built->Job.fields & DTLTO_JOB_INPUTS)
    addDigests(*Built);
  return Built;
}

Error FileJobs::addInputs(BuiltJob &Built, const FileJob &J) {
  Expected<std::unique_ptr<MemoryBuffer>> Index =
      openFile(J.shard(), UnreadableSuffix);
  if (!Index)
    return Index.takeError();
  StringMap<StringRef> PortableNames; // the linker's name -> the portable name
  auto AddModule = [&](uint32_t Role, const std::string &Path) -> Error {
    // Some LLVM versions damage shards with non-ASCII names.
    if (!isASCII(Path))
      return failure("a module name outside of ASCII, '" + printable(Path) +
                     "'");
    Expected<File *> Module = open(Path);
    if (!Module)
      return Module.takeError();
    if ((*Module)->MayReadFiles)
      return failure(
          "assembly that may read files (.incbin, .include, macros)");
    if (!PortableNames.try_emplace(Path, (*Module)->Path).second)
      return Error::success();
    Built.Inputs.emplace_back(Role, **Module);
    if (Role == DTLTO_ROLE_IMPORT)
      Built.WholeImportBytes += (*Module)->WholeSize;
    return Error::success();
  };
  if (Error E = AddModule(DTLTO_ROLE_PRIMARY, J.module()))
    return E;
  for (size_t I = 2; I != J.Inputs.size(); ++I)
    if (Error E = AddModule(DTLTO_ROLE_IMPORT, J.Inputs[I]))
      return E;

  // If the shard is empty, the module isn't part of a ThinLTO link.
  if (StringRef Bytes = (*Index)->getBuffer(); !Bytes.empty()) {
    Expected<ShardBytes> Shard = renameShardModules(
        Bytes, [&](StringRef Name) -> std::optional<std::string> {
          auto It = PortableNames.find(Name);
          if (It == PortableNames.end())
            return std::nullopt;
          return It->second.str();
        });
    if (!Shard)
      return failure("'" + printable(J.shard()) + "' (" +
                     toString(Shard.takeError()) + ")");
    Built.Shard = std::make_shared<const ShardBytes>(std::move(*Shard));
  }
  Built.Inputs.emplace_back(DTLTO_ROLE_INDEX, IndexPath.data(), Built.shard());
  for (size_t I = 0; I != List.Inputs.size(); ++I) {
    Expected<File *> Common = open(List.Inputs[I]);
    if (!Common)
      return Common.takeError();
    Built.Inputs.emplace_back(DTLTO_ROLE_OTHER, CommonPaths[I].c_str(),
                              (*Common)->Bytes, *Common);
  }
  setInputs(Built);
  Built.Job.fields |= DTLTO_JOB_INPUTS | DTLTO_JOB_WHOLE_IMPORTS;
  return Error::success();
}

/// Whether clang records an object's name in debug info. For Windows, it does
/// so if \p Args request debug info, whatever is in the bitcode.
static bool namesObject(ArrayRef<std::string> Args, const Triple &Target) {
  return any_of(Args, [&](StringRef Arg) {
    return Arg == "-gcodeview" ||
           (Target.isKnownWindowsMSVCEnvironment() && Arg.starts_with("-g") &&
            Arg != "-g0" && !Arg.starts_with("-gdwarf"));
  });
}

/// Returns the first of \p Args that makes clang write a second file, or an
/// empty string. LLD doesn't list such files as outputs.
static StringRef secondOutputArg(ArrayRef<std::string> Args) {
  for (StringRef Arg : Args)
    for (StringRef Option :
         {"-gsplit-dwarf", "-fsave-optimization-record",
          "-foptimization-record-file", "-fstack-usage", "-ftime-trace",
          "-save-temps", "--save-temps", "-save-stats", "--save-stats"})
      if (Arg.starts_with(Option))
        return Arg;
  return "";
}

std::vector<std::string> FileJobs::command(const FileJob &J) const {
  std::vector<std::string> Args(List.Args.begin() + 1, List.Args.end());
  Args.insert(Args.end(), J.Args.begin(), J.Args.end());
  // The object records the .dwo file's name; don't derive it from the temporary
  // name of the object.
  if (any_of(Args,
             [](StringRef Arg) { return Arg.starts_with("-gsplit-dwarf"); })) {
    SmallString<256> Dwo(J.object());
    sys::path::replace_extension(Dwo, "dwo");
    for (StringRef Option : {"-split-dwarf-file", "-split-dwarf-output"})
      for (StringRef Word :
           {StringRef("-Xclang"), Option, StringRef("-Xclang"), StringRef(Dwo)})
        Args.push_back(Word.str());
  }
  Triple Target(Clang.Triple);
  if (!Target.isOSWindows())
    return Args;
  auto Has = [&](StringRef What) {
    return any_of(Args, [&](StringRef Arg) { return Arg.contains(What); });
  };
  // Windows objects also record their final name.
  if (namesObject(Args, Target) && !Has("-object-file-name=")) {
    Args.push_back("-Xclang");
    Args.push_back("-object-file-name=" + absolute(J.object()));
  }
  // Suppress what only clang adds, not in-process ThinLTO: the time, the
  // compiler's command line, and its folders.
  if (Target.isKnownWindowsMSVCEnvironment() &&
      !Has("incremental-linker-compatible"))
    Args.push_back("-mno-incremental-linker-compatible");
  if (!Has("codeview-command-line"))
    Args.insert(Args.end(), {"-Xclang", "-gno-codeview-command-line"});
  return Args;
}

Error FileJobs::addArgs(BuiltJob &Built, const FileJob &J) {
  if (J.Outputs.size() != 1)
    return failure("more files than an object");
  if (!Clang.Config.empty())
    return failure("the compiler's configuration file '" +
                   printable(Clang.Config) + "'");
  std::vector<std::string> Args = command(J);
  if (StringRef Option = secondOutputArg(Args); !Option.empty())
    return failure("'" + printable(Option) + "' (it makes a second file)");
  StringMap<std::string> Paths;
  Paths[J.shard()] = IndexPath.str();
  Paths[J.object()] = OutputPath.str();
  for (size_t I = 0; I != List.Inputs.size(); ++I)
    Paths[List.Inputs[I]] = CommonPaths[I];
  // The shard names the imports.
  Paths[J.module()] = Built.Inputs.front().path;
  if (Error E = checkPortable(Args, Paths))
    return E;
  // Ignore a worker's configuration files, leave no files after a crash, and
  // accept unused arguments that daemons add.
  Built.Args = {"clang", "--no-default-config", "-fno-crash-diagnostics",
                "-Wno-unused-command-line-argument", "-fno-color-diagnostics"};
  for (std::string &Arg : renamePaths(Args, Paths)) {
    // The new name has no extension.
    if (Arg == Built.Inputs.front().path)
      Built.Args.insert(Built.Args.end(), {"-x", "ir"});
    Built.Args.push_back(std::move(Arg));
  }
  setArgs(Built, OutputPath.data());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Local compiles
//===----------------------------------------------------------------------===//

/// Moves files that the compiler wrote next to \p RemoteResult, such as
/// remarks, to the folder of \p Object, and renames them to match it.
static Error moveSideOutputs(StringRef RemoteResult, StringRef Object) {
  StringRef Folder = sys::path::parent_path(RemoteResult);
  std::string Stem = (sys::path::stem(RemoteResult) + ".").str();
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder, EC), E; I != E && !EC;
       I.increment(EC)) {
    StringRef Name = sys::path::filename(I->path());
    if (I->path() == RemoteResult || !Name.consume_front(Stem))
      continue;
    SmallString<256> To(Object);
    sys::path::replace_extension(To, Name);
    auto Bytes = MemoryBuffer::getFile(I->path());
    if (!Bytes)
      return createFileError(I->path(), Bytes.getError());
    if (Error E = replaceFile(
            To, [&](raw_ostream &OS) { OS << (*Bytes)->getBuffer(); }))
      return createFileError(To, std::move(E));
    sys::fs::remove(I->path());
  }
  return Error::success();
}

CodegenResult FileJobs::compileLocally(size_t J,
                                       const std::atomic<bool> *Stop) {
  const FileJob &Job = List.Jobs[J];
  CodegenResult Result;
  auto Fail = [&](const Twine &Why) {
    Result.Failed = true;
    Result.Errors = {Why.str()};
    return std::move(Result);
  };
  ++NumRunning;
  auto Guard = onScopeExit([&] { --NumRunning; });
  auto ShouldStop = [&] { return IsInterrupted || (Stop && *Stop); };
  if (ShouldStop())
    return Fail("interrupted");

  std::string Object = Folder + "/" + std::to_string(NumFiles++) + ".o";
  auto Remove = onScopeExit([&] { sys::fs::remove(Object); });
  StringMap<std::string> Paths;
  Paths[Job.object()] = Object;
  std::vector<std::string> Args = renamePaths(command(Job), Paths);
  Args.insert(Args.begin(), List.Args[0]);
  if (!Launcher.empty()) {
    Args.insert(Args.begin(), Clang.Program);
    Args.insert(Args.begin(), Launcher.begin(), Launcher.end());
  }
  CommandResult Run = runCommand(Launcher.empty() ? Clang.Program : Launcher[0],
                                 Args, ShouldStop);
  if (Error E = takeResult(J, Run, Object, Result))
    return Fail(toString(std::move(E)));
  return Result;
}

/// Fills in \p Result from the compile \p Run of job \p J and its object file
/// \p Object. Fails with a reason, or returns the compiler's own errors in
/// \p Result.
Error FileJobs::takeResult(size_t J, const CommandResult &Run,
                           const std::string &Object, CodegenResult &Result) {
  const FileJob &Job = List.Jobs[J];
  const std::string Program = printable(Clang.Program);
  CompilerOutput Output = readClangOutput(Run.Output, printable(Job.module()));
  Result.Messages = std::move(Output.Messages);
  // Clang also exits with 0 if it can't read a module to import from.
  if (!Output.Errors.empty()) {
    Result.Failed = true;
    Result.Errors = std::move(Output.Errors);
    return Error::success();
  }
  if (!Run.Succeeded || !Output.ReadError.empty())
    return failure(Run.Output.empty() ? "the compiler failed" : Run.Output);
  auto File = MemoryBuffer::getFile(Object, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File || (*File)->getBufferSize() == 0)
    return failure("the compiler '" + Program + "' made no object" +
                   (Run.Output.empty() ? "" : ": " + Run.Output));
  if (Error E = check(J, (*File)->getBuffer(), /*IsAsWritten=*/true))
    return failure("the compiler '" + Program +
                   "' made no object: " + toString(std::move(E)));
  for (StringRef Path : ArrayRef(Job.Outputs).drop_front())
    if (!sys::fs::exists(Path))
      return failure("the compiler '" + Program + "' did not make '" +
                     printable(Path) + "'");
  if (Error E = moveSideOutputs(Object, Job.object()))
    return E;
  StringRef Bytes = (*File)->getBuffer();
  Result.Object.assign(Bytes.begin(), Bytes.end());
  Result.HasObject = true;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

Error FileJobs::check(size_t, StringRef Object, bool IsAsWritten) const {
  return checkObject(Object, Triple(Clang.Triple),
                     IsAsWritten ? Origin::Compiler : Origin::Unknown);
}

Error FileJobs::compare(size_t J, const RemoteResult &Remote,
                        StringRef LocalObject) {
  if (Remote.Object == LocalObject)
    return Error::success();
  const std::string &Module = List.Jobs[J].module();
  std::string Text = "the object of module '" + printable(Module) +
                     "' differs from the one compiled locally, " +
                     describeDifference(Remote.Object, LocalObject);
  if (!Remote.Worker.empty())
    Text += "; it was compiled on " + Remote.Worker;
  std::string Stem =
      folderForDifferences(List.LinkerOutput) + "/" +
      Names.encode(Module).value_or("module-" + std::to_string(J));
  if (Error E = saveResults(Stem, ".o", Remote.Object, LocalObject))
    Text += ". They cannot be saved: " + toString(std::move(E));
  else
    Text += ". Both are saved: " + Stem + ".remote.o, .local.o";
  return failure(Text);
}

Error FileJobs::deliver(size_t J, const JobResult &R, const SideFiles &,
                        const AddStreamFn &) {
  const std::string &Path = List.Jobs[J].object();
  ++NumRunning;
  auto Guard = onScopeExit([&] { --NumRunning; });
  if (IsInterrupted)
    return failure("interrupted");
  if (StringRef Parent = sys::path::parent_path(Path); !Parent.empty())
    if (std::error_code EC = sys::fs::create_directories(Parent))
      return failure("the folder '" + printable(Parent) +
                     "' cannot be created: " + EC.message());
  if (Error E =
          replaceFile(Path, [&](raw_ostream &OS) { OS << R.Object.bytes(); }))
    return failure("the object '" + printable(Path) +
                   "' cannot be written: " + toString(std::move(E)));
  return Error::success();
}
