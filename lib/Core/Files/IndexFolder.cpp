//===- IndexFolder.cpp - Jobs from --thinlto-index-only -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/IndexFolder.h"
#include "Bitcode/ShardNames.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral IndexSuffix = ".thinlto.bc";

Expected<PrefixReplace> dtlto::parsePrefixReplace(StringRef Value) {
  SmallVector<StringRef, 3> Parts;
  Value.split(Parts, ';');
  if (Parts.size() < 2 || Parts.size() > 3)
    return failure("expected OLD;NEW or OLD;NEW;OBJECT");
  return PrefixReplace{Parts[0].str(), Parts[1].str(), Parts.back().str(),
                       /*IsSet=*/true};
}

/// Whether \p E is a file. Some file systems list names without types.
static bool isFile(const sys::fs::directory_entry &E) {
  sys::fs::file_type Type = E.type();
  if (Type == sys::fs::file_type::type_unknown)
    Type = sys::fs::get_file_type(E.path(), /*Follow=*/false);
  return Type == sys::fs::file_type::regular_file;
}

/// Returns the names of all shards below \p Folder. Doesn't follow links.
static Expected<std::vector<std::string>> findShards(StringRef Folder) {
  std::vector<std::string> Paths;
  std::error_code EC;
  for (sys::fs::recursive_directory_iterator I(Folder, EC, false), End;
       I != End && !EC; I.increment(EC))
    if (StringRef(I->path()).ends_with(IndexSuffix) && isFile(*I))
      Paths.push_back(I->path());
  if (EC)
    return failure("the folder '" + printable(Folder) +
                   "' cannot be read: " + EC.message());
  if (Paths.empty())
    return failure("the folder '" + printable(Folder) + "' has no '*" +
                   IndexSuffix + "': link with --thinlto-index-only");
  for (std::string &Path : Paths)
    if (StringRef Rest = Path; Rest.consume_front("./"))
      Path = Rest.str();
  sort(Paths);
  return Paths;
}

/// Adds the modules listed in \p Path, FILE.imports, to \p Inputs.
static Error addImports(const std::string &Path,
                        std::vector<std::string> &Inputs) {
  Expected<std::unique_ptr<MemoryBuffer>> File = openFile(Path);
  if (!File)
    return failure(toString(File.takeError()) +
                   "; also link with --thinlto-emit-imports-files");
  SmallVector<StringRef, 0> Lines;
  (*File)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    if (Line.contains('\0'))
      return failure("'" + printable(Path) + "': a NUL in a name");
    Inputs.push_back(Line.str());
  }
  return Error::success();
}

/// Returns the linker's name of the file \p Path, whose shard is \p Shard. LLVM
/// compares names in shards as text.
static Expected<std::string> linkersName(const std::string &Path,
                                         const std::string &Shard) {
  Expected<std::unique_ptr<MemoryBuffer>> File = openFile(Shard);
  if (!File)
    return File.takeError();
  // If the shard is empty, the module isn't part of a ThinLTO link.
  if ((*File)->getBufferSize() == 0)
    return Path;
  Expected<std::vector<std::string>> Names = shardModules((*File)->getBuffer());
  if (!Names)
    return failure("'" + printable(Shard) +
                   "': " + toString(Names.takeError()));
  for (const std::string &Name : *Names)
    if (Name == Path || sys::fs::equivalent(Name, Path))
      return Name;
  // For instance, a module without a summary.
  return Path;
}

static std::string objectOf(StringRef Module, StringRef Rest,
                            const PrefixReplace &Prefix) {
  if (Prefix.IsSet)
    return Prefix.Object + Rest.str();
  SmallString<256> Path(Module);
  sys::path::replace_extension(Path, "native.o");
  return Path.str().str();
}

Expected<JobList> dtlto::readIndexFolder(StringRef Folder,
                                         const PrefixReplace &Prefix,
                                         std::vector<std::string> Args) {
  JobList List;
  List.LinkerOutput = Folder.str();
  List.Args = std::move(Args);
  if (!is_contained(List.Args, "-c"))
    List.Args.push_back("-c");
  Expected<std::vector<std::string>> Shards = findShards(Folder);
  if (!Shards)
    return Shards.takeError();
  for (const std::string &Shard : *Shards) {
    StringRef Stem = StringRef(Shard).drop_back(IndexSuffix.size());
    StringRef Rest = Stem;
    if (Prefix.IsSet && !Rest.consume_front(Prefix.New))
      return failure("'" + printable(Shard) + "' does not begin with '" +
                     printable(Prefix.New) +
                     "', the new prefix of --prefix-replace");
    std::string Module = (Prefix.IsSet ? Prefix.Old : "") + Rest.str();
    if (!sys::fs::exists(Module))
      return failure("'" + printable(Shard) + "' belongs to module '" +
                     printable(Module) + "', which does not exist" +
                     (StringRef(Module).contains(".a(")
                          ? ": give members of archives to the linker as files"
                          : ""));
    Expected<std::string> Name = linkersName(Module, Shard);
    if (!Name)
      return Name.takeError();
    FileJob J;
    J.Inputs = {*Name, Shard};
    if (Error E = addImports(Stem.str() + ".imports", J.Inputs))
      return std::move(E);
    J.Outputs = {objectOf(Module, Rest, Prefix)};
    J.Args = {"-fthinlto-index=" + Shard, "-o", J.object(), "-x", "ir", *Name};
    List.Jobs.push_back(std::move(J));
  }
  if (Error E = checkJobList(List))
    return failure("below '" + printable(Folder) + "', " +
                   toString(std::move(E)));
  return List;
}
