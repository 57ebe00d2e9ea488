//===- KeptModulesTest.cpp - Optimized modules kept for later links -------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/KeptModules.h"
#include "Config/ConfigJSON.h"
#include "ConfigVisitors.h"
#include "LTO/LocalCodegen.h"
#include "MemoryStore.h"
#include "TempFolder.h"
#include "TestLink.h"
#include "llvm/Support/CommandLine.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

/// Exercises much of a backend: a vectorizable loop, floating point, an
/// exception, a thread-local variable, constants, a jump table, cold code and
/// assembly.
constexpr const char *Program = R"(
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
@thread = thread_local global i32 3
@text = private unnamed_addr constant [6 x i8] c"hello\00"
@zeros = global [64 x i8] zeroinitializer
declare void @may_throw(ptr)
declare i32 @__gxx_personality_v0(...)
declare i32 @other(i32)
declare void @exit(i32) noreturn
define float @sum(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi float [ 0.0, %entry ], [ %t, %loop ]
  %q = getelementptr float, ptr %p, i64 %i
  %v = load float, ptr %q
  %m = fmul fast float %v, 2.5
  %t = fadd fast float %s, %m
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret float %t
}
define i32 @main(i32 %x) personality ptr @__gxx_personality_v0 {
entry:
  invoke void @may_throw(ptr @text) to label %ok unwind label %bad
ok:
  %y = load i32, ptr @thread
  switch i32 %x, label %none [ i32 1, label %one i32 2, label %two
                               i32 3, label %three i32 4, label %four ], !prof !0
one:
  %a = call i32 @other(i32 %y)
  ret i32 %a
two:
  %b = call i32 @other(i32 %a2)
  %a2 = add i32 %y, 5
  ret i32 %b
three:
  %c = call i32 @other(i32 77)
  ret i32 %c
four:
  call void @exit(i32 4)
  unreachable
none:
  %d = call i32 asm "xorl $0, $0", "=r,~{dirflag}"()
  ret i32 %d
bad:
  %e = landingpad { ptr, i32 } cleanup
  call void @exit(i32 1)
  resume { ptr, i32 } %e
}
!0 = !{!"branch_weights", i32 1, i32 1000, i32 900, i32 800, i32 1}
)";

constexpr const char *Other = R"(
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
define i32 @other(i32 %x) {
  %y = mul i32 %x, 12345
  ret i32 %y
}
)";

/// Changes the value of field number \p Which, and records the field's name.
struct ChangeOne : FieldVisitor {
  explicit ChangeOne(size_t Which) : NumToSkip(Which) {}

  void flag(StringRef Name, bool &Value) {
    if (isNext(Name))
      Value = !Value;
  }
  void number(StringRef Name, int64_t &Value, int64_t Min, int64_t Max) {
    if (isNext(Name))
      Value = Value == Max ? Min : std::min(Max, std::max(Min, Value + 1));
  }
  void pair(StringRef Name, std::array<int64_t, 2> &Value, int64_t, int64_t) {
    if (isNext(Name))
      Value[0] = Value[0] == 2 ? 1 : 2;
  }
  void optional(StringRef Name, std::optional<uint64_t> &Value, uint64_t Max) {
    if (isNext(Name))
      Value = Value ? std::nullopt
                    : std::optional<uint64_t>(std::min<uint64_t>(Max, 1));
  }
  void text(StringRef Name, std::string &Value) {
    if (isNext(Name))
      Value = Name == "OptPipeline"  ? "default<O1>"
              : Name == "AAPipeline" ? "basic-aa"
                                     : Value + "x";
  }
  void texts(StringRef Name, std::vector<std::string> &Value) {
    if (isNext(Name))
      Value.push_back("+avx2");
  }

  bool isNext(StringRef Field) {
    if (NumToSkip-- != 0)
      return false;
    Name = Field.str();
    return true;
  }
  size_t NumToSkip;
  std::string Name;
};

