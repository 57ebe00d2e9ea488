//===- JobBuilderTest.cpp - From LLVM's tasks to jobs of the ABI ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobBuilder.h"
#include "Bitstream.h"
#include "Bundle/Bundle.h"
#include "Config/ConfigJSON.h"
#include "TempFolder.h"
#include "TestLink.h"
#include "LLVM/Index.h"
#include "llvm/Support/BLAKE3.h"
#include "gtest/gtest.h"
#include <set>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

constexpr uint32_t AllParts =
    DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS;

class JobBuilderTest : public testing::Test {
protected:
  /// Calls \p Look during a link. The jobs are valid until it returns.
  using LookFn = function_ref<void(JobBuilder &, std::vector<Task> &)>;
  void withBuilder(uint32_t Parts, LookFn Look) {
    TestLink::Result R = TheLink.look(
        nullptr, [&](const Link &CurrentLink, std::vector<Task> &Tasks) {
          JobBuilder Builder(CurrentLink.Jobs, Parts);
          Look(Builder, Tasks);
        });
    ASSERT_EQ(R.Error, "");
  }
  /// Calls \p Look with the jobs of all modules.
  void withJobs(uint32_t Parts,
                function_ref<void(std::vector<std::unique_ptr<BuiltJob>> &,
                                  std::vector<Task> &)>
                    Look) {
    withBuilder(Parts, [&](JobBuilder &Builder, std::vector<Task> &Tasks) {
      std::vector<std::unique_ptr<BuiltJob>> Jobs;
      for (size_t I = 0; I != Tasks.size(); ++I)
        Jobs.push_back(must(Builder.build(Tasks[I], I + 1, 100 * I)));
      Look(Jobs, Tasks);
    });
  }
  /// Returns why the first module can't be made a job; empty if it can.
  std::string reason(uint32_t Parts) {
    std::string Result;
    withBuilder(Parts, [&](JobBuilder &Builder, std::vector<Task> &Tasks) {
      auto Job = Builder.build(Tasks[0], 1, 1);
      Result = Job ? "" : toString(Job.takeError());
    });
    return Result;
  }

  static StringRef bytesOf(const dtlto_input &In) {
    return {static_cast<const char *>(In.bytes.data), In.bytes.size};
  }

  TempFolder Folder;
  TestLink TheLink;
};

} // namespace

TEST_F(JobBuilderTest, WhatEachJobHas) {
  TheLink.addProgram(3);
  for (uint32_t Parts : {0u, uint32_t(DTLTO_JOB_INPUTS), AllParts})
    withJobs(Parts, [&](auto &Jobs, std::vector<Task> &Tasks) {
      for (size_t I = 0; I != Jobs.size(); ++I) {
        const dtlto_job &J = Jobs[I]->Job;
        EXPECT_EQ(J.size, sizeof(dtlto_job));
        EXPECT_EQ(J.id, I + 1);
        EXPECT_EQ(J.cost, 100 * I);
        EXPECT_EQ(StringRef(J.name), Tasks[I].name());
        EXPECT_STREQ(J.triple, "x86_64-pc-linux-gnu");
      }
    });
}

TEST_F(JobBuilderTest, BuildsOnlyNeededFields) {
  TheLink.addProgram(3);
  withJobs(0, [](auto &Jobs, std::vector<Task> &) {
    for (auto &Built : Jobs) {
      EXPECT_EQ(Built->Job.fields, 0u);
      EXPECT_EQ(Built->Job.num_inputs, 0u);
      EXPECT_EQ(Built->Job.num_args, 0u);
      EXPECT_EQ(Built->Job.output, nullptr);
    }
  });
  withBuilder(0, [](JobBuilder &Builder, std::vector<Task> &) {
    EXPECT_TRUE(Builder.isTrivial());
  });
}

