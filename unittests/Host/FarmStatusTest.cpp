//===- FarmStatusTest.cpp - The status of a plugin's farm -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests how a status is shown. test/status/ tests plugins' answers.
//
//===----------------------------------------------------------------------===//

#include "Host/FarmStatus.h"
#include "dtlto/ext/status.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

namespace {

class FarmStatusTest : public testing::Test {
protected:
  FarmStatusTest() {
    S.Plugin = "fake";
    S.Version = "1.2";
  }
  void add(StringRef Name, uint32_t State, uint32_t Slots = UINT32_MAX) {
    if (!S.Workers)
      S.Workers.emplace();
    S.Workers->push_back(
        {Name.str(), "", "", State, Slots, UINT32_MAX, UINT32_MAX});
  }
  std::string table() const {
    std::string Text;
    raw_string_ostream OS(Text);
    printTable(S, OS);
    return Text;
  }
  json::Object parsed() const {
    std::string Text;
    raw_string_ostream OS(Text);
    printJSON(S, OS);
    Expected<json::Value> V = json::parse(Text);
    EXPECT_TRUE(bool(V)) << toString(V.takeError());
    return V ? *V->getAsObject() : json::Object();
  }

  // Object::getNull() differs between GCC and clang.
  static bool isNull(const json::Value *V) {
    return V && V->kind() == json::Value::Null;
  }

  FarmStatus S;
};

} // namespace

TEST_F(FarmStatusTest, OneWorkerIsEnough) {
  EXPECT_FALSE(S.isUp());
  add("a", DTLTO_WORKER_OUT, 4);
  add("b", DTLTO_WORKER_UNKNOWN, 4);
  EXPECT_FALSE(S.isUp());
  add("c", DTLTO_WORKER_UP);
  EXPECT_TRUE(S.isUp());
}

TEST_F(FarmStatusTest, NoWorkers) {
  S.Workers.emplace();
  EXPECT_FALSE(S.isUp());
  S.Load.workers = S.Load.slots = 5; // Ignored.
  EXPECT_FALSE(S.isUp());
  EXPECT_NE(table().find("0 of 0 workers up, 0 slots\n"), std::string::npos);
  EXPECT_TRUE(parsed().getArray("workers")->empty());
}

TEST_F(FarmStatusTest, LoadAlone) {
  EXPECT_FALSE(S.isUp()); // Nothing is known.
  S.Load.slots = 3;
  EXPECT_TRUE(S.isUp());
  S.Load.workers = 0;
  EXPECT_FALSE(S.isUp());
  S.Load.workers = 2;
  EXPECT_TRUE(S.isUp());
  EXPECT_NE(table().find("2 workers, 3 slots, - free\n"), std::string::npos);
  EXPECT_EQ(parsed().getObject("load")->getInteger("slots"), 3);
  EXPECT_TRUE(isNull(parsed().getObject("load")->get("free")));
}

TEST_F(FarmStatusTest, SlotsOfThoseThatAreUp) {
  add("a", DTLTO_WORKER_UP, 4);
  add("b", DTLTO_WORKER_OUT, 8);
  add("c", DTLTO_WORKER_UP, 2);
  EXPECT_EQ(parsed().getInteger("slots"), 6);
  add("d", DTLTO_WORKER_UP); // Unknown.
  EXPECT_TRUE(isNull(parsed().get("slots")));
  EXPECT_NE(table().find("3 of 4 workers up, - slots\n"), std::string::npos);
}

TEST_F(FarmStatusTest, AnyBytes) {
  add("\xff\n\x1b[2J", DTLTO_WORKER_UP);
  S.Workers->front().Compiler = "c\tlang";
  S.Workers->front().Why = "wh\xc3y";
  S.Problems = {"\xfe"};
  EXPECT_TRUE(parsed().get("workers"));
  EXPECT_NE(table().find(R"(
\xff\x0a\x1b[2J)"),
            std::string::npos);
  EXPECT_NE(table().find(R"(c\x09lang)"), std::string::npos);
  EXPECT_NE(table().find("wh\\xc3y\n"), std::string::npos);
}
