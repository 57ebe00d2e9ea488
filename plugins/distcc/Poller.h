//===- Poller.h - poll(2) with callbacks ------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_POLLER_H
#define DTLTO_DISTCC_POLLER_H

#include "System.h"
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace dtlto::distcc {

/// One turn of an I/O thread. add() and wakeAt() collect what to wait for, then
/// wait() makes the callbacks. Each turn needs a new object.
class Poller {
public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// \p OnReady is called with poll's revents if there are any.
  void add(int Fd, short Events, std::function<void(short)> OnReady) {
    Fds.push_back({decltype(pollfd::fd)(Fd), Events, 0});
    Calls.push_back(std::move(OnReady));
  }
  /// Makes wait() return at \p T at the latest.
  void wakeAt(TimePoint T) { Deadline = std::min(Deadline, T); }

  void wait() {
    using namespace std::chrono;
    int Timeout = -1;
    if (Deadline != TimePoint::max()) {
      auto Remaining =
          duration_cast<milliseconds>(Deadline - steady_clock::now());
      // Round up, so that the time has really passed.
      Timeout = static_cast<int>(
          std::clamp<milliseconds::rep>(Remaining.count() + 1, 0, 3600 * 1000));
    }
    if (os::poll(Fds.data(), Fds.size(), Timeout) <= 0)
      return;
    for (size_t I = 0; I != Fds.size(); ++I)
      if (Fds[I].revents)
        Calls[I](Fds[I].revents);
  }

private:
  std::vector<pollfd> Fds;
  std::vector<std::function<void(short)>> Calls;
  TimePoint Deadline = TimePoint::max();
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_POLLER_H
