//===- ConfigJSONTest.cpp - A configuration as JSON and back --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the table of ConfigFields.h with LLVM's headers. The tests also use
// its visitors, to set each field that travels to its extreme values.
//
//===----------------------------------------------------------------------===//

#include "Config/ConfigJSON.h"
#include "ConfigVisitors.h"
#include "LLVMHeaders.h"
#include "LLVMSizes.h"
#include "LLVM/Cache.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <functional>
#include <map>
#include <set>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

cl::opt<bool> TestFlag("dtlto-config-test-flag", cl::desc("for this test"));

//===----------------------------------------------------------------------===//
// Visitors
//===----------------------------------------------------------------------===//

/// Collects the values of the fields that travel, in a notation of this test.
struct Values : FieldVisitor {
  void flag(StringRef Name, bool Value) { add(Name, Value ? "yes" : "no"); }
  void number(StringRef Name, int64_t Value, int64_t, int64_t) {
    add(Name, std::to_string(Value));
  }
  void pair(StringRef Name, const std::array<int64_t, 2> &Value, int64_t,
            int64_t) {
    add(Name, std::to_string(Value[0]) + "," + std::to_string(Value[1]));
  }
  void optional(StringRef Name, std::optional<uint64_t> Value, uint64_t) {
    add(Name, Value ? std::to_string(*Value) : "none");
  }
  void text(StringRef Name, const std::string &Value) { add(Name, Value); }
  void texts(StringRef Name, const std::vector<std::string> &Value) {
    std::string All = std::to_string(Value.size());
    for (const std::string &S : Value)
      All += " " + std::to_string(S.size()) + ":" + S;
    add(Name, All);
  }

  void add(StringRef Name, std::string Value) {
    EXPECT_TRUE(All.emplace(Name.str(), std::move(Value)).second) << Name.str();
  }
  std::map<std::string, std::string> All;
};

std::map<std::string, std::string> valuesOf(const lto::Config &Conf) {
  Values V;
  visitAll(V, Conf);
  return V.All;
}

/// Changes fields. Calls \p Choose for each field with its name and the number
/// of its other values; \p Choose returns the one to take, if any.
class Changer : public FieldVisitor {
public:
  using ChooseFn = std::function<std::optional<size_t>(StringRef, size_t)>;
  explicit Changer(ChooseFn Choose) : Choose(std::move(Choose)) {}

  void flag(StringRef Name, bool &Value) { change(Name, Value, {!Value}); }
  void number(StringRef Name, int64_t &Value, int64_t Min, int64_t Max) {
    change(Name, Value, numbers(Min, Max));
  }
  void pair(StringRef Name, std::array<int64_t, 2> &Value, int64_t Min,
            int64_t Max) {
    std::vector<std::array<int64_t, 2>> OtherValues;
    for (int64_t N : numbers(Min, Max)) {
      OtherValues.push_back({N, Value[1]});
      OtherValues.push_back({Value[0], N});
      OtherValues.push_back({N, Min});
    }
    change(Name, Value, OtherValues);
  }
  void optional(StringRef Name, std::optional<uint64_t> &Value, uint64_t Max) {
    std::vector<std::optional<uint64_t>> OtherValues = {std::nullopt, 0, 1,
                                                        Max - 1, Max};
    if (Max < 16)
      for (uint64_t N = 0; N <= Max; ++N)
        OtherValues.push_back(N);
    else
      for (uint64_t N : {uint64_t(1) << 53, (uint64_t(1) << 53) + 1,
                         uint64_t(1) << 63, (uint64_t(1) << 63) - 1})
        if (N <= Max)
          OtherValues.push_back(N);
    change(Name, Value, OtherValues);
  }
  void text(StringRef Name, std::string &Value) {
    // Pipelines accept only names of passes (LLVMOptions.h).
    change(Name, Value,
           Name.ends_with("Pipeline")
               ? std::vector<std::string>{"default<O2>", "default",
                                          "tbaa,basic-aa"}
               : strings());
  }
  void texts(StringRef Name, std::vector<std::string> &Value) {
    change(Name, Value,
           {{}, {""}, {"", ""}, {"a", "b"}, {"b", "a"}, {"a,b"}, strings()});
  }

private:
  static std::vector<std::string> strings() {
    return {"x",
            "",
            " x ",
            "\"quoted\" \\ and \\u0041 /",
            "two\nlines\r\n\t\x01\x1f\x7f",
            std::string("zero\0byte", 9),
            "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80 \xE2\x80\xA8",
            std::string(5000, 'y'),
            "null",
            "{}"};
  }
  static std::vector<int64_t> numbers(int64_t Min, int64_t Max) {
    std::vector<int64_t> Result = {Min, Max, Max - 1, Min + 1};
    if (Max - Min < 16)
      for (int64_t N = Min; N <= Max; ++N)
        Result.push_back(N);
    return Result;
  }
  template <class T>
  void change(StringRef Name, T &Value, std::vector<T> OtherValues) {
    std::vector<T> Unique;
    for (const T &Other : OtherValues)
      if (Other != Value && !is_contained(Unique, Other))
        Unique.push_back(Other);
    if (std::optional<size_t> Which = Choose(Name, Unique.size()))
      Value = Unique[*Which];
  }

  ChooseFn Choose;
};

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// Returns the text, or `error: ` and the reason.
std::string write(const lto::Config &Conf, ArrayRef<std::string> Options = {}) {
  Expected<std::string> Text = writeConfig(Conf, Options);
  if (Text) {
    EXPECT_EQ(Text->find('\n'), std::string::npos);
    return *Text;
  }
  return "error: " + toString(Text.takeError());
}

/// Returns why \p Text can't be read; empty if it can.
std::string whyNot(StringRef Text) {
  Expected<ReadConfig> Read = readConfig(Text);
  if (Read)
    return "";
  std::string Why = toString(Read.takeError());
  EXPECT_FALSE(Why.empty());
  EXPECT_EQ(Why.find_first_of(StringRef("\n\r\0", 3)), std::string::npos)
      << Why;
  EXPECT_LT(Why.size(), 250u) << Why;
  return Why;
}

bool contains(StringRef Text, StringRef Part) { return Text.contains(Part); }

/// Returns LLVM's cache key, which changes with each field that LLVM hashes.
std::string keyOf(const lto::Config &Conf) {
  ModuleSummaryIndex Index(/*HaveGVs=*/false);
  Index.addModule("m", ModuleHash{{1, 2, 3, 4, 5}});
  return cacheKey(Conf, Index, "m", OwningImportList().List,
                  FunctionImporter::ExportSetTy(), {}, GVSummaryMapTy(),
                  CfiFunctions(Index));
}

