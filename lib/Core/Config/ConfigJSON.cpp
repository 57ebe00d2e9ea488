//===- ConfigJSON.cpp - A configuration as text ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// {"llvm":"19.1.7","options":["-x"],"files":{},"passes":[],"outputs":{},
//  "config":{...},"target":{...},"mc":{...},"tuning":{...}}, one line, with the
// fields in the order of ConfigFields.h.
//
// Each configuration has exactly one text. The reader writes the result again
// and compares, so it accepts exactly what the writer writes.
//
//===----------------------------------------------------------------------===//

#include "Config/ConfigJSON.h"
#include "Config/ConfigFields.h"
#include "Config/LLVMOptions.h"
#include "Support/Failure.h"
#include "Support/JSONShape.h"
#include "Support/Text.h"
#include "LLVM/CodegenData.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/ObjCARC.h"

using namespace llvm;
using namespace dtlto;

/// The maximum size in bytes; configurations are far smaller.
static constexpr size_t MaxSize = 1 << 20;
/// The members of a configuration, with its sections.
static constexpr size_t NumMembers = 10;
/// The depth of a configuration's objects and arrays.
static constexpr unsigned MaxDepth = 3;

/// Returns \p Bytes for messages.
static std::string quoted(StringRef Bytes) {
  return "'" + sanitizedLine(Bytes, 60) + "'";
}

/// Calls \p Each with each section's name and a visitor of its fields.
template <class Conf, class Fn> static void forEachSection(Conf &C, Fn Each) {
  Each("config", [&](auto &Visit) { visitConfig(Visit, C); });
  Each("target", [&](auto &Visit) { visitTarget(Visit, C.Options); });
  Each("mc", [&](auto &Visit) { visitMC(Visit, C.Options.MCOptions); });
  Each("tuning", [&](auto &Visit) { visitTuning(Visit, C.PTO); });
}

static constexpr StringLiteral ARCContract = "objc-arc-contract";

/// Calls \p Each with each field whose file may be sent, and the file's name.
template <class Extras, class Fn> static void forEachFile(Extras &E, Fn Each) {
  Each("CSIRProfile", E.CSIRProfile);
  Each("SampleProfile", E.SampleProfile);
  Each("ProfileRemapping", E.ProfileRemapping);
  Each("BBSectionsFuncListBuf", E.FunctionList);
  Each("CodegenData", E.CodegenData);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// A visitor of ConfigFields.h. Keeps the first field that text can't express.
class Writer : public FieldVisitor {
public:
  Writer(json::OStream &OS, const ConfigExtras &Extras, bool OmitsCodegen)
      : OS(OS), OmitsCodegen(OmitsCodegen),
        OnlyCodegen(Extras.Spec.IsOptimized) {
    forEachFile(Extras, [&](StringRef Name, StringRef File) {
      if (!File.empty())
        ReplacedFields.insert(Name);
    });
    for (auto [Name, IsSent] :
         {std::pair("BBSections", !Extras.FunctionList.empty()),
          std::pair("PreCodeGenPassesHook", Extras.ObjCARCContract),
          std::pair("PostImportModuleHook", Extras.HasSpecHook),
          std::pair("DwoDir", !Extras.DwoName.empty()),
          std::pair("RemarksFilename", Extras.Remarks)})
      if (IsSent)
        ReplacedFields.insert(Name);
  }

  void flag(StringRef Name, bool Value) {
    OS.attribute(Name, Value || (OnlyCodegen && Name == "CodeGenOnly"));
  }
  void number(StringRef Name, int64_t Value, int64_t Min, int64_t Max) {
    LastField = Name;
    checkRange(Name, Value, Min, Max);
    OS.attribute(Name, Value);
  }
  void pair(StringRef Name, const std::array<int64_t, 2> &Value, int64_t Min,
            int64_t Max) {
    OS.attributeArray(Name, [&] {
      for (int64_t N : Value) {
        checkRange(Name, N, Min, Max);
        OS.value(N);
      }
    });
  }
  void optional(StringRef Name, std::optional<uint64_t> Value, uint64_t Max) {
    require(!Value || *Value <= Max, "the value of " + Name);
    OS.attribute(Name, Value ? json::Value(*Value) : json::Value(nullptr));
  }
  void text(StringRef Name, StringRef Value) {
    LastField = Name;
    OS.attributeBegin(Name);
    write(Name, ReplacedFields.contains(Name) ? "" : Value);
    OS.attributeEnd();
  }
  void texts(StringRef Name, ArrayRef<std::string> Value) {
    OS.attributeArray(Name, [&] {
      for (StringRef S : Value)
        write(Name, S);
    });
  }
  void fixed(StringRef Name, bool IsAllowed, const Twine &What) {
    LastField = Name;
    require(IsAllowed, What);
  }
  bool wantsCodegenFields() const { return !OmitsCodegen; }
  void require(bool IsAllowed, const Twine &What) {
    if (!IsAllowed && Reason.empty() && !ReplacedFields.contains(LastField))
      Reason = What.str();
  }

  std::string Reason;

private:
  void checkRange(StringRef Name, int64_t Value, int64_t Min, int64_t Max) {
    require(Min <= Value && Value <= Max,
            "the value " + Twine(Value) + " of " + Name);
  }
  /// LLVM's JSON would replace bytes that aren't UTF-8.
  void write(StringRef Name, StringRef Value) {
    bool IsAllowed = json::isUTF8(Value);
    require(IsAllowed, Name + " with bytes that are not UTF-8");
    OS.value(IsAllowed ? Value : "");
  }

  json::OStream &OS;
  const bool OmitsCodegen;    // leave out what only code generation reads
  const bool OnlyCodegen;     // always write true for CodeGenOnly
  StringSet<> ReplacedFields; // fields that the extras replace
  StringRef LastField;        // the field that require() refers to
};

} // namespace

