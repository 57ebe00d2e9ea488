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
#include "LLVM/CodegenData.h"
#include "llvm/ADT/StringExtras.h"
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
/// The depth of a configuration's objects and arrays.
static constexpr unsigned MaxDepth = 3;

/// Returns \p Bytes as a short printable line for messages.
static std::string quoted(StringRef Bytes) {
  std::string Result = "'";
  raw_string_ostream OS(Result);
  printEscapedString(Bytes.take_front(60), OS);
  OS << (Bytes.size() > 60 ? "...'" : "'");
  return OS.str();
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
          std::pair("PostImportModuleHook", Extras.HasPartHook),
          std::pair("DwoDir", !Extras.DwoName.empty()),
          std::pair("RemarksFilename", Extras.Remarks)})
      if (IsSent)
        ReplacedFields.insert(Name);
  }

  void flag(StringRef Name, bool Value) {
    if (!isLeftOut())
      OS.attribute(Name, Value || (OnlyCodegen && Name == "CodeGenOnly"));
  }
  void number(StringRef Name, int64_t Value, int64_t Min, int64_t Max) {
    LastField = Name;
    checkRange(Name, Value, Min, Max);
    if (!isLeftOut())
      OS.attribute(Name, Value);
  }
  void pair(StringRef Name, const std::array<int64_t, 2> &Value, int64_t Min,
            int64_t Max) {
    if (isLeftOut())
      return;
    OS.attributeArray(Name, [&] {
      for (int64_t N : Value) {
        checkRange(Name, N, Min, Max);
        OS.value(N);
      }
    });
  }
  void optional(StringRef Name, std::optional<uint64_t> Value, uint64_t Max) {
    require(!Value || *Value <= Max, "the value of " + Name);
    if (!isLeftOut())
      OS.attribute(Name, Value ? json::Value(*Value) : json::Value(nullptr));
  }
  void text(StringRef Name, StringRef Value) {
    LastField = Name;
    if (isLeftOut())
      return;
    OS.attributeBegin(Name);
    write(Name, ReplacedFields.contains(Name) ? "" : Value);
    OS.attributeEnd();
  }
  void texts(StringRef Name, ArrayRef<std::string> Value) {
    if (isLeftOut())
      return;
    OS.attributeArray(Name, [&] {
      for (StringRef S : Value)
        write(Name, S);
    });
  }
  void fixed(StringRef Name, bool IsAllowed, const Twine &What) {
    LastField = Name;
    require(IsAllowed, What);
    isLeftOut();
  }
  void onlyCodegen() { SkipsNext = OmitsCodegen; }
  void require(bool IsAllowed, const Twine &What) {
    if (!IsAllowed && Reason.empty() && !ReplacedFields.contains(LastField))
      Reason = What.str();
  }

  std::string Reason;

private:
  /// Whether to leave out the current field. Call it once per field.
  bool isLeftOut() { return std::exchange(SkipsNext, false); }
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
  bool SkipsNext = false;     // the next field is left out
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

/// Writes a configuration with the options \p Words, as writeConfig() does, or
/// with \p OmitsCodegen as writeOptimizationConfig() does.
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
      if (!Extras.Spec.Part.isWhole()) {
        OS.attribute("part", json::Array{Extras.Spec.Part.Index,
                                         Extras.Spec.Part.Count});
        OS.attribute("partition", PartitionVersion);
      }
      if (!Extras.ModuleName.empty())
        W.text("module", Extras.ModuleName);
      if (Extras.Spec.Round != 0)
        OS.attribute("round", Extras.Spec.Round);
      if (Extras.Spec.ReturnsOptimized && !OmitsCodegen)
        OS.attribute("optimized", true);
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

