// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin that uses dtlto/sdk/Plugin.hpp, with one thread for each job, and
// compiles in the linker. `how=` is what the wrapper has to handle:
//
//   in-submit      jobs get their results in submit()
//   twice          each job has two results, of which the second is wrong
//   late           jobs outlive the session
//   drop           jobs are forgotten
//   throw-submit   submit() throws
//   throw-open     the constructor throws; throw-begin: begin() throws
//   throw-int      the constructor throws something other than std::exception
//   throw-load     load() throws; throw-status: status() throws

#include "dtlto/sdk/Plugin.hpp"

using namespace dtlto::sdk;

namespace {

class Test : public Session {
public:
  Test(const dtlto_host &Host, const dtlto_session_params &Params)
      : Session(Host) {
    for (uint32_t I = 0; I != Params.num_args; ++I) {
      std::string Arg = Params.args[I];
      if (Arg.rfind("how=", 0) != 0)
        throw Error(DTLTO_ERROR_CALLER, "unknown argument '" + Arg + "'");
      How = Arg.substr(4);
    }
    if (How == "throw-int")
      throw 7;
    if (How == "throw-open")
      throw std::runtime_error("the constructor\nfails");
  }
  ~Test() override {
    for (std::thread &T : Threads)
      T.join();
    // This message is dropped.
    log(DTLTO_LOG_NOTE, "the session is over");
  }

  void begin() override {
    if (How == "throw-begin")
      throw std::runtime_error("begin() fails");
  }

  bool submit(std::shared_ptr<Job> J) override {
    if (How == "throw-submit")
      throw std::runtime_error("submit() fails");
    if (How == "drop")
      return true;
    if (How == "in-submit") {
      run(*J);
      return true;
    }
    Threads.emplace_back([this, J = std::move(J)]() mutable {
      run(*J);
      if (How == "late") {
        std::lock_guard<std::mutex> Lock(Mutex);
        Kept.push_back(J);
      }
    });
    return true;
  }

  void load(dtlto_load &L) override {
    if (How == "throw-load")
      throw std::runtime_error("load() fails");
    L.slots = 4;
    L.local = 4;
  }

  std::vector<Worker> status(std::chrono::milliseconds Limit) override {
    if (How == "throw-status")
      throw std::runtime_error("nobody is\nat home");
    if (Limit <= std::chrono::seconds(0))
      throw std::runtime_error("no time to ask");
    return {{"node1", DTLTO_WORKER_UP, "clang 1.2.3", {}, 16, 3, 1230},
            {"node2", DTLTO_WORKER_OUT, {}, "it is switched off"},
            {"node3"}};
  }

private:
  void run(Job &J) {
    J.finish(J.compileLocally());
    if (How == "twice")
      J.finish({"not the object", {}, {}});
  }

  std::string How;
  std::vector<std::thread> Threads;
  std::mutex Mutex;
  // Outlives any session.
  static inline std::vector<std::shared_ptr<Job>> Kept;
};

} // namespace

DTLTO_PLUGIN(Test, "sdk", "test", 0);
