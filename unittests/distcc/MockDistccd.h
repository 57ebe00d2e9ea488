//===- MockDistccd.h - A distccd in a test ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server of protocol 3 on a port of the loopback device, with a thread for
// each connection. It answers like a good distccd; a test can replace each
// step, down to single bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_DISTCC_MOCKDISTCCD_H
#define DTLTO_UNITTESTS_DISTCC_MOCKDISTCCD_H

#include "SocketServer.h"
#include <condition_variable>
#include <map>
#include <memory>
#include <string_view>

namespace dtlto::test {

/// Blocks threads until it is opened.
class Gate {
public:
  void open();
  /// Returns false if the gate wasn't opened in time.
  bool wait();

private:
  std::mutex Mutex;
  std::condition_variable Changed;
  bool IsOpen = false;
};

/// Returns four letters and a number of eight digits.
std::string token(const char *Name, uint32_t Value);
/// Returns \p Text as LZO1X; empty if \p Text is empty.
std::string packed(const std::string &Text);

/// The parts of an answer, not compressed yet.
struct Answer {
  uint32_t Status = 0;
  std::string Stderr, Stdout, Object;
  std::string wire() const;
};

/// Returns a good mock's object for the job that writes \p Output. Each job has
/// different bytes, of very different sizes.
std::string objectOf(const std::string &Output);

/// A parsed request.
struct WireRequest {
  std::string Cdir;
  std::vector<std::string> Argv;
  std::map<std::string, std::string> Files; // by name, decompressed
  std::string Wrong;                        // errors in the request

  bool isProbe() const;
  /// Returns the argument of -o.
  std::string output() const;
};

class MockDistccd {
public:
  /// A connection, served on its own thread. Closed when the test's function
  /// returns.
  class Peer {
  public:
    Peer(MockDistccd &Mock, int Fd) : Mock(Mock), Fd(Fd) {}
    /// The request of a probe or a job.
    const WireRequest &request() const { return Request; }
    /// Returns exactly \p Size bytes, or fewer if the client leaves.
    std::string receive(size_t Size);
    /// Returns false if the client has left.
    bool send(std::string_view Bytes);
    /// For onConnect(): reads as many bytes as a probe has. Answers if it is a
    /// probe, and otherwise returns false.
    bool answerIfProbe();
    void close();
    void reset(); // RST instead of an orderly end
    /// Sends all of \p Bytes but the last, one at a time, until the client
    /// closes the connection.
    void dribble(std::string_view Bytes);
    /// Discards what the client sends until it closes the connection.
    void waitForDisconnect();
    /// Does nothing until the mock stops.
    void hang();

    MockDistccd &Mock;

  private:
    friend class MockDistccd;
    bool readRequest();
    int Fd; // only changed under the mock's mutex
    WireRequest Request;
  };
  using Act = std::function<void(Peer &)>;

  explicit MockDistccd(std::string Version = "19.1.7",
                       const char *Address = "127.0.0.1", uint16_t Port = 0);
  ~MockDistccd(); // ends all connections

  /// Replaces the reading of a request.
  void onConnect(Act A);
  /// Replace the good answer.
  void onProbe(Act A);
  void onJob(Act A);

  uint16_t port() const { return Server.port(); }
  std::string name() const { return Server.name(); }

  unsigned numConnections() const { return get(Connections); }
  unsigned numProbes() const { return get(Probes); }
  unsigned numJobs() const { return get(Jobs); }
  /// The number of clients that left during waitForDisconnect().
  unsigned numLeft() const { return get(LeftClients); }
  unsigned numOpen() const { return get(Open); }
  /// The largest number of concurrent jobs.
  unsigned mostJobs() const { return get(MaxRunningJobs); }
  std::vector<WireRequest> requests() const;
  /// Waits until \p Done is true. Returns false after a time limit.
  bool waitFor(std::function<bool()> Done);
  /// Reads a request of \p P and answers it.
  void serve(Peer &P);
  /// Closes the port, so that new connections are refused.
  void stop();

private:
  unsigned get(const unsigned &Number) const {
    std::lock_guard<std::recursive_mutex> Lock(Mutex);
    return Number;
  }

  const std::string Version;
  mutable std::recursive_mutex Mutex; // guards the members below
  std::condition_variable_any Changed;
  Act Connect, Probe, Job;
  unsigned Connections = 0, Probes = 0, Jobs = 0, LeftClients = 0, Open = 0;
  unsigned RunningJobs = 0, MaxRunningJobs = 0;
  std::vector<WireRequest> Requests;
  std::vector<std::unique_ptr<Peer>> Peers;
  bool IsStopping = false;
  SocketServer Server; // last, because its threads use the members above
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_DISTCC_MOCKDISTCCD_H
