//===- IndexShardTest.cpp - Index shards, and renaming their modules ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/IndexShard.h"
#include "Bitstream.h"
#include "LLVMCompat.h"
#include "TestLink.h"
#include "LLVM/Index.h"
#include "LLVM/Module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

using Names = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// A combined index with every kind of record
//===----------------------------------------------------------------------===//

constexpr StringLiteral IndexText = R"index(
^0 = module: (path: "a.o", hash: (1, 2, 3, 4, 5))
^1 = module: (path: "dir/b.o", hash: (4294967295, 0, 7, 8, 9))
^2 = module: (path: "lib/x.a(c.o at 1234)", hash: (0, 0, 0, 0, 0))
^3 = gv: (guid: 1, summaries: (function: (module: ^0, flags: (linkage: external, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 1, canAutoHide: 0, importType: definition), insts: 10, calls: ((callee: ^5, hotness: hot), (callee: ^6, tail: 1), (callee: ^9, hotness: cold)), refs: (^8, readonly ^7))))
^4 = gv: (guid: 18446744073709551615, summaries: (function: (module: ^0, flags: (linkage: internal, visibility: hidden, notEligibleToImport: 1, live: 0, dsoLocal: 1, canAutoHide: 1, importType: declaration), insts: 2, funcFlags: (readNone: 1, readOnly: 0, noRecurse: 1, returnDoesNotAlias: 0, noInline: 1, alwaysInline: 0, noUnwind: 1, mayThrow: 0, hasUnknownCall: 1, mustBeUnreachable: 0))))
^5 = gv: (guid: 3, summaries: (function: (module: ^1, flags: (linkage: linkonce_odr, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 0, canAutoHide: 0, importType: definition), insts: 5), function: (module: ^2, flags: (linkage: linkonce_odr, visibility: protected, notEligibleToImport: 0, live: 1, dsoLocal: 0, canAutoHide: 0, importType: definition), insts: 6)))
^6 = gv: (guid: 4, summaries: (alias: (module: ^1, flags: (linkage: weak, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 1, canAutoHide: 0, importType: definition), aliasee: ^5)))
^7 = gv: (guid: 5, summaries: (variable: (module: ^2, flags: (linkage: external, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 1, canAutoHide: 0, importType: definition), varFlags: (readonly: 1, writeonly: 0, constant: 1))))
^8 = gv: (guid: 6, summaries: (variable: (module: ^2, flags: (linkage: common, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 0, canAutoHide: 0, importType: definition), varFlags: (readonly: 0, writeonly: 1, constant: 0, vcall_visibility: 1), refs: (^3))))
^9 = gv: (guid: 7, summaries: (function: (module: ^2, flags: (linkage: external, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 1, canAutoHide: 0, importType: definition), insts: 9, typeIdInfo: (typeTests: (^12, 1234), typeTestAssumeVCalls: (vFuncId: (^13, offset: 16)), typeCheckedLoadVCalls: (vFuncId: (^12, offset: 24)), typeTestAssumeConstVCalls: ((vFuncId: (^13, offset: 16), args: (42)), (vFuncId: (^13, offset: 24))), typeCheckedLoadConstVCalls: ((vFuncId: (^14, offset: 8), args: (1, 2)))))))
^10 = gv: (guid: 8, summaries: (function: (module: ^0, flags: (linkage: external, visibility: default, notEligibleToImport: 0, live: 1, dsoLocal: 1, canAutoHide: 0, importType: definition), insts: 3, callsites: ((callee: ^3, clones: (0, 1), stackIds: (8632435727821051414)), (callee: ^5, clones: (0), stackIds: (15025054523792398438, 12345678))), allocs: ((versions: (notcold, cold), memProf: ((type: notcold, stackIds: (8632435727821051414)), (type: cold, stackIds: (15025054523792398438, 12345678))))))))
^12 = typeid: (name: "_ZTS1C", summary: (typeTestRes: (kind: single, sizeM1BitWidth: 0)))
^13 = typeid: (name: "_ZTS1B", summary: (typeTestRes: (kind: inline, sizeM1BitWidth: 5, alignLog2: 1, sizeM1: 2, bitMask: 3, inlineBits: 4), wpdResolutions: ((offset: 16, wpdRes: (kind: indir, resByArg: (args: (42), byArg: (kind: indir, byte: 2, bit: 3)))), (offset: 24, wpdRes: (kind: indir, resByArg: (args: (7), byArg: (kind: uniformRetVal, info: 1)))))))
^14 = typeid: (name: "_ZTS1A", summary: (typeTestRes: (kind: allOnes, sizeM1BitWidth: 7), wpdResolutions: ((offset: 0, wpdRes: (kind: branchFunnel)), (offset: 8, wpdRes: (kind: singleImpl, singleImplName: "_ZN1A1nEi")))))
^15 = flags: 97
^16 = blockcount: 1888
)index";