/// Returns a configuration in which each field can be changed: CSIRProfile
/// needs RunCSIRInstr.
lto::Config baseConfig() {
  lto::Config Conf;
  Conf.RunCSIRInstr = true;
  return Conf;
}

/// Checks that \p Text is read as \p Conf, and written as \p Text again.
void checkRoundTrip(const lto::Config &Conf, const std::string &Text) {
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError()) << '\n' << Text;
  EXPECT_EQ(valuesOf(Read->Conf), valuesOf(Conf));
  EXPECT_EQ(keyOf(Read->Conf), keyOf(Conf));
  EXPECT_EQ(write(Read->Conf), Text);
}

/// Changes one field at a time to each of its other values. Passes the section,
/// the name and the configuration to \p Each.
void forEachChange(
    function_ref<void(StringRef, StringRef, const lto::Config &)> Each) {
  for (StringRef Section : Sections)
    for (size_t Which = 0;; ++Which) {
      size_t Before = 0;
      std::string Changed;
      Changer Change([&](StringRef Name, size_t N) -> std::optional<size_t> {
        size_t First = std::exchange(Before, Before + N);
        if (Which < First || Which >= Before)
          return std::nullopt;
        Changed = Name.str();
        return Which - First;
      });
      lto::Config Conf = baseConfig();
      visitSection(Change, Conf, Section);
      if (Changed.empty())
        break;
      Each(Section, Changed, Conf);
    }
}

/// Returns the position and size of a value in \p Text.
std::pair<size_t, size_t> findValue(StringRef Text, StringRef Section,
                                    StringRef Name) {
  size_t Begin = Text.find(("\"" + Section + "\":{").str());
  Begin = Text.find(("\"" + Name + "\":").str(), Begin);
  EXPECT_NE(Begin, StringRef::npos) << Name.str();
  Begin += Name.size() + 3;
  size_t End = Begin;
  bool InString = false;
  for (unsigned Depth = 0; End < Text.size(); ++End) {
    char C = Text[End];
    if (C == '"')
      InString = !InString;
    if (InString)
      continue;
    if ((C == ',' || C == '}') && Depth == 0)
      break;
    Depth += C == '[';
    Depth -= C == ']';
  }
  return {Begin, End - Begin};
}

std::string withValue(std::string Text, StringRef Section, StringRef Name,
                      StringRef Value) {
  auto [Begin, Size] = findValue(Text, Section, Name);
  return Text.replace(Begin, Size, Value.str());
}

std::string replaced(std::string Text, StringRef From, StringRef To) {
  size_t At = Text.find(From.str());
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To.str());
}

} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(ConfigJSONTest, TheTableIsComplete) {
  // Both ways, and each field once.
  struct {
    StringRef Header, Struct, Section;
    std::vector<std::string> Contained;
  } const Structs[] = {
      {"llvm/LTO/Config.h", "Config", "config", {"Options", "PTO"}},
      {"llvm/Passes/PassBuilder.h", "PipelineTuningOptions", "tuning", {}},
      {"llvm/Target/TargetOptions.h", "TargetOptions", "target", {"MCOptions"}},
      {"llvm/MC/MCTargetOptions.h", "MCTargetOptions", "mc", {}}};
  const lto::Config Conf;
  for (const auto &S : Structs) {
    Names N;
    visitSection(N, Conf, S.Section);
    std::multiset<std::string> Known = N.all();
    Known.insert(S.Contained.begin(), S.Contained.end());
    std::set<std::string> Members = membersOf(S.Header, S.Struct);
    EXPECT_GT(Members.size(), 5u) << S.Header.str();
    for (const std::string &Name : Members)
      EXPECT_EQ(Known.count(Name), 1u)
          << S.Struct.str() << "::" << Name << " isn't in one list";
    for (const std::string &Name : Known)
      EXPECT_EQ(Members.count(Name), 1u)
          << S.Struct.str() << "::" << Name << " isn't in LLVM";
  }
}

namespace {

/// Returns the number of enumerators of the enum that begins with \p Begin in a
/// header of LLVM.
size_t numEnumerators(StringRef Header, StringRef Begin) {
  auto File = MemoryBuffer::getFile((LLVM_INCLUDE "/" + Header).str());
  if (!File)
    return 0;
  StringRef Rest = (*File)->getBuffer();
  Rest = Rest.drop_front(std::min(Rest.find(Begin), Rest.size()));
  SmallVector<StringRef, 0> Lines;
  Rest.split(Lines, '\n');
  std::string Code;
  for (StringRef Line : Lines) {
    Code += Line.split("//").first;
    if (StringRef(Code).contains('}'))
      break;
  }
  StringRef List = StringRef(Code).split('{').second.split('}').first;
  SmallVector<StringRef, 0> Names;
  List.split(Names, ',');
  return count_if(Names, [](StringRef Name) { return !Name.trim().empty(); });
}

/// Collects the maximum of each number.
struct Lasts : FieldVisitor {
  void number(StringRef Name, int64_t, int64_t, int64_t Max) {
    All[Name.str()] = Max;
  }
  void pair(StringRef Name, std::array<int64_t, 2>, int64_t, int64_t Max) {
    All[Name.str()] = Max;
  }
  void optional(StringRef Name, std::optional<uint64_t>, uint64_t Max) {
    All[Name.str()] = int64_t(Max);
  }
  std::map<std::string, int64_t> All;
};

} // namespace

