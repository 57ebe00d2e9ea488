//===- SdkSessionTest.cpp - Sessions of the SDK ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SdkHost.h"
#include "dtlto/sdk/Plugin.hpp"
#include "dtlto/sdk/Store.hpp"
#include <cstdio>
#include <pthread.h>

using namespace dtlto::sdk;

namespace {

/// A store that records its calls.
class TextStore : public Store {
public:
  explicit TextStore(const dtlto_store_params &Params) {
    if (!*Params.url)
      throw Error(DTLTO_ERROR_CALLER, "no URL");
    ++NumOpen;
  }
  ~TextStore() override { --NumOpen; }
  Buffer get(const uint8_t *Key, uint64_t MaxBytes,
             std::chrono::milliseconds Limit) override {
    Calls += "get " + std::string(Key, Key + 3) + " " +
             std::to_string(MaxBytes) + " " + std::to_string(Limit.count()) +
             "; ";
    if (MaxBytes == 0)
      throw Error(DTLTO_ERROR_CALLER, "none\nis little");
    return std::string("stored");
  }
  void put(const uint8_t *, std::string_view Bytes,
           std::chrono::milliseconds) override {
    if (Bytes.empty())
      throw std::runtime_error("there are none");
    Calls += "put " + std::string(Bytes);
  }
  static inline std::string Calls;
  static inline int NumOpen = 0;
};

/// Holds all jobs until a test ends them.
class Events : public Session {
public:
  Events(const dtlto_host &Host, const dtlto_session_params &) : Session(Host) {
    Instance = this;
  }
  bool submit(std::shared_ptr<Job> J) override {
    if (FailsAtOnce)
      J->fail(DTLTO_ERROR_INFRASTRUCTURE, "no");
    std::lock_guard<std::mutex> Lock(Mutex);
    Pending.push_back(std::move(J));
    return true;
  }
  void refuted(uint64_t Job, const std::string &Worker,
               int32_t Status) override {
    Refuted.push_back({Job, Worker, Status});
    if (Worker.empty())
      throw Error(DTLTO_ERROR_CALLER, "who was it?");
  }
  std::vector<std::tuple<uint64_t, std::string, int32_t>> Refuted;
  static const dtlto_store *store() { return storeExtension<TextStore>(); }
  bool FailsAtOnce = false;
  void stop() override {
    while (std::shared_ptr<Job> J = take())
      J->fail(DTLTO_CANCELLED);
  }
  /// Returns the oldest job, or null.
  std::shared_ptr<Job> take() {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Pending.empty())
      return nullptr;
    std::shared_ptr<Job> J = std::move(Pending.front());
    Pending.pop_front();
    return J;
  }

  static Events *Instance;

private:
  std::mutex Mutex;
  std::deque<std::shared_ptr<Job>> Pending;
};

Events *Events::Instance;

class SdkSessionTest : public dtlto::test::SdkHostTest {
protected:
  Events &events() { return *Events::Instance; }
};

} // namespace

DTLTO_PLUGIN(Events, "events", "test", 0);

TEST_F(SdkSessionTest, BusyIsSaidAndTakenBack) {
  events().setCapacity(2);
  EXPECT_EQ(submit(), DTLTO_OK);
  EXPECT_EQ(submit(), DTLTO_OK);
  events().take()->finish({"one"});
  EXPECT_EQ(NumRoomReports, 0u); // no job was refused
  EXPECT_EQ(submit(), DTLTO_OK);
  EXPECT_EQ(submit(), DTLTO_BUSY);
  EXPECT_EQ(submit(), DTLTO_BUSY);
  EXPECT_EQ(events().numJobs(), 2u);
  events().take()->fail(DTLTO_ERROR_INFRASTRUCTURE, "no luck");
  EXPECT_EQ(NumRoomReports, 1u);
  events().take()->finish({"two"});
  EXPECT_EQ(NumRoomReports, 1u);
  EXPECT_EQ(events().numJobs(), 0u);
  EXPECT_EQ(submit(), DTLTO_OK);
}