TEST_F(JobBuilderTest, PartsAreThoseAskedFor) {
  TheLink.addProgram(2);
  for (uint32_t Parts = 0; Parts != 8; ++Parts)
    withJobs(Parts, [&](auto &Jobs, std::vector<Task> &) {
      for (auto &Built : Jobs) {
        const dtlto_job &J = Built->Job;
        bool Inputs = Parts & (DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS);
        EXPECT_EQ(bool(J.fields & DTLTO_JOB_INPUTS), Inputs) << Parts;
        EXPECT_EQ(J.num_inputs != 0, Inputs) << Parts;
        EXPECT_EQ(bool(J.fields & DTLTO_JOB_ARGS),
                  bool(Parts & DTLTO_JOB_ARGS));
        EXPECT_EQ(J.num_args != 0, bool(Parts & DTLTO_JOB_ARGS)) << Parts;
        EXPECT_EQ(bool(J.fields & DTLTO_JOB_DIGESTS),
                  Inputs && (Parts & DTLTO_JOB_DIGESTS));
      }
    });
}

TEST_F(JobBuilderTest, PartsOfLaterVersionsAreNoHarm) {
  TheLink.addProgram(2);
  withJobs(AllParts | 0x80000000, [](auto &Jobs, std::vector<Task> &) {
    EXPECT_EQ(Jobs[0]->Job.fields, AllParts);
  });
}

TEST_F(JobBuilderTest, Inputs) {
  TheLink.addProgram(6);
  bool AnyImport = false;
  withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &Tasks) {
    for (size_t I = 0; I != Jobs.size(); ++I) {
      const dtlto_job &J = Jobs[I]->Job;
      const Task &T = Tasks[I];
      std::set<std::string> Paths;
      std::vector<StringRef> Imports;
      for (uint32_t K = 0; K != J.num_inputs; ++K) {
        const dtlto_input &In = *J.inputs[K];
        EXPECT_EQ(In.size, sizeof(dtlto_input));
        EXPECT_TRUE(Paths.insert(In.path).second) << In.path;
        EXPECT_NE(In.path[0], '/');
        if (In.role == DTLTO_ROLE_IMPORT)
          Imports.push_back(In.path);
        // Primary module, imports, index.
        EXPECT_EQ(In.role, K == 0 ? uint32_t(DTLTO_ROLE_PRIMARY)
                           : K + 1 == J.num_inputs
                               ? uint32_t(DTLTO_ROLE_INDEX)
                               : uint32_t(DTLTO_ROLE_IMPORT));
      }
      EXPECT_EQ(Imports.size(), importedModules(*T.ImportList).size());
      AnyImport |= !Imports.empty();
      EXPECT_TRUE(std::is_sorted(Imports.begin(), Imports.end()));
      // The primary input is the linker's whole file.
      StringRef File = bytesOf(*J.inputs[0]);
      EXPECT_LE(File.data(), T.Module.getBuffer().data());
      EXPECT_GE(File.end(), T.Module.getBuffer().end());
      EXPECT_TRUE(File.starts_with("BC"));
      EXPECT_EQ(must(getBitcodeModuleList({File, "file"})).size(), 1u);
    }
  });
  EXPECT_TRUE(AnyImport);
}

TEST_F(JobBuilderTest, TheIndexNamesTheInputs) {
  TheLink.addProgram(6);
  withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &) {
    for (auto &Built : Jobs) {
      const dtlto_job &J = Built->Job;
      std::vector<std::string> Modules;
      for (uint32_t K = 0; K + 1 != J.num_inputs; ++K)
        Modules.push_back(J.inputs[K]->path);
      std::sort(Modules.begin(), Modules.end());
      std::vector<std::string> Named =
          moduleNamesOf(bytesOf(*J.inputs[J.num_inputs - 1]));
      std::sort(Named.begin(), Named.end());
      EXPECT_EQ(Named, Modules);
    }
  });
}

TEST_F(JobBuilderTest, TheSameModuleIsTheSameInput) {
  TheLink.addProgram(6);
  withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &) {
    std::map<std::string, const dtlto_input *> Seen;
    unsigned NumShared = 0;
    for (auto &Built : Jobs)
      for (uint32_t K = 0; K + 1 != Built->Job.num_inputs; ++K) {
        const dtlto_input *In = Built->Job.inputs[K];
        auto [It, New] = Seen.emplace(In->path, In);
        if (New)
          continue;
        ++NumShared;
        EXPECT_EQ(It->second->bytes.data, In->bytes.data);
        EXPECT_EQ(It->second->bytes.size, In->bytes.size);
        EXPECT_EQ(memcmp(It->second->digest, In->digest, 32), 0);
      }
    EXPECT_GT(NumShared, 0u);
  });
}