std::unique_ptr<ModuleSummaryIndex> parseIndex(StringRef Text) {
  SMDiagnostic Diag;
  std::unique_ptr<ModuleSummaryIndex> Index =
      parseSummaryIndexAssemblyString(Text, Diag);
  if (!Index) {
    Diag.print("index", errs());
    abort();
  }
  // The textual form can't express CFI functions.
  for (const char *Name : {"one", "two", "a longer name"})
    addCfiFunction(Index->cfiFunctionDefs(), Name);
  addCfiFunction(Index->cfiFunctionDecls(), "declared");
  return Index;
}

/// Writes a combined index of all summaries, of which real shards have a part.
Bytes writeWhole(const ModuleSummaryIndex &Index) {
  Bytes Result;
  raw_svector_ostream OS(Result);
  writeIndexToFile(Index, OS);
  return Result;
}

/// Returns what a backend would read from \p Shard, as text.
std::string textOf(StringRef Shard) {
  Expected<std::unique_ptr<ModuleSummaryIndex>> Index =
      getModuleSummaryIndex(MemoryBufferRef(Shard, "shard"));
  if (!Index)
    return "error: " + toString(Index.takeError());
  std::string Text;
  raw_string_ostream OS(Text);
  (*Index)->print(OS);
  return Text;
}

std::string rename(StringRef Shard, Bytes &Out,
                   function_ref<std::optional<std::string>(StringRef)> Fn) {
  Expected<ShardBytes> New = renameShardModules(Shard, Fn);
  if (!New)
    return toString(New.takeError());
  Out = std::move(*New);
  return "";
}

/// Renames each module to the result of \p Fn, and expects success.
Bytes renamed(StringRef Shard, function_ref<std::string(StringRef)> Fn) {
  Bytes Out;
  EXPECT_EQ(rename(Shard, Out,
                   [&](StringRef Name) { return std::optional(Fn(Name)); }),
            "");
  return Out;
}

class IndexShardTest : public testing::Test {
protected:
  Bytes Shard = writeWhole(*parseIndex(IndexText));
  Names Modules = {"a.o", "dir/b.o", "lib/x.a(c.o at 1234)"};
};

} // namespace

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