/// Changes field number \p Which; returns its name, empty if there is none.
std::string change(lto::Config &Conf, size_t Which) {
  ChangeOne Change(Which);
  visitAll(Change, Conf);
  return Change.Name;
}

/// Returns the fields that travel as text and affect only code generation.
std::set<std::string> onlyCodegen() {
  return {
    "BBAddrMap", "BBSections", "Crel", "DataSections", "EmitAddrsig",
        "EmitStackSizeSection",
#if LLVM_VERSION_MAJOR >= 21
        "EnableStaticDataPartitioning",
#endif
        "EnableMachineFunctionSplitter", "ForceDwarfFrameSection",
        "FunctionSections", "LoopAlignment", "SeparateNamedSections",
        "UniqueBasicBlockSectionNames", "UniqueSectionNames",
        "X86RelaxRelocations", "XRayFunctionIndex"
  };
}

StringRef bytes(const CodegenResult &R) {
  return {R.Object.data(), R.Object.size()};
}

class KeptModulesTest : public testing::Test {
protected:
  void SetUp() override {
    TheLink.add("a.o", Program);
    TheLink.add("b.o", Other);
    TheLink.Visible.insert("sum");
  }

  static std::unique_ptr<ModuleStore> folder(const Link &CurrentLink,
                                             TempFolder &F) {
    return makeFolderStore(CurrentLink.Host.Msg, F.path("kept"));
  }

  /// Compiles \p T with the modules in \p Modules, which may be null.
  static CodegenResult compile(const Link &CurrentLink, const Task &T,
                               KeptModules *Modules) {
    auto &Changed = const_cast<Link &>(CurrentLink);
    Changed.Jobs.Optimized = Modules;
    CodegenResult R = runLocalCodegen(CurrentLink.Jobs, T);
    Changed.Jobs.Optimized = nullptr;
    return R;
  }

  TempFolder Folder;
  TestLink TheLink;
};

} // namespace

TEST_F(KeptModulesTest, ALaterLinkGeneratesTheSameCode) {
  TestLink::Result R = TheLink.look(nullptr, [&](const Link &CurrentLink,
                                                 std::vector<Task> &Tasks) {
    for (Task &T : Tasks) {
      KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
      ASSERT_EQ(First.reason(), "");
      EXPECT_TRUE(First.wants(T, true));
      EXPECT_FALSE(First.forLocalCompile(T));
      CodegenResult Whole = compile(CurrentLink, T, &First);
      KeptModules Second(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
      EXPECT_FALSE(Second.wants(T, true));
      ASSERT_TRUE(Second.forLocalCompile(T));
      ASSERT_NE(Second.forPlugin(T), nullptr);
      CodegenResult Again = compile(CurrentLink, T, &Second);
      EXPECT_TRUE(Again.HasObject);
      EXPECT_TRUE(bytes(Again) == bytes(Whole));
      EXPECT_EQ(Second.finish(2), "1 of 2 jobs only generated code, from kept "
                                  "modules; 0 optimised modules were kept");
      // Jobs that verify others are compiled from the beginning.
      KeptModules Third(CurrentLink.Jobs, folder(CurrentLink, Folder),
                        /*IsVerified=*/true);
      EXPECT_FALSE(Third.forLocalCompile(T));
      EXPECT_NE(Third.forPlugin(T), nullptr);
    }
  });
  EXPECT_EQ(R.Error, "");
}

TEST_F(KeptModulesTest, OtherMachinesModulesAreForOtherMachines) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    First.keep(Tasks[0], "bitcode", /*IsLocal=*/false);
    First.keep(Tasks[0], "bitcode", /*IsLocal=*/false); // from a duplicate
    EXPECT_EQ(First.finish(2), "0 of 2 jobs only generated code, from kept "
                               "modules; 1 optimised modules were kept");
    KeptModules Second(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    ASSERT_NE(Second.forPlugin(Tasks[0]), nullptr);
    EXPECT_EQ(Second.forPlugin(Tasks[0])->Bytes, "bitcode");
    EXPECT_FALSE(Second.forLocalCompile(Tasks[0]));
    EXPECT_FALSE(Second.wants(Tasks[0], false));
    EXPECT_TRUE(Second.wants(Tasks[0], true));
    EXPECT_EQ(Second.forPlugin(Tasks[1]), nullptr);
    EXPECT_EQ(
        Second.dropForPlugin(Tasks[0]).find(
            "the optimised module from another link, '" + Folder.path("kept")),
        0u);
    KeptModules Third(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    EXPECT_EQ(Third.forPlugin(Tasks[0]), nullptr);
  });
}