TEST_F(SdkSessionTest, MoreCapacityIsRoom) {
  events().setCapacity(0);
  EXPECT_EQ(submit(), DTLTO_BUSY);
  events().setCapacity(0);
  EXPECT_EQ(NumRoomReports, 0u);
  events().setCapacity(1);
  EXPECT_EQ(NumRoomReports, 1u);
  EXPECT_EQ(submit(), DTLTO_OK);
  EXPECT_EQ(submit(), DTLTO_BUSY);
  // A lower capacity ends no job, but the next one has to wait longer.
  events().setCapacity(0);
  events().take()->finish({"one"});
  EXPECT_EQ(NumRoomReports, 1u);
}

/// load_changed() follows each refusal, whatever ends or changes meanwhile.
TEST_F(SdkSessionTest, NoBusyIsForgotten) {
  constexpr unsigned NumJobs = 2000;
  std::thread Ender([&] {
    for (unsigned Ended = 0; Ended != NumJobs;) {
      if (std::shared_ptr<Job> J = events().take()) {
        J->finish({"object"});
        ++Ended;
      }
      events().setCapacity(Ended % 3);
      if (Ended % 3 == 0)
        events().setCapacity(1);
    }
  });
  for (unsigned I = 0; I != NumJobs; ++I)
    while (true) {
      unsigned Before = numRoomReports();
      int32_t Answer = submit();
      if (Answer == DTLTO_OK)
        break;
      ASSERT_EQ(Answer, DTLTO_BUSY);
      waitFor([&] { return NumRoomReports != Before; });
    }
  Ender.join();
  EXPECT_EQ(NumDone, NumJobs);
  for (auto [Id, N] : Ends)
    EXPECT_EQ(N, 1u) << Id;
}

#ifdef __GLIBC__
/// A result within submit() needs another thread to report it. Without that
/// thread, submit() returns the error, and close() doesn't wait.
TEST_F(SdkSessionTest, AResultInSubmitWithoutAThread) {
  pthread_attr_t Usual, Huge;
  ASSERT_EQ(0, pthread_getattr_default_np(&Usual));
  pthread_attr_init(&Huge);
  pthread_attr_setstacksize(&Huge, size_t(1) << 46);
  ASSERT_EQ(0, pthread_setattr_default_np(&Huge));
  Events::Instance->FailsAtOnce = true;
  EXPECT_EQ(DTLTO_ERROR_INFRASTRUCTURE, submit());
  EXPECT_EQ(0u, Events::Instance->numJobs());
  ASSERT_EQ(0, pthread_setattr_default_np(&Usual));
  EXPECT_EQ(DTLTO_OK, submit());
  close();
  EXPECT_EQ(1u, NumDone);
}
#endif

TEST_F(SdkSessionTest, AMessageIsOneLine) {
  events().log(DTLTO_LOG_NOTE, "a\nb\x1b[2Jc\r\n");
  EXPECT_EQ(LastMessage, "a b [2Jc");
}

//===----------------------------------------------------------------------===//
// The host's extensions
//===----------------------------------------------------------------------===//

TEST_F(SdkSessionTest, AJobIsCompiledHere) {
  dtlto_local_codegen Codegen = {
      sizeof(Codegen), 1,
      [](dtlto_host_context *, uint64_t Id, dtlto_result *R) {
        R->worker = "this machine";
        if (Id == 2) {
          R->message = "no such register";
          return R->status = DTLTO_ERROR_COMPILER;
        }
        R->object = Buffer("made here").take();
        return R->status = DTLTO_OK;
      }};
  ASSERT_EQ(submit(), DTLTO_OK);
  Result None = events().take()->compileLocally();
  EXPECT_EQ(None.Status, DTLTO_ERROR_CALLER); // the host has no such extension
  Extensions[DTLTO_EXT_LOCAL_CODEGEN] = &Codegen;

  ASSERT_EQ(submit(), DTLTO_OK);
  auto J = events().take();
  J->finish(J->compileLocally());
  EXPECT_EQ(Status, DTLTO_ERROR_COMPILER);
  EXPECT_EQ(Message, "no such register");
  EXPECT_EQ(Worker, "this machine");
  ASSERT_EQ(submit(), DTLTO_OK);
  J = events().take();
  J->finish(J->compileLocally());
  EXPECT_EQ(Status, DTLTO_OK);
  EXPECT_EQ(Object, "made here");
  // A second result and a call after the end are ignored.
  J->finish({"another"});
  close();
  EXPECT_EQ(J->compileLocally().Status, DTLTO_CANCELLED);
  EXPECT_EQ(Ends[3], 1u);
}

