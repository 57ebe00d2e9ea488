//===- JobList.cpp - Backend compiles as files ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/JobList.h"
#include "Support/Failure.h"
#include "Support/JSONShape.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

//===----------------------------------------------------------------------===//
// Paths in arguments
//===----------------------------------------------------------------------===//

/// Returns the offsets in \p Arg at which a value may begin.
static SmallVector<size_t, 3> valueOffsets(StringRef Arg) {
  SmallVector<size_t, 3> Offsets = {0};
  if (Arg.size() > 2 && Arg.starts_with("-o"))
    Offsets.push_back(2);
  // Try each one; a file's name may also contain '='.
  for (size_t At = Arg.find('='); At != StringRef::npos; At = Arg.find('=', At))
    Offsets.push_back(++At);
  return Offsets;
}

/// Whether \p Arg sets an object's name for itself, which doesn't depend on the
/// path that it is written to.
static bool isObjectNameArg(StringRef Arg) {
  return Arg.starts_with("-object-file-name=");
}

size_t dtlto::findPath(StringRef Arg, StringRef Path) {
  for (size_t At : valueOffsets(Arg))
    if (Arg.drop_front(At) == Path)
      return At;
  return StringRef::npos;
}

/// Returns the offset in \p Arg of one of \p Paths, or npos.
static size_t pathOffset(StringRef Arg, const StringMap<std::string> &Paths) {
  for (size_t At : valueOffsets(Arg))
    if (Paths.contains(Arg.drop_front(At)))
      return At;
  return StringRef::npos;
}

std::vector<std::string>
dtlto::renamePaths(ArrayRef<std::string> Args,
                   const StringMap<std::string> &Paths) {
  std::vector<std::string> Result;
  for (StringRef Arg : Args) {
    size_t At = isObjectNameArg(Arg) ? StringRef::npos : pathOffset(Arg, Paths);
    Result.push_back(At == StringRef::npos
                         ? Arg.str()
                         : Arg.take_front(At).str() +
                               Paths.lookup(Arg.drop_front(At)));
  }
  return Result;
}

