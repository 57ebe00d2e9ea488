//===- Entry.h - The functions of the ABI for a client of a DBS -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_ENTRY_H
#define DTLTO_PLUGINS_ENTRY_H

#include "dtlto/sdk/Status.hpp"
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

namespace dtlto {

/// What dtlto_plugin points at but open(): a plugin's \p Client is its session,
/// and reports its jobs by itself.
template <typename Client> struct Entry {
  /// The session, for open(). It is the caller's until close().
  static dtlto_session *session(std::unique_ptr<Client> C) {
    return reinterpret_cast<dtlto_session *>(C.release());
  }

  static int32_t submit(dtlto_session *S, const dtlto_job *Job) {
    return from(S).submit(*Job);
  }

  static void cancel(dtlto_session *S, uint64_t Job) { from(S).cancel(Job); }

  static int32_t load(dtlto_session *S, dtlto_load *Load) {
    from(S).load(*Load);
    return DTLTO_OK;
  }

  static void close(dtlto_session *S) {
    from(S).close();
    delete &from(S);
  }

  static const void *extension(const char *Id) {
    static const dtlto_status Status = {sizeof(dtlto_status), 0, queryStatus};
    return std::strcmp(Id, DTLTO_EXT_STATUS) == 0 ? &Status : nullptr;
  }

private:
  static Client &from(dtlto_session *S) {
    return *reinterpret_cast<Client *>(S);
  }

  static int32_t queryStatus(dtlto_session *S, uint32_t TimeoutMs,
                             void (*Worker)(void *,
                                            const dtlto_worker_status *),
                             void *Context) {
    // A part of the time is for the way back.
    std::optional<std::vector<sdk::Worker>> All =
        from(S).status(std::chrono::milliseconds(TimeoutMs - TimeoutMs / 10));
    if (!All)
      return DTLTO_ERROR_INFRASTRUCTURE;
    sdk::tell(*All, Worker, Context);
    return DTLTO_OK;
  }
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_ENTRY_H