/// Calls \p Fn(KeptModules &) in a link that uses the store \p M.
template <typename F>
static void inFarm(const Link &CurrentLink, MemoryStore &M, F Fn) {
  std::shared_ptr<RemoteStore> Store = M.open(CurrentLink.Host.Msg);
  KeptModules Modules(CurrentLink.Jobs,
                      makeSharedStore(Store, CurrentLink.Process.Opts.Memory),
                      false);
  Fn(Modules);
  Store->finish(std::chrono::minutes(1));
}

TEST_F(KeptModulesTest, WhatTheFarmHasIsForOtherMachines) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    MemoryStore Farm;
    const Task &T = Tasks[0];
    std::string Whole;
    inFarm(CurrentLink, Farm, [&](KeptModules &First) {
      EXPECT_EQ(First.forPlugin(T), nullptr);
      EXPECT_TRUE(First.wants(T, true));
      EXPECT_TRUE(First.wants(T, false));
      // This keeps the module.
      Whole = bytes(compile(CurrentLink, T, &First)).str();
      First.keep(Tasks[1], "bitcode", /*IsLocal=*/false);
      EXPECT_EQ(First.finish(2), "0 of 2 jobs only generated code, from kept "
                                 "modules; 2 optimised modules were kept");
    });
    EXPECT_EQ(Farm.entries().size(), 2u);
    inFarm(CurrentLink, Farm, [&](KeptModules &Second) {
      // Local compiles don't read the farm's store.
      EXPECT_FALSE(Second.forLocalCompile(T));
      Farm.NumGets = 0;
      EXPECT_EQ(bytes(compile(CurrentLink, T, &Second)), Whole);
      EXPECT_EQ(Farm.NumGets, 0u);
      ASSERT_NE(Second.forPlugin(T), nullptr);
      EXPECT_EQ(Second.forPlugin(T)->Bytes.substr(0, 2), "BC");
      EXPECT_EQ(Farm.NumGets, 1u);
      EXPECT_FALSE(Second.forLocalCompile(T));
      EXPECT_FALSE(Second.wants(T, true));
      EXPECT_FALSE(Second.wants(T, false));
      ASSERT_NE(Second.forPlugin(Tasks[1]), nullptr);
      EXPECT_EQ(Second.forPlugin(Tasks[1])->Bytes, "bitcode");
      // Drop a module that turned out to be invalid.
      std::string Dropped = Second.dropForPlugin(Tasks[1]);
      EXPECT_NE(Dropped.find("remote cache memory://test entry "),
                std::string::npos);
      EXPECT_NE(Dropped.find(", was removed"), std::string::npos);
      EXPECT_EQ(Second.forPlugin(Tasks[1]), nullptr);
      EXPECT_TRUE(Second.wants(Tasks[1], false));
    });
    inFarm(CurrentLink, Farm, [&](KeptModules &Third) {
      EXPECT_NE(Third.forPlugin(T), nullptr);
      EXPECT_EQ(Third.forPlugin(Tasks[1]), nullptr);
    });
  });
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(KeptModulesTest, WhatTheFarmDamagesIsNotBelieved) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    MemoryStore Farm;
    for (const Task &T : Tasks)
      inFarm(CurrentLink, Farm,
             [&](KeptModules &Modules) { Modules.keep(T, "bitcode", false); });
    ASSERT_EQ(Farm.entries().size(), 2u);
    std::map<std::string, std::string> Entries = Farm.entries();
    auto CountUsable = [&] {
      Farm.set(Entries);
      size_t N = 0;
      inFarm(CurrentLink, Farm, [&](KeptModules &Modules) {
        for (const Task &T : Tasks)
          N += Modules.forPlugin(T) != nullptr;
      });
      return N;
    };
    EXPECT_EQ(CountUsable(), 2u);
    std::string &One = Entries.begin()->second;
    std::string &Other = Entries.rbegin()->second;
    std::string Right = One;
    for (size_t At = 0; At != Right.size(); ++At) {
      One[At] ^= 16;
      EXPECT_EQ(CountUsable(), 1u) << At;
      One = Right.substr(0, At);
      EXPECT_EQ(CountUsable(), 1u) << At;
      One = Right;
    }
    std::swap(One, Other);
    EXPECT_EQ(CountUsable(), 0u);
  });
}