TEST(ConfigJSONTest, EnumsEndWithTheirLast) {
  constexpr StringLiteral CodeGen = "llvm/Support/CodeGen.h",
                          Target = "llvm/Target/TargetOptions.h",
                          MC = "llvm/MC/MCTargetOptions.h";
  struct {
    StringRef Header, Enum, Field;
    unsigned NotNumbered; // Enumerators that don't travel, or are negative.
  } const Enums[] = {
    {CodeGen, "enum Model { Static", "RelocModel", 0},
    {CodeGen, "enum Model { Tiny", "CodeModel", 0},
    {CodeGen, "enum class CodeGenOptLevel {", "CGOptLevel", 0},
    {CodeGen, "enum class CodeGenFileType {", "CGFileType", 1},
    {Target, "enum class GlobalISelAbortMode {", "GlobalISelAbort", 0},
    {Target, "enum class SwiftAsyncFramePointerMode {",
     "SwiftAsyncFramePointer", 0},
    {Target, "enum class BasicBlockSection {", "BBSections", 0},
    {LLVM_VERSION_MAJOR < 21 ? Target : CodeGen, "enum ABIType {",
     "FloatABIType", 0},
    {Target, "enum FPOpFusionMode {", "AllowFPOpFusion", 0},
    {Target, "enum Model {", "ThreadModel", 0},
    {LLVM_VERSION_MAJOR < 21 ? Target : CodeGen, "enum class EABI {",
     "EABIVersion", 0},
    {Target, "enum class DebuggerKind {", "DebuggerTuning", 0},
    {LLVM_VERSION_MAJOR < 21 ? MC : CodeGen, "enum class ExceptionHandling {",
     "ExceptionModel", 0},
    {MC, "enum class EmitDwarfUnwindType {", "EmitDwarfUnwind", 0},
    {MC, "enum DwarfDirectory {", "MCUseDwarfDirectory", 0},
  // clang-format off
#if LLVM_VERSION_MAJOR < 22
      {"llvm/ADT/FloatingPointMode.h", "enum DenormalModeKind ",
       "FPDenormalMode", 1},
      {"llvm/ADT/FloatingPointMode.h", "enum DenormalModeKind ",
       "FP32DenormalMode", 1},
#else
      {"llvm/IR/SystemLibraries.h", "enum class VectorLibrary {", "VecLib", 0},
#endif
#if LLVM_VERSION_MAJOR >= 23
      {MC, "enum class RelocSectionSymType {", "RelocSectionSym", 0},
#endif
    // clang-format on
  };
  Lasts L;
  const lto::Config Conf;
  visitAll(L, Conf);
  for (const auto &E : Enums) {
    size_t N = numEnumerators(E.Header, E.Enum);
    EXPECT_GT(N, 1u) << E.Enum.str();
    EXPECT_EQ(L.All.at(E.Field.str()), int64_t(N) - 1 - E.NotNumbered)
        << E.Field.str();
    L.All.erase(E.Field.str());
  }
  // The remaining fields are plain numbers.
  std::set<std::string> Left;
  for (const auto &Entry : L.All)
    Left.insert(Entry.first);
  std::set<std::string> Numbers = {
      "BinutilsVersion",  "DwarfVersion",
      "InlinerThreshold", "LicmMssaNoAccForPromotionCap",
      "LicmMssaOptCap",   "LoopAlignment",
      "OptLevel",         "RemarksHotnessThreshold",
      "TLSSize"};
#if LLVM_VERSION_MAJOR >= 21
  Numbers.insert("OutputAsmVariant");
#endif
  EXPECT_EQ(Left, Numbers);
}

namespace {

struct Other {
  std::string Name;
  void (*Change)(lto::Config &);
  std::string Reason; // A part of the reason. Empty: the text doesn't change.
};

#define CHANGE(NAME, PATH, REASON, ...)                                        \
  {                                                                            \
#NAME, [](lto::Config & C) { C.PATH NAME __VA_ARGS__; }, REASON            \
  }
#define CONFIG(NAME, REASON, ...) CHANGE(NAME, , REASON, __VA_ARGS__)
#define TARGET(NAME, REASON, ...) CHANGE(NAME, Options., REASON, __VA_ARGS__)
#define MC(NAME, REASON, ...)                                                  \
  CHANGE(NAME, Options.MCOptions., REASON, __VA_ARGS__)

const lto::Config::ModuleHookFn Hook = [](unsigned, const Module &) {
  return true;
};
const std::string Word = "word";

[[maybe_unused]] std::vector<std::string> &imports(size_t) {
  static std::vector<std::string> None;
  return None;
}
[[maybe_unused]] std::string &cacheKeyText(size_t) {
  static std::string Key;
  return Key;
}

/// Returns the fields that don't travel, each with a non-default value.
const std::vector<Other> &others() {
  static const std::vector<Other> Table = {
    CONFIG(
        PreCodeGenPassesHook, "passes that the linker adds",
        = [](legacy::PassManager &) {}),
    CONFIG(SampleProfile, "--lto-sample-profile", = "x"),
    CONFIG(ProfileRemapping, "profile remapping", = "x"),
    CONFIG(DwoDir, "dwo_dir", = "x"),
    CONFIG(SplitDwarfFile, "split DWARF", = "x"),
    CONFIG(SplitDwarfOutput, "split DWARF", = "x"),
    CONFIG(RemarksFilename, "--opt-remarks-filename", = "x"),
    CONFIG(DebugPassManager, "--lto-debug-pass-manager", = true),
    CONFIG(StatsFile, "stats-file", = "x"),
    CONFIG(PreOptModuleHook, "--save-temps", = Hook),
    CONFIG(PostPromoteModuleHook, "--save-temps", = Hook),
    CONFIG(PostInternalizeModuleHook, "--save-temps", = Hook),
    CONFIG(PostImportModuleHook, "--save-temps", = Hook),
    CONFIG(PostOptModuleHook, "--save-temps", = Hook),
    CONFIG(PreCodeGenModuleHook, "--save-temps", = Hook),
    TARGET(BBSectionsFuncListBuf, "--lto-basic-block-sections",
           = std::shared_ptr<MemoryBuffer>(MemoryBuffer::getMemBuffer("x"))),
    MC(CompressDebugSections, "compressed debug sections",
       = DebugCompressionType::Zlib),
    MC(AsSecureLogFile, "-as-secure-log-file", = "x"),
    MC(Argv0, "command line", = "clang"),
    MC(IASSearchPaths, ".include", = {"x"}),

    CONFIG(MllvmArgs, "", = {"-x"}),
    CONFIG(HasWholeProgramVisibility, "", = true),
    CONFIG(ValidateAllVtablesHaveTypeInfos, "", = true),
    CONFIG(AllVtablesHaveTypeInfos, "", = true),
    CONFIG(AlwaysEmitRegularLTOObj, "", = true),
    CONFIG(VisibilityScheme, "", = lto::Config::ELF),
    CONFIG(ThinLTOModulesToCompile, "", = {"x.o"}),
    CONFIG(TimeTraceEnabled, "", = true),
    CONFIG(TimeTraceGranularity, "", = 1),
    CONFIG(
        DiagHandler, "", = [](const DiagnosticInfo &) {}),
    CONFIG(ResolutionFile, "", = std::make_unique<raw_null_ostream>()),
    CONFIG(
        CombinedIndexHook, "",
        = [](const ModuleSummaryIndex &,
             const DenseSet<GlobalValue::GUID> &) { return true; }),
    TARGET(ObjectFilenameForDebug, "", = "x.o"),
    MC(SplitDwarfFile, "", = "x.dwo"),

  // clang-format off
#if LLVM_VERSION_MAJOR < 21
      MC(CommandLineArgs, "command line", = Word),
#else
      MC(CommandlineArgs, "command line", = "x"),
      CONFIG(KeepSymbolNameCopies, "", = false),
#endif
#if LLVM_VERSION_MAJOR >= 22
      CONFIG(Dtlto, "", = true),
#endif
#if LLVM_VERSION_MAJOR < 23
      CONFIG(PassPlugins, "--load-pass-plugin", = {"x.so"}),
      TARGET(StackUsageOutput, "stack usage", = "x.su"),
#else
      CONFIG(LoadedPassPlugins, "--load-pass-plugin", = {nullptr}),
      CONFIG(PassPluginFilenames, "--load-pass-plugin", = {"x.so"}),
      TARGET(StackUsageFile, "stack usage", = "x.su"),
      CONFIG(GetSummaryIndexOutputStream, "", = [](size_t) { return nullptr; }),
      CONFIG(GetImportsListOutputArray, "", = imports),
      CONFIG(GetCacheKeyOutputString, "", = cacheKeyText),
#endif
    // clang-format on
  };
  return Table;
}

} // namespace