TEST_F(IndexShardTest, TheTestsOwnIndex) {
  // Checks what the tests below rely on: the index has everything in its text.
  ASSERT_EQ(moduleNamesOf(ref(Shard)), Modules);
  std::string Text = textOf(ref(Shard));
  for (StringRef Part :
       {"alias:", "variable:", "typeTests", "typeTestAssumeConstVCalls",
        "typeCheckedLoadConstVCalls", "resByArg", "singleImplName", "callsites",
        "allocs", "blockcount: 1888", "linkonce_odr", "hotness: hot"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Part.str();
}

// Writing a shard with another module table equals renaming the modules.
TEST_F(IndexShardTest, AnotherTable) {
  std::unique_ptr<ModuleSummaryIndex> Index = parseIndex(IndexText);
  std::map<StringRef, ModuleHash> Sorted;
  for (const auto &Entry : Index->modulePaths())
    Sorted[Entry.first()] = Entry.second;
  std::vector<ShardModule> Table;
  for (const auto &[Name, Hash] : Sorted)
    Table.push_back({"m." + toHex(Name, /*LowerCase=*/true), Hash});
  Expected<ShardBytes> New = replaceShardModules(ref(Shard), Table);
  ASSERT_TRUE(bool(New)) << toString(New.takeError());
  EXPECT_EQ(moduleNamesOf(ref(*New)).size(), Modules.size());
  EXPECT_EQ(textOf(ref(*New)),
            textOf(ref(renamed(ref(Shard), [](StringRef Name) {
              return "m." + toHex(Name, /*LowerCase=*/true);
            }))));
}

TEST_F(IndexShardTest, EverythingElseIsTheSame) {
  Bytes New = renamed(ref(Shard), [](StringRef Name) {
    return "m." + toHex(Name, /*LowerCase=*/true);
  });
  Names NewNames;
  for (const std::string &Name : Modules)
    NewNames.push_back("m." + toHex(Name, /*LowerCase=*/true));
  EXPECT_EQ(moduleNamesOf(ref(New)), NewNames);
  EXPECT_EQ(recordsOf(ref(New)), recordsOf(ref(Shard)));

  // LLVM reads the same from the new shard, except for the names.
  std::string Want = textOf(ref(Shard)), Have = textOf(ref(New));
  for (size_t I = 0; I != Modules.size(); ++I) {
    size_t Pos = Have.find("\"" + NewNames[I] + "\"");
    ASSERT_NE(Pos, std::string::npos);
    Have.replace(Pos + 1, NewNames[I].size(), Modules[I]);
  }
  EXPECT_EQ(Have, Want);
}

TEST_F(IndexShardTest, CfiFunctionsAreKept) {
  // textOf() doesn't show CFI functions.
  auto Index = parseIndex(IndexText);
  GlobalValue::GUID GUID = guidOf("one");
  std::unique_ptr<FunctionSummary> F = makeEmptyFunctionSummary();
  F->setModulePath(Index->modulePaths().find("a.o")->getKey());
  Index->addGlobalValueSummary(Index->getOrInsertValueInfo(GUID), std::move(F));
  Bytes Old = writeWhole(*Index);
  Bytes New =
      renamed(ref(Old), [](StringRef Name) { return ("x/" + Name).str(); });
  auto Read = must(getModuleSummaryIndex({ref(New), "shard"}));
  EXPECT_EQ(cfiNames(Read->cfiFunctionDefs()), std::set<std::string>{"one"});
}

TEST_F(IndexShardTest, TheSameNames) {
  Bytes New = renamed(ref(Shard), [](StringRef Name) { return Name.str(); });
  EXPECT_EQ(moduleNamesOf(ref(New)), Modules);
  EXPECT_EQ(recordsOf(ref(New)), recordsOf(ref(Shard)));
  EXPECT_EQ(textOf(ref(New)), textOf(ref(Shard)));
}

TEST_F(IndexShardTest, EachNameIsAskedForOnceInOrder) {
  Names RequestedNames;
  renamed(ref(Shard), [&](StringRef Name) {
    RequestedNames.push_back(Name.str());
    return Name.str();
  });
  EXPECT_EQ(RequestedNames, Modules);
}

TEST_F(IndexShardTest, NamesOfAnyLength) {
  for (size_t Length : {0, 1, 2, 3, 4, 5, 63, 64, 255, 256, 2000, 100000}) {
    Bytes New = renamed(ref(Shard), [&](StringRef Name) {
      return std::string(Length, char(0x61 + Name.size() % 26));
    });
    for (const std::string &Name : moduleNamesOf(ref(New)))
      EXPECT_EQ(Name.size(), Length);
    EXPECT_EQ(recordsOf(ref(New)), recordsOf(ref(Shard)));
  }
}

TEST_F(IndexShardTest, NamesOfAnyBytes) {
  std::string All;
  for (unsigned I = 0; I != 256; ++I)
    All += char(I);
  Bytes New =
      renamed(ref(Shard), [&](StringRef Name) { return Name.str() + All; });
  for (size_t I = 0; I != Modules.size(); ++I)
    EXPECT_EQ(moduleNamesOf(ref(New))[I], Modules[I] + All);
  EXPECT_EQ(recordsOf(ref(New)), recordsOf(ref(Shard)));
}

TEST_F(IndexShardTest, RenamedTwice) {
  Bytes New = renamed(ref(Shard), [](StringRef Name) {
    return ("some/other/folder/" + Name).str();
  });
  Bytes Back = renamed(ref(New), [](StringRef Name) {
    return Name.drop_front(StringRef("some/other/folder/").size()).str();
  });
  EXPECT_EQ(moduleNamesOf(ref(Back)), Modules);
  EXPECT_EQ(recordsOf(ref(Back)), recordsOf(ref(Shard)));
}

TEST_F(IndexShardTest, ManyModules) {
  std::string Text;
  for (unsigned I = 0; I != 3000; ++I)
    Text += "^" + std::to_string(I) + " = module: (path: \"m" +
            std::to_string(100000 + I) + ".o\", hash: (" + std::to_string(I) +
            ", 0, 0, 0, 1))\n";
  auto Index = parseIndex(Text);
  Bytes Old = writeWhole(*Index);
  Bytes New =
      renamed(ref(Old), [](StringRef Name) { return (Name + Name).str(); });
  Names Have = moduleNamesOf(ref(New));
  ASSERT_EQ(Have.size(), 3000u);
  EXPECT_EQ(Have[2999], "m102999.om102999.o");
  EXPECT_EQ(recordsOf(ref(New)), recordsOf(ref(Old)));
}

TEST_F(IndexShardTest, NoName) {
  Bytes Out;
  std::string Message =
      rename(ref(Shard), Out, [](StringRef Name) -> std::optional<std::string> {
        if (Name == "dir/b.o")
          return std::nullopt;
        return Name.str();
      });
  EXPECT_NE(Message.find("'dir/b.o'"), std::string::npos) << Message;
}

TEST_F(IndexShardTest, ANameIsPrintedInOneLine) {
  ModuleSummaryIndex Index(/*HaveGVs=*/false);
  Index.addModule("a\nb\x1b.o");
  std::string Shard;
  raw_string_ostream OS(Shard);
  writeIndexToFile(Index, OS);
  Bytes Out;
  EXPECT_EQ(rename(OS.str(), Out,
                   [](StringRef) -> std::optional<std::string> {
                     return std::nullopt;
                   }),
            "module 'a\\x0ab\\x1b.o' has no encoded name");
}

//===----------------------------------------------------------------------===//
// Invalid shards
//===----------------------------------------------------------------------===//

namespace {
std::string renameError(StringRef Bytes) {
  // The copy lets sanitizers detect a read past the end.
  std::vector<char> Copy(Bytes.begin(), Bytes.end());
  test::Bytes Out;
  return rename(StringRef(Copy.data(), Copy.size()), Out,
                [](StringRef Name) { return std::optional(Name.str()); });
}
} // namespace

TEST_F(IndexShardTest, Truncated) {
  for (size_t Size = 0; Size < Shard.size(); Size += 4)
    EXPECT_NE(renameError(ref(Shard).take_front(Size)), "")
        << Size << " of " << Shard.size();
}

TEST_F(IndexShardTest, OddSizes) {
  for (size_t Less : {1, 2, 3})
    EXPECT_NE(renameError(ref(Shard).drop_back(Less)), "");
}

TEST_F(IndexShardTest, OtherThings) {
  EXPECT_NE(renameError(""), "");
  EXPECT_NE(renameError("BC\xC0\xDE"), "");
  EXPECT_NE(renameError("not bitcode!"), "");
  EXPECT_NE(renameError(std::string(400, 0)), "");
  EXPECT_NE(renameError("BC\xC0\xDE" + std::string(400, 0)), "");
  EXPECT_NE(renameError("BC\xC0\xDE" + std::string(400, '\xff')), "");
  EXPECT_NE(renameError(ref(compileObject("define void @f() {\n  ret void\n}\n",
                                          "x86_64-pc-linux-gnu"))),
            "");
}

TEST_F(IndexShardTest, ModulesAreNoShards) {
  EXPECT_NE(renameError(ref(plainBitcode("define void @f() {\n  ret void\n}"))),
            "");
  EXPECT_NE(renameError(ref(thinBitcode("define void @f() {\n  ret void\n}"))),
            "");
}

TEST_F(IndexShardTest, RandomChangesNeverCrash) {
  std::mt19937 Random(4711);
  for (unsigned I = 0; I != 4000; ++I) {
    std::string Bytes = ref(Shard).str();
    for (unsigned K = Random() % 3 + 1; K != 0; --K) {
      char &C = Bytes[Random() % Bytes.size()];
      C = Random() % 2 ? char(Random()) : char(C ^ (1 << Random() % 8));
    }
    (void)renameError(Bytes);
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// A module with every kind of reference to another module's symbol.
constexpr StringLiteral MainIR = R"(
@imported_var = external constant i32
@var = external global i32
@elsewhere = external global i32
@table = global [2 x ptr] [ptr @large, ptr @var]
declare i32 @small(i32)
declare i32 @large(i32)
declare i32 @small_alias(i32)
declare i32 @large_alias(i32)
declare i32 @chosen(i32)
declare i32 @undefined(i32)
declare i32 @linkonce(i32)
define i32 @main(i32 %x) {
  %a = call i32 @small(i32 %x)
  %b = call i32 @large(i32 %a)
  %c = call i32 @small_alias(i32 %b)
  %d = call i32 @large_alias(i32 %c)
  %e = call i32 @chosen(i32 %d)
  %f = call i32 @undefined(i32 %e)
  %v = load i32, ptr @imported_var
  %w = load i32, ptr @var
  %u = load i32, ptr @elsewhere
  %s = add i32 %v, %w
  %t = add i32 %s, %f
  %z = add i32 %t, %u
  ret i32 %z
}
)";

std::string otherIR() {
  std::string IR = R"(
@imported_var = constant i32 7
@var = global i32 1
@hidden = global i32 2
@large_var = global [4 x ptr] [ptr @var, ptr @large, ptr @deep, ptr @hidden]
declare i32 @deep(i32)
@small_alias = alias i32 (i32), ptr @small
@large_alias = alias i32 (i32), ptr @large
@var_alias = alias i32, ptr @var
@chosen = ifunc i32 (i32), ptr @choose
define ptr @choose() {
  ret ptr @small
}
define i32 @small(i32 %x) {
  %a = call i32 @deep(i32 %x)
  %v = load i32, ptr @hidden
  %w = load i32, ptr @var_alias
  store i32 %x, ptr @var
  store i32 %x, ptr @hidden
  %s = add i32 %a, %v
  %t = add i32 %s, %w
  ret i32 %t
}
define i32 @large(i32 %v0) noinline {
)";
  for (unsigned I = 0; I != 150; ++I)
    IR += "  %v" + std::to_string(I + 1) + " = xor i32 %v" + std::to_string(I) +
          ", " + std::to_string(I * 5 + 1) + "\n";
  return IR + "  ret i32 %v150\n}\n";
}

constexpr StringLiteral DeepIR = R"(
define i32 @deep(i32 %x) noinline {
  %r = mul i32 %x, 3
  ret i32 %r
}
)";

/// A shard as written, and what the link knows of its symbols.
struct Written {
  std::string Module;
  Bytes Shard;
  std::unique_ptr<ModuleSummaryIndex> Index;
  std::set<GlobalValue::GUID> OwnGUIDs;          // Defined in the module.
  std::set<GlobalValue::GUID> Imported;          // As definitions or
                                                 // declarations.
  std::map<GlobalValue::GUID, bool> Referenced;  // To: is it local?
  std::map<GlobalValue::GUID, std::string> Kind; // Of symbols in the link.
  Bytes Plain;                                   // As written by LLVM.
};

class WriteShardTest : public testing::Test {
protected:
  void SetUp() override {
    TheLink.add("main.o", MainIR);
    TheLink.add("other.o", otherIR());
    TheLink.add("deep.o", DeepIR);
  }

  static std::string kindOf(const GlobalValueSummary &S) {
    const GlobalValueSummary *Base = &S;
    if (const auto *Alias = dyn_cast<AliasSummary>(&S))
      Base = &Alias->getAliasee();
    return isa<GlobalVarSummary>(Base) ? "variable" : "function";
  }

  /// Writes the shards of all modules of a link.
  std::map<std::string, Written> writeAll() {
    std::map<std::string, Written> Result;
    TestLink::Result R = TheLink.look(nullptr, [&](const Link &CurrentLink,
                                                   std::vector<Task> &Tasks) {
      EXPECT_TRUE(CurrentLink.Jobs.Index.withDSOLocalPropagation());
      for (Task &T : Tasks) {
        Written &W = Result[T.name().str()];
        W.Module = T.name().str();
        W.Shard = writeShard(CurrentLink.Jobs.Index, CurrentLink.Jobs.Defined,
                             T.name(), *T.ImportList);
        W.Index = must(getModuleSummaryIndex({ref(W.Shard), "shard"}));
        fill(W, CurrentLink, T);
      }
    });
    EXPECT_EQ(R.Error, "");
    return Result;
  }

private:
  static void fill(Written &W, const Link &CurrentLink, const Task &T) {
    std::vector<const GlobalValueSummary *> Compiled;
    for (const auto &[GUID, Summary] : *T.DefinedGlobals) {
      W.OwnGUIDs.insert(GUID);
      Compiled.push_back(Summary);
    }
    ImportsByModule Imports(T.ImportList);
    for (StringRef From : importedModules(*T.ImportList))
      for (GlobalValue::GUID GUID : Imports.of(From)) {
        W.Imported.insert(GUID);
        Compiled.push_back(
            CurrentLink.Jobs.Defined.find(From)->second.find(GUID)->second);
      }
    auto Note = [&](const ValueInfo &VI) {
      if (VI.getSummaryList().empty())
        return;
      W.Referenced[VI.getGUID()] |=
          VI.isDSOLocal(/*WithDSOLocalPropagation=*/true);
      W.Kind[VI.getGUID()] = kindOf(*VI.getSummaryList().front());
    };
    for (const GlobalValueSummary *S : Compiled) {
      if (const auto *Alias = dyn_cast<AliasSummary>(S)) {
        Note(Alias->getAliaseeVI());
        S = &Alias->getAliasee();
      }
      for (const ValueInfo &VI : S->refs())
        Note(VI);
      if (const auto *F = dyn_cast<FunctionSummary>(S))
        for (const FunctionSummary::EdgeTy &E : F->calls())
          Note(E.first);
    }
    ModuleSummaries Summaries;
    GVSummaryPtrSet Declarations;
    gatherImportedSummariesForModule(T.name(), CurrentLink.Jobs.Defined,
                                     *T.ImportList, Summaries, Declarations);
    raw_svector_ostream OS(W.Plain);
    writeIndexToFile(CurrentLink.Jobs.Index, OS, &Summaries, &Declarations);
  }

protected:
  TestLink TheLink;
};

std::set<GlobalValue::GUID> guids(std::initializer_list<const char *> Names) {
  std::set<GlobalValue::GUID> Result;
  for (const char *Name : Names)
    Result.insert(guidOf(Name));
  return Result;
}

} // namespace

TEST_F(WriteShardTest, TheTestsOwnProgram) {
  auto Shards = writeAll();
  ASSERT_EQ(Shards.size(), 3u);
  Written &Main = Shards["main.o"];
  // The importer took small functions, and left large ones.
  for (GlobalValue::GUID GUID : guids({"small", "imported_var"}))
    EXPECT_EQ(Main.Imported.count(GUID), 1u);
  for (GlobalValue::GUID GUID : guids({"large", "deep", "chosen"}))
    EXPECT_EQ(Main.Imported.count(GUID), 0u);
  for (GlobalValue::GUID GUID :
       guids({"small", "large", "large_alias", "var", "deep", "hidden"}))
    EXPECT_TRUE(Main.Referenced[GUID]);
}

TEST_F(WriteShardTest, NamesAreThoseOfTheLinker) {
  auto Shards = writeAll();
  EXPECT_EQ(moduleNamesOf(ref(Shards["main.o"].Shard)),
            (Names{"main.o", "other.o"}));
  EXPECT_EQ(moduleNamesOf(ref(Shards["deep.o"].Shard)), Names{"deep.o"});
}

TEST_F(WriteShardTest, ReferencedSymbolsAreKnownToBeLocal) {
  unsigned NumStandIns = 0;
  for (auto &[Module, W] : writeAll())
    for (auto [GUID, Local] : W.Referenced) {
      ValueInfo VI = W.Index->getValueInfo(GUID);
      bool Known = VI && !VI.getSummaryList().empty();
      if (!W.OwnGUIDs.count(GUID) && !W.Imported.count(GUID)) {
        EXPECT_EQ(Known, Local) << Module << ": " << GUID;
        NumStandIns += Known;
      }
      if (Local) {
        ASSERT_TRUE(Known) << Module << ": " << GUID;
        EXPECT_TRUE(VI.isDSOLocal(W.Index->withDSOLocalPropagation()))
            << Module << ": " << GUID;
      }
    }
  EXPECT_GE(NumStandIns, 5u);
}

TEST_F(WriteShardTest, NothingMoreIsImported) {
  for (auto &[Module, W] : writeAll())
    for (const auto &[GUID, Info] : *W.Index)
      for (const auto &Summary : summariesOf(Info))
        if (Summary->modulePath() != Module)
          EXPECT_EQ(W.Imported.count(GUID), 1u)
              << Module << " would import " << GUID << " from "
              << Summary->modulePath().str();
        else if (!W.OwnGUIDs.count(GUID)) {
          // This is a stand-in: the symbol is referenced, and no importable
          // definition exists.
          EXPECT_EQ(W.Referenced.count(GUID), 1u) << Module << ": " << GUID;
          EXPECT_EQ(summariesOf(Info).size(), 1u);
          EXPECT_TRUE(Summary->notEligibleToImport());
          EXPECT_EQ(kindOf(*Summary), W.Kind[GUID]) << Module << ": " << GUID;
        }
}

TEST_F(WriteShardTest, TheRestIsWhatLLVMWrites) {
  for (auto &[Module, W] : writeAll()) {
    auto Plain = must(getModuleSummaryIndex({ref(W.Plain), "plain"}));
    EXPECT_EQ(W.Index->getFlags(), Plain->getFlags());
    for (const auto &[GUID, Info] : *Plain) {
      ValueInfo VI = W.Index->getValueInfo(GUID);
      for (const auto &Want : summariesOf(Info)) {
        const GlobalValueSummary *Have =
            W.Index->findSummaryInModule(VI, Want->modulePath());
        ASSERT_NE(Have, nullptr) << Module << ": " << GUID;
        EXPECT_EQ(Have->getSummaryKind(), Want->getSummaryKind());
        EXPECT_EQ(Have->linkage(), Want->linkage());
        EXPECT_EQ(Have->isLive(), Want->isLive());
        EXPECT_EQ(Have->isDSOLocal(), Want->isDSOLocal());
        EXPECT_EQ(Have->notEligibleToImport(), Want->notEligibleToImport());
        EXPECT_EQ(Have->importType(), Want->importType());
      }
    }
  }
}

TEST_F(WriteShardTest, NothingIsAddedToInterposableSymbols) {
  TheLink.ProgramIsWhole = false;
  for (auto &[Module, W] : writeAll())
    EXPECT_EQ(recordsOf(ref(W.Shard)), recordsOf(ref(W.Plain))) << Module;
}

TEST_F(WriteShardTest, ModulesWithoutSymbols) {
  // A backend doesn't optimize a module that has no summary at all.
  TheLink.add("empty.o", "");
  auto Shards = writeAll();
  ASSERT_EQ(Shards.count("empty.o"), 1u);
  EXPECT_EQ(recordsOf(ref(Shards["empty.o"].Shard)),
            recordsOf(ref(Shards["empty.o"].Plain)));
}

TEST_F(WriteShardTest, TheSameEveryTime) {
  auto First = writeAll(), Second = writeAll();
  for (auto &[Module, W] : First)
    EXPECT_TRUE(ref(W.Shard) == ref(Second[Module].Shard)) << Module;
}

TEST_F(WriteShardTest, CanBeRenamed) {
  for (auto &[Module, W] : writeAll()) {
    Bytes New = renamed(ref(W.Shard),
                        [](StringRef Name) { return ("m." + Name).str(); });
    EXPECT_EQ(recordsOf(ref(New)), recordsOf(ref(W.Shard)));
  }
}