TEST_F(KeptModulesTest, AStoreThatFailsIsNotUsedAgain) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    MemoryStore Farm;
    auto Fail = [] { return "it is closed"; };
    Farm.OnPut = Fail;
    inFarm(CurrentLink, Farm, [&](KeptModules &Modules) {
      for (const Task &T : Tasks) {
        EXPECT_EQ(Modules.forPlugin(T), nullptr);
        Modules.keep(T, "bitcode", false);
        while (Modules.wants(T, false))
          std::this_thread::yield();
      }
    });
    EXPECT_EQ(Farm.NumGets, 2u); // reads may still succeed
    EXPECT_EQ(Farm.NumPuts, 1u);
    EXPECT_EQ(
        TheLink.Msg.warnings(),
        std::vector<std::string>({"remote cache: it is closed; nothing more is "
                                  "stored there"}));
    TheLink.Msg.clear();
    Farm.OnGet = Fail;
    inFarm(CurrentLink, Farm, [&](KeptModules &Modules) {
      for (const Task &T : Tasks)
        EXPECT_EQ(Modules.forPlugin(T), nullptr);
    });
    EXPECT_EQ(Farm.NumGets, 3u);
    EXPECT_EQ(
        TheLink.Msg.warnings(),
        std::vector<std::string>({"remote cache: it is closed; continuing "
                                  "without its objects"}));
  });
}

TEST_F(KeptModulesTest, WhatTheFarmMaySend) {
  // A frame takes 88 bytes. The limit fits one module, but not both.
  TheLink.TheLinker.Opts.Memory = 88 + 7 + 88 + 6;
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    MemoryStore Farm;
    inFarm(CurrentLink, Farm, [&](KeptModules &Modules) {
      for (const Task &T : Tasks)
        Modules.keep(T, "bitcode", false);
    });
    inFarm(CurrentLink, Farm, [&](KeptModules &Modules) {
      EXPECT_NE(Modules.forPlugin(Tasks[0]), nullptr);
      EXPECT_EQ(Modules.forPlugin(Tasks[1]), nullptr);
    });
  });
}

