//===- dtlto/testing/Host.hpp - A host for unit tests -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays the linker in a plugin's unit tests, without a linker or LLVM:
//
//   dtlto::testing::Host H(dtlto_plugin_entry); // or loadPlugin("libx.so")
//   H.open({"server=127.0.0.1:4000"}, "22.1.8");
//   uint64_t Id = H.submit({{"a/m.bc", Bitcode}}, {"clang", "-c", ...}, "m.o");
//   EXPECT_EQ(H.wait(Id).Status, DTLTO_OK);
//   H.close();
//   EXPECT_EQ(H.problems(), std::vector<std::string>());
//
// Waits are bounded, but for calls of the plugin that don't return. The host
// records broken rules of PluginAPI.h; dtlto-plugin-check checks many more.
//
// Header only; C++17. The CMake target is dtlto::testing.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_TESTING_HOST_HPP
#define DTLTO_TESTING_HOST_HPP

#include "../PluginAPI.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace dtlto::testing {

/// Loads the plugin in the file \p Path, which stays loaded. Throws
/// std::runtime_error if that fails.
inline const dtlto_plugin &loadPlugin(const std::string &Path) {
#ifdef _WIN32
  HMODULE Library = ::LoadLibraryA(Path.c_str());
  void *Entry = Library ? reinterpret_cast<void *>(
                              ::GetProcAddress(Library, "dtlto_plugin_entry"))
                        : nullptr;
  std::string Why = "error " + std::to_string(::GetLastError());
#else
  void *Library = ::dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *Entry = Library ? ::dlsym(Library, "dtlto_plugin_entry") : nullptr;
  const char *Error = Entry ? nullptr : ::dlerror();
  std::string Why = Error ? Error : "no dtlto_plugin_entry";
#endif
  if (!Entry)
    throw std::runtime_error("cannot load '" + Path + "': " + Why);
  return *static_cast<const dtlto_plugin *>(Entry);
}

/// An input of a job.
struct Input {
  std::string Path, Bytes;
  uint32_t Role = DTLTO_ROLE_OTHER;
  std::array<uint8_t, 32> Digest = {};
};

/// What job_done() reported.
struct Result {
  int32_t Status = DTLTO_OK;
  std::string Object, Message, Worker;
};

/// One session with a plugin. One thread makes all calls, like the linker; the
/// plugin calls back on any thread, as long as this object lives.
class Host {
public:
  using Duration = std::chrono::milliseconds;

