//===- JobOutputsTest.cpp - The outputs of a backend compile --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/JobOutputs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

static const SideFiles BothFiles = {"a.dwo", "a.yaml"};

static std::string packed(const JobOutputs &Outputs) {
  SmallVector<char, 0> Bytes = packOutputs(Outputs);
  return std::string(Bytes.data(), Bytes.size());
}

static std::string whyNot(StringRef Bytes, const SideFiles &Files) {
  Expected<JobOutputs> Outputs = unpackOutputs(Bytes, Files);
  return Outputs ? "" : toString(Outputs.takeError());
}

TEST(JobOutputsTest, Names) {
  lto::Config Conf;
  EXPECT_TRUE(sideFiles(Conf, 3).empty());
  Conf.DwoDir = "folder";
  EXPECT_EQ(sideFiles(Conf, 3).Dwo, "folder/3.dwo");
  EXPECT_EQ(sideFiles(Conf, 3).Remarks, "");
  Conf.RemarksFilename = "r";
  EXPECT_EQ(sideFiles(Conf, 3).Remarks, "r.thin.3."); // LLD's default format.
  Conf.RemarksFormat = "yaml";
  EXPECT_EQ(sideFiles(Conf, 12).Remarks, "r.thin.12.yaml");
}

TEST(JobOutputsTest, ThereAndBack) {
  for (JobOutputs Outputs :
       {JobOutputs{"object", StringRef("dwo"), StringRef("remarks")},
        JobOutputs{"object", StringRef("dwo"), std::nullopt},
        JobOutputs{"", std::nullopt, StringRef("")}}) {
    SideFiles Files = {Outputs.Dwo ? "a.dwo" : "", Outputs.Remarks ? "a" : ""};
    std::string Bytes = packed(Outputs);
    Expected<JobOutputs> Back = unpackOutputs(Bytes, Files);
    ASSERT_TRUE(bool(Back)) << toString(Back.takeError());
    EXPECT_EQ(Back->Object, Outputs.Object);
    EXPECT_EQ(Back->Dwo, Outputs.Dwo);
    EXPECT_EQ(Back->Remarks, Outputs.Remarks);
  }
}

TEST(JobOutputsTest, CutAnywhere) {
  std::string Bytes = packed({"object", StringRef("dwo"), StringRef("")});
  for (size_t Size = 0; Size != Bytes.size(); ++Size)
    EXPECT_NE(whyNot(StringRef(Bytes).take_front(Size), BothFiles), "") << Size;
  EXPECT_EQ(whyNot(Bytes, BothFiles), "");
  EXPECT_NE(whyNot(Bytes + "x", BothFiles), "");
}

TEST(JobOutputsTest, HeadsThatAreOther) {
  const std::string Good = packed({"object", StringRef("d"), StringRef("r")});
  // Every byte except the contents is checked.
  for (size_t At = 0; At != Good.size() - 8; ++At) {
    std::string Bytes = Good;
    Bytes[At] ^= 1;
    EXPECT_NE(whyNot(Bytes, BothFiles), "") << At;
  }
  // With this size, the sum overflows to the right value.
  std::string Bytes = Good;
  for (size_t I = 0; I != 8; ++I)
    Bytes[24 + I] = '\xff';
  EXPECT_NE(whyNot(Bytes, BothFiles), "");
}

TEST(JobOutputsTest, OtherFilesThanTheJobs) {
  EXPECT_NE(whyNot("\x7f"
                   "ELF an object alone",
                   BothFiles),
            "");
  std::string Two = packed({"object", StringRef("dwo"), std::nullopt});
  EXPECT_NE(whyNot(Two, BothFiles), "");
  EXPECT_NE(whyNot(Two, {"", "a.yaml"}), "");
  EXPECT_EQ(whyNot(Two, {"a.dwo", ""}), "");
}

TEST(JobOutputsTest, AnOptimisedModule) {
  SideFiles Files;
  Files.Optimized = true;
  EXPECT_TRUE(Files.empty()); // Optimized isn't a file.
  for (StringRef Module : {StringRef("bitcode"), StringRef("")}) {
    JobOutputs Outputs = {"object", std::nullopt, std::nullopt, Module};
    EXPECT_FALSE(Outputs.hasOnlyObject());
    std::string Bytes = packed(Outputs);
    EXPECT_TRUE(arePackedOutputs(Bytes));
    Expected<JobOutputs> Read = unpackOutputs(Bytes, Files);
    ASSERT_TRUE(bool(Read));
    EXPECT_EQ(Read->Object, "object");
    EXPECT_EQ(Read->Optimized, Module);
    for (size_t Size = 0; Size != Bytes.size(); ++Size)
      EXPECT_NE(whyNot(StringRef(Bytes).take_front(Size), Files), "");
    EXPECT_NE(whyNot(Bytes, {}), "");
    EXPECT_NE(whyNot(Bytes, {"a.dwo", ""}), "");
  }
  EXPECT_NE(whyNot(packed({"object", StringRef("dwo"), std::nullopt}), Files),
            "");
  EXPECT_FALSE(arePackedOutputs("\x7f"
                                "ELF"));
}

TEST(JobOutputsTest, Writing) {
  SmallString<128> Folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("dtlto-outputs", Folder));
  auto Path = [&](StringRef Name) { return (Folder + "/" + Name).str(); };
  auto Read = [](StringRef Path) {
    auto File = MemoryBuffer::getFile(Path);
    return File ? (*File)->getBuffer().str() : "nothing";
  };
  SideFiles Files = {Path("new/1.dwo"), Path("r.yaml")};
  JobOutputs Outputs = {"object", StringRef("dwo"), StringRef("remarks")};
  ASSERT_EQ(toString(writeSideFiles(Outputs, Files)), "");
  EXPECT_EQ(Read(Files.Dwo), "dwo");
  EXPECT_EQ(Read(Files.Remarks), "remarks");

  // The error names the path that is in the way.
  SideFiles InTheWay = {Path("r.yaml/1.dwo"), ""};
  EXPECT_NE(toString(writeSideFiles(Outputs, InTheWay)).find("r.yaml"),
            std::string::npos);
  InTheWay = {"", Path("new")};
  Outputs.Dwo.reset();
  EXPECT_NE(toString(writeSideFiles(Outputs, InTheWay)).find("new"),
            std::string::npos);
  sys::fs::remove_directories(Folder);
}