TEST_F(KeptModulesTest, WhatIsDamagedIsNotBelieved) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    CodegenResult Whole = compile(CurrentLink, Tasks[0], &First);
    TempFolder Other;
    std::vector<std::string> Names;
    std::error_code EC;
    for (sys::fs::directory_iterator I(Folder.path("kept"), EC), E;
         I != E && !EC; I.increment(EC))
      Names.push_back(I->path());
    ASSERT_EQ(Names.size(), 1u);
    std::string Good = must(errorOrToExpected(MemoryBuffer::getFile(Names[0])))
                           ->getBuffer()
                           .str();
    for (size_t At = 0; At < Good.size(); At += 1 + At / 3)
      for (bool IsCut : {false, true}) {
        std::string Bad = IsCut ? Good.substr(0, At) : Good;
        if (!IsCut)
          Bad[At] ^= 4;
        {
          raw_fd_ostream OS(Names[0], EC);
          OS << Bad;
        }
        KeptModules Second(CurrentLink.Jobs, folder(CurrentLink, Folder),
                           false);
        EXPECT_FALSE(Second.forLocalCompile(Tasks[0])) << At;
        if (At < 100)
          continue;
        CodegenResult Again = compile(CurrentLink, Tasks[0], &Second);
        EXPECT_TRUE(bytes(Again) == bytes(Whole));
      }
    // The last compile has stored the valid module again.
    EXPECT_EQ(
        must(errorOrToExpected(MemoryBuffer::getFile(Names[0])))->getBuffer(),
        Good);
    // A valid frame of invalid bitcode.
    First.keep(Tasks[0], "no bitcode", /*IsLocal=*/true);
    KeptModules Third(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    EXPECT_TRUE(Third.forLocalCompile(Tasks[0]));
    EXPECT_TRUE(bytes(compile(CurrentLink, Tasks[0], &Third)) == bytes(Whole));
    EXPECT_EQ(
        must(errorOrToExpected(MemoryBuffer::getFile(Names[0])))->getBuffer(),
        Good);
  });
}

/// Changes each field that travels. The module must be found if only code
/// generation reads the field, and then the object must equal that of a whole
/// compile.
TEST_F(KeptModulesTest, TheClassOfEachField) {
  std::set<std::string> CodegenFields;
  unsigned NumChanged = 0, NumOtherBytes = 0;
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    const Task &T =
        *find_if(Tasks, [](const Task &T) { return T.name() == "a.o"; });
    auto &Conf = const_cast<lto::Config &>(CurrentLink.Jobs.Conf);
    KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    CodegenResult Default = compile(CurrentLink, T, &First);
    KeptModules Again(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    ASSERT_TRUE(Again.forLocalCompile(T));
    const std::string Optimized = Again.forLocalCompile(T)->str();
    const std::set<std::string> Expected = onlyCodegen();
    for (size_t Which = 0;; ++Which) {
      // lto::Config can't be copied, so the fields are restored by hand.
      struct Keep {
        lto::Config &Conf;
        TargetOptions Options = Conf.Options;
        PipelineTuningOptions PTO = Conf.PTO;
        std::string Text = must(writeConfig(Conf, {}));
        ~Keep() {
          ReadConfig Read = must(readConfig(Text));
          Read.Conf.DiagHandler = std::move(Conf.DiagHandler);
          Conf = std::move(Read.Conf);
          Conf.Options = Options;
          Conf.PTO = PTO;
        }
      } Before{Conf};
      std::string Name = change(Conf, Which);
      if (Name.empty())
        break;
      ++NumChanged;
      KeptModules Modules(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
      bool IsHit = Modules.forLocalCompile(T).has_value();
      if (IsHit)
        CodegenFields.insert(Name);
      EXPECT_EQ(IsHit, Expected.count(Name) == 1) << Name;
      if (!IsHit)
        continue;
      CodegenResult Reused = compile(CurrentLink, T, &Modules);
      // A whole compile with the same change, and the module it optimized.
      TempFolder Fresh;
      KeptModules None(CurrentLink.Jobs, folder(CurrentLink, Fresh), false);
      CodegenResult Whole = compile(CurrentLink, T, &None);
      EXPECT_TRUE(Whole.HasObject && !Whole.Failed) << Name;
      EXPECT_TRUE(bytes(Reused) == bytes(Whole)) << Name;
      NumOtherBytes += bytes(Whole) != bytes(Default);
      KeptModules Later(CurrentLink.Jobs, folder(CurrentLink, Fresh), false);
      ASSERT_TRUE(Later.forLocalCompile(T)) << Name;
      EXPECT_EQ(*Later.forLocalCompile(T), Optimized) << Name;
    }
  });
  EXPECT_EQ(CodegenFields, onlyCodegen());
  EXPECT_GT(NumChanged, 80u);
  // Some changes had an effect.
  EXPECT_GE(NumOtherBytes, 6u);
}