  /// \p Limit bounds each wait.
  explicit Host(const dtlto_plugin &ThePlugin,
                Duration Limit = std::chrono::seconds(60))
      : ThePlugin(ThePlugin), Limit(Limit) {
    Raw.size = sizeof(Raw);
    Raw.abi_major = DTLTO_ABI_MAJOR;
    Raw.abi_minor = DTLTO_ABI_MINOR;
    Raw.name = "dtlto";
    Raw.version = "testing";
    Raw.context = reinterpret_cast<dtlto_host_context *>(this);
    Raw.log = [](dtlto_host_context *C, uint32_t Level, const char *Text) {
      from(C).log(Level, Text ? Text : "");
    };
    Raw.job_state = [](dtlto_host_context *C, uint64_t Id, uint32_t State,
                       const char *) { from(C).jobState(Id, State); };
    Raw.job_done = [](dtlto_host_context *C, uint64_t Id,
                      const dtlto_result *R) { from(C).jobDone(Id, *R); };
    Raw.load_changed = [](dtlto_host_context *C) {
      from(C).change("load_changed", [&] { ++from(C).NumChanges; });
    };
    Raw.check_result = [](dtlto_host_context *C, uint64_t Id, dtlto_span Object,
                          char *Why, uint64_t Size) {
      return from(C).checkResult(Id, Object, Why, Size);
    };
    Raw.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
      auto I = from(C).Extensions.find(Id);
      return I == from(C).Extensions.end() ? nullptr : I->second;
    };
  }
  Host(const Host &) = delete;
  ~Host() { close(); }

  // To be set before open().
  std::map<std::string, const void *> Extensions; // of the host, by id
  /// Why the host refuses an object, or nothing.
  std::function<std::string(const std::string &Object)> Check;

  /// Calls configure() and open(). Returns open()'s status.
  int32_t open(const std::vector<std::string> &Args,
               const std::string &LLVMVersion, uint64_t NumJobs = 1) {
    std::vector<const char *> Pointers = pointers(Args);
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    Params.num_args = uint32_t(Args.size());
    Params.args = Pointers.data();
    Params.llvm_version = LLVMVersion.c_str();
    Params.output = "a.out";
    Params.num_jobs = NumJobs;
    Params.job_timeout_s = 600;
    dtlto_session_config Config = {};
    Config.size = sizeof(Config);
    ThePlugin.configure(&Params, &Config);
    Needs = Config.needs;
    int32_t Status = ThePlugin.open(&Raw, &Params, &Session);
    if (Status != DTLTO_OK)
      Session = nullptr;
    return Status;
  }
  /// The fields that the plugin needs: DTLTO_JOB_...
  uint32_t needs() const { return Needs; }

  /// Offers a job until the plugin accepts it, and returns its id. Throws
  /// std::runtime_error if the plugin refuses it, or has no room in time.
  uint64_t submit(std::vector<Input> Inputs, std::vector<std::string> Args,
                  std::string Output, std::string Config = {}) {
    const uint64_t Id = ++LastId;
    JobRecord *J;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      J = &Jobs[Id];
    }
    fill(*J, Id, std::move(Inputs), std::move(Args), std::move(Output),
         std::move(Config));
    while (true) {
      unsigned Before = locked([&] { return InSubmit = true, NumChanges; });
      int32_t Status = ThePlugin.submit(Session, &J->Raw);
      locked([&] { return InSubmit = false; });
      if (Status == DTLTO_OK)
        return Id;
      if (Status != DTLTO_BUSY) {
        locked([&] { return Jobs.erase(Id); });
        throw std::runtime_error("submit() returned " + std::to_string(Status));
      }
      waitUntil("load_changed() after DTLTO_BUSY",
                [&] { return NumChanges != Before; });
    }
  }
  /// Waits until the job has its result. Throws std::runtime_error if it has
  /// none in time.
  Result wait(uint64_t Id) {
    waitUntil("job_done()", [&] { return Jobs.at(Id).Done; });
    return locked([&] { return Jobs.at(Id).R; });
  }
  /// Waits until the job reports this state, DTLTO_STATE_..., or ends.
  void waitForState(uint64_t Id, uint32_t State) {
    waitUntil("the state", [&] {
      return Jobs.at(Id).States >> State & 1 || Jobs.at(Id).Done;
    });
  }
  void cancel(uint64_t Id) {
    locked([&] { return Jobs.at(Id).Cancelled = true; });
    ThePlugin.cancel(Session, Id);
  }
  dtlto_load load() {
    dtlto_load Load = {sizeof(Load), UINT32_MAX, UINT32_MAX, UINT32_MAX,
                       UINT32_MAX,   0,          UINT64_MAX};
    if (ThePlugin.load(Session, &Load) != DTLTO_OK)
      throw std::runtime_error("load() failed");
    return Load;
  }
  /// Closes the session, if it is open. The plugin's jobs are cancelled.
  void close() {
    if (!Session)
      return;
    locked([&] { return Closing = true; });
    ThePlugin.close(std::exchange(Session, nullptr));
    std::lock_guard<std::mutex> Lock(Mutex);
    for (auto &[Id, J] : Jobs)
      if (!J.Done)
        Problems.push_back("close() returned before " + name(Id) +
                           " had its job_done()");
    Closed = true;
  }

  /// The plugin's messages, in order.
  std::vector<std::string> messages() {
    return locked([&] { return Messages; });
  }
  /// The rules that the plugin has broken.
  std::vector<std::string> problems() {
    return locked([&] { return Problems; });
  }