TEST(ConfigJSONTest, FieldsThatDoNotTravel) {
  const lto::Config Plain;
  std::string Text = write(Plain);
  ASSERT_FALSE(contains(Text, "error: ")) << Text;
  std::set<std::string> Fixed, Unused;
  for (const Other &O : others()) {
    lto::Config Conf;
    O.Change(Conf);
    if (O.Reason.empty()) {
      Unused.insert(O.Name);
      EXPECT_EQ(write(Conf), Text) << O.Name;
      continue;
    }
    Fixed.insert(O.Name);
    std::string Why = write(Conf);
    EXPECT_EQ(Why.find("error: "), 0u) << O.Name;
    EXPECT_TRUE(contains(Why, O.Reason)) << Why;
  }
  // The table has all of them.
  Names N;
  visitAll(N, Plain);
  EXPECT_EQ(Fixed, std::set<std::string>(N.Fixed.begin(), N.Fixed.end()));
  EXPECT_EQ(Unused, std::set<std::string>(N.Unused.begin(), N.Unused.end()));
}

//===----------------------------------------------------------------------===//
// Round trips
//===----------------------------------------------------------------------===//

TEST(ConfigJSONTest, TheDefault) {
  lto::Config Conf;
  std::string Text = write(Conf);
  EXPECT_EQ(Text.find("{\"llvm\":\"" LLVM_VERSION_STRING
                      "\",\"options\":[],\"files\":{},\"passes\":[],"
                      "\"unavailable\":[],\"outputs\":{},\"config\":{\"CPU\":"
                      "\"\",\"MAttrs\":"
                      "[],\"RelocModel\":1,\"CodeModel\":null,"),
            0u)
      << Text;
  checkRoundTrip(Conf, Text);
}

TEST(ConfigJSONTest, EachChange) {
  const std::map<std::string, std::string> Base = valuesOf(baseConfig());
  // Different configurations have different texts.
  std::set<std::string> Texts = {write(baseConfig())};
  std::set<std::string> Changed;
  forEachChange([&](StringRef, StringRef Name, const lto::Config &Conf) {
    SCOPED_TRACE(Name.str());
    if (Conf.Options.BBSections == BasicBlockSection::List) {
      EXPECT_TRUE(contains(write(Conf), "error: --lto-basic-block-sections"));
      return;
    }
    std::string Text = write(Conf);
    ASSERT_FALSE(contains(Text, "error: ")) << Text;
    EXPECT_TRUE(Texts.insert(Text).second) << Text;
    checkRoundTrip(Conf, Text);
    // Only this field has changed.
    for (const auto &[Field, Value] : valuesOf(Conf))
      EXPECT_EQ(Value != Base.at(Field), Field == Name) << Field;
    Changed.insert(Name.str());
  });
  EXPECT_EQ(Changed.size(), Base.size());
}

TEST(ConfigJSONTest, AllChangesAtOnce) {
  const std::map<std::string, std::string> Base = valuesOf(baseConfig());
  for (size_t Which = 0; Which != 24; ++Which) {
    lto::Config Conf = baseConfig();
    Changer Change([&](StringRef Name, size_t N) -> std::optional<size_t> {
      EXPECT_GT(N, 0u) << Name.str();
      if (Name == "RunCSIRInstr")
        return std::nullopt;
      return Which % N;
    });
    visitAll(Change, Conf);
    if (Conf.Options.BBSections == BasicBlockSection::List)
      Conf.Options.BBSections = BasicBlockSection::All;
    size_t NumChanged = 0;
    for (const auto &[Field, Value] : valuesOf(Conf))
      NumChanged += Value != Base.at(Field);
    EXPECT_EQ(NumChanged, Base.size() - 1);
    std::string Text = write(Conf);
    ASSERT_FALSE(contains(Text, "error: ")) << Text;
    checkRoundTrip(Conf, Text);
  }
}

TEST(ConfigJSONTest, AnInstrumentedProgramsProfile) {
  // A profile that is written is just a name. One that is read is a file.
  lto::Config Conf;
  Conf.CSIRProfile = "x.profraw";
  EXPECT_EQ(write(Conf), "error: --lto-cs-profile-file");
  Conf.RunCSIRInstr = true;
  std::string Text = write(Conf);
  EXPECT_TRUE(contains(Text, "\"CSIRProfile\":\"x.profraw\""));
  EXPECT_EQ(whyNot(withValue(Text, "config", "RunCSIRInstr", "false")),
            "not a configuration: --lto-cs-profile-file");
}

/// Returns the text of \p Conf with \p Extras, or `error: ` and the reason.
static std::string writeWith(const lto::Config &Conf,
                             const ConfigExtras &Extras) {
  Expected<std::string> Text = writeConfig(Conf, {}, Extras);
  return Text ? *Text : "error: " + toString(Text.takeError());
}

