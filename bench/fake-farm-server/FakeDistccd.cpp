//===- FakeDistccd.cpp - Many simulated distcc servers --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For bench/fake-farm: one process that plays all distcc servers of a farm,
// each at its own address. It reads a request (plugins/distcc/Request.h) at
// full speed and discards its files, waits as long as the recorded compile
// took, and sends the recorded object. Each host runs as many jobs at a time as
// it has slots; further jobs wait.
//
//   fake-distccd PORT SLOTS LATENCY_US RECORDING VERSION
//
// RECORDING is a folder of bench/record. VERSION is the compiler's answer to
// --version. The process prints "ready" once it listens. At the end of standard
// input, it writes its statistics as JSON and exits.
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <netinet/tcp.h>
#include <queue>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

[[noreturn]] static void fail(const std::string &What) {
  std::fprintf(stderr, "fake-distccd: %s: %s\n", What.c_str(),
               std::strerror(errno));
  std::exit(1);
}

namespace {

struct Answer {
  nanoseconds Time;
  std::string Head; // of the reply, up to the object
  std::string_view Object;

  std::string reply() const;
};

/// A connection, which has one request.
struct Connection {
  uint64_t Id;
  int Fd;
  uint32_t Host; // the address that was called
  std::string Token;
  uint64_t Text = 0, Skip = 0; // bytes left of a token's data
  std::string Value;           // of the text
  bool IsName = false, IsVersion = false, HasRequest = false;
  uint64_t NumFiles = 0, NumNames = 0;
  bool HasFiles = false;
  const Answer *Job = nullptr;
  std::string Reply;
  size_t Sent = 0; // of the reply
};

struct Host {
  unsigned Running = 0;
  std::deque<uint64_t> Waiting; // connections; may be gone
};

class Farm {
public:
  Farm(unsigned Slots, nanoseconds Latency) : Slots(Slots), Latency(Latency) {}

  void readRecording(const char *Folder);
  void setVersion(const std::string &Text);
  void listen(int Port);
  void run();

private:
  void accept();
  void read(Connection &C);
  bool handleToken(Connection &C);
  void handleText(Connection &C);
  bool onRequest(Connection &C);
  void begin(Connection &C);
  void watch(uint64_t Id, int Fd, uint32_t Events, int How);
  void onTimer(uint64_t Id, Host *H);
  void send(Connection &C);
  void drop(const Connection &C);
  void report();

  const unsigned Slots;
  const nanoseconds Latency;
  dtlto::replay::OpenRecording TheRecording;
  std::unordered_map<std::string, Answer> Jobs;
  Answer Version;
  int Listener = -1, Epoll = -1;
  enum : uint64_t { Input, Listening, FirstId };
  uint64_t NextId = FirstId;
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> Connections;
  std::map<uint32_t, Host> Hosts;
  struct Due {
    Clock::time_point When;
    uint64_t Id;
    Host *SlotHost; // whose slot becomes free; null: none
    bool operator<(const Due &O) const { return When > O.When; }
  };
  std::priority_queue<Due> Timers;
  // Statistics.
  uint64_t BytesIn = 0, BytesBack = 0, NumJobs = 0, NumUnknown = 0;
  size_t MaxConnections = 0;
};

} // namespace

static void append(std::string &Out, const char *Name, size_t Value) {
  char Token[13];
  std::snprintf(Token, sizeof(Token), "%.4s%08zx", Name, Value);
  Out += Token;
}

/// Returns the LZO1X code for \p Size literal bytes. The bytes and an end
/// marker follow it (Documentation/staging/lzo.rst of Linux).
static std::string literals(size_t Size) {
  if (Size <= 238)
    return std::string(1, char(Size + 17));
  std::string Head(1, '\0');
  size_t Rest = Size - 18;
  for (; Rest > 255; Rest -= 255)
    Head += '\0';
  return Head + char(Rest);
}
static constexpr char End[] = {0x11, 0, 0};

std::string Answer::reply() const {
  std::string All = Head;
  if (!Object.empty())
    All.append(Object).append(End, sizeof(End));
  return All;
}

void Farm::readRecording(const char *Folder) {
  std::string Error;
  if (!TheRecording.open(Folder, Error))
    fail(Error);
  for (const dtlto::replay::RecordedJob &J : TheRecording.get().Jobs) {
    std::string Reply = "DONE00000003STAT00000000SERR00000000SOUT00000000";
    std::string Head = literals(J.Size);
    append(Reply, "DOTO", Head.size() + J.Size + sizeof(End));
    Jobs[J.Path] = {
        nanoseconds(J.CpuNs), Reply + Head, {TheRecording.object(J), J.Size}};
  }
}