TEST_F(JobBuilderTest, Digests) {
  TheLink.addProgram(4);
  withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &) {
    for (auto &Built : Jobs)
      for (uint32_t K = 0; K != Built->Job.num_inputs; ++K) {
        const dtlto_input &In = *Built->Job.inputs[K];
        auto ExpectedDigest = BLAKE3::hash(arrayRefFromStringRef(bytesOf(In)));
        EXPECT_EQ(memcmp(ExpectedDigest.data(), In.digest, 32), 0) << In.path;
      }
  });
  withJobs(DTLTO_JOB_INPUTS, [&](auto &Jobs, std::vector<Task> &) {
    const uint8_t Zero[32] = {};
    for (auto &Built : Jobs)
      for (uint32_t K = 0; K != Built->Job.num_inputs; ++K)
        EXPECT_EQ(memcmp(Zero, Built->Job.inputs[K]->digest, 32), 0);
  });
}

TEST_F(JobBuilderTest, Args) {
  TheLink.addProgram(3);
  withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &) {
    for (auto &Built : Jobs) {
      const dtlto_job &J = Built->Job;
      std::vector<std::string> Args(J.args, J.args + J.num_args);
      EXPECT_EQ(J.args[J.num_args], nullptr);
      EXPECT_EQ(Args.front(), "clang");
      std::vector<std::string> End(Args.end() - 7, Args.end());
      EXPECT_EQ(End, (std::vector<std::string>{
                         "-c",
                         std::string("-fthinlto-index=") +
                             J.inputs[J.num_inputs - 1]->path,
                         "-x", "ir", J.inputs[0]->path, "-o", J.output}));
      for (const std::string &Arg : Args)
        EXPECT_EQ(Arg.find("m0.o"), std::string::npos)
            << "the linker's name in " << Arg;
      // No input has the name of the output.
      for (uint32_t K = 0; K != J.num_inputs; ++K)
        EXPECT_STRNE(J.inputs[K]->path, J.output);
    }
    // Arguments differ only in the names of the module's files.
    std::vector<std::string> One = Jobs[0]->Args, Two = Jobs[1]->Args;
    One.erase(One.end() - 3);
    Two.erase(Two.end() - 3);
    EXPECT_EQ(One, Two);
  });
}

TEST_F(JobBuilderTest, LLVMOptionsOfTheUser) {
  TheLink.addProgram(1);
  TheLink.TheLinker.Opts.LLVMOptions = {"-inline-threshold=3"};
  withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &) {
    std::vector<std::string> &Args = Jobs[0]->Args;
    auto It = std::find(Args.begin(), Args.end(), "-inline-threshold=3");
    ASSERT_NE(It, Args.end());
    EXPECT_EQ(*std::prev(It), "-mllvm");
  });
}

TEST_F(JobBuilderTest, TheSameInEveryLink) {
  TheLink.addProgram(3);
  auto Describe = [&] {
    std::string All;
    withJobs(AllParts, [&](auto &Jobs, std::vector<Task> &) {
      for (auto &Built : Jobs) {
        for (uint32_t K = 0; K != Built->Job.num_inputs; ++K)
          All += std::string(Built->Job.inputs[K]->path) + "\n" +
                 bytesOf(*Built->Job.inputs[K]).str() + "\n";
        for (const std::string &Arg : Built->Args)
          All += Arg + "\n";
      }
    });
    return All;
  };
  std::string First = Describe();
  EXPECT_TRUE(First == Describe());
  // An unrelated module changes no job.
  std::string Before = First;
  TheLink.add("unrelated.o", "define i32 @unrelated() {\n  ret i32 1\n}\n");
  std::string After = Describe();
  EXPECT_TRUE(StringRef(After).starts_with(Before));
}