TEST(ConfigJSONTest, FilesAreSentUnderOtherNames) {
  lto::Config Conf;
  Conf.SampleProfile = "/home/user/a.prof";
  Conf.CSIRProfile = "/home/user/b.profdata";
  Conf.ProfileRemapping = "/home/user/c.txt";
  ConfigExtras Extras;
  Extras.SampleProfile = "profile.sample";
  EXPECT_EQ(writeWith(Conf, Extras), "error: --lto-cs-profile-file");
  Extras.CSIRProfile = "profile.cs";
  EXPECT_EQ(writeWith(Conf, Extras), "error: a profile remapping file");
  Extras.ProfileRemapping = "profile.remapping";

  std::string Text = writeWith(Conf, Extras);
  EXPECT_FALSE(contains(Text, "/home/user"));
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Extras.SampleProfile, "profile.sample");
  EXPECT_EQ(Read->Extras.CSIRProfile, "profile.cs");
  EXPECT_EQ(Read->Extras.ProfileRemapping, "profile.remapping");
  EXPECT_EQ(Read->Conf.SampleProfile + Read->Conf.CSIRProfile +
                Read->Conf.ProfileRemapping,
            "");
}

TEST(ConfigJSONTest, RoundsOfCodeGeneration) {
  ConfigExtras Extras;
  Extras.CodegenData = "codegen.data";
  Extras.Spec.Round = 2;
  Extras.ModuleName = "/home/user/a \"b\".o";
  std::string Text = writeWith({}, Extras);
  Expected<ReadConfig> Read = readConfig(Text);
  if (!HasCodegenData) {
    ASSERT_FALSE(bool(Read));
    EXPECT_TRUE(
        contains(toString(Read.takeError()), "does not support codegen data"));
    return;
  }
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Extras.CodegenData, "codegen.data");
  EXPECT_EQ(Read->Extras.Spec.Round, 2U);
  EXPECT_EQ(Read->Extras.ModuleName, "/home/user/a \"b\".o");
  for (StringRef Round : {"0", "3", "-1", "\"1\"", "1.5", "null"}) {
    std::string Changed = Text;
    StringRef Old = "\"round\":2";
    Changed.replace(Changed.find(Old.str()), Old.size(),
                    ("\"round\":" + Round).str());
    EXPECT_NE(whyNot(Changed), "") << Round.str();
  }

  // The first round returns optimized modules, and the second takes them.
  EXPECT_FALSE(Read->Conf.CodeGenOnly || Read->Extras.Spec.ReturnsOptimized);
  for (bool Returns : {false, true}) {
    Extras.Spec.ReturnsOptimized = Returns;
    Extras.Spec.IsOptimized = !Returns;
    Read = readConfig(writeWith({}, Extras));
    ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
    EXPECT_EQ(Read->Extras.Spec.ReturnsOptimized, Returns);
    EXPECT_EQ(Read->Conf.CodeGenOnly, !Returns);
  }
  Extras.Spec.ReturnsOptimized = Extras.Spec.IsOptimized = false;
  Extras.ModuleName = "\xff.o";
  EXPECT_TRUE(contains(writeWith({}, Extras), "error: module"));
}

TEST(ConfigJSONTest, ThePassOfMachO) {
  lto::Config Conf;
  Conf.PreCodeGenPassesHook = [](legacy::PassManager &) {};
  EXPECT_TRUE(contains(writeWith(Conf, {}), "error: passes"));
  ConfigExtras Extras;
  Extras.ObjCARCContract = true;
  Expected<ReadConfig> Read = readConfig(writeWith(Conf, Extras));
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_TRUE(Read->Extras.ObjCARCContract);
  EXPECT_TRUE(bool(Read->Conf.PreCodeGenPassesHook));
}

TEST(ConfigJSONTest, SideFiles) {
  lto::Config Conf;
  Conf.DwoDir = "here/dwo";
  EXPECT_EQ(writeWith(Conf, {}), "error: --plugin-opt=dwo_dir=");
  ConfigExtras Extras;
  Extras.DwoName = "here/dwo/7.dwo";
  Conf.RemarksFilename = "/home/user/remarks";
  EXPECT_EQ(writeWith(Conf, Extras), "error: --opt-remarks-filename");
  Extras.Remarks = true;
  Conf.RemarksFormat = "bitstream"; // Puts a path into the object.
  EXPECT_EQ(writeWith(Conf, Extras),
            "error: --opt-remarks-format other than yaml");
  Conf.RemarksFormat = "yaml";
  Conf.RemarksPasses = "inline";
  Extras.ObjectName = "cache/llvmcache-0";

  std::string Text = writeWith(Conf, Extras);
  EXPECT_FALSE(contains(Text, "/home/user"));
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Extras.DwoName, "here/dwo/7.dwo");
  EXPECT_TRUE(Read->Extras.Remarks);
  EXPECT_EQ(Read->Extras.ObjectName, "cache/llvmcache-0");
  EXPECT_EQ(Read->Conf.RemarksPasses, "inline");
  EXPECT_EQ(Read->Conf.RemarksFormat, "yaml");
  EXPECT_EQ(Read->Conf.DwoDir + Read->Conf.RemarksFilename, "");
}

TEST(ConfigJSONTest, PartsOfModules) {
  lto::Config Conf;
  Conf.PostImportModuleHook = [](unsigned, const Module &) { return true; };
  ConfigExtras Extras;
  EXPECT_EQ(writeWith(Conf, Extras), "error: --save-temps or --lto-emit-llvm");
  Extras.HasSpecHook = true;
  EXPECT_FALSE(contains(writeWith(Conf, Extras), "part"));
  Extras.Spec.Part = {1, 8};
  std::string Text = writeWith(Conf, Extras);
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Extras.Spec.Part.Index, 1u);
  EXPECT_EQ(Read->Extras.Spec.Part.Count, 8u);

  std::string Part = "\"part\":[1,8],\"partition\":9";
  ASSERT_TRUE(contains(Text, Part)) << Text;
  for (const char *Wrong :
       {"\"part\":[8,8],\"partition\":9", "\"part\":[-1,8],\"partition\":9",
        "\"part\":[0,1],\"partition\":9", "\"part\":[1,65],\"partition\":9",
        "\"part\":[1],\"partition\":9", "\"part\":[1,8,1],\"partition\":9",
        "\"part\":[1,8],\"partition\":5", "\"part\":[1,8]", "\"partition\":9",
        "\"part\":\"1\",\"partition\":9"}) {
    std::string Changed = Text;
    Changed.replace(Changed.find(Part), Part.size(), Wrong);
    Read = readConfig(Changed);
    EXPECT_FALSE(bool(Read)) << Wrong;
    consumeError(Read.takeError());
  }
}