/// Writes a configuration with \p LLVMOptions, reduced to a compiler's.
static Expected<std::string> write(const lto::Config &Conf,
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

Expected<std::string> dtlto::writeConfig(const lto::Config &Conf,
                                         ArrayRef<std::string> LLVMOptions,
                                         const ConfigExtras &Extras) {
  return write(Conf, LLVMOptions, Extras, /*OmitsCodegen=*/false);
}

Expected<std::string>
dtlto::writeOptimizationConfig(const lto::Config &Conf,
                               ArrayRef<std::string> LLVMOptions,
                               const ConfigExtras &Extras) {
  return write(Conf, LLVMOptions, Extras, /*OmitsCodegen=*/true);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool readTexts(const json::Value &V, std::vector<std::string> &Result) {
  const json::Array *A = V.getAsArray();
  if (!A)
    return false;
  Result.clear();
  for (const json::Value &Item : *A) {
    std::optional<StringRef> S = Item.getAsString();
    if (!S)
      return false;
    Result.push_back(S->str());
  }
  return true;
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
         [&](const json::Value &V) { return set(Value, V.getAsBoolean()); });
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
         [&](const json::Value &V) { return set(Value, V.getAsString()); });
  }
  void texts(StringRef Name, std::vector<std::string> &Value) {
    read(Name, "strings",
         [&](const json::Value &V) { return readTexts(V, Value); });
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
  template <class T, class U>
  static bool set(T &Value, const std::optional<U> &New) {
    if (New)
      Value = T(*New);
    return New.has_value();
  }
  static bool readNumber(const json::Value &V, int64_t &Value, int64_t Min,
                         int64_t Max) {
    // json::Value would also return 1 for 1.0, and convert 1e300.
    std::optional<int64_t> N;
    if (std::optional<uint64_t> Whole = V.getAsUINT64();
        Whole && *Whole <= uint64_t(std::numeric_limits<int64_t>::max()))
      N = int64_t(*Whole);
    else if (std::optional<double> D = V.getAsNumber(); D && *D < 0)
      N = V.getAsInteger();
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

/// Returns false if \p Top doesn't have exactly the extras that are written.
static bool readExtras(const json::Object &Top, ConfigExtras &Extras) {
  const json::Object *Files = Top.getObject("files");
  const json::Array *Passes = Top.getArray("passes");
  const json::Value *Unavailable = Top.get("unavailable");
  const json::Object *Outputs = Top.getObject("outputs");
  if (!Files || !Passes || !Unavailable || !Outputs ||
      !readTexts(*Unavailable, Extras.Unavailable))
    return false;
  // Writing the result again detects unknown members.
  forEachFile(Extras, [&](StringRef Name, std::string &File) {
    File = Files->getString(Name).value_or("").str();
  });
  Extras.DwoName = Outputs->getString("dwo").value_or("").str();
  Extras.ObjectName = Outputs->getString("object").value_or("").str();
  Extras.Remarks = Outputs->getBoolean("remarks").value_or(false);
  if (const json::Array *Part = Outputs->getArray("part")) {
    if (Part->size() != 2)
      return false;
    int64_t Index = (*Part)[0].getAsInteger().value_or(-1);
    int64_t Count = (*Part)[1].getAsInteger().value_or(0);
    if (Count < 2 || Count > MaxParts || Index < 0 || Index >= Count)
      return false;
    Extras.Spec.Part = {static_cast<unsigned>(Index),
                        static_cast<unsigned>(Count)};
  }
  Extras.ModuleName = Outputs->getString("module").value_or("").str();
  if (const json::Value *Round = Outputs->get("round")) {
    int64_t N = Round->getAsInteger().value_or(0);
    if (N < 1 || N > 2)
      return false;
    Extras.Spec.Round = static_cast<unsigned>(N);
  }
  Extras.Spec.ReturnsOptimized =
      Outputs->getBoolean("optimized").value_or(false);
  Extras.ObjCARCContract = !Passes->empty();
  return all_of(*Passes, [](const json::Value &V) {
    return V.getAsString() == StringRef(ARCContract);
  });
}

static Error invalidConfig(const Twine &Why) {
  return failure("not a configuration: " + Why);
}

static Error readSections(const json::Object &Top, lto::Config &Conf) {
  std::string Reason;
  size_t NumSections = 0;
  forEachSection(Conf, [&](StringRef Name, auto VisitFields) {
    ++NumSections;
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
  if (Top.size() != 6 + NumSections)
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
  const json::Value *Options = Top->get("options");
  if (!Options || !readTexts(*Options, Result.LLVMOptions))
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

  // This detects everything else: a repeated field, spaces, another order or
  // spelling, a value that the writer refuses.
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