private:
  struct JobRecord {
    std::vector<Input> Inputs;
    std::vector<dtlto_input> RawInputs;
    std::vector<const dtlto_input *> InputPointers;
    std::vector<std::string> Args;
    std::vector<const char *> ArgPointers;
    std::string Output, Config;
    dtlto_job Raw = {};
    bool Cancelled = false, Done = false;
    uint32_t States = 0; // bits
    Result R;
  };

  static Host &from(dtlto_host_context *C) {
    return *reinterpret_cast<Host *>(C);
  }
  static std::string name(uint64_t Id) { return "job " + std::to_string(Id); }
  static std::vector<const char *>
  pointers(const std::vector<std::string> &Texts) {
    std::vector<const char *> All;
    for (const std::string &Text : Texts)
      All.push_back(Text.c_str());
    All.push_back(nullptr);
    return All;
  }
  template <typename F> auto locked(F Fn) -> decltype(Fn()) {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Fn();
  }
  template <typename F> void waitUntil(const char *What, F Fn) {
    std::unique_lock<std::mutex> Lock(Mutex);
    if (!Changed.wait_for(Lock, Limit, Fn))
      throw std::runtime_error(std::string("no ") + What + " within " +
                               std::to_string(Limit.count()) + " ms");
  }
  /// Handles a call of the plugin: \p Fn runs with the lock held.
  template <typename F> void change(const char *Function, F Fn) {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Closed)
      Problems.push_back(std::string(Function) +
                         "() was called after close() had returned");
    Fn();
    Changed.notify_all();
  }
  /// Records a broken rule. The lock is held.
  bool expect(bool Holds, const std::string &Problem) {
    if (!Holds)
      Problems.push_back(Problem);
    return Holds;
  }
  void expectOneLine(const std::string &Who, const std::string &Text) {
    expect(Text.find('\n') == std::string::npos, Who + " is not one line");
  }

  void fill(JobRecord &J, uint64_t Id, std::vector<Input> Inputs,
            std::vector<std::string> Args, std::string Output,
            std::string Config) {
    J.Inputs = std::move(Inputs);
    J.Args = std::move(Args);
    J.Output = std::move(Output);
    J.Config = std::move(Config);
    for (const Input &In : J.Inputs) {
      dtlto_input &R = J.RawInputs.emplace_back();
      R.size = sizeof(R);
      R.role = In.Role;
      R.path = In.Path.c_str();
      R.bytes = {In.Bytes.data(), In.Bytes.size()};
      std::copy(In.Digest.begin(), In.Digest.end(), R.digest);
    }
    for (const dtlto_input &R : J.RawInputs)
      J.InputPointers.push_back(&R);
    J.ArgPointers = pointers(J.Args);
    J.Raw.size = sizeof(J.Raw);
    J.Raw.fields = Needs;
    J.Raw.id = Id;
    J.Raw.name = J.Output.c_str();
    J.Raw.triple = "x86_64-unknown-linux-gnu";
    J.Raw.cost = 1;
    J.Raw.inputs = J.InputPointers.data();
    J.Raw.num_inputs = uint32_t(J.InputPointers.size());
    J.Raw.args = J.ArgPointers.data();
    J.Raw.num_args = uint32_t(J.Args.size());
    J.Raw.output = J.Output.c_str();
    J.Raw.config = J.Config.c_str();
  }

  void log(uint32_t Level, const std::string &Text) {
    change("log", [&] {
      Messages.push_back(Text);
      if (Level != DTLTO_LOG_COMPILER)
        expectOneLine("a message", Text);
    });
  }
  void jobState(uint64_t Id, uint32_t State) {
    change("job_state", [&] {
      auto I = Jobs.find(Id);
      if (expect(I != Jobs.end(),
                 "a state of " + name(Id) + ", which the plugin does not have"))
        I->second.States |= 1u << (State & 31);
    });
  }
  int32_t checkResult(uint64_t Id, dtlto_span Object, char *Why,
                      uint64_t Size) {
    change("check_result", [&] {
      expect(Jobs.count(Id) && !Jobs[Id].Done,
             "check_result() was called for " + name(Id) +
                 ", which the plugin does not have");
    });
    std::string Text;
    if (Check)
      Text =
          Check({static_cast<const char *>(Object.data), size_t(Object.size)});
    if (Why && Size)
      std::snprintf(Why, size_t(Size), "%s", Text.c_str());
    return Text.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
  }
  void jobDone(uint64_t Id, const dtlto_result &Raw) {
    change("job_done", [&] {
      auto I = Jobs.find(Id);
      if (!expect(I != Jobs.end(), "a result of " + name(Id) +
                                       ", which the plugin does not have") ||
          !expect(!I->second.Done, "a second result of " + name(Id)))
        return;
      JobRecord &J = I->second;
      expect(!InSubmit || std::this_thread::get_id() != LinkThread,
             "job_done() was called from inside of submit()");
      J.R.Status = Raw.status;
      if (Raw.object.data)
        J.R.Object.assign(static_cast<const char *>(Raw.object.data),
                          size_t(Raw.object.size));
      J.R.Message = Raw.message ? Raw.message : "";
      J.R.Worker = Raw.worker ? Raw.worker : "";
      J.Done = true;
      ++NumChanges; // the host may offer another job
      checkDone(Id, J);
    });
    if (Raw.object.release)
      Raw.object.release(Raw.object.owner, Raw.object.data, Raw.object.size);
  }
  /// Checks the result of \p J. The lock is held.
  void checkDone(uint64_t Id, const JobRecord &J) {
    const int32_t Status = J.R.Status;
    const bool IsError =
        Status == DTLTO_ERROR_CALLER || Status == DTLTO_ERROR_INFRASTRUCTURE;
    expect(IsError || Status == DTLTO_OK || Status == DTLTO_CANCELLED ||
               Status == DTLTO_ERROR_COMPILER,
           name(Id) + " ended with the status " + std::to_string(Status));
    expect(Status != DTLTO_OK || !J.R.Object.empty(),
           name(Id) + " is DTLTO_OK, with no object");
    expect(Status == DTLTO_OK || J.R.Object.empty(),
           name(Id) + " failed, and has an object");
    expect(Status != DTLTO_CANCELLED || J.Cancelled || Closing,
           name(Id) + " was cancelled without a request from the host");
    expect((!IsError && Status != DTLTO_ERROR_COMPILER) || !J.R.Message.empty(),
           name(Id) + " failed without a message");
    if (IsError)
      expectOneLine("the message of " + name(Id), J.R.Message);
  }

  const dtlto_plugin &ThePlugin;
  const Duration Limit;
  dtlto_host Raw = {};
  dtlto_session *Session = nullptr;
  uint32_t Needs = 0;
  uint64_t LastId = uint64_t(1) << 33; // more than 32 bits
  const std::thread::id LinkThread = std::this_thread::get_id();

  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  std::map<uint64_t, JobRecord> Jobs;
  std::vector<std::string> Messages, Problems;
  unsigned NumChanges = 0; // load_changed()s and results
  bool InSubmit = false, Closing = false, Closed = false;
};

} // namespace dtlto::testing

#endif // DTLTO_TESTING_HOST_HPP