static int NumReleased;

TEST_F(SdkSessionTest, Bundles) {
  NumReleased = 0;
  ASSERT_EQ(submit(), DTLTO_OK);
  auto J = events().take();
  EXPECT_THROW(J->bundle(), Error);

  dtlto_bundle Spans = {
      sizeof(Spans), 0,
      [](dtlto_host_context *, uint64_t, dtlto_bundle_spans *B) {
        static const dtlto_input Input = {};
        static const dtlto_bundle_span All[] = {{{"the ", 4}, nullptr},
                                                {{"spans", 5}, &Input}};
        EXPECT_EQ(B->size, sizeof(*B));
        *B = {sizeof(*B), 2, All, nullptr, [](void *) { ++NumReleased; }};
        return int32_t(DTLTO_OK);
      }};
  Extensions[DTLTO_EXT_BUNDLE] = &Spans;
  {
    Bundle B = J->bundle(), Moved = std::move(B);
    EXPECT_EQ(Moved.bytes(), "the spans");
    EXPECT_EQ(Moved.begin()->Input, nullptr);
    EXPECT_NE(std::next(Moved.begin())->Input, nullptr);
    EXPECT_EQ(NumReleased, 0);
  }
  EXPECT_EQ(NumReleased, 1);

  Spans.make = [](dtlto_host_context *, uint64_t, dtlto_bundle_spans *) {
    return int32_t(DTLTO_ERROR_INFRASTRUCTURE);
  };
  try {
    J->bundle();
    ADD_FAILURE() << "a bundle of nothing";
  } catch (const Error &E) {
    EXPECT_EQ(E.status(), DTLTO_ERROR_INFRASTRUCTURE);
  }
  EXPECT_EQ(NumReleased, 1);
  J->finish({"object"});
}

TEST_F(SdkSessionTest, NumbersForTheReport) {
  ASSERT_EQ(submit(), DTLTO_OK);
  auto J = events().take();
  // Ignored by a host without the extension.
  events().number("hits", DTLTO_UNIT_COUNT, 1);
  J->number("run", DTLTO_UNIT_MICROSECONDS, 1);
  static std::string ReportedNumbers;
  ReportedNumbers.clear();
  static auto Note = [](uint64_t Job, const char *Name, uint32_t Unit,
                        uint64_t Value) {
    ReportedNumbers += std::to_string(Job) + " " + Name + " " +
                       std::to_string(Unit) + " " + std::to_string(Value) +
                       "\n";
  };
  dtlto_numbers Numbers = {
      sizeof(Numbers), 0,
      [](dtlto_host_context *, const char *Name, uint32_t Unit,
         uint64_t Value) { Note(0, Name, Unit, Value); },
      [](dtlto_host_context *, uint64_t Job, const char *Name, uint32_t Unit,
         uint64_t Value) { Note(Job, Name, Unit, Value); }};
  Extensions[DTLTO_EXT_NUMBERS] = &Numbers;
  events().number("hits", DTLTO_UNIT_COUNT, 2);
  J->number("run", DTLTO_UNIT_MICROSECONDS, 3);
  EXPECT_EQ(ReportedNumbers, "0 hits 0 2\n1 run 2 3\n");
  J->finish({"good"});
  close();
  J->number("run", DTLTO_UNIT_MICROSECONDS, 4);
  EXPECT_EQ(ReportedNumbers, "0 hits 0 2\n1 run 2 3\n");
}