TEST_F(JobBuilderTest, AnyThread) {
  TheLink.addProgram(8);
  withBuilder(AllParts, [](JobBuilder &Builder, std::vector<Task> &Tasks) {
    std::vector<std::unique_ptr<BuiltJob>> Jobs(4 * Tasks.size());
    std::vector<std::thread> Threads;
    for (unsigned I = 0; I != 4; ++I)
      Threads.emplace_back([&, I] {
        for (size_t K = 0; K != Tasks.size(); ++K)
          Jobs[I * Tasks.size() + K] =
              must(Builder.build(Tasks[(K + I) % Tasks.size()], 1, 1));
      });
    for (std::thread &T : Threads)
      T.join();
    std::map<std::string, BuiltJob *> First;
    for (auto &Built : Jobs) {
      BuiltJob *&Same = First[Built->Name];
      if (!Same)
        Same = Built.get();
      ASSERT_EQ(Same->Job.num_inputs, Built->Job.num_inputs);
      EXPECT_EQ(Same->Args, Built->Args);
      EXPECT_EQ(Same->shard(), Built->shard());
      EXPECT_EQ(memcmp(Same->Inputs[0].digest, Built->Inputs[0].digest, 32), 0);
    }
  });
}

TEST_F(JobBuilderTest, PartsOfAModuleShareItsShard) {
  TheLink.addProgram(2);
  withBuilder(DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG,
              [](JobBuilder &Builder, std::vector<Task> &Tasks) {
                auto PartOf = [&](size_t I, unsigned Part) {
                  Task T = Tasks[I];
                  T.Spec.Part = {Part, 3};
                  return must(Builder.build(T, 1, 1));
                };
                const std::string Whole =
                    must(Builder.build(Tasks[0], 1, 1))->shard().str();
                auto A = PartOf(0, 0), B = PartOf(0, 1), Other = PartOf(1, 0);
                EXPECT_EQ(A->Shard, B->Shard);
                EXPECT_EQ(A->shard(), Whole);
                EXPECT_NE(Other->shard(), Whole);
                EXPECT_STRNE(A->Job.config, B->Job.config);
                // The shard is freed with its last job, and built again.
                A.reset();
                B.reset();
                EXPECT_EQ(PartOf(0, 2)->shard(), Whole);
              });
}

//===----------------------------------------------------------------------===//
// Reasons for compiling in the linker
//===----------------------------------------------------------------------===//

TEST_F(JobBuilderTest, FilesThatAreNotInMemory) {
  TheLink.addProgram(2);
  TheLink.RegisterInputs = false;
  EXPECT_EQ(reason(0), "");
  EXPECT_EQ(reason(DTLTO_JOB_INPUTS),
            "the file of module 'm0.o' is not in memory");
}

TEST_F(JobBuilderTest, NamesThatAreTooLong) {
  std::string Name(3000, 'x');
  TheLink.add(Name, "define i32 @main(i32 %x) {\n  ret i32 %x\n}\n");
  EXPECT_EQ(reason(0), "");
  EXPECT_NE(reason(DTLTO_JOB_INPUTS).find("too long"), std::string::npos);
}

TEST_F(JobBuilderTest, NamesOutsideOfASCII) {
  TheLink.add("\xc3\xa4.o", "define i32 @main(i32 %x) {\n  ret i32 %x\n}\n");
  EXPECT_EQ(reason(0), "");
  EXPECT_EQ(reason(AllParts), "");
}

TEST_F(JobBuilderTest, WhatClangCannotBeTold) {
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  TheLink.addProgram(2);
  EXPECT_EQ(reason(0), "");
  EXPECT_EQ(reason(DTLTO_JOB_INPUTS), ""); // may compile in its own way
  EXPECT_NE(reason(DTLTO_JOB_ARGS).find("verification"), std::string::npos);
}

TEST_F(JobBuilderTest, StaysHere) {
  TheLink.addProgram(1);
  auto Stays = [&](uint32_t Parts) {
    bool Result = false;
    withBuilder(Parts, [&](JobBuilder &Builder, std::vector<Task> &Tasks) {
      Result = Builder.mustStayLocal(Tasks[0]);
    });
    return Result;
  };
  EXPECT_TRUE(Stays(0)); // the plugin compiles in this process
  EXPECT_FALSE(Stays(DTLTO_JOB_INPUTS));
  EXPECT_FALSE(Stays(AllParts));
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  EXPECT_FALSE(Stays(DTLTO_JOB_INPUTS)); // may compile in its own way
  EXPECT_TRUE(Stays(AllParts));
}

