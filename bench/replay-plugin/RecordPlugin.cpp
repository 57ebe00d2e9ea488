//===- RecordPlugin.cpp - Measures the jobs of a link ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles each job in the linker, on a thread of its own and one job at a
// time. Records its CPU time (CLOCK_THREAD_CPUTIME_ID), its object and the size
// of its module, for the replay plugin.
//
// Arguments: out=FOLDER (must exist), jobs=N (at the same time; they slow each
// other down).
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include "Stats.h"
#include "dtlto/sdk/Plugin.hpp"
#include <cerrno>
#include <cstring>
#include <fstream>

using namespace dtlto;
using namespace dtlto::replay;
using namespace dtlto::sdk;

namespace {

/// The user's options.
struct Arguments {
  std::string Folder;
  uint32_t NumThreads = 1;
};

class RecordSession : public ThreadSession {
public:
  RecordSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : RecordSession(Host, readArguments(Params)) {}

  Result run(const sdk::Job &J) override {
    RecordedJob Record = describe(J.raw());
    double Begin = threadCpu();
    Result R = J.compileLocally();
    Record.CpuNs = static_cast<uint64_t>((threadCpu() - Begin) * 1e9);
    std::lock_guard<std::mutex> Lock(Mutex);
    if (R.Status == DTLTO_OK) {
      Record.Offset = ObjectsSize;
      Record.Size = R.Object.size();
      ObjectsSize += Record.Size;
      Objects.write(R.Object.data(), std::streamsize(Record.Size));
      TheRecording.Jobs.push_back(std::move(Record));
    }
    return R;
  }
  bool submit(std::shared_ptr<sdk::Job> J) override {
    ++NumSubmitted;
    return ThreadSession::submit(std::move(J));
  }
  void stop() override {
    ThreadSession::stop();
    // If the link has failed, there is nothing to keep.
    if (TheRecording.Jobs.size() == NumSubmitted &&
        !(Objects.flush() &&
          writeFile(Folder + "/jobs", writeRecording(TheRecording))))
      log(DTLTO_LOG_ERROR, "cannot write the recording to '" + Folder +
                               "': " + std::strerror(errno));
  }

private:
  RecordSession(const dtlto_host &Host, Arguments A)
      : ThreadSession(Host, A.NumThreads), Folder(std::move(A.Folder)),
        Objects(Folder + "/objects", std::ios::binary) {
    require<dtlto_local_codegen>(Host, DTLTO_EXT_LOCAL_CODEGEN);
  }

  static Arguments readArguments(const dtlto_session_params &Params);
  static RecordedJob describe(const dtlto_job &Job);

  const std::string Folder;
  size_t NumSubmitted = 0; // used by the link's thread
  std::mutex Mutex;        // guards the fields below
  Recording TheRecording;
  std::ofstream Objects;
  uint64_t ObjectsSize = 0;
};

} // namespace

Arguments RecordSession::readArguments(const dtlto_session_params &Params) {
  Arguments A;
  sdk::readArguments(
      {fileArgument("out", A.Folder, "Must exist"),
       numberArgument("jobs", "N", 1, 4096, A.NumThreads, "At the same time")},
      Params.args, Params.num_args);
  if (A.Folder.empty())
    throw Error(DTLTO_ERROR_CALLER, "no out=FOLDER is given");
  return A;
}

RecordedJob RecordSession::describe(const dtlto_job &Job) {
  RecordedJob R;
  R.Name = Job.name;
  R.Digest.assign(32, '\0');
  for (uint32_t I = 0; I != Job.num_inputs; ++I) {
    const dtlto_input &In = *Job.inputs[I];
    if (In.role == DTLTO_ROLE_PRIMARY) {
      R.PrimaryBytes = In.bytes.size;
      R.Digest.assign(reinterpret_cast<const char *>(In.digest), 32);
      R.Path = In.path;
    }
  }
  return R;
}

DTLTO_PLUGIN(RecordSession, "record", DTLTO_VERSION,
             DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS);
