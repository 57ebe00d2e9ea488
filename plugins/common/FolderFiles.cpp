//===- FolderFiles.cpp - The files of jobs --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FolderSession's settings, and how it writes a job's files.
//
//===----------------------------------------------------------------------===//

#include "FolderSession.h"
#include "Text.h"

using namespace dtlto;
using namespace dtlto::sdk;

bool FolderSettings::isWorker() const {
  return baseName(Compiler).substr(0, 13) == "dtlto-codegen";
}

ArgumentTable dtlto::folderArguments(FolderSettings &S, ArgumentTable Own,
                                     const std::string &Suffix) {
  auto Append = [](std::vector<std::string> &To) {
    return [&To](std::string_view Value) {
      To.emplace_back(Value);
      return true;
    };
  };
  Argument Compiler = fileArgument(
      "compiler", S.Compiler,
      "What commands begin with: clang-<major version of LLVM>, another clang "
      "of the linker's version, or dtlto-codegen");
  Compiler.Set = [&S](std::string_view Value) {
    S.Compiler = absolutePath(std::string(Value));
    return !Value.empty();
  };
  Argument Folder =
      fileArgument("folder", S.Folder,
                   "The folder of the jobs: new, empty, or left by keep");
  Folder.Default = "OUTPUT" + Suffix;
  Own.insert(Own.end(),
             {std::move(Compiler),
              {"compiler-arg", "TEXT",
               "A word at the end of each command; may be repeated",
               Append(S.CompilerLast)},
              {"compiler-prepend-arg", "TEXT",
               "A word right after the compiler; may be repeated",
               Append(S.CompilerFirst)},
              std::move(Folder),
              switchArgument("keep", S.Keep,
                             "Keep the folder instead of removing it")});
  return Own;
}

void dtlto::readArguments(const dtlto_session_params &Params,
                          const ArgumentTable &Table, FolderSettings &S) {
  sdk::readArguments(Table, Params.args, Params.num_args);
  std::string_view Version = Params.llvm_version;
  if (S.Compiler.empty())
    S.Compiler = "clang-" + std::string(Version.substr(0, Version.find('.')));
}

/// Writes an input file that other jobs may have as well, under the same name.
void FolderSession::writeInput(const std::string &Path,
                               std::string_view Bytes) {
  const std::pair<const void *, uint64_t> Own(Bytes.data(), Bytes.size());
  auto It = Written.find(Path);
  std::string Old;
  if (It == Written.end()) {
    Folder->write(Path, Bytes); // may throw
    Written[Path] = Own;
  } else if (It->second != Own && (!Folder->read(Path, Old) || Old != Bytes)) {
    throw Error(DTLTO_ERROR_CALLER,
                "two jobs have different files of the name " + quote(Path));
  }
}

/// Returns \p Primary. Appends a number if another attempt uses its names or a
/// program may still write to them.
std::string FolderSession::uniqueBase(const std::string &Primary) const {
  auto IsTaken = [&](const std::string &Base) {
    FolderJob Other;
    Other.Output = Base + ".native.o";
    bool IsUsed = Watch->has(Other.Output) || Watch->has(Other.words());
    for (const auto &R : Runs.all())
      IsUsed |= R->Outputs.count(Other.Output) != 0;
    return IsUsed;
  };
  std::string Base = Primary;
  for (unsigned N = 2; IsTaken(Base); ++N)
    Base = Primary + "." + std::to_string(N);
  return Base;
}

/// Returns \p TheJob's command line with the names of \p F. \p Index is the
/// shard's name in \p TheJob.
std::vector<std::string>
FolderSession::command(const Job &TheJob, const FolderJob &F,
                       const std::string &Index) const {
  std::vector<std::string> Args = S.CompilerFirst;
  if (S.isWorker()) {
    Args.insert(Args.end(), {"--frame", "-c", F.Inputs[0], "-o", F.Output});
  } else {
    const std::vector<std::string> Old = TheJob.args();
    for (size_t I = 1; I < Old.size(); ++I)
      Args.push_back(Old[I] == "-fthinlto-index=" + Index
                         ? "-fthinlto-index=" + F.Inputs[1]
                     : Old[I - 1] == "-o" && Old[I] == TheJob.output()
                         ? F.Output
                         : Old[I]);
  }
  Args.insert(Args.end(), S.CompilerLast.begin(), S.CompilerLast.end());
  return Args;
}

void FolderSession::writeFiles(Entry &E) {
  const Job &TheJob = *E.TheJob;
  FolderJob &F = E.Files;
  std::string Primary, Index;
  std::string_view IndexBytes;
  // Everything that the object depends on, as text.
  std::string Record = LlvmVersion + "\n" + S.Compiler + "\n";
  TheJob.forEachInput([&](std::string_view Path, std::string_view Bytes,
                          const dtlto_input &In) {
    if (In.role == DTLTO_ROLE_PRIMARY)
      Primary = Path;
    if (In.role == DTLTO_ROLE_INDEX)
      Index = Path, IndexBytes = Bytes;
    Record += hexDigits(In.digest, sizeof(In.digest)) + " " +
              std::string(Path) + "\n";
  });
  if (Primary.empty() || Index.empty())
    throw Error(DTLTO_ERROR_CALLER, "a job without a module or an index");
  E.Base = uniqueBase(Primary);
  F.Name = TheJob.name();
  F.Output = E.Base + ".native.o";
  // dtlto-codegen doesn't read the index, but a distributor's schema has it.
  F.Inputs = {S.isWorker() ? E.Base + ".i" : Primary, E.Base + ".thinlto.bc"};
  F.Args = command(TheJob, F, Index);
  for (const std::string &Arg : F.Args)
    Record += Arg + "\n";

  // A kept object is valid only if its record is the same.
  const std::string RecordFile = E.Base + ".job";
  std::string Old;
  if (S.Fresh || !Folder->read(RecordFile, Old) || Old != Record)
    for (const std::string &File : {RecordFile, F.Output, F.words()})
      Folder->remove(File);
  Folder->remove(F.wordsOfFailure());
  if (S.isWorker())
    Folder->write(F.Inputs[0], TheJob.bundle().bytes());
  else
    TheJob.forEachInput([&](std::string_view Path, std::string_view Bytes,
                            const dtlto_input &In) {
      if (In.role == DTLTO_ROLE_INDEX)
        return;
      writeInput(std::string(Path), Bytes);
      if (In.role != DTLTO_ROLE_PRIMARY)
        F.Inputs.emplace_back(Path);
    });
  Folder->write(F.Inputs[1], IndexBytes);
  if (!S.Fresh)
    Folder->write(RecordFile, Record);
  Watch->add(TheJob.id(), S.isWorker() ? F.Inputs[0] : F.Inputs[1],
             S.SavesStderr ? F.words() : F.Output);
}