TEST(ConfigJSONTest, AListOfFunctions) {
  lto::Config Conf;
  Conf.Options.BBSections = BasicBlockSection::List;
  Conf.Options.BBSectionsFuncListBuf = MemoryBuffer::getMemBuffer("v1\n");
  ConfigExtras Extras;
  Extras.FunctionList = "functions";
  std::string Text = writeWith(Conf, Extras);
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Extras.FunctionList, "functions");
  EXPECT_EQ(Read->Conf.Options.BBSections, BasicBlockSection::List);
}

TEST(ConfigJSONTest, LibraryFunctionsThatAreNotThere) {
  ConfigExtras Extras;
  Extras.Unavailable = {"memcpy", "fmin"};
  std::string Text = writeWith(lto::Config(), Extras);
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->Extras.Unavailable, Extras.Unavailable);
  Extras.Unavailable = {"\xFF"};
  EXPECT_EQ(writeWith(lto::Config(), Extras),
            "error: unavailable with bytes that are not UTF-8");
}

TEST(ConfigJSONTest, WrongExtras) {
  std::string Text = writeWith(lto::Config(), {});
  auto With = [&](StringRef Old, StringRef New) {
    std::string Changed = Text;
    size_t At = Changed.find(Old);
    EXPECT_NE(At, std::string::npos);
    Changed.replace(At, Old.size(), New.str());
    return whyNot(Changed);
  };
  for (StringRef Files : {R"({"Other":"x"})", R"({"SampleProfile":1})", "[]",
                          R"({"SampleProfile":""})",
                          R"({"SampleProfile":"x","CSIRProfile":"y"})"})
    EXPECT_NE(With("\"files\":{}", ("\"files\":" + Files).str()), "")
        << Files.str();
  for (StringRef Passes : {R"(["other"])", "[1]", "{}",
                           R"(["objc-arc-contract","objc-arc-contract"])"})
    EXPECT_NE(With("\"passes\":[]", ("\"passes\":" + Passes).str()), "")
        << Passes.str();
  for (StringRef Names : {"{}", "[1]", "null", "\"memcpy\""})
    EXPECT_NE(With("\"unavailable\":[]", ("\"unavailable\":" + Names).str()),
              "")
        << Names.str();
  for (StringRef Outputs :
       {R"({"dwo":""})", R"({"dwo":1})", R"({"remarks":false})", "[]",
        R"({"remarks":true,"dwo":"x"})", R"({"object":true})"})
    EXPECT_NE(With("\"outputs\":{}", ("\"outputs\":" + Outputs).str()), "")
        << Outputs.str();
}

TEST(ConfigJSONTest, ValuesThatNoOneHas) {
  lto::Config Conf;
  Conf.OptLevel = 4;
  EXPECT_EQ(write(Conf), "error: the value 4 of OptLevel");
  Conf.OptLevel = 2;
  Conf.CGFileType = CodeGenFileType::Null;
  EXPECT_EQ(write(Conf), "error: the value 2 of CGFileType");
  Conf.CGFileType = CodeGenFileType::AssemblyFile;
  EXPECT_TRUE(contains(write(Conf), "\"CGFileType\":0"));
  Conf.RelocModel = static_cast<Reloc::Model>(6);
  EXPECT_EQ(write(Conf), "error: the value of RelocModel");
}

TEST(ConfigJSONTest, BytesThatAreNotUTF8) {
  for (StringRef Bad : {"\xFF", "caf\xE9", "\xC3", "\xED\xA0\x80", "\xC0\x80",
                        "\xF4\x90\x80\x80"}) {
    lto::Config Conf;
    Conf.CPU = Bad.str();
    EXPECT_EQ(write(Conf), "error: CPU with bytes that are not UTF-8");
    lto::Config WithAttrs;
    WithAttrs.MAttrs = {"+x", Bad.str()};
    EXPECT_EQ(write(WithAttrs), "error: MAttrs with bytes that are not UTF-8");
    EXPECT_EQ(write(lto::Config(), {"-x86-align-branch=" + Bad.str()}),
              "error: options with bytes that are not UTF-8");
    EXPECT_NE(whyNot(withValue(write(lto::Config()), "config", "CPU",
                               ("\"" + Bad + "\"").str())),
              "");
  }
}

TEST(ConfigJSONTest, TooLong) {
  lto::Config Conf;
  Conf.CPU.assign((1 << 20) - write(Conf).size(), 'x');
  std::string Text = write(Conf);
  EXPECT_EQ(Text.size(), size_t(1) << 20);
  checkRoundTrip(Conf, Text);
  Conf.CPU += 'x';
  EXPECT_TRUE(contains(write(Conf), "more than 1 MiB"));
  EXPECT_TRUE(contains(whyNot(replaced(Text, "xx", "xxx")), "1 MiB"));
}

TEST(ConfigJSONTest, TheFirstReasonIsTold) {
  lto::Config Conf;
  Conf.DebugPassManager = true;
  Conf.StatsFile = "x";
  EXPECT_EQ(write(Conf), "error: --lto-debug-pass-manager");
}

//===----------------------------------------------------------------------===//
// LLVM's own options
//===----------------------------------------------------------------------===//

TEST(ConfigJSONTest, LLVMOptions) {
  // Code generation flags are left out, because they are in the fields.
  std::string Text = write(
      lto::Config(), {"-inline-threshold=7", "-mcpu=skylake", "-unroll-count",
                      "word", "--x86-align-branch=\"a b\""});
  Expected<ReadConfig> Read = readConfig(Text);
  ASSERT_TRUE(bool(Read)) << toString(Read.takeError());
  EXPECT_EQ(Read->LLVMOptions,
            (std::vector<std::string>{"-inline-threshold=7", "-unroll-count",
                                      "word", "--x86-align-branch=\"a b\""}));
  EXPECT_EQ(write(Read->Conf, Read->LLVMOptions), Text);
}