/// Refuses words that cl::ParseCommandLineOptions would change: it replaces
/// `@x` with the contents of the file `x`, and ends a word at a zero byte.
static Error checkWords(ArrayRef<std::string> Words) {
  for (StringRef Word : Words) {
    if (Word.starts_with("@"))
      return failure("-mllvm with the file of options " + quoted(Word));
    if (Word.contains('\0'))
      return failure("-mllvm with a zero byte in " + quoted(Word));
  }
  return Error::success();
}

/// Does the work of writeConfig(). \p Words are a compiler's options.
static Expected<std::string> writeText(const lto::Config &Conf,
                                       ArrayRef<std::string> Words,
                                       const ConfigExtras &Extras,
                                       bool OmitsCodegen) {
  std::string Text;
  raw_string_ostream Stream(Text);
  json::OStream OS(Stream);
  Writer W(OS, Extras, OmitsCodegen);
  OS.object([&] {
    OS.attribute("llvm", LLVM_VERSION_STRING);
    W.texts("options", Words);
    OS.attributeObject("files", [&] {
      forEachFile(Extras, [&](StringRef Name, StringRef File) {
        if (!File.empty() && !OmitsCodegen)
          OS.attribute(Name, File);
      });
    });
    OS.attributeArray("passes", [&] {
      if (Extras.ObjCARCContract)
        OS.value(ARCContract);
    });
    W.texts("unavailable", Extras.Unavailable);
    OS.attributeObject("outputs", [&] {
      if (!Extras.DwoName.empty() && !OmitsCodegen)
        W.text("dwo", Extras.DwoName);
      if (!Extras.ObjectName.empty() && !OmitsCodegen)
        W.text("object", Extras.ObjectName);
      if (Extras.Remarks)
        OS.attribute("remarks", true);
      Extras.Spec.writeInput(OS);
      if (!Extras.ModuleName.empty())
        W.text("module", Extras.ModuleName);
      Extras.Spec.writeResult(OS, OmitsCodegen);
    });
    forEachSection(Conf, [&](StringRef Name, auto VisitFields) {
      OS.attributeObject(Name, [&] { VisitFields(W); });
    });
  });
  Stream.flush();
  W.require(Text.size() <= MaxSize, "a configuration of " + Twine(Text.size()) +
                                        " bytes, more than 1 MiB");
  if (!W.Reason.empty())
    return failure(W.Reason);
  return Text;
}