void Farm::setVersion(const std::string &Text) {
  std::string Reply = "DONE00000003STAT00000000SERR00000000", Head;
  Head = literals(Text.size());
  append(Reply, "SOUT", Head.size() + Text.size() + sizeof(End));
  Reply += Head + Text + std::string(End, sizeof(End)) + "DOTO00000000";
  Version = {nanoseconds(0), Reply, {}};
}

void Farm::listen(int Port) {
  Listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int One = 1;
  ::setsockopt(Listener, SOL_SOCKET, SO_REUSEADDR, &One, sizeof(One));
  sockaddr_in Any = {};
  Any.sin_family = AF_INET;
  Any.sin_port = htons(uint16_t(Port));
  if (::bind(Listener, reinterpret_cast<sockaddr *>(&Any), sizeof(Any)) ||
      ::listen(Listener, 4096))
    fail("port " + std::to_string(Port));
  Epoll = ::epoll_create1(EPOLL_CLOEXEC);
  watch(Input, 0, EPOLLIN, EPOLL_CTL_ADD);
  watch(Listening, Listener, EPOLLIN, EPOLL_CTL_ADD);
}

void Farm::watch(uint64_t Id, int Fd, uint32_t Events, int How) {
  epoll_event E = {Events, {}};
  E.data.u64 = Id;
  if (::epoll_ctl(Epoll, How, Fd, &E))
    fail("epoll");
}