TEST(ConfigJSONTest, LLVMOptionsThatCannotTravel) {
  EXPECT_EQ(write(lto::Config(), {"-stats"}), "error: -mllvm -stats");
  EXPECT_TRUE(contains(write(lto::Config(), {"-x", "@file"}),
                       "error: -mllvm with the file of options '@file'"));
  // Even if code generation flags are left out.
  EXPECT_TRUE(contains(write(lto::Config(), {"@file"}), "'@file'"));
  EXPECT_TRUE(contains(write(lto::Config(), {std::string("-x\0y", 4)}),
                       "zero byte in '-x\\x00y'"));
}

TEST(ConfigJSONTest, LLVMOptionsFromElsewhere) {
  std::string Text = write(lto::Config());
  auto with = [&](StringRef Options) {
    return whyNot(
        replaced(Text, "\"options\":[]", ("\"options\":" + Options).str()));
  };
  EXPECT_EQ(with("[\"-unroll-count\",\"word\",\"-inline-threshold=1\"]"), "");
  EXPECT_EQ(with("[\"-stats\"]"), "-mllvm -stats");
  EXPECT_EQ(with("[\"-unroll-count=1\",\"--info-output-file=f\"]"),
            "-mllvm --info-output-file=f");
  // LLVM takes the second word as the value of the first.
  EXPECT_EQ(with("[\"-unroll-count\",\"--info-output-file=f\"]"), "");
  EXPECT_EQ(with("[\"-mcpu=skylake\"]"), "-mllvm -mcpu=skylake");
  EXPECT_EQ(with("[\"word\"]"), "-mllvm word");
  EXPECT_EQ(with("[\"-stats\\n\\u001b\"]"), "-mllvm -stats \\x1b");
  EXPECT_TRUE(contains(with("[\"-x\",\"@f\"]"), "'@f'"));
  EXPECT_TRUE(contains(with("[\"-a\\u0000-dump\"]"), "zero byte"));
  for (StringRef Bad : {"[1]", "[null]", "[[\"-x\"]]", "\"-x\"", "{}", "null"})
    EXPECT_TRUE(contains(with(Bad), "'options'")) << Bad.str();
}

TEST(ConfigJSONTest, Pipelines) {
  auto with = [](StringRef Passes, StringRef Analyses) {
    lto::Config Conf;
    Conf.OptPipeline = Passes.str();
    Conf.AAPipeline = Analyses.str();
    return write(Conf);
  };
  for (StringRef Good :
       {"instcombine", "default<O2>", "globaldce,function(dce,loop(licm))",
        "function<eager-inv>(mem2reg,repeat<3>(simplifycfg<bonus-inst-"
        "threshold="
        "1;no-sink-common-insts>)),verify"})
    EXPECT_FALSE(contains(with(Good, "default"), "error: ")) << Good.str();
  EXPECT_FALSE(contains(with("", "basic-aa,tbaa"), "error: "));
  const char *Why =
      "error: a pipeline with passes that may do more than change code";
  for (StringRef Bad :
       {"print", "function(dot-cfg)", "memprof-use<profile-filename=f>",
        "dce,view-cfg", "embed-bitcode<thinlto>", "sample-profile", "no-such",
        "extract-blocks", "dce<print", "dce<a<b>>", "function(dce)(print)",
        "dce<>print", "inliner-ml-advisor-release"})
    EXPECT_EQ(with(Bad, ""), Why) << Bad.str();
  EXPECT_EQ(with("", "print"), Why);
  std::string Text = with("dce", "");
  EXPECT_EQ(whyNot(replaced(Text, "\"dce\"", "\"print\"")),
            "not a configuration: " + StringRef(Why).drop_front(7).str());
}

TEST(ConfigJSONTest, WhatThisProcessHasSetIsNoMatterOfTheReaders) {
  std::string Text = write(lto::Config());
  const char *Words[] = {"test", "-dtlto-config-test-flag"};
  ASSERT_TRUE(cl::ParseCommandLineOptions(2, Words, "", &nulls()));
  EXPECT_EQ(write(lto::Config()), "error: LLVM option -dtlto-config-test-flag");
  EXPECT_EQ(whyNot(Text), "");
  cl::ResetAllOptionOccurrences();
}

//===----------------------------------------------------------------------===//
// Untrusted text
//===----------------------------------------------------------------------===//

namespace {

/// Checks that bad values of each field are reported with the field's name.
class BadValues : public FieldVisitor {
public:
  BadValues(StringRef Section, std::string Text)
      : Section(Section), Text(std::move(Text)) {}

  void flag(StringRef Name, bool) {
    check(Name, {"null", "0", "1", "\"\"", "\"true\"", "[true]", "{}"});
  }
  void number(StringRef Name, int64_t, int64_t Min, int64_t Max) {
    check(Name, notNumbers());
    check(Name,
          {"null", "[0]", std::to_string(Min - 1), std::to_string(Max + 1)});
  }
  void pair(StringRef Name, std::array<int64_t, 2>, int64_t Min, int64_t Max) {
    for (const std::string &Bad : notNumbers())
      check(Name, {"[" + Bad + ",0]", "[0," + Bad + "]"});
    std::string Less = std::to_string(Min - 1), More = std::to_string(Max + 1);
    check(Name, {"[]", "[0]", "[0,0,0]", "0", "null", "{}", "[null,0]",
                 "[" + Less + ",0]", "[0," + Less + "]", "[" + More + ",0]",
                 "[0," + More + "]"});
  }
  void optional(StringRef Name, std::optional<uint64_t>, uint64_t Max) {
    check(Name, notNumbers());
    check(Name, {"-1", "[null]"});
    if (Max != std::numeric_limits<uint64_t>::max())
      check(Name, {std::to_string(Max + 1)});
  }
  void text(StringRef Name, const std::string &) {
    check(Name, {"null", "0", "true", "[]", "[\"\"]", "{}"});
  }
  void texts(StringRef Name, const std::vector<std::string> &) {
    check(Name, {"null", "0", "\"\"", "{}", "[1]", "[\"x\",null]", "[[]]"});
  }

private:
  static std::vector<std::string> notNumbers() {
    return {"true",
            "\"0\"",
            "{}",
            "0.5",
            "1.0",
            "1e0",
            "1e300",
            "1e-300",
            "18446744073709551616",
            "-9223372036854775809"};
  }
  void check(StringRef Name, const std::vector<std::string> &Bad) {
    std::string Field = ("'" + Section + "." + Name + "' is not ").str();
    for (const std::string &Value : Bad) {
      std::string Why = whyNot(withValue(Text, Section, Name, Value));
      // Another spelling of a number isn't in canonical form.
      if (contains(Value, "1.0") || contains(Value, "1e0")) {
        EXPECT_NE(Why, "") << Value;
        continue;
      }
      // Brackets that are nested too deeply are reported first.
      EXPECT_TRUE(contains(Why, Field) || contains(Why, "brackets"))
          << Value << ": " << Why;
    }
  }

