// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ../plugin-cpp for the server of server.py, which describes the messages.
// Argument: server=HOST:PORT.

#include <dtlto/sdk/Plugin.hpp>
#include <dtlto/sdk/Socket.hpp>

using namespace dtlto::sdk;
using namespace std::chrono_literals;

static void sendNumber(Socket &To, uint64_t N, Socket::Time End) {
  std::string Digits = std::to_string(N);
  To.send(Digits.insert(0, 16 - Digits.size(), '0'), End);
}

static void send(Socket &To, const std::vector<std::string_view> &Items) {
  const Socket::Time End = Socket::Clock::now() + 120s;
  sendNumber(To, Items.size(), End);
  for (std::string_view Item : Items) {
    sendNumber(To, Item.size(), End);
    To.send(Item, End);
  }
}

static uint64_t receiveNumber(Socket &From, Socket::Time End) {
  char Digits[17] = "";
  From.receiveAll(Digits, 16, End);
  uint64_t N = std::strtoull(Digits, nullptr, 10);
  if (N > 1 << 30)
    throw SocketError("an invalid message");
  return N;
}

/// Receives a list of \p N strings.
static std::vector<std::string> receive(Socket &From, size_t N,
                                        std::chrono::seconds Limit) {
  const Socket::Time End = Socket::Clock::now() + Limit;
  if (receiveNumber(From, End) != N)
    throw SocketError("an unexpected message");
  std::vector<std::string> Items(N);
  for (std::string &Item : Items) {
    Item.resize(receiveNumber(From, End));
    From.receiveAll(Item.data(), Item.size(), End);
  }
  return Items;
}

class TcpSession : public ThreadSession {
public:
  TcpSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : ThreadSession(Host, 1), LLVMVersion(Params.llvm_version) {
    std::string Wrong;
    for (uint32_t I = 0; I != Params.num_args; ++I)
      if (std::sscanf(Params.args[I], "server=%255[^:]:%hu", Name, &Port) != 2)
        Wrong = Params.args[I];
    if (!Wrong.empty() || !Port)
      throw Error(DTLTO_ERROR_CALLER,
                  "wrong argument '" + Wrong + "', expected server=HOST:PORT");
  }

  // Called on several threads.
  Result run(const Job &J) override {
    auto Line = std::make_shared<Socket>();
    J.onCancel([Line] { Line->cancel(); });
    try {
      return compile(J, *Line);
    } catch (const SocketError &E) {
      throw Error(E.status(), E.what(), Name);
    }
  }

private:
  Result compile(const Job &J, Socket &Line) {
    Line.connect(Name, Port, Socket::Clock::now() + 10s);
    std::vector<std::string> Hello = receive(Line, 2, 10s);
    if (!isVersion(Hello[0], LLVMVersion))
      throw SocketError("the server's compiler is not clang " + LLVMVersion);
    setThreads(unsigned(std::atoi(Hello[1].c_str())));
    J.state(DTLTO_STATE_SENDING, Name);
    const std::vector<std::string> Args = J.args();
    send(Line, {Args.begin(), Args.end()});
    std::vector<std::string_view> Files = {J.output()};
    J.forEachInput([&](std::string_view Path, std::string_view Bytes, auto &) {
      Files.insert(Files.end(), {Path, Bytes});
    });
    send(Line, Files);
    J.state(DTLTO_STATE_RUNNING, Name);
    std::vector<std::string> Answer = receive(Line, 3, 600s);
    return compileResult(std::atoi(Answer[0].c_str()), std::move(Answer[2]),
                         std::move(Answer[1]), Name);
  }

  const std::string LLVMVersion;
  char Name[256] = "";
  unsigned short Port = 0;
};

DTLTO_PLUGIN(TcpSession, "example-tcp", "1.0",
             DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS);
