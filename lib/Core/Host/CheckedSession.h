//===- CheckedSession.h - A session of a checked plugin ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What PluginCheck.h declares consists of: a layer for the process, whose
// functions are those of a plugin (CheckedSession.cpp), and whose host has
// those of a host (CheckedHost.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_CHECKEDSESSION_H
#define DTLTO_HOST_CHECKEDSESSION_H

#include "Host/PluginFindings.h"
#include "Rules/Lend.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "dtlto/sdk/Callback.hpp"
#include <memory>
#include <optional>
#include <thread>

namespace dtlto {

/// The layer: what the linker gets instead of the plugin.
struct Layer {
  Layer(const dtlto_plugin &Plugin, bool AreErrors);

  PluginFindings Findings;
  dtlto_plugin Entry;
  dtlto_batch Batch = {};
  dtlto_refuted Refuted = {};
  dtlto_status Status = {};
};

extern Layer *TheLayer; // null if the plugin isn't checked; never destroyed

/// Memory whose owner releases it once: of the linker, owned by the plugin, or
/// the other way around. Never destroyed.
struct CheckedBuffer {
  CheckedBuffer(const Rules &TheRules, std::string What, dtlto_buffer Raw)
      : TheRules(TheRules), What(std::move(What)), Raw(Raw) {}

  /// Replaces \p Buffer by one that is checked.
  static void wrap(dtlto_buffer &Buffer, const Rules &TheRules,
                   std::string What, bool IsPlugins);
  void release();
  uint64_t hash() const;

  const Rules &TheRules;
  const std::string What;
  const dtlto_buffer Raw;
  uint64_t Hash = 0; // of an object of the plugin's; 0: not known
  std::atomic<unsigned> NumReleases{0};
};

/// A session of the linker's, for which this is the plugin's, and one of the
/// plugin's, for which this is the host's context. Never destroyed.
class CheckedSession {
public:
  using Clock = std::chrono::steady_clock;

  CheckedSession(PluginFindings &Findings, const dtlto_host &Host);

  static void configure(const dtlto_session_params *Params,
                        dtlto_session_config *Config);
  static int32_t open(const dtlto_host *Host,
                      const dtlto_session_params *Params,
                      dtlto_session **Session);
  int32_t submit(const dtlto_job *Job);
  void cancel(uint64_t Job);
  int32_t load(dtlto_load *Load);
  void close();
  static const void *pluginExtension(const char *Id);
  void completeBatch();
  void refute(uint64_t Job, const char *Worker, int32_t Status);
  int32_t queryStatus(uint32_t LimitMs,
                      void (*Worker)(void *, const dtlto_worker_status *),
                      void *Context);

  template <auto Fn> using Callback = sdk::Callback<CheckedSession, Fn>;

private:
  struct JobRecord {
    std::string Name; // "job 3 (main.o)"
    Loan *Lent;
    std::vector<const dtlto_input *> Inputs;
    std::vector<dtlto_input *> LentInputs; // copies of these
    bool Done = false, Cancelled = false, Entered = false;
    bool MayBeEmpty = false; // the linker itself made no object
  };

  // The functions of the host.
  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void loadChanged();
  int32_t checkResult(uint64_t Job, dtlto_span Object, char *Why,
                      uint64_t WhySize);
  const void *hostExtension(const char *Id);
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t makeBundle(uint64_t Job, dtlto_bundle_spans *Out);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job, uint64_t Bytes);
  void sessionNumber(const char *Name, uint32_t Unit, uint64_t Value);
  void jobNumber(uint64_t Job, const char *Name, uint32_t Unit, uint64_t Value);

  template <typename F> auto locked(F Fn) {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Fn();
  }
  int32_t openInner(const dtlto_session_params &Params);
  const dtlto_job *lend(const dtlto_job &Job);
  struct HostCall;
  bool isLinkThread() const { return std::this_thread::get_id() == LinkThread; }
  JobRecord *find(uint64_t Job); // with the mutex held; null: not the plugin's
  std::string nameOf(uint64_t Job);
  bool isRunning(uint64_t Job) {
    return locked([&] {
      JobRecord *R = find(Job);
      return R && !R->Done;
    });
  }
  void setCancelled(uint64_t Job);
  template <typename F> auto timed(const char *Name, F Fn);
  template <typename T> const T *hostsOwn(const char *Id) const {
    return static_cast<const T *>(Host.extension(Host.context, Id));
  }
  void checkRoom();
  void checkThreads();

  PluginFindings &Findings;
  Rules TheRules;
  const dtlto_plugin &Plugin;
  const dtlto_host &Host;         // the linker's, until close() returns
  dtlto_session *Inner = nullptr; // the plugin's
  Loan &Lent;                     // the host for the plugin
  const dtlto_host *LentHost;
  const std::thread::id LinkThread = std::this_thread::get_id();
  dtlto_local_codegen Codegen = {};
  dtlto_bundle Bundle = {};
  dtlto_local_room Room = {};
  dtlto_numbers Numbers = {};

  std::mutex Mutex; // guards the members below
  bool IsClosing = false, IsClosed = false;
  std::map<uint64_t, JobRecord> Jobs; // accepted, or in submit()
  std::vector<std::unique_ptr<CheckedBuffer>> Bundles;
  PluginThreads Threads;
  std::string OpenErrors;
  bool InSubmit = false;
  std::atomic<bool> HasNamelessResult{false};
  uint64_t NumAccepted = 0, NumDone = 0, RoomCount = 0;
  Clock::time_point LastDone;
  // Of the last submit(), if it was BUSY: RoomCount before it, NumDone after
  // it.
  std::optional<std::pair<uint64_t, uint64_t>> Busy;
};

} // namespace dtlto

#endif // DTLTO_HOST_CHECKEDSESSION_H