TEST_F(JobBuilderTest, Config) {
  TheLink.addProgram(2);
  TheLink.TheLinker.Opts.LLVMOptions = {"-unroll-count=3"};
  withJobs(DTLTO_JOB_CONFIG, [](auto &Jobs, std::vector<Task> &) {
    for (auto &Built : Jobs) {
      EXPECT_EQ(Built->Job.fields,
                uint32_t(DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG));
      EXPECT_EQ(Built->Job.num_args, 0u);
      ReadConfig C = must(readConfig(Built->Job.config));
      EXPECT_EQ(C.Conf.CPU, "x86-64");
      EXPECT_EQ(C.LLVMOptions, std::vector<std::string>{"-unroll-count=3"});
    }
    // All jobs share one text.
    EXPECT_EQ(Jobs[0]->Job.config, Jobs[1]->Job.config);
  });
  withJobs(AllParts, [](auto &Jobs, std::vector<Task> &) {
    EXPECT_EQ(Jobs[0]->Job.config, nullptr);
  });
}

TEST_F(JobBuilderTest, ConfigThatCannotTravel) {
  TheLink.addProgram(1);
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.StatsFile = Folder.path("stats");
    Conf.VerifyEach = true; // VerifyEach can travel
  };
  EXPECT_EQ(reason(DTLTO_JOB_INPUTS), "");
  EXPECT_NE(reason(DTLTO_JOB_CONFIG), "");
  withBuilder(DTLTO_JOB_CONFIG, [](JobBuilder &B, std::vector<Task> &Tasks) {
    EXPECT_TRUE(B.mustStayLocal(Tasks[0]));
  });
  TheLink.Configure = [](lto::Config &Conf) { Conf.VerifyEach = true; };
  EXPECT_EQ(reason(DTLTO_JOB_CONFIG), "");
  withBuilder(DTLTO_JOB_CONFIG, [](JobBuilder &B, std::vector<Task> &Tasks) {
    EXPECT_FALSE(B.mustStayLocal(Tasks[0]));
  });
}

TEST_F(JobBuilderTest, ConfigWithSideFiles) {
  // Each job has its own names of side files.
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.DwoDir = "folder";
    Conf.RemarksFilename = Folder.path("remarks");
    Conf.RemarksFormat = "yaml";
  };
  TheLink.addProgram(2);
  withJobs(DTLTO_JOB_CONFIG, [](auto &Jobs, std::vector<Task> &Tasks) {
    for (size_t I = 0; I != Jobs.size(); ++I) {
      ReadConfig Read = must(readConfig(Jobs[I]->Job.config));
      EXPECT_EQ(Read.Extras.DwoName,
                "folder/" + std::to_string(Tasks[I].Number) + ".dwo");
      EXPECT_TRUE(Read.Extras.Remarks);
    }
  });
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.RemarksFilename = Folder.path("remarks");
    Conf.RemarksFormat = "bitstream";
  };
  EXPECT_NE(reason(DTLTO_JOB_CONFIG).find("--opt-remarks-format"),
            std::string::npos);
}

TEST_F(JobBuilderTest, TheObjectsName) {
  TheLink.addProgram(1);
  const uint32_t Parts = AllParts | DTLTO_JOB_CONFIG;
  withBuilder(Parts, [](JobBuilder &B, std::vector<Task> &Tasks) {
    auto Args = [](const BuiltJob &Built) {
      return std::vector<std::string>(Built.Job.args,
                                      Built.Job.args + Built.Job.num_args);
    };
    const std::string Name = "-object-file-name=cache/llvmcache-0";
    auto Without = must(B.build(Tasks[0], 1, 1));
    EXPECT_EQ(llvm::count(Args(*Without), Name), 0);
    Tasks[0].ObjectName = "cache/llvmcache-0";
    auto With = must(B.build(Tasks[0], 2, 1));
    EXPECT_EQ(llvm::count(Args(*With), Name), 1);
    ReadConfig Read = must(readConfig(With->Job.config));
    EXPECT_EQ(Read.Extras.ObjectName, "cache/llvmcache-0");
  });
}