Error dtlto::checkPortable(ArrayRef<std::string> Args,
                           const StringMap<std::string> &Paths) {
  for (StringRef Arg : Args) {
    if (isObjectNameArg(Arg) || pathOffset(Arg, Paths) != StringRef::npos)
      continue;
    // A response file, or a file that isn't an input.
    auto IsFile = [&](size_t At) {
      StringRef Value = Arg.drop_front(At);
      return !Value.starts_with("-") && sys::fs::is_regular_file(Value);
    };
    if (Arg.starts_with("@") ||
        any_of(Arg, [](char C) { return sys::path::is_separator(C); }) ||
        any_of(valueOffsets(Arg), IsFile))
      return failure("an argument that may name a file, '" + printable(Arg) +
                     "'");
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Job lists
//===----------------------------------------------------------------------===//

/// LLD's lists have a depth of 4.
static constexpr unsigned MaxDepth = 16;

namespace {

/// Reads values; messages contain their place in the document.
class Reader {
public:
  Expected<JobList> read(const json::Value &Document);

private:
  static Error fail(const Twine &Place, const Twine &What) {
    return failure(Place + ": " + What);
  }
  Expected<const json::Object *> object(const json::Value *V,
                                        const std::string &Place,
                                        ArrayRef<StringRef> Keys,
                                        StringRef Kind);
  Error texts(const json::Object &O, StringRef Key, const std::string &Place,
              size_t AtLeast, std::vector<std::string> &Out);
  Error text(const json::Value &V, const std::string &Place, std::string &Out);

  std::vector<std::string> UnknownKeys;
};

} // namespace

/// Returns \p V as an object that has all of \p Keys. Adds all other keys to
/// Unknown with the prefix \p Kind.
Expected<const json::Object *> Reader::object(const json::Value *V,
                                              const std::string &Place,
                                              ArrayRef<StringRef> Keys,
                                              StringRef Kind) {
  const json::Object *O = V ? V->getAsObject() : nullptr;
  if (!O)
    return fail(Place, V ? "expected an object" : "it is missing");
  for (const auto &[Key, Value] : *O) {
    if (UnknownKeys.size() == MaxUnknownKeys)
      break;
    if (is_contained(Keys, StringRef(Key)))
      continue;
    std::string Text = printable(StringRef(Key));
    std::string Name = (Kind + (Text.empty() ? "\"\"" : Text)).str();
    if (!is_contained(UnknownKeys, Name))
      UnknownKeys.push_back(std::move(Name));
  }
  for (StringRef Key : Keys)
    if (!O->get(Key))
      return fail(Place + "." + Key.str(), "it is missing");
  return O;
}

Error Reader::text(const json::Value &V, const std::string &Place,
                   std::string &Out) {
  std::optional<StringRef> S = V.getAsString();
  if (!S)
    return fail(Place, "expected a string");
  if (S->contains('\0'))
    return fail(Place, "a NUL in a string");
  Out = S->str();
  return Error::success();
}

Error Reader::texts(const json::Object &O, StringRef Key,
                    const std::string &Place, size_t AtLeast,
                    std::vector<std::string> &Out) {
  std::string KeyPlace = Place + "." + Key.str();
  const json::Array *A = O.getArray(Key);
  if (!A)
    return fail(KeyPlace, "expected an array of strings");
  if (A->size() < AtLeast)
    return fail(KeyPlace, "expected at least " + Twine(AtLeast) + " strings");
  for (size_t I = 0; I != A->size(); ++I)
    if (Error E = text((*A)[I], KeyPlace + "[" + std::to_string(I) + "]",
                       Out.emplace_back()))
      return E;
  return Error::success();
}

Expected<JobList> Reader::read(const json::Value &Document) {
  JobList List;
  auto Top = object(&Document, "the document", {"common", "jobs"}, "");
  if (!Top)
    return Top.takeError();
  auto Common = object((*Top)->get("common"), "common",
                       {"linker_output", "args", "inputs"}, "common.");
  if (!Common)
    return Common.takeError();
  if (Error E = text(*(*Common)->get("linker_output"), "common.linker_output",
                     List.LinkerOutput))
    return std::move(E);
  if (Error E = texts(**Common, "args", "common", 1, List.Args))
    return std::move(E);
  if (Error E = texts(**Common, "inputs", "common", 0, List.Inputs))
    return std::move(E);
  const json::Array *Jobs = (*Top)->getArray("jobs");
  if (!Jobs)
    return fail("jobs", "expected an array");
  for (size_t I = 0; I != Jobs->size(); ++I) {
    std::string Place = "jobs[" + std::to_string(I) + "]";
    auto Job =
        object(&(*Jobs)[I], Place, {"args", "inputs", "outputs"}, "jobs[].");
    if (!Job)
      return Job.takeError();
    FileJob &J = List.Jobs.emplace_back();
    if (Error E = texts(**Job, "args", Place, 0, J.Args))
      return std::move(E);
    if (Error E = texts(**Job, "inputs", Place, 2, J.Inputs))
      return std::move(E);
    if (Error E = texts(**Job, "outputs", Place, 1, J.Outputs))
      return std::move(E);
  }
  if (Error E = checkJobList(List))
    return std::move(E);
  llvm::sort(UnknownKeys); // the object's order is random
  List.UnknownKeys = std::move(UnknownKeys);
  return List;
}

Error dtlto::checkJobList(const JobList &List) {
  if (List.Args[0].empty())
    return failure("common.args[0]: the name of the compiler is empty");
  StringSet<> Inputs, Outputs;
  for (const std::string &Path : List.Inputs)
    Inputs.insert(Path);
  for (const FileJob &J : List.Jobs)
    for (const std::string &Path : J.Inputs)
      Inputs.insert(Path);
  for (size_t I = 0; I != List.Jobs.size(); ++I) {
    const FileJob &J = List.Jobs[I];
    std::string Place = "jobs[" + std::to_string(I) + "]";
    auto IsFile = [&](ArrayRef<std::string> Paths) {
      return none_of(Paths, [](StringRef P) { return P.empty(); });
    };
    if (!IsFile(J.Inputs) || !IsFile(J.Outputs))
      return failure(Place + ": the name of a file is empty");
    for (const std::string &Path : J.Outputs) {
      if (Inputs.contains(Path))
        return failure(Place + ": output '" + printable(Path) +
                       "' is also an input");
      if (!Outputs.insert(Path).second)
        return failure(Place + ": '" + printable(Path) +
                       "' is also written by another job");
    }
    for (const std::string *Path : {&J.object(), &J.shard(), &J.module()})
      if (none_of(J.Args, [&](StringRef Arg) {
            return findPath(Arg, *Path) != StringRef::npos;
          }))
        return failure(Place + ": no argument names '" + printable(*Path) +
                       "'");
  }
  return Error::success();
}

Expected<JobList> dtlto::parseJobList(StringRef Text, StringRef File) {
  auto Fail = [&](const Twine &Why) {
    return failure("'" + printable(File) + "': " + Why);
  };
  if (JSONShape(Text).Depth > MaxDepth)
    return Fail("brackets are nested too deep");
  Expected<json::Value> Document = json::parse(Text);
  if (!Document)
    return Fail("it is not JSON: " +
                sanitizedLine(toString(Document.takeError())));
  Expected<JobList> List = Reader().read(*Document);
  if (!List)
    return Fail(toString(List.takeError()));
  return List;
}

Expected<std::unique_ptr<MemoryBuffer>> dtlto::openFile(StringRef Path,
                                                        StringRef ErrorPrefix) {
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return failure("'" + printable(Path) + "'" + ErrorPrefix +
                   File.getError().message());
  return std::move(*File);
}