void Farm::accept() {
  while (true) {
    int Fd =
        ::accept4(Listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (Fd < 0)
      return;
    int One = 1;
    ::setsockopt(Fd, IPPROTO_TCP, TCP_NODELAY, &One, sizeof(One));
    sockaddr_in LocalAddress = {};
    socklen_t Size = sizeof(LocalAddress);
    ::getsockname(Fd, reinterpret_cast<sockaddr *>(&LocalAddress), &Size);
    auto C = std::make_unique<Connection>();
    C->Id = NextId++;
    C->Fd = Fd;
    C->Host = LocalAddress.sin_addr.s_addr;
    watch(C->Id, Fd, EPOLLIN, EPOLL_CTL_ADD);
    Connections[C->Id] = std::move(C);
    MaxConnections = std::max(MaxConnections, Connections.size());
  }
}

/// Parses a complete token. Returns false if it is invalid.
bool Farm::handleToken(Connection &C) {
  char *EndOfNumber;
  uint64_t Value = std::strtoull(C.Token.c_str() + 4, &EndOfNumber, 16);
  std::string Name = C.Token.substr(0, 4);
  C.Token.clear();
  if (*EndOfNumber)
    return false;
  if (Name == "NFIL") {
    C.NumFiles = Value;
    C.HasFiles = true;
  } else if (Name == "FILE") {
    --C.NumFiles;
    C.Skip = Value;
  } else if (Name == "ARGV" || Name == "CDIR" || Name == "NAME") {
    C.Text = Value;
    C.IsName = Name == "NAME";
    if (!Value)
      handleText(C);
  } else {
    return Name == "DIST" || Name == "ARGC";
  }
  return true;
}

void Farm::handleText(Connection &C) {
  // The first file has arguments, the second is the module.
  if (C.IsName && ++C.NumNames == 2) {
    auto It = Jobs.find(C.Value.substr(std::strlen("/w/")));
    if (It != Jobs.end())
      C.Job = &It->second;
  }
  C.IsVersion |= C.Value == "--version";
  C.IsName = false;
  C.Value.clear();
}

void Farm::read(Connection &C) {
  while (true) {
    if (C.HasFiles && C.NumFiles == 0 && C.Skip == 0 && !C.HasRequest &&
        !onRequest(C))
      return drop(C);
    char Buffer[256];
    size_t WantedSize = C.Skip   ? C.Skip
                        : C.Text ? std::min<uint64_t>(C.Text, sizeof(Buffer))
                                 : 12 - C.Token.size();
    if (C.HasRequest)
      WantedSize = 1; // only the end of the connection can follow
    // The bytes of files are discarded in the kernel.
    ssize_t N = C.Skip && !C.HasRequest
                    ? ::recv(C.Fd, nullptr, WantedSize, MSG_TRUNC)
                    : ::recv(C.Fd, Buffer, WantedSize, 0);
    if (N < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (N <= 0 || C.HasRequest)
      return drop(C);
    BytesIn += uint64_t(N);
    if (C.Skip) {
      C.Skip -= uint64_t(N);
    } else if (C.Text) {
      C.Value.append(Buffer, size_t(N));
      C.Text -= uint64_t(N);
      if (!C.Text)
        handleText(C);
    } else {
      C.Token.append(Buffer, size_t(N));
      if (C.Token.size() == 12 && !handleToken(C))
        return drop(C);
    }
  }
}

/// Handles a complete request. Returns false if the job is unknown.
bool Farm::onRequest(Connection &C) {
  C.HasRequest = true;
  if (C.IsVersion) {
    C.Job = &Version;
    Timers.push({Clock::now() + Latency, C.Id, nullptr});
    return true;
  }
  if (!C.Job) {
    ++NumUnknown;
    return false;
  }
  Host &H = Hosts[C.Host];
  if (H.Running == Slots)
    H.Waiting.push_back(C.Id);
  else
    begin(C);
  return true;
}

void Farm::begin(Connection &C) {
  Host &H = Hosts[C.Host];
  ++H.Running;
  // Includes the time of the request and the reply on the network.
  Timers.push({Clock::now() + C.Job->Time + 2 * Latency, C.Id, &H});
}

/// Called even if the connection is gone: a stock server's compiler runs on,
/// too.
void Farm::onTimer(uint64_t Id, Host *H) {
  if (H) {
    ++NumJobs;
    --H->Running;
  }
  while (H && !H->Waiting.empty() && H->Running < Slots) {
    auto Next = Connections.find(H->Waiting.front());
    H->Waiting.pop_front();
    if (Next != Connections.end())
      begin(*Next->second);
  }
  auto It = Connections.find(Id);
  if (It == Connections.end())
    return;
  It->second->Reply = It->second->Job->reply();
  watch(Id, It->second->Fd, EPOLLOUT, EPOLL_CTL_MOD);
  send(*It->second);
}

void Farm::send(Connection &C) {
  while (C.Sent < C.Reply.size()) {
    ssize_t N = ::send(C.Fd, C.Reply.data() + C.Sent, C.Reply.size() - C.Sent,
                       MSG_NOSIGNAL);
    if (N < 0 && errno == EAGAIN)
      return;
    if (N < 0)
      break;
    C.Sent += size_t(N);
    BytesBack += uint64_t(N);
  }
  drop(C);
}

void Farm::drop(const Connection &C) {
  ::close(C.Fd);
  Connections.erase(C.Id);
}

void Farm::report() {
  std::printf("{\"bytes_in\": %llu, \"bytes_back\": %llu, \"jobs\": %llu, "
              "\"unknown\": %llu, \"connections\": %zu, \"hosts\": %zu}\n",
              (unsigned long long)BytesIn, (unsigned long long)BytesBack,
              (unsigned long long)NumJobs, (unsigned long long)NumUnknown,
              MaxConnections, Hosts.size());
}

void Farm::run() {
  std::vector<epoll_event> Events(256);
  while (true) {
    timespec Limit = {}, *Wait = nullptr;
    if (!Timers.empty()) {
      auto Remaining = std::max(nanoseconds(0),
                                nanoseconds(Timers.top().When - Clock::now()));
      Limit.tv_sec = Remaining.count() / 1000000000;
      Limit.tv_nsec = Remaining.count() % 1000000000;
      Wait = &Limit;
    }
    int N =
        ::epoll_pwait2(Epoll, Events.data(), int(Events.size()), Wait, nullptr);
    if (N < 0 && errno != EINTR)
      fail("epoll");
    for (int I = 0; I < N; ++I) {
      uint64_t Id = Events[size_t(I)].data.u64;
      if (Id == Input) {
        char Byte;
        if (::read(0, &Byte, 1) <= 0)
          return report();
        continue;
      }
      if (Id == Listening) {
        accept();
        continue;
      }
      auto It = Connections.find(Id);
      if (It == Connections.end())
        continue;
      if (Events[size_t(I)].events & EPOLLOUT)
        send(*It->second);
      else
        read(*It->second);
    }
    while (!Timers.empty() && Timers.top().When <= Clock::now()) {
      Due D = Timers.top();
      Timers.pop();
      onTimer(D.Id, D.SlotHost);
    }
  }
}

int main(int Argc, char **Argv) {
  if (Argc != 6) {
    std::fprintf(stderr, "usage: fake-distccd PORT SLOTS LATENCY_US RECORDING "
                         "VERSION\n");
    return 1;
  }
  Farm F(unsigned(std::atoi(Argv[2])),
         std::chrono::microseconds(std::atoi(Argv[3])));
  F.readRecording(Argv[4]);
  F.setVersion(Argv[5]);
  F.listen(std::atoi(Argv[1]));
  std::puts("ready");
  std::fflush(stdout);
  F.run();
}
