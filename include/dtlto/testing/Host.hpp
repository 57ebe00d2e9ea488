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
// Tests with rules, extensions or jobs of their own derive from this or from
// BasicHost.hpp. Several sessions at a time are several hosts.
//
// Header only; C++17. The CMake target is dtlto::testing.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_TESTING_HOST_HPP
#define DTLTO_TESTING_HOST_HPP

#include "BasicHost.hpp"
#include <functional>
#include <stdexcept>
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

/// The rules that Host checks. The host's lock is held.
class TextRules {
public:
  bool isInTime(bool IsOpen, const char *Function) {
    return expect(IsOpen, std::string(Function) +
                              "() was called after close() had returned");
  }
  void log(uint32_t Level, const char *Text) {
    if (Level != DTLTO_LOG_COMPILER)
      expectOneLine("a message", Text ? Text : "");
  }
  void state(bool IsKnown, const std::string &Job) {
    expect(IsKnown, "a state of " + Job + ", which the plugin does not have");
  }
  bool isDue(bool IsKnown, bool IsFirst, const std::string &Job) {
    return expect(IsKnown,
                  "a result of " + Job + ", which the plugin does not have") &&
           expect(IsFirst, "a second result of " + Job);
  }
  void notInSubmit(bool IsInSubmit) {
    expect(!IsInSubmit, "job_done() was called from inside of submit()");
  }
  bool hasSize(const dtlto_result *R, const std::string &Job) {
    return expect(R && R->size >= sizeof(*R), Job + " has a result of no size");
  }
  void result(const dtlto_result &R, const std::string &Job,
              bool MayBeCancelled) {
    const bool HasObject = R.object.data && R.object.size;
    const bool IsError = R.status == DTLTO_ERROR_CALLER ||
                         R.status == DTLTO_ERROR_INFRASTRUCTURE;
    const bool IsFailure = IsError || R.status == DTLTO_ERROR_COMPILER;
    const std::string Message = R.message ? R.message : "";
    expect(IsFailure || R.status == DTLTO_OK || R.status == DTLTO_CANCELLED,
           Job + " ended with the status " + std::to_string(R.status));
    expect(R.status != DTLTO_OK || HasObject,
           Job + " is DTLTO_OK, with no object");
    expect(R.status == DTLTO_OK || !HasObject,
           Job + " failed, and has an object");
    expect(R.status != DTLTO_CANCELLED || MayBeCancelled,
           Job + " was cancelled without a request from the host");
    expect(!IsFailure || !Message.empty(), Job + " failed without a message");
    if (IsError)
      expectOneLine("the message of " + Job, Message);
  }
  bool checksRunningJob(bool IsRunning, const std::string &Job) {
    return expect(IsRunning, "check_result() was called for " + Job +
                                 ", which the plugin does not have");
  }
  bool opened(const dtlto_session *Session) {
    return expect(Session, "open() returned DTLTO_OK and set no session");
  }
  void openFailed(int32_t, const std::string &Errors) {
    expect(!Errors.empty(), "open() failed without a message");
  }
  void submitReturned(int32_t Status, bool IsDone) {
    expect(Status == DTLTO_OK || !IsDone,
           "a job had its job_done(), and then submit() returned " +
               std::to_string(Status));
  }
  void load(int32_t Status, const dtlto_load &, uint64_t) {
    expect(Status == DTLTO_OK, "load() returned " + std::to_string(Status));
  }
  void hasEnded(bool IsDone, const std::string &Job) {
    expect(IsDone, "close() returned before " + Job + " had its job_done()");
  }

  std::vector<std::string> Problems; // the broken rules

private:
  bool expect(bool Holds, const std::string &Problem) {
    if (!Holds)
      Problems.push_back(Problem);
    return Holds;
  }
  void expectOneLine(const std::string &Who, const std::string &Text) {
    expect(Text.find('\n') == std::string::npos, Who + " is not one line");
  }
};

/// One session with a plugin, for unit tests.
class Host : public BasicHost<TextRules> {
public:
  /// \p Limit bounds each wait.
  explicit Host(const dtlto_plugin &ThePlugin,
                Duration Limit = std::chrono::seconds(60))
      : BasicHost(ThePlugin), Limit(Limit) {}
  ~Host() override { close(); }

  /// To be set before open(). Returns why the host refuses an object, or
  /// nothing.
  std::function<std::string(const std::string &Object)> Check;

  /// Offers a job once. Returns submit()'s status; if that is DTLTO_OK, \p Id
  /// is the job's.
  int32_t tryToSubmit(JobSpec Spec, uint64_t &Id) {
    Job &J = add(std::move(Spec));
    Id = J.Raw.id;
    return offer(J);
  }
  /// Offers a job until the plugin accepts it, and returns its id. Throws
  /// std::runtime_error if the plugin refuses it, or has no room in time.
  uint64_t submit(const JobSpec &Spec) {
    while (true) {
      const uint64_t Before = locked([&] { return NumRoom + NumDone; });
      uint64_t Id;
      const int32_t Status = tryToSubmit(Spec, Id);
      if (Status == DTLTO_OK)
        return Id;
      if (Status != DTLTO_BUSY)
        throw std::runtime_error("submit() returned " + std::to_string(Status));
      waitUntil("load_changed() after DTLTO_BUSY",
                [&] { return NumRoom + NumDone != Before; });
    }
  }
  uint64_t submit(std::vector<Input> Inputs, std::vector<std::string> Args,
                  std::string Output, std::string Config = {}) {
    return submit(JobSpec{std::move(Inputs), std::move(Args), std::move(Output),
                          std::move(Config)});
  }
  /// Waits until the job has its result. Throws std::runtime_error if it has
  /// none in time.
  Result wait(uint64_t Id) {
    waitUntil("job_done()", [&] { return Jobs.at(Id).Done; });
    return locked([&]() -> Result { return Jobs.at(Id); });
  }
  /// Waits until the job reports this state, DTLTO_STATE_..., or ends.
  void waitForState(uint64_t Id, uint32_t State) {
    waitUntil("the state", [&] {
      return Jobs.at(Id).Done ||
             std::count(States.begin(), States.end(), std::pair(Id, State));
    });
  }

  /// The rules that the plugin has broken.
  std::vector<std::string> problems() {
    return locked([&] { return TheRules.Problems; });
  }

protected:
  std::string check(Job &, dtlto_span Object) override {
    return Check ? Check({static_cast<const char *>(Object.data),
                          static_cast<size_t>(Object.size)})
                 : "";
  }
  /// Waits until \p Done(), which is called with the lock held. Throws
  /// std::runtime_error if that takes too long.
  template <typename F> void waitUntil(const std::string &What, F Done) {
    std::unique_lock<std::mutex> Lock(Mutex);
    if (!waitFor(Lock, Limit, Done))
      throw std::runtime_error("no " + What + " within " +
                               std::to_string(Limit.count()) + " ms");
  }

private:
  const Duration Limit;
};

} // namespace dtlto::testing

#endif // DTLTO_TESTING_HOST_HPP