/// The same for each of LLVM's own options that only code generation reads.
TEST_F(KeptModulesTest, TheClassOfEachOption) {
  unsigned NumOtherBytes = 0;
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    const Task &T =
        *find_if(Tasks, [](const Task &T) { return T.name() == "a.o"; });
    auto &Conf = const_cast<lto::Config &>(CurrentLink.Jobs.Conf);
    // The options below affect these.
    Conf.Options.BBAddrMap = true;
    Conf.Options.BBSections = BasicBlockSection::List;
    Conf.Options.BBSectionsFuncListBuf =
        MemoryBuffer::getMemBufferCopy("!main\n!!0 1\n!!2\n", "list");
    KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    CodegenResult Default = compile(CurrentLink, T, &First);
    KeptModules Again(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    ASSERT_TRUE(Again.forLocalCompile(T));
    const std::string Optimized = Again.forLocalCompile(T)->str();
    auto &LLVMOptions = const_cast<std::vector<std::string> &>(
        CurrentLink.Host.JobOpts.LLVMOptions);
    for (StringRef Word :
         {"-align-all-blocks=4", "-align-all-functions=5",
          "-align-all-nofallthru-blocks=4",
          "-basic-block-address-map-skip-bb-entries",
          "-bbsections-cold-text-prefix=.text.cool.",
          "-bbsections-detect-source-drift=false",
          "-bbsections-guided-section-prefix=false",
          "-pgo-analysis-map=func-entry-count", "-inline-threshold=0"}) {
      StringRef Name = Word.drop_front().split('=').first;
      if (!cl::getRegisteredOptions().count(Name))
        continue; // an option of another LLVM version
      const std::string Text = Word.str();
      const char *Argv[] = {"test", Text.c_str()};
      ASSERT_TRUE(cl::ParseCommandLineOptions(2, Argv, "", &errs()));
      LLVMOptions = {Text};
      const bool IsOptimization = Name == "inline-threshold";
      KeptModules Modules(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
      EXPECT_EQ(!Modules.forLocalCompile(T), IsOptimization) << Text;
      if (!IsOptimization) {
        CodegenResult Reused = compile(CurrentLink, T, &Modules);
        TempFolder Fresh;
        KeptModules None(CurrentLink.Jobs, folder(CurrentLink, Fresh), false);
        CodegenResult Whole = compile(CurrentLink, T, &None);
        EXPECT_TRUE(Whole.HasObject && !Whole.Failed) << Text;
        EXPECT_TRUE(bytes(Reused) == bytes(Whole)) << Text;
        NumOtherBytes += bytes(Whole) != bytes(Default);
        KeptModules Later(CurrentLink.Jobs, folder(CurrentLink, Fresh), false);
        ASSERT_TRUE(Later.forLocalCompile(T)) << Text;
        EXPECT_EQ(*Later.forLocalCompile(T), Optimized) << Text;
      }
      // Restore the option's default.
      cl::Option *O = cl::getRegisteredOptions().lookup(Name);
      O->setDefault();
      O->reset();
      LLVMOptions.clear();
    }
    Conf.Options.BBSectionsFuncListBuf.reset();
  });
  EXPECT_GE(NumOtherBytes, 4u);
}

