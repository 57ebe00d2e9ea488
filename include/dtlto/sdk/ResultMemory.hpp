//===- dtlto/sdk/ResultMemory.hpp - Limits results' memory ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_RESULTMEMORY_HPP
#define DTLTO_SDK_RESULTMEMORY_HPP

#include "Result.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace dtlto::sdk {

/// The memory of the results that a session is receiving; untrusted machines
/// choose their sizes. All results together may take
/// `dtlto_session_params.result_bytes`. Beyond that, a result may grow only up
/// to its equal share, so one oversized result does not fail other jobs. Any
/// thread may use it; it outlives its shares.
class ResultMemory {
public:
  explicit ResultMemory(const dtlto_session_params &Params)
      : Limit(Params.result_bytes ? Params.result_bytes : UINT64_MAX) {}
  ResultMemory(const ResultMemory &) = delete;

  /// The memory of one result, for the lifetime of this object.
  class Share {
  public:
    explicit Share(ResultMemory &Memory) : Memory(Memory) {
      std::lock_guard<std::mutex> Lock(Memory.Mutex);
      ++Memory.NumShares;
    }
    ~Share() {
      std::lock_guard<std::mutex> Lock(Memory.Mutex);
      --Memory.NumShares;
      Memory.Used -= Size;
    }
    Share(const Share &) = delete;

    /// How many bytes it may take in addition to those that it has.
    uint64_t room() const {
      std::lock_guard<std::mutex> Lock(Memory.Mutex);
      uint64_t Part = Memory.Limit / Memory.NumShares;
      return std::max(Memory.Limit - std::min(Memory.Limit, Memory.Used),
                      Part - std::min(Part, Size));
    }
    /// Adds \p Bytes. Returns false if that is more than there was room for.
    bool grow(uint64_t Bytes) {
      bool HasRoom = Bytes <= room();
      std::lock_guard<std::mutex> Lock(Memory.Mutex);
      Memory.Used += Bytes;
      Size += Bytes;
      return HasRoom;
    }

  private:
    ResultMemory &Memory;
    uint64_t Size = 0;
  };

private:
  const uint64_t Limit;
  std::mutex Mutex; // guards the fields below
  uint64_t Used = 0, NumShares = 0;
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_RESULTMEMORY_HPP
