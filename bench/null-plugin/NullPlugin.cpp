//===- NullPlugin.cpp - A fast plugin without any work --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers every job with the same object file. The rest of the link's time is
// the linker's own work for its jobs.
//
// Arguments:
//   object=FILE   the object file; must be given
//   stats         when the session ends, note the number of jobs and the
//                 seconds from the first submit() to the end of the last
//                 job_done()
//
// Built twice (NULL_PLUGIN_NEEDS): needing no part of a job, and needing all
// parts, since the linker has to make these.
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/Plugin.hpp"
#include <fstream>
#include <iterator>

using namespace dtlto::sdk;

namespace {

/// The object file, as shared bytes: the linker may keep a result for any time.
struct Object {
  std::shared_ptr<const std::string> Bytes;
  const char *data() const { return Bytes->data(); }
  size_t size() const { return Bytes->size(); }
};

class NullSession : public ThreadSession {
public:
  NullSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : ThreadSession(Host, 1) {
    setCapacity(SIZE_MAX);
    std::string File;
    readArguments({fileArgument("object", File, "The object file"),
                   switchArgument("stats", Stats, "Note the time")},
                  Params.args, Params.num_args);
    TheObject = read(File);
  }

  bool submit(std::shared_ptr<Job> J) override {
    if (First == Clock::time_point())
      First = Clock::now();
    return ThreadSession::submit(std::move(J));
  }
  // Runs on the only thread.
  Result run(const Job &) override { return {TheObject, "", "null"}; }
  void onEnd(const Job &) override {
    ++NumDone;
    Last = Clock::now();
  }

  void load(dtlto_load &Load) override {
    ThreadSession::load(Load);
    Load.slots = Load.free = 1024;
    Load.workers = 1;
    Load.expected_wait_ms = 0;
  }
  void stop() override {
    ThreadSession::stop();
    if (Stats)
      log(DTLTO_LOG_NOTE,
          std::to_string(NumDone) + " jobs, " +
              std::to_string(
                  std::chrono::duration<double>(Last - First).count()) +
              " s from first submit to last job_done");
  }

private:
  using Clock = std::chrono::steady_clock;

  static Object read(const std::string &Path) {
    std::ifstream File(Path, std::ios::binary);
    std::string Bytes{std::istreambuf_iterator<char>(File), {}};
    if (Bytes.empty())
      throw Error(DTLTO_ERROR_CALLER,
                  "cannot read the file of object=FILE, or the file is empty");
    return {std::make_shared<const std::string>(std::move(Bytes))};
  }

  Object TheObject;
  bool Stats = false;
  uint64_t NumDone = 0;
  Clock::time_point First, Last;
};

} // namespace

DTLTO_PLUGIN(NullSession, "null", "1.0", NULL_PLUGIN_NEEDS);
