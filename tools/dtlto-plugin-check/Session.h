//===- Session.h - A link that watches the plugin ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One session with the plugin, as the linker has it: the calls of the plugin,
// all on one thread, and the waits for what it does on its own.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_SESSION_H
#define DTLTO_PLUGINCHECK_SESSION_H

#include "Host.h"
#include <functional>
#include <utility>

namespace dtlto::check {

struct Bench;

/// Watches each call of the plugin: one must return in time, and many must not
/// take long.
class CallWatch {
public:
  /// \p OnStuck is called, on a thread of its own, with the call that hasn't
  /// returned after its limit, and ends the process.
  CallWatch(const Options &O,
            std::function<void(const std::string &, Milliseconds)> OnStuck);
  ~CallWatch();

  /// Calls the plugin's function \p Name: \p Fn.
  template <typename F> auto call(const char *Name, F Fn) {
    begin(Name);
    struct End {
      CallWatch &W;
      ~End() { W.end(); }
    } E{*this};
    return Fn();
  }

private:
  void begin(const char *Name);
  void end();
  void watch();

  const Options &O;
  const std::function<void(const std::string &, Milliseconds)> OnStuck;
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  bool Quit = false;
  std::string Name; // of the call that runs now; or empty
  Clock::time_point Begin;
  Milliseconds Limit{0};
  struct Times {
    unsigned Calls = 0, Long = 0;
  };
  std::map<std::string, Times> All; // by the function
  std::thread Thread;
};

/// What is the process's and not the plugin's, as names and values: working
/// folder, umask, standard descriptors and signals.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// All functions on the thread that made it.
class Session {
public:
  Session(const dtlto_plugin &P, const Options &O, const HostAge &Age = {});
  /// Opens the session; where that fails, the case has failed.
  Session(const Bench &B, uint64_t NumJobs, const HostAge &Age = {});
  ~Session(); // close()

  /// Calls open(). The result is checked but for being an error.
  int32_t open(uint64_t NumJobs);
  void close();

  /// Offers a job once. Returns submit()'s status.
  int32_t offer(const Sample &S, const char *Avoid = nullptr);
  /// Offers a job until it is accepted, as the linker does. Returns its id, or
  /// 0 if it was refused.
  uint64_t submit(const Sample &S, const char *Avoid = nullptr);
  void cancel(uint64_t Id);
  dtlto_load load();
  /// Another function of the plugin, such as one of an extension.
  template <typename F> auto call(const char *Name, F Fn) {
    return Watch.call(Name, Fn);
  }
  dtlto_session *handle() const { return Handle; }

  /// Submits \p S, waits, and fails unless its object is the linker's own.
  void compile(const Sample &S, const char *Avoid = nullptr);
  /// The same for \p N of \p Some, round robin.
  void compileMany(const std::vector<Sample> &Some, unsigned N);

  /// Waits until all accepted jobs have ended; fails after a job's limit.
  void waitForAll();
  /// Waits for a state of any job, or the end of one.
  void waitForSign();
  /// Waits for load_changed() after the count was \p Before. Returns false if
  /// it doesn't come, though all jobs have ended.
  bool waitForRoom(uint64_t Before);
  uint64_t roomCount();

  /// A job of which nothing changes any more; null if there is none.
  const JobRecord *job(uint64_t Id);
  std::vector<uint64_t> accepted();
  /// Fails unless \p Id ended with \p S's own object.
  void expectObject(uint64_t Id, const Sample &S);
  const std::string &openErrors() const { return H.OpenErrors; }
  /// Whether the plugin said with DTLTO_LOG_ERROR that it can't go on.
  bool hasGivenUp();

  /// From now on callbacks on other threads wait until load() was answered.
  void entangle() { H.Entangled = true; }
  /// Whether job_done() on other threads doesn't come back, and doesn't count.
  void holdResults(bool Hold);

private:
  void configure(const dtlto_session_params &Params);
  void completeBatch();
  void checkLoad(const dtlto_load &L);
  void checkBuffers();
  template <typename F>
  bool wait(std::unique_lock<std::mutex> &Lock, Milliseconds Limit, F Done);

  const dtlto_plugin &P;
  const Options &O;
  const HostAge Age;
  Host H;
  CallWatch Watch;
  Modules M;
  dtlto_session *Handle = nullptr;
  bool IsOpen = false;
  unsigned ThreadsBefore = 0;
  Settings SettingsBefore;
  uint64_t NextId = FirstJob;
};

/// The linker does without an extension whose size isn't that of its struct.
template <typename T> const T *checkSize(const char *Struct, const void *Raw) {
  auto *E = static_cast<const T *>(Raw);
  if (E && E->size < sizeof(T))
    failAndExit(std::string(Struct) + ".size",
                "it is " + std::to_string(E->size),
                "set it to sizeof(" + std::string(Struct) +
                    "): the linker doesn't use the extension otherwise");
  return E;
}

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_SESSION_H