Expected<std::string> dtlto::writeConfig(const lto::Config &Conf,
                                         ArrayRef<std::string> LLVMOptions,
                                         const ConfigExtras &Extras,
                                         bool OmitsCodegen) {
  // Check before filtering, which drops words that compilers don't need.
  if (Error E = checkWords(LLVMOptions))
    return std::move(E);
  Expected<std::vector<std::string>> Words =
      llvmOptionsForCompiler(LLVMOptions);
  if (!Words)
    return Words.takeError();
  return writeText(Conf, OmitsCodegen ? withoutCodegenOptions(*Words) : *Words,
                   Extras, OmitsCodegen);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns false if \p V is null or has another type.
template <class T> static bool readValue(const json::Value *V, T &Result) {
  json::Path::Root Root;
  return V && json::fromJSON(*V, Result, Root);
}

namespace {

/// A visitor of ConfigFields.h for one object of the text. Sets only values
/// that are in range. Fixed fields keep their value of a new Config. The writer
/// checks all other requirements.
class Reader : public FieldVisitor {
public:
  Reader(StringRef Section, const json::Object &Fields)
      : Section(Section), Fields(Fields) {}

  void flag(StringRef Name, bool &Value) {
    read(Name, "true or false",
         [&](const json::Value &V) { return readValue(&V, Value); });
  }
  void number(StringRef Name, int64_t &Value, int64_t Min, int64_t Max) {
    read(Name, "a number in its range",
         [&](const json::Value &V) { return readNumber(V, Value, Min, Max); });
  }
  void pair(StringRef Name, std::array<int64_t, 2> &Value, int64_t Min,
            int64_t Max) {
    read(Name, "two numbers in their range", [&](const json::Value &V) {
      const json::Array *A = V.getAsArray();
      return A && A->size() == 2 && readNumber((*A)[0], Value[0], Min, Max) &&
             readNumber((*A)[1], Value[1], Min, Max);
    });
  }
  void optional(StringRef Name, std::optional<uint64_t> &Value, uint64_t Max) {
    read(Name, "null or a number in its range", [&](const json::Value &V) {
      std::optional<uint64_t> N = V.getAsUINT64();
      if (!V.getAsNull() && (!N || *N > Max))
        return false;
      Value = N;
      return true;
    });
  }
  void text(StringRef Name, std::string &Value) {
    read(Name, "a string",
         [&](const json::Value &V) { return readValue(&V, Value); });
  }
  void texts(StringRef Name, std::vector<std::string> &Value) {
    read(Name, "strings",
         [&](const json::Value &V) { return readValue(&V, Value); });
  }

  /// Returns why the object can't be read, or an empty string. Call it after
  /// the visit.
  std::string takeReason() {
    for (const auto &Field : Fields)
      if (Reason.empty() && !ReadFields.contains(StringRef(Field.first)))
        Reason =
            ("unknown field " + quoted(Field.first) + " in '" + Section + "'")
                .str();
    return std::move(Reason);
  }

private:
  static bool readNumber(const json::Value &V, int64_t &Value, int64_t Min,
                         int64_t Max) {
    std::optional<int64_t> N = V.getAsInteger();
    if (!N || *N < Min || *N > Max)
      return false;
    Value = *N;
    return true;
  }

  template <class Fn> void read(StringRef Name, StringRef Kind, Fn Take) {
    ReadFields.insert(Name);
    const json::Value *V = Fields.get(Name);
    if ((V && Take(*V)) || !Reason.empty())
      return;
    Reason = ("'" + Section + "." + Name + "' ").str() +
             (V ? "is not " + Kind.str() : "is missing");
  }

  StringRef Section;
  const json::Object &Fields;
  StringSet<> ReadFields;
  std::string Reason;
};

} // namespace

/// Returns false if \p Top lacks an extra that is always written, or has one
/// out of its range. Writing the result again detects all other differences.
static bool readExtras(const json::Object &Top, ConfigExtras &Extras) {
  const json::Object *Files = Top.getObject("files");
  const json::Array *Passes = Top.getArray("passes");
  const json::Object *Outputs = Top.getObject("outputs");
  if (!Files || !Passes || !Outputs ||
      !readValue(Top.get("unavailable"), Extras.Unavailable))
    return false;
  forEachFile(Extras, [&](StringRef Name, std::string &File) {
    File = Files->getString(Name).value_or("").str();
  });
  readValue(Outputs->get("dwo"), Extras.DwoName);
  readValue(Outputs->get("object"), Extras.ObjectName);
  readValue(Outputs->get("remarks"), Extras.Remarks);
  readValue(Outputs->get("module"), Extras.ModuleName);
  Extras.ObjCARCContract = !Passes->empty();
  return Extras.Spec.read(*Outputs);
}

static Error invalidConfig(const Twine &Why) {
  return failure("not a configuration: " + Why);
}

static Error readSections(const json::Object &Top, lto::Config &Conf) {
  std::string Reason;
  forEachSection(Conf, [&](StringRef Name, auto VisitFields) {
    if (!Reason.empty())
      return;
    const json::Object *Fields = Top.getObject(Name);
    if (!Fields) {
      Reason = ("'" + Name + "' is missing").str();
      return;
    }
    Reader R(Name, *Fields);
    VisitFields(R);
    Reason = R.takeReason();
  });
  if (!Reason.empty())
    return invalidConfig(Reason);
  if (Top.size() != NumMembers)
    return invalidConfig("members other than the sections");
  return Error::success();
}

Expected<ReadConfig> dtlto::readConfig(StringRef Text) {
  if (Text.size() > MaxSize)
    return invalidConfig("more than 1 MiB");
  if (JSONShape(Text).Depth > MaxDepth)
    return invalidConfig("brackets are nested too deep");
  Expected<json::Value> Parsed = json::parse(Text);
  if (!Parsed)
    return invalidConfig(toString(Parsed.takeError()));
  const json::Object *Top = Parsed->getAsObject();
  if (!Top)
    return invalidConfig("not a JSON object");

  // Check the version first: other versions may have other members.
  std::optional<StringRef> Version = Top->getString("llvm");
  if (!Version)
    return invalidConfig("'llvm' is missing");
  if (*Version != LLVM_VERSION_STRING)
    return failure("a configuration for LLVM " + quoted(*Version) +
                   ", but this is LLVM " LLVM_VERSION_STRING);

  ReadConfig Result;
  if (!readValue(Top->get("options"), Result.LLVMOptions))
    return invalidConfig("'options' is missing, or is not an array of strings");
  if (Error E = checkWords(Result.LLVMOptions))
    return std::move(E);
  if (Error E = checkCompilerOptions(Result.LLVMOptions))
    return std::move(E);

  if (!readExtras(*Top, Result.Extras))
    return invalidConfig(
        "'files', 'passes', 'unavailable' or 'outputs' is missing, or "
        "not as expected");
  if (!HasCodegenData && (Result.Extras.Spec.emitsCodegenData() ||
                          !Result.Extras.CodegenData.empty()))
    return invalidConfig("this LLVM does not support codegen data");

  if (Error E = readSections(*Top, Result.Conf))
    return std::move(E);

  // This detects everything else: an unknown or repeated member, spaces,
  // another order or spelling, a value that the writer refuses.
  Expected<std::string> CanonicalText =
      writeText(Result.Conf, Result.LLVMOptions, Result.Extras,
                /*OmitsCodegen=*/false);
  if (!CanonicalText)
    return invalidConfig(toString(CanonicalText.takeError()));
  if (*CanonicalText != Text)
    return invalidConfig(
        "a field occurs twice, or the text is not in canonical form");
  if (Result.Extras.ObjCARCContract)
    Result.Conf.PreCodeGenPassesHook = [](legacy::PassManager &Passes) {
      Passes.add(createObjCARCContractPass());
    };
  return std::move(Result);
}
