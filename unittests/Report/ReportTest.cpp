//===- ReportTest.cpp - The report of a link as a file --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Report.h"
#include "TempFolder.h"
#include "dtlto/ext/numbers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

const ReportFacts Facts{"out/app", "fake", "1", 4};

Timeline recordOf(StringRef Name, StringRef Message = "",
                  std::vector<PluginNumber> Numbers = {}) {
  JobRecord J;
  J.Name = Name.str();
  J.Number = 7;
  J.From = JobRecord::Source::Worker;
  J.Preparing = 0;
  J.Prepared = 0.25;
  J.Delivering = J.Ended = 2;
  AttemptRecord A;
  A.Id = 1;
  A.Worker = Name.str();
  A.Message = Message.str();
  A.TheOutcome = AttemptRecord::Outcome::Ok;
  A.Offered = A.Accepted = 0.5;
  A.Running = 1;
  A.Done = 2;
  J.Attempts = {A};
  return Timeline({J}, {{0, 2, 1, UINT32_MAX, 1}}, 0.5, 2, std::move(Numbers));
}

json::Value parse(StringRef Text) {
  Expected<json::Value> V = json::parse(Text);
  if (!V) {
    ADD_FAILURE() << toString(V.takeError()) << "\n" << Text.str();
    return nullptr;
  }
  return *V;
}

std::string jsonOf(const Timeline &T, unsigned Indent = 0) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeReportJSON(OS, T, Facts, Indent);
  return Text;
}

std::string htmlOf(const Timeline &T) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeReportHTML(OS, T, Facts);
  return Text;
}

/// Returns the contents of the page's element for the data.
StringRef dataOf(StringRef Page) {
  constexpr StringLiteral Begin =
      "<script type=\"application/json\" id=\"data\">";
  EXPECT_EQ(Page.count(Begin), 1u);
  return Page.split(Begin).second.split("</script>").first;
}

std::string nameIn(const json::Value &Report) {
  const json::Array *Jobs = Report.getAsObject()->getArray("jobs");
  return Jobs->front().getAsObject()->getString("name")->str();
}

TEST(Report, TheEndingSaysTheKind) {
  EXPECT_TRUE(isReportName("a/b.html"));
  EXPECT_TRUE(isReportName("b.json"));
  for (StringRef Path : {"", "html", "a.htm", "a.json.txt", "a.html/", "json"})
    EXPECT_FALSE(isReportName(Path)) << Path.str();
}

TEST(Report, Data) {
  json::Value Report = parse(jsonOf(recordOf("m.o")));
  const json::Object &R = *Report.getAsObject();
  EXPECT_EQ(R.getString("format"), "dtlto-report");
  EXPECT_EQ(R.getInteger("version"), 1);
  const json::Object &Link = *R.getObject("link");
  EXPECT_EQ(Link.getString("output"), "out/app");
  EXPECT_EQ(Link.getNumber("thin_link"), 0.5);
  EXPECT_EQ(Link.get("opened"), nullptr);
  EXPECT_EQ(R.getObject("totals")->getInteger("from_worker"), 1);
  EXPECT_EQ(R.getObject("bound")->getNumber("seconds"), 1.5);
  const json::Object &Load = *R.getArray("loads")->front().getAsObject();
  EXPECT_EQ(Load.getInteger("slots"), 2);
  EXPECT_EQ(Load.get("queued"), nullptr);
  const json::Object &Job = *R.getArray("jobs")->front().getAsObject();
  EXPECT_EQ(Job.getString("name"), "m.o");
  EXPECT_EQ(Job.getInteger("number"), 7);
  EXPECT_EQ(Job.getInteger("winner"), 0);
  const json::Object &A = *Job.getArray("attempts")->front().getAsObject();
  EXPECT_EQ(A.getString("outcome"), "ok");
  EXPECT_EQ(A.getArray("phases")->size(), 2u);
  // The time of day has this format.
  EXPECT_EQ(Link.getString("date")->size(), strlen("2026-01-31T12:00:00Z"));
}

TEST(Report, NumbersOfThePlugin) {
  Timeline T = recordOf("m.o", "",
                        {{"hits", DTLTO_UNIT_COUNT, 7},
                         {"sent", DTLTO_UNIT_BYTES, UINT64_MAX},
                         {"queued", DTLTO_UNIT_MICROSECONDS, 1500000},
                         {"other", 77, 1}});
  json::Value Report = parse(jsonOf(T));
  const json::Array &N = *Report.getAsObject()->getArray("numbers");
  ASSERT_EQ(N.size(), 4u);
  auto Is = [&](size_t I, StringRef Name, StringRef Unit, json::Value Value) {
    const json::Object &O = *N[I].getAsObject();
    EXPECT_EQ(O.getString("name"), Name);
    EXPECT_EQ(O.getString("unit"), Unit);
    EXPECT_EQ(*O.get("value"), Value);
  };
  Is(0, "hits", "count", 7);
  Is(1, "sent", "bytes", INT64_MAX);
  Is(2, "queued", "seconds", 1.5);
  Is(3, "other", "count", 1);
  // Only attempts with numbers have this field.
  EXPECT_EQ(jsonOf(T).find("numbers", jsonOf(T).find("\"jobs\":[")),
            std::string::npos);
}

