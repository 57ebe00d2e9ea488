//===- MockDistccd.h - A distccd inside of a test ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server of protocol 3 on a port of the loopback device, with a thread for
// each connection. It answers as a good distccd does; a test replaces what
// should go another way, down to single bytes.
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

/// Threads wait until somebody opens it.
class Gate {
public:
  void open();
  /// Returns false if nobody did.
  bool wait();

private:
  std::mutex Mutex;
  std::condition_variable Changed;
  bool IsOpen = false;
};

/// Four letters and a number in eight digits.
std::string token(const char *Name, uint32_t Value);
/// \p Text as LZO1X; nothing stays nothing.
std::string packed(const std::string &Text);

/// The parts of an answer, not yet compressed.
struct Answer {
  uint32_t Status = 0;
  std::string Stderr, Stdout, Object;
  std::string wire() const;
};

/// What a good mock makes of the job that writes \p Output: bytes that differ
/// for each, of sizes from very few to many.
std::string objectOf(const std::string &Output);

/// A request, taken apart.
struct WireRequest {
  std::string Cdir;
  std::vector<std::string> Argv;
  std::map<std::string, std::string> Files; // by name, decompressed
  std::string Wrong;                        // what it should not be like

  bool isProbe() const;
  /// What follows -o.
  std::string output() const;
};

class MockDistccd {
public:
  /// One connection, on its own thread. It is closed when the test's function
  /// returns.
  class Peer {
  public:
    Peer(MockDistccd &Mock, int Fd) : Mock(Mock), Fd(Fd) {}
    /// Of a probe or a job.
    const WireRequest &request() const { return Request; }
    /// Exactly \p Size bytes; fewer if the client leaves.
    std::string receive(size_t Size);
    /// Returns false if the client has left.
    bool send(std::string_view Bytes);
    /// For onConnect(): reads the first bytes of a request, as many as a probe
    /// has. Answers if it is one, else returns false.
    bool answeredProbe();
    void close();
    void reset(); // RST instead of an orderly end
    /// Sends \p Bytes, one after the other and all but the last, until the
    /// client closes the connection.
    void dribble(std::string_view Bytes);
    /// Takes what comes until the client closes the connection.
    void waitUntilLeft();
    /// Does nothing until the mock stops.
    void hang();

    MockDistccd &Mock;

  private:
    friend class MockDistccd;
    bool readRequest();
    int Fd; // changes with the mock's mutex only
    WireRequest Request;
  };
  using Act = std::function<void(Peer &)>;

  explicit MockDistccd(std::string Version = "19.1.7",
                       const char *Address = "127.0.0.1", uint16_t Port = 0);
  ~MockDistccd(); // ends all connections

  /// Instead of reading a request.
  void onConnect(Act A);
  /// Instead of the good answer.
  void onProbe(Act A);
  void onJob(Act A);

  uint16_t port() const { return Server.port(); }
  std::string name() const { return Server.name(); }

  unsigned numConnections() const { return get(Connections); }
  unsigned numProbes() const { return get(Probes); }
  unsigned numJobs() const { return get(Jobs); }
  /// Clients that left while somebody was in waitUntilLeft().
  unsigned numLeft() const { return get(Left); }
  unsigned numOpen() const { return get(Open); }
  /// Jobs that were there at the same time.
  unsigned mostJobs() const { return get(Most); }
  std::vector<WireRequest> requests() const;
  /// Waits until \p Done is true. Returns false if it never was.
  bool waitFor(std::function<bool()> Done);
  /// Reads a request of \p P and answers it.
  void serve(Peer &P);
  /// Closes the port: who connects now is refused.
  void stop();

private:
  unsigned get(const unsigned &Number) const {
    std::lock_guard<std::recursive_mutex> Lock(Mutex);
    return Number;
  }

  const std::string Version;
  mutable std::recursive_mutex Mutex; // guards the rest
  std::condition_variable_any Changed;
  Act Connect, Probe, Job;
  unsigned Connections = 0, Probes = 0, Jobs = 0, Left = 0, Open = 0;
  unsigned Now = 0, Most = 0;
  std::vector<WireRequest> Requests;
  std::vector<std::unique_ptr<Peer>> Peers;
  bool Stopping = false;
  SocketServer Server; // the last: its threads use the rest
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_DISTCC_MOCKDISTCCD_H