TEST_F(SdkSessionTest, ResultsOfAWorker) {
  ASSERT_EQ(submit(), DTLTO_OK);
  auto J = events().take();
  Host.check_result = [](dtlto_host_context *, uint64_t, dtlto_span Object,
                         char *Why, uint64_t WhySize) {
    bool Good = Object.size == 4;
    std::snprintf(Why, WhySize, "%s", Good ? "" : "it is damaged");
    return int32_t(Good ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE);
  };
  EXPECT_EQ(J->problem("good"), "");
  EXPECT_EQ(J->problem("damaged"), "it is damaged");
  J->finish({"good"});
  close();
  EXPECT_EQ(J->problem("damaged"), ""); // no host to ask
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(SdkSessionTest, AStore) {
  auto *Store =
      static_cast<const dtlto_store *>(ThePlugin.extension(DTLTO_EXT_STORE));
  ASSERT_NE(Store, nullptr);
  EXPECT_EQ(Store->size, sizeof(dtlto_store));
  dtlto_store_params Params = {sizeof(Params), 0, "", nullptr, 1, 0};
  dtlto_store_client *Client = nullptr;
  char Why[7] = "";
  EXPECT_EQ(Store->open(&Params, &Client, Why, sizeof(Why)),
            DTLTO_ERROR_CALLER);
  EXPECT_STREQ(Why, "no URL");
  Params.url = "test://";
  ASSERT_EQ(Store->open(&Params, &Client, nullptr, 0), DTLTO_OK);
  const auto *Key =
      reinterpret_cast<const uint8_t *>("key that has thirty-two bytes...");
  dtlto_buffer Bytes = {};
  Why[0] = 0;
  ASSERT_EQ(Store->get(Client, Key, 50, 1000, &Bytes, Why, sizeof(Why)),
            DTLTO_OK);
  EXPECT_EQ(std::string(static_cast<const char *>(Bytes.data), Bytes.size),
            "stored");
  Bytes.release(Bytes.owner, Bytes.data, Bytes.size);
  EXPECT_STREQ(Why, "");
  EXPECT_EQ(Store->get(Client, Key, 0, 1000, &Bytes, Why, sizeof(Why)),
            DTLTO_ERROR_CALLER);
  EXPECT_EQ(Bytes.data, nullptr);
  EXPECT_STREQ(Why, "none i");
  EXPECT_EQ(Store->put(Client, Key, {"some", 4}, 1000, nullptr, 0), DTLTO_OK);
  EXPECT_EQ(Store->put(Client, Key, {nullptr, 0}, 1000, nullptr, 0),
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(TextStore::Calls, "get key 50 1000; get key 0 1000; put some");
  Store->close(Client);
  EXPECT_EQ(TextStore::NumOpen, 0);
}

TEST_F(SdkSessionTest, ResultsThatWereWrong) {
  auto *Refuted = static_cast<const dtlto_refuted *>(
      ThePlugin.extension(DTLTO_EXT_REFUTED));
  ASSERT_NE(Refuted, nullptr);
  EXPECT_EQ(Refuted->size, sizeof(dtlto_refuted));
  Refuted->result(Session, 7, "host", DTLTO_ERROR_COMPILER);
  EXPECT_EQ(LastMessage, "");
  Refuted->result(Session, 8, nullptr, DTLTO_OK);
  EXPECT_EQ(LastMessage, "who was it?");
  ASSERT_EQ(events().Refuted.size(), 2u);
  EXPECT_EQ(events().Refuted[0],
            std::tuple(7u, std::string("host"), int32_t(DTLTO_ERROR_COMPILER)));
  EXPECT_EQ(events().Refuted[1],
            std::tuple(8u, std::string(), int32_t(DTLTO_OK)));
}

TEST(SdkBufferTest, OwnersAreMovedAndReleasedOnce) {
  NumReleased = 0;
  const char *Bytes = "bytes";
  dtlto_buffer Raw = {Bytes, 5, nullptr,
                      [](void *, const void *, uint64_t) { ++NumReleased; }};
  {
    Buffer A(Raw), B = std::move(A);
    EXPECT_EQ(A.data(), nullptr);
    EXPECT_EQ(B.data(), Bytes);
    B = Buffer("others");
    EXPECT_EQ(NumReleased, 1);
    EXPECT_EQ(std::string(B.data(), B.size()), "others");
    B = Buffer(Raw);
    EXPECT_EQ(B.take().data, Bytes);
    EXPECT_EQ(B.size(), 0u);
  }
  EXPECT_EQ(NumReleased, 1); // the last one was taken
  std::vector<char> Many(1000, 'x');
  const char *At = Many.data();
  Buffer C(std::move(Many));
  EXPECT_EQ(C.data(), At); // not copied
}