TEST(Report, IndentChangesNothingElse) {
  Timeline T = recordOf("m.o");
  EXPECT_EQ(parse(jsonOf(T, 1)), parse(jsonOf(T)));
  EXPECT_EQ(StringRef(jsonOf(T)).count('\n'), 0u);
}

TEST(Report, ThePageHasTheSameData) {
  Timeline T = recordOf("m.o");
  std::string Page = htmlOf(T);
  EXPECT_TRUE(StringRef(Page).starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(StringRef(Page).rtrim().ends_with("</html>"));
  EXPECT_EQ(dataOf(Page), jsonOf(T));
  // The page has nothing that a browser would fetch.
  for (StringRef Part :
       {"http://", "https://", "src=", "href=", "@import", "url(", "fetch(",
        "/*data*/", "/*style*/", "/*script*/"})
    EXPECT_FALSE(StringRef(Page).contains(Part)) << Part.str();
}

TEST(Report, HostileNames) {
  for (StringRef Name :
       {StringRef("</script><script>alert(1)</script>"),
        StringRef("<!--<script>"), StringRef("]]></SCRIPT >"),
        StringRef("a\"b\\c\nd\te"), StringRef("\x01\x7f\xe2\x80\xa8"),
        StringRef("${1}`'&amp;&#60;"), StringRef("/*data*/"), StringRef()}) {
    Timeline T = recordOf(Name, Name);
    std::string Page = htmlOf(T);
    StringRef Data = dataOf(Page);
    EXPECT_FALSE(Data.contains('<')) << Name.str();
    EXPECT_EQ(nameIn(parse(Data)), Name);
    // The rest of the page doesn't depend on the data.
    EXPECT_EQ(Page.size() - Data.size(),
              htmlOf(recordOf("m.o")).size() -
                  dataOf(htmlOf(recordOf("m.o"))).size());
  }
}

TEST(Report, BytesThatAreNoText) {
  std::string Text = jsonOf(recordOf("a\xff"
                                     "b\xc0\xaf",
                                     "\xed\xa0\x80"));
  EXPECT_TRUE(json::isUTF8(Text));
  std::string Name = nameIn(parse(Text));
  EXPECT_EQ(Name.front(), 'a');
  EXPECT_NE(Name.find('b'), std::string::npos);
}

TEST(Report, ALinkWithoutJobs) {
  json::Value Report = parse(jsonOf(Timeline({}, {}, 0, 0)));
  EXPECT_TRUE(Report.getAsObject()->getArray("jobs")->empty());
  EXPECT_TRUE(Report.getAsObject()->getArray("waits")->empty());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

class ReportFile : public testing::Test {
protected:
  static std::string text(Error E) { return toString(std::move(E)); }

  TempFolder Folder;
};

TEST_F(ReportFile, IsWrittenWhole) {
  std::string Path = Folder.path("r.json");
  EXPECT_EQ(text(checkReport(Path)), "");
  EXPECT_TRUE(Folder.names().empty());
  Timeline T = recordOf("m.o");
  EXPECT_EQ(text(writeReport(Path, T, Facts)), "");
  EXPECT_EQ(Folder.names(), std::vector<std::string>{"r.json"});
  EXPECT_EQ(parse(Folder.read("r.json")), parse(jsonOf(T)));
  std::string Page = Folder.path("r.html");
  EXPECT_EQ(text(writeReport(Page, T, Facts)), "");
  EXPECT_EQ(Folder.read("r.html"), htmlOf(T));
}

TEST_F(ReportFile, AnOldOneIsReplacedAtTheEnd) {
  std::string Path = Folder.path("r.json");
  ASSERT_EQ(text(writeReport(Path, recordOf("old.o"), Facts)), "");
  std::string Old = Folder.read("r.json");
  EXPECT_EQ(text(checkReport(Path)), "");
  EXPECT_EQ(Folder.read("r.json"), Old);
  EXPECT_EQ(text(writeReport(Path, recordOf("new.o"), Facts)), "");
  EXPECT_EQ(nameIn(parse(Folder.read("r.json"))), "new.o");
  EXPECT_EQ(Folder.names().size(), 1u);
}

TEST_F(ReportFile, WhatCannotBeWrittenIsNamed) {
  std::string Path = Folder.path("no-such-folder/r.html");
  for (bool Check : {true, false}) {
    std::string Why = text(Check ? checkReport(Path)
                                 : writeReport(Path, recordOf("m.o"), Facts));
    EXPECT_NE(Why.find("the report '" + Path + "' cannot be written"),
              std::string::npos)
        << Why;
  }
}

TEST_F(ReportFile, AFolderIsNoFile) {
  std::string Path = Folder.path("r.html");
  ASSERT_FALSE(sys::fs::create_directory(Path));
  EXPECT_NE(text(checkReport(Path)).find(Path), std::string::npos);
  EXPECT_NE(text(writeReport(Path, recordOf("m.o"), Facts)).find(Path),
            std::string::npos);
  EXPECT_EQ(Folder.names().size(), 1u);
}

} // namespace
