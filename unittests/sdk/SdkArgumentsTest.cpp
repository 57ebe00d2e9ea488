//===- SdkArgumentsTest.cpp - Tables of arguments -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/Plugin.hpp"
#include "dtlto/sdk/Store.hpp"
#include "gtest/gtest.h"

using namespace dtlto::sdk;

namespace {

struct Settings {
  uint32_t Jobs = 8, Batch = 0;
  std::chrono::milliseconds Limit{60000};
  std::string Queue, File = "/etc/x";
  bool Processes = false, Keep = false;

  ArgumentTable table() {
    return {numberArgument("jobs", "N", 1, 99, Jobs, "Jobs at a time"),
            numberArgument("batch", "N", 1, 9, Batch, "Jobs in a batch"),
            durationArgument<std::chrono::seconds>("limit", "SECONDS", 1, 3600,
                                                   Limit, "The time limit"),
            textArgument("queue", "NAME", Queue, "The queue"),
            fileArgument("file", File, "The file"),
            choiceArgument<bool>("mode", {{"thread", false}, {"process", true}},
                                 Processes, "How jobs run"),
            switchArgument("keep", Keep, "Keep files")};
  }
  /// Returns the message about wrong arguments, or "".
  std::string read(std::vector<const char *> Args, bool HidesUnknown = false) {
    try {
      readArguments(table(), Args.data(), uint32_t(Args.size()), HidesUnknown);
      return "";
    } catch (const Error &E) {
      EXPECT_EQ(DTLTO_ERROR_CALLER, E.status());
      return E.what();
    }
  }
};

TEST(SdkArgumentsTest, Read) {
  Settings S;
  EXPECT_EQ("", S.read({"jobs=99", "limit=2", "queue=a=b", "file=f",
                        "mode=process", "keep"}));
  EXPECT_EQ(99u, S.Jobs);
  EXPECT_EQ(std::chrono::seconds(2), S.Limit);
  EXPECT_EQ("a=b", S.Queue);
  EXPECT_EQ("f", S.File);
  EXPECT_TRUE(S.Processes);
  EXPECT_TRUE(S.Keep);
  EXPECT_EQ("", S.read({"mode=thread"}));
  EXPECT_FALSE(S.Processes);
}

TEST(SdkArgumentsTest, Wrong) {
  Settings S;
  const char *All = "expected jobs=N, batch=N, limit=SECONDS, queue=NAME, "
                    "file=PATH, mode=thread|process, keep";
  std::pair<const char *, std::string> Tests[] = {
      {"jbos=1", "unknown argument 'jbos=1', did you mean 'jobs='?, "},
      {"jobs", "unknown argument 'jobs', did you mean 'jobs='?, "},
      {"keep=1", "unknown argument 'keep=1', did you mean 'keep'?, "},
      {"x\n", "unknown argument 'x\\x0a', "},
      {"", "unknown argument '', "}};
  for (const auto &[Arg, Why] : Tests)
    EXPECT_EQ(Why + All, S.read({"jobs=2", Arg}));
  EXPECT_EQ(2u, S.Jobs);
  for (const char *Value : {"0", "100", "", "-1", "1 ", "0x1", "4294967297",
                            "18446744073709551617"})
    EXPECT_EQ(std::string("invalid value in 'jobs=") + Value +
                  "', expected jobs=N with N from 1 to 99",
              S.read({(std::string("jobs=") + Value).c_str()}));
  EXPECT_EQ("invalid value in 'limit=0', expected limit=SECONDS with SECONDS "
            "from 1 to 3600",
            S.read({"limit=0"}));
  EXPECT_EQ("invalid value in 'queue=', expected queue=NAME",
            S.read({"queue="}));
  EXPECT_EQ("invalid value in 'mode=proces', did you mean 'mode=process'?, "
            "expected mode=thread|process",
            S.read({"mode=proces"}));
  EXPECT_EQ(2u, S.Jobs);
}

// The value of an unknown argument may be a secret.
TEST(SdkArgumentsTest, HidesUnknown) {
  Settings S;
  EXPECT_EQ(0u, S.read({"quee=secret"}, true)
                    .find("unknown argument 'quee=...', did you mean "));
  EXPECT_EQ(0u, S.read({"queue"}, true).find("unknown argument 'queue', "));
  EXPECT_EQ(0u, S.read({"jobs=x"}, true).find("invalid value in 'jobs=x'"));
}

const Description &describe() {
  Settings S;
  static const Description D("Does it", "", "bugs@x", S.table(),
                             {{"X_HOST", "The server"}});
  return D;
}

class DescribedStore : public Store {
public:
  explicit DescribedStore(const dtlto_store_params &) {}
  Buffer get(const uint8_t *, uint64_t, std::chrono::milliseconds) override {
    return {};
  }
  void put(const uint8_t *, std::string_view,
           std::chrono::milliseconds) override {}
  static const Description &description() { return describe(); }
};
class Described : public Session {
public:
  Described(const dtlto_host &Host, const dtlto_session_params &)
      : Session(Host) {}
  bool submit(std::shared_ptr<Job>) override { return false; }
  static const Description &description() { return describe(); }
};
class Undescribed : public Session {
public:
  Undescribed(const dtlto_host &Host, const dtlto_session_params &)
      : Session(Host) {}
  bool submit(std::shared_ptr<Job>) override { return false; }
};

TEST(SdkArgumentsTest, Describe) {
  auto *D = static_cast<const dtlto_description *>(
      detail::Entry<Described>::extension(DTLTO_EXT_DESCRIBE));
  ASSERT_TRUE(D);
  EXPECT_EQ(D, detail::Entry<Described>::extension(DTLTO_EXT_DESCRIBE));
  EXPECT_EQ(D,
            detail::NoSession<DescribedStore>::extension(DTLTO_EXT_DESCRIBE));
  EXPECT_EQ(sizeof(*D), D->size);
  EXPECT_STREQ("Does it", D->summary);
  EXPECT_EQ(nullptr, D->vendor);
  EXPECT_STREQ("bugs@x", D->reports);
  ASSERT_EQ(7u, D->num_arguments);
  const char *Default[] = {"8",      nullptr,  "60",   nullptr,
                           "/etc/x", "thread", nullptr};
  const uint32_t Kind[] = {DTLTO_ARGUMENT_NUMBER, DTLTO_ARGUMENT_NUMBER,
                           DTLTO_ARGUMENT_NUMBER, DTLTO_ARGUMENT_TEXT,
                           DTLTO_ARGUMENT_FILE,   DTLTO_ARGUMENT_CHOICE,
                           DTLTO_ARGUMENT_SWITCH};
  for (uint32_t I = 0; I != D->num_arguments; ++I) {
    const dtlto_argument &A = *D->arguments[I];
    EXPECT_EQ(sizeof(A), A.size);
    EXPECT_STREQ(Default[I], A.default_value) << A.name;
    EXPECT_EQ(Kind[I], A.kind) << A.name;
  }
  EXPECT_STREQ("limit", D->arguments[2]->name);
  EXPECT_STREQ("SECONDS", D->arguments[2]->value);
  EXPECT_STREQ("The time limit", D->arguments[2]->help);
  EXPECT_EQ(1u, D->arguments[2]->min);
  EXPECT_EQ(3600u, D->arguments[2]->max);
  ASSERT_EQ(2u, D->arguments[5]->num_choices);
  EXPECT_STREQ("process", D->arguments[5]->choices[1]);
  ASSERT_EQ(1u, D->num_variables);
  EXPECT_STREQ("X_HOST", D->variables[0]->name);
  EXPECT_STREQ("The server", D->variables[0]->help);

  EXPECT_FALSE(detail::Entry<Undescribed>::extension(DTLTO_EXT_DESCRIBE));
}

} // namespace