TEST_F(JobBuilderTest, FunctionList) {
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.Options.BBSections = BasicBlockSection::List;
    Conf.Options.BBSectionsFuncListBuf = MemoryBuffer::getMemBuffer("v1\n");
  };
  TheLink.addProgram(1);
  withJobs(DTLTO_JOB_CONFIG, [](auto &Jobs, std::vector<Task> &) {
    ReadConfig Read = must(readConfig(Jobs[0]->Job.config));
    const dtlto_job &Job = Jobs[0]->Job;
    const dtlto_input &Last = *Job.inputs[Job.num_inputs - 1];
    EXPECT_EQ(Read.Extras.FunctionList, Last.path);
    EXPECT_EQ(Last.role, uint32_t(DTLTO_ROLE_OTHER));
    EXPECT_EQ(
        StringRef(static_cast<const char *>(Last.bytes.data), Last.bytes.size),
        "v1\n");
  });
}

//===----------------------------------------------------------------------===//
// Parts of a job that are built later
//===----------------------------------------------------------------------===//

TEST_F(JobBuilderTest, LibraryFunctionsThatAreNotThere) {
  TheLink.addProgram(1);
  TestLink::Result R = TheLink.look(
      nullptr, [](const Link &CurrentLink, std::vector<Task> &Tasks) {
        const StringRef Names[] = {"puts", "fmin"};
        LinkContext Without = CurrentLink.Jobs;
        Without.Unavailable = Names;
        JobBuilder ForClang(Without, DTLTO_JOB_ARGS);
        EXPECT_EQ(toString(ForClang.build(Tasks[0], 1, 1).takeError()),
                  "library functions that must not be called, 'puts'");
        JobBuilder ForUs(Without, DTLTO_JOB_CONFIG);
        auto Built = must(ForUs.build(Tasks[0], 1, 1));
        ReadConfig Read = must(readConfig(Built->Job.config));
        EXPECT_EQ(Read.Extras.Unavailable,
                  (std::vector<std::string>{"puts", "fmin"}));
      });
  EXPECT_EQ(R.Error, "");
}

TEST_F(JobBuilderTest, WhatCannotBeBuiltStaysHere) {
  TheLink.addProgram(1);
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.StatsFile = Folder.path("stats");
  };
  withBuilder(DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG,
              [&](JobBuilder &Builder, std::vector<Task> &Tasks) {
                EXPECT_NE(toString(Builder.build(Tasks[0], 1, 1).takeError()),
                          "");
                EXPECT_TRUE(Builder.mustStayLocal(Tasks[0]));
              });
}

//===----------------------------------------------------------------------===//
// Triples
//===----------------------------------------------------------------------===//

TEST_F(JobBuilderTest, TripleOfTheModule) {
  TheLink.addBitcode("a.o",
                     thinBitcode("target datalayout = \"e-m:e\"\n"
                                 "target triple = \"x86_64-unknown-freebsd\"\n"
                                 "define i32 @main(i32 %x) {\n"
                                 "  ret i32 %x\n}\n"));
  withJobs(0, [](auto &Jobs, std::vector<Task> &) {
    EXPECT_STREQ(Jobs[0]->Job.triple, "x86_64-unknown-freebsd");
  });
}

TEST_F(JobBuilderTest, TripleOfTheConfiguration) {
  TheLink.addBitcode(
      "a.o", thinBitcode("target datalayout = \"e-m:e\"\n"
                         "define i32 @main(i32 %x) {\n  ret i32 %x\n}\n"));
  withJobs(0, [](auto &Jobs, std::vector<Task> &) {
    EXPECT_STREQ(Jobs[0]->Job.triple, "x86_64-pc-linux-gnu");
  });
  TheLink.Configure = [](lto::Config &Conf) {
    Conf.OverrideTriple = "x86_64-unknown-netbsd";
  };
  withJobs(0, [](auto &Jobs, std::vector<Task> &) {
    EXPECT_STREQ(Jobs[0]->Job.triple, "x86_64-unknown-netbsd");
  });
}
