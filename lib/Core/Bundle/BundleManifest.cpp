//===- BundleManifest.cpp - The manifest.json of a bundle -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleManifest.h"
#include "Support/Failure.h"
#include "Support/JSONShape.h"
#include "Support/Text.h"
#include "dtlto/PluginAPI.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Format = "dtlto-bundle";
static constexpr int64_t Version = 1;

static bool isControl(char C) {
  return static_cast<unsigned char>(C) < 0x20 || C == 0x7f;
}

std::string dtlto::bundleDigest(StringRef Bytes) {
  auto Hash = BLAKE3::hash(arrayRefFromStringRef(Bytes));
  return toHex(ArrayRef<uint8_t>(Hash), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Allowed values
//===----------------------------------------------------------------------===//

static StringRef roleName(uint32_t Role) {
  switch (Role) {
  case DTLTO_ROLE_PRIMARY:
    return "primary";
  case DTLTO_ROLE_IMPORT:
    return "import";
  case DTLTO_ROLE_INDEX:
    return "index";
  default:
    return "other";
  }
}

static std::optional<uint32_t> roleOf(StringRef Name) {
  for (uint32_t Role : {DTLTO_ROLE_PRIMARY, DTLTO_ROLE_IMPORT, DTLTO_ROLE_INDEX,
                        DTLTO_ROLE_OTHER})
    if (roleName(Role) == Name)
      return Role;
  return std::nullopt;
}

/// Returns what is wrong with a file's name, or an empty string. An accepted
/// name stays in its folder on every system and has one meaning in every
/// locale.
static StringRef pathProblem(StringRef Path) {
  if (Path.empty())
    return "is empty";
  if (Path.size() > 4096)
    return "is too long";
  if (any_of(Path, isControl))
    return "has a control character";
  if (!isASCII(Path))
    return "has a character outside of ASCII";
  if (Path.contains('\\'))
    return "has a backslash";
  if (Path.starts_with("/"))
    return "is absolute";
  // On Windows, `c:x` is in another folder, and `a:b` is another file.
  if (Path.contains(':'))
    return "has a colon";
  SmallVector<StringRef, 8> Parts;
  Path.split(Parts, '/');
  for (StringRef Part : Parts)
    if (Part.empty() || Part == "." || Part == "..")
      return "has an empty component, '.' or '..'";
  return "";
}

static Error checkPath(StringRef What, StringRef Path) {
  StringRef Problem = pathProblem(Path);
  if (Problem.empty())
    return Error::success();
  return failure("the name of the bundle's " + What + ", '" +
                 printable(Path.take_front(300)) + "', " + Problem);
}

static bool isPrintable(StringRef Text) { return printable(Text) == Text; }

Error dtlto::checkManifest(const Bundle &M) {
  if (!isPrintable(M.LLVMVersion) || !isPrintable(M.Triple) ||
      !isPrintable(M.Name))
    return failure("the bundle's LLVM version, triple or name has a control "
                   "character, or is not UTF-8");
  for (StringRef Arg : M.Args)
    if (!json::isUTF8(Arg) || Arg.contains('\0'))
      return failure("the argument '" + printable(Arg.take_front(300)) +
                     "' cannot be in a bundle: it is not UTF-8, or has a "
                     "zero byte");
  if (Error E = checkPath("output", M.Output))
    return E;

  StringSet<> InputPaths;
  InputPaths.insert(ManifestPath);
  unsigned NumPrimary = 0, NumIndex = 0;
  for (const Bundle::Input &In : M.Inputs) {
    if (Error E = checkPath("input", In.Path))
      return E;
    if (!InputPaths.insert(In.Path).second)
      return failure("two inputs of the bundle have the name '" + In.Path +
                     "'");
    NumPrimary += In.Role == DTLTO_ROLE_PRIMARY;
    NumIndex += In.Role == DTLTO_ROLE_INDEX;
    if (In.Digest.size() != 64 || StringRef(In.Digest).find_first_not_of(
                                      "0123456789abcdef") != StringRef::npos)
      return failure("'blake3' of the bundle's '" + In.Path +
                     "' is not 64 hexadecimal digits in lower case");
  }
  if (InputPaths.contains(M.Output))
    return failure("the bundle's output has the name of an input, '" +
                   M.Output + "'");
  if (NumPrimary != 1 || M.Inputs.front().Role != DTLTO_ROLE_PRIMARY)
    return failure(
        "the bundle has " + Twine(NumPrimary) +
        " primary modules; it must have one, before its other inputs");
  if (NumIndex != 1)
    return failure("the bundle has " + Twine(NumIndex) +
                   " indexes; it must have one");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns the manifest up to the end of the configuration.
static std::string writeBody(const Bundle &M) {
  std::string Text;
  raw_string_ostream OS(Text);
  json::OStream J(OS);
  J.object([&] {
    J.attribute("format", Format);
    J.attribute("version", Version);
    J.attribute("llvm", M.LLVMVersion);
    J.attribute("triple", M.Triple);
    J.attribute("name", M.Name);
    J.attribute("output", M.Output);
    if (!M.Args.empty())
      J.attributeArray("args", [&] {
        for (const std::string &Arg : M.Args)
          J.value(Arg);
      });
    J.attributeArray("inputs", [&] {
      for (const Bundle::Input &In : M.Inputs)
        J.object([&] {
          J.attribute("path", In.Path);
          J.attribute("role", roleName(In.Role));
          J.attribute("size", In.Size);
          J.attribute("blake3", In.Digest);
        });
    });
    J.attributeBegin("config");
    J.rawValue(M.Config);
    J.attributeEnd();
  });
  OS.flush();
  Text.pop_back(); // remove the object's closing brace
  return Text;
}

/// Returns the end of a manifest that begins with \p Body. The digest detects
/// damage and identifies the job, since the manifest has the digests of all
/// inputs.
static std::string ending(StringRef Body) {
  return ",\"blake3\":\"" + bundleDigest(Body) + "\"}\n";
}

static constexpr size_t EndingSize = 11 + 64 + 3;

BundleId dtlto::bundleId(StringRef Text) {
  BundleId Id;
  copy(fromHex(Text.take_back(64 + 3).take_front(64)), Id.begin());
  return Id;
}

std::string dtlto::writeManifest(const Bundle &M) {
  std::string Text = writeBody(M);
  Text += ending(Text);
  return Text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Parses \p Text with limits on its size and depth: LLVM's parser is
/// recursive, and a value takes 40 to 80 bytes.
static Expected<json::Value> parseBounded(StringRef Text) {
  if (Text.size() > MaxManifestSize)
    return failure("it is longer than " + Twine(MaxManifestSize >> 20) +
                   " MiB");
  JSONShape S(Text);
  if (S.Depth > 32)
    return failure("its values are nested too deeply");
  if (S.Separators > 65536 + Text.size() / 8)
    return failure("it has too many values");
  return json::parse(Text);
}

Error dtlto::checkConfigText(StringRef Text) {
  if (Expected<json::Value> V = parseBounded(Text); !V)
    return V.takeError();
  // JSON would also allow spaces around the object.
  if (!Text.starts_with("{") || JSONShape(Text).End != Text.size())
    return failure("it is not a JSON object");
  return Error::success();
}

namespace {

Error malformed(const Twine &What) {
  return failure(Twine(ManifestPath) + " of the bundle: " + What);
}

/// Reads the members of an object; each must exist and have the right type.
/// Keeps the first failure.
class Members {
public:
  Members(const json::Object &O, const Twine &Where, Error &Err)
      : O(O), Where(Where.str()), Err(Err) {}

  const json::Value *get(StringRef Key, bool Optional = false) {
    ReadKeys.insert(Key);
    const json::Value *V = O.get(Key);
    if (!V && !Optional)
      note("'" + Key + "' is missing" + Where);
    return V;
  }
  std::string text(StringRef Key) {
    if (const json::Value *V = get(Key)) {
      if (auto S = V->getAsString())
        return S->str();
      note("'" + Key + "' is not a string" + Where);
    }
    return {};
  }
  uint64_t number(StringRef Key) {
    if (const json::Value *V = get(Key)) {
      if (auto N = V->getAsUINT64())
        return *N;
      note("'" + Key + "' is not a whole number" + Where);
    }
    return 0;
  }
  const json::Array *array(StringRef Key, bool Optional = false) {
    if (const json::Value *V = get(Key, Optional)) {
      if (const json::Array *A = V->getAsArray())
        return A;
      note("'" + Key + "' is not an array" + Where);
    }
    return nullptr;
  }
  /// Fails if any members weren't read.
  void end() {
    for (const auto &Member : O)
      if (!ReadKeys.contains(StringRef(Member.first)))
        note("unknown key '" +
             printable(StringRef(Member.first).take_front(100)) + "'" + Where);
  }
  void note(const Twine &What) {
    if (!Err)
      Err = malformed(What);
  }

private:
  const json::Object &O;
  std::string Where;
  Error &Err;
  StringSet<> ReadKeys;
};

} // namespace

/// Reads the versions of the format and of LLVM. Call it first: another version
/// may have other members.
static void readVersions(Members &Top, Bundle &M) {
  std::string TheFormat = Top.text("format");
  if (TheFormat != Format)
    Top.note("its format is '" +
             printable(StringRef(TheFormat).take_front(100)) + "', not '" +
             Format + "'");
  uint64_t TheVersion = Top.number("version");
  if (TheVersion != Version)
    Top.note("its format version is " + Twine(TheVersion) +
             ", but this program supports " + Twine(Version));
  M.LLVMVersion = Top.text("llvm");
}

static Error readInputs(const json::Array &Inputs, Bundle &M) {
  for (size_t I = 0; I != Inputs.size(); ++I) {
    const json::Object *O = Inputs[I].getAsObject();
    if (!O)
      return malformed("input " + Twine(I) + " is not an object");
    Error Err = Error::success();
    Members In(*O, " in input " + Twine(I), Err);
    Bundle::Input Result{};
    Result.Path = In.text("path");
    std::string Role = In.text("role");
    Result.Size = In.number("size");
    Result.Digest = In.text("blake3");
    In.end();
    if (Err)
      return Err;
    std::optional<uint32_t> R = roleOf(Role);
    if (!R)
      return malformed("unknown role '" +
                       printable(StringRef(Role).take_front(100)) +
                       "' in input " + Twine(I));
    Result.Role = *R;
    M.Inputs.push_back(std::move(Result));
  }
  return Error::success();
}

Expected<Bundle> dtlto::readManifest(StringRef Text, StringRef LLVMVersion) {
  Expected<json::Value> Root = parseBounded(Text);
  if (!Root)
    return malformed(printable(toString(Root.takeError())));
  const json::Object *O = Root->getAsObject();
  if (!O)
    return malformed("it is not a JSON object");

  Bundle M;
  Error Err = Error::success();
  Members Top(*O, "", Err);
  readVersions(Top, M);
  if (Err)
    return std::move(Err);
  if (M.LLVMVersion != LLVMVersion)
    return failure("the bundle is for LLVM " +
                   printable(StringRef(M.LLVMVersion).take_front(100)) +
                   ", but this program has LLVM " + LLVMVersion);

  Top.text("blake3");
  if (Err)
    return std::move(Err);
  StringRef Body = Text.drop_back(std::min(EndingSize, Text.size()));
  if (Text.drop_front(Body.size()) != ending(Body))
    return malformed("it is damaged: its BLAKE3 digest does not match");

  M.Triple = Top.text("triple");
  M.Name = Top.text("name");
  M.Output = Top.text("output");
  if (const json::Array *Args = Top.array("args", /*Optional=*/true))
    for (const json::Value &Arg : *Args) {
      if (auto S = Arg.getAsString())
        M.Args.push_back(S->str());
      else
        Top.note("'args' has values other than strings");
    }
  const json::Array *Inputs = Top.array("inputs");
  const json::Value *Config = Top.get("config");
  if (Config && !Config->getAsObject())
    Top.note("'config' is not an object");
  Top.end();
  if (Err)
    return std::move(Err);
  if (Error E = readInputs(*Inputs, M))
    return std::move(E);
  if (Error E = checkManifest(M))
    return std::move(E);

  // Accept one form only. The parser also accepts repeated keys, any order, and
  // spaces; other parsers may interpret these differently.
  if (!Body.consume_front(writeBody(M)) || !Body.starts_with("{") ||
      JSONShape(Body).End != Body.size())
    return malformed("a key is repeated or out of order, or a value is not in "
                     "canonical form");
  M.Id = bundleId(Text);
  M.Config = Body.str();
  return M;
}