  StringRef Section;
  std::string Text;
};

} // namespace

TEST(ConfigJSONTest, BadValues) {
  const lto::Config Conf;
  for (StringRef Section : Sections) {
    BadValues Bad(Section, write(Conf));
    visitSection(Bad, Conf, Section);
  }
}

TEST(ConfigJSONTest, MissingUnknownAndRepeated) {
  const lto::Config Conf;
  std::string Text = write(Conf);
  for (StringRef Section : Sections) {
    Names N;
    visitSection(N, Conf, Section);
    for (const std::string &Name : N.TextFields) {
      auto [Begin, Size] = findValue(Text, Section, Name);
      size_t Start = Begin - Name.size() - 3;
      std::string Field = Text.substr(Start, Begin + Size - Start);

      // Remove the field and one comma.
      std::string Less = Text;
      if (Less[Start - 1] == ',')
        Less.erase(Start - 1, Field.size() + 1);
      else
        Less.erase(Start, Field.size() + 1);
      EXPECT_TRUE(contains(whyNot(Less),
                           ("'" + Section + "." + Name + "' is missing").str()))
          << whyNot(Less);

      std::string Twice = Text;
      Twice.insert(Start, Field + ",");
      EXPECT_TRUE(contains(whyNot(Twice), "twice")) << whyNot(Twice);

      std::string Unknown = Text;
      Unknown.insert(Start, "\"x" + Name + "\":0,");
      EXPECT_TRUE(
          contains(whyNot(Unknown), "unknown field 'x" + Name + "' in '"))
          << whyNot(Unknown);
    }
    std::string Named = ("\"" + Section + "\":").str();
    EXPECT_TRUE(contains(whyNot(replaced(Text, Named, "\"x\":")), "missing"));
    EXPECT_TRUE(contains(whyNot(replaced(Text, Named, "\"x\":{}," + Named)),
                         "members other than the sections"));
    EXPECT_TRUE(
        contains(whyNot(replaced(Text, Named, Named + "0," + Named)), "twice"));
    // A field that doesn't travel is unknown.
    for (const auto *List : {&N.Fixed, &N.Unused})
      for (const std::string &Name : *List)
        EXPECT_TRUE(contains(
            whyNot(replaced(Text, Named + "{", Named + "{\"" + Name + "\":0,")),
            "unknown field '" + Name + "'"));
  }
}

TEST(ConfigJSONTest, AnotherVersion) {
  std::string Text = write(lto::Config());
  StringRef Version = "\"" LLVM_VERSION_STRING "\"";
  EXPECT_EQ(whyNot(replaced(Text, Version, "\"18.1.0\"")),
            "a configuration for LLVM '18.1.0', but this is "
            "LLVM " LLVM_VERSION_STRING);
  // Reported before all other errors, such as a missing section.
  EXPECT_TRUE(contains(whyNot("{\"llvm\":\"20.1.0\"}"), "'20.1.0'"));
  EXPECT_TRUE(contains(whyNot(replaced(Text, Version, "19")), "'llvm'"));
  EXPECT_TRUE(contains(whyNot("{}"), "'llvm'"));
  // A hostile version is shortened to one line.
  EXPECT_TRUE(contains(
      whyNot("{\"llvm\":\"\\n\\u0000" + std::string(5000, 'x') + "\"}"),
      "LLVM ' \\x00xxx"));
}

TEST(ConfigJSONTest, OneTextOnly) {
  std::string Text = write(lto::Config());
  for (const std::string &Bad :
       {Text + "\n", " " + Text, Text + Text, "\xEF\xBB\xBF" + Text,
        replaced(Text, "{\"llvm\":", "{ \"llvm\":"),
        replaced(Text, "\"CPU\":\"\"", "\"CPU\":\"\\u0041\""),
        replaced(Text, "\"CPU\":\"\"", "\"CPU\":\"\\ud800\""),
        replaced(Text, "\"CPU\":\"\"", "\"CPU\":\"\\/\""),
        replaced(Text, "\"OptLevel\":2", "\"OptLevel\":02"),
        replaced(Text, "\"OptLevel\":2", "\"OptLevel\":+2"),
        replaced(Text, "\"TLSSize\":0", "\"TLSSize\":-0"),
        replaced(Text, "\"CPU\":\"\",\"MAttrs\":[]",
                 "\"MAttrs\":[],\"CPU\":\"\"")})
    EXPECT_NE(whyNot(Bad), "") << Bad;
  // Values that the writer refuses are refused as well.
  EXPECT_TRUE(contains(whyNot(withValue(Text, "target", "BBSections", "1")),
                       "--lto-basic-block-sections"));
}

TEST(ConfigJSONTest, EachBeginning) {
  std::string Text = write(lto::Config(), {"-x86-align-branch=\"y\""});
  ASSERT_EQ(whyNot(Text), "");
  for (size_t Size = 0; Size != Text.size(); ++Size)
    EXPECT_NE(whyNot(StringRef(Text).take_front(Size)), "") << Size;
}

TEST(ConfigJSONTest, Bombs) {
  // Deep nesting would crash LLVM's parser.
  for (StringRef Open : {"[", "{\"a\":", "[[{\"a\":["}) {
    std::string Text;
    while (Text.size() + Open.size() <= 1 << 20)
      Text += Open;
    EXPECT_TRUE(contains(whyNot(Text), "brackets"));
    EXPECT_TRUE(contains(
        whyNot("{\"llvm\":\"\\\"\",\"x\":" + Text.substr(0, Text.size() / 2)),
        "brackets"));
  }
  EXPECT_TRUE(contains(whyNot(std::string(100 << 20, '[')), "1 MiB"));
  // Brackets in strings don't count.
  lto::Config Conf;
  Conf.CPU = "[[[[[[\"[[[[\\";
  checkRoundTrip(Conf, write(Conf));
}

TEST(ConfigJSONTest, NoConfigurationAtAll) {
  for (StringRef Text : {"", " ", "null", "1", "[]", "\"x\"", "{", "}", "\\",
                         "\"", "\"\\", "{\"llvm\"}", "nul"})
    EXPECT_TRUE(contains(whyNot(Text), "not a configuration: ")) << Text.str();
}