TEST_F(KeptModulesTest, FieldsThatDoNotTravelAsText) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    const Task &T = Tasks[0];
    auto &Conf = const_cast<lto::Config &>(CurrentLink.Jobs.Conf);
    KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    compile(CurrentLink, T, &First);
    auto IsHit = [&] {
      return KeptModules(CurrentLink.Jobs, folder(CurrentLink, Folder), false)
          .forLocalCompile(T)
          .has_value();
    };
    EXPECT_TRUE(IsHit());
    // Lists of functions and .dwo files only matter to code generation.
    Conf.Options.BBSections = BasicBlockSection::List;
    Conf.Options.BBSectionsFuncListBuf =
        MemoryBuffer::getMemBufferCopy("!main\n", "list");
    EXPECT_TRUE(IsHit());
    Conf.DwoDir = Folder.path("dwo");
    EXPECT_TRUE(IsHit());
    KeptModules Second(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
    CodegenResult Reused = compile(CurrentLink, T, &Second);
    CodegenResult Whole = compile(CurrentLink, T, nullptr);
    EXPECT_TRUE(bytes(Reused) == bytes(Whole));
    Conf.DwoDir.clear();
    // Links with these settings keep no modules.
    for (std::string lto::Config::*Field :
         {&lto::Config::RemarksFilename, &lto::Config::SampleProfile,
          &lto::Config::ProfileRemapping, &lto::Config::CSIRProfile}) {
      Conf.*Field = "file";
      EXPECT_FALSE(IsHit());
      EXPECT_NE(
          KeptModules(CurrentLink.Jobs, folder(CurrentLink, Folder), false)
              .reason(),
          "");
      (Conf.*Field).clear();
    }
    Conf.PostOptModuleHook = [](unsigned, const Module &) { return true; };
    EXPECT_FALSE(IsHit());
    Conf.PostOptModuleHook = nullptr;
    EXPECT_TRUE(IsHit());
  });
}

TEST_F(KeptModulesTest, WhatIsImportedIsInTheKey) {
  TheLink.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
    for (Task &T : Tasks) {
      KeptModules First(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
      compile(CurrentLink, T, &First);
    }
  });
  auto NumHits = [&](TestLink &Other) {
    unsigned N = 0;
    Other.look(nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
      for (Task &T : Tasks)
        N += KeptModules(CurrentLink.Jobs, folder(CurrentLink, Folder), false)
                 .forLocalCompile(T)
                 .has_value();
    });
    return N;
  };
  EXPECT_EQ(NumHits(TheLink), 2u);
  // a.o imports from b.o.
  TestLink Edited;
  Edited.add("a.o", Program);
  std::string Changed = Other;
  Changed.replace(Changed.find("12345"), 5, "54321");
  Edited.add("b.o", Changed);
  Edited.Visible.insert("sum");
  EXPECT_EQ(NumHits(Edited), 0u);
  // In this link, no other object can see `sum`.
  TestLink NotVisible;
  NotVisible.add("a.o", Program);
  NotVisible.add("b.o", Other);
  EXPECT_LT(NumHits(NotVisible), 2u);
}

/// Without a hash of the imported module, keys can't distinguish its versions.
TEST_F(KeptModulesTest, WhatImportsOfAModuleWithoutAHashIsNotKept) {
  unsigned NumKept = 0;
  std::map<std::string, std::string> Objects[2];
  for (bool IsEdited : {false, true}) {
    std::string Imported = Other;
    if (IsEdited)
      Imported.replace(Imported.find("12345"), 5, "54321");
    TestLink OneLink;
    OneLink.add("a.o", Program);
    OneLink.addBitcode("b.o", thinBitcode(Imported, /*HasHash=*/false));
    OneLink.Visible.insert("sum");
    OneLink.look(nullptr, [&](const Link &CurrentLink,
                              std::vector<Task> &Tasks) {
      KeptModules Modules(CurrentLink.Jobs, folder(CurrentLink, Folder), false);
      for (Task &T : Tasks) {
        NumKept +=
            Modules.wants(T, /*IsLocal=*/true) || Modules.forLocalCompile(T);
        Objects[IsEdited][T.name().str()] =
            bytes(compile(CurrentLink, T, &Modules)).str();
      }
    });
    // Equal to a whole compile.
    EXPECT_TRUE(Objects[IsEdited] == OneLink.inProcess().Objects);
  }
  EXPECT_EQ(NumKept, 0u);
  EXPECT_TRUE(Objects[0]["a.o"] != Objects[1]["a.o"]);
}
