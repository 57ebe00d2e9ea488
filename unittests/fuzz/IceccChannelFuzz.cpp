//===- IceccChannelFuzz.cpp - Messages of daemons and schedulers ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a byte for the protocol's version, the limit of bytes sent, and
// choices of messages.
//
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "Cluster.h"
#include "IceccLine.h"
#include "dtlto/sdk/Result.hpp"
#include <optional>

using namespace dtlto::icecc;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Node = "Name:one\nIP:10.0.0.1\nMaxJobs:4\nPlatform:x86_64\n";
  Node = char(Node.size()) + Node;
  return {"\x16\xff\xff" + ("\1\7" + Node) + "\2\7\x9\3\x9" +
              std::string("\0\4\1\4name", 8),
          "\x16\xff\xff\5\1\7no node", std::string("\x16\xff\xff\5\1\0", 6),
          "\1\x28\1\1\7" + Node,
          "\x16\xff\xff\6\1\x1exxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\5\1\1\x1b"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  uint8_t Version = uint8_t(OldestProtocol + C.below(NumProtocols));
  size_t Most = C.take() * 256u + C.take();
  // The messages are valid. IceccNodeFuzz also has damaged ones.
  std::string Sent;
  std::vector<size_t> Ends;
  std::vector<MsgType> Types;
  std::optional<std::string> Words; // the first text ends the connection
  while (!C.empty() && !Words && Types.size() != 100) {
    unsigned Kind = C.below(7);
    uint32_t Id = C.take();
    std::string Text;
    if (Kind == 1 || Kind >= 4)
      // libicecc's texts end at a NUL.
      Text = C.text(255).c_str();
    std::unique_ptr<Msg> M;
    switch (Kind) {
    case 0:
      M = std::make_unique<PingMsg>();
      break;
    case 1:
      M = std::make_unique<MonStatsMsg>(int(Id), Text);
      break;
    case 2:
      M = std::make_unique<MonJobBeginMsg>(Id, 0, C.take());
      break;
    case 3:
      M = std::make_unique<EndMsg>();
      break;
    case 4:
      M = std::make_unique<UseCSMsg>("x86_64", Text, Id, Id, true, 1, 0);
      break;
    case 5:
      M = std::make_unique<StatusTextMsg>(Text);
      Words = Text;
      break;
    case 6:
      M = std::make_unique<BlacklistHostEnvMsg>("x86_64", Text, "one");
      break;
    }
    Sent += serialize(*M, Version);
    Ends.push_back(Sent.size());
    Types.push_back(M->type);
  }
  // Everything, or the connection ends within a message.
  Sent.resize(std::min({Sent.size(), Most, MaxLineSize}));

  IceccLine Line(Version);
  Line.send(Sent);
  MsgChannel *Raw = Line.channel();
  check(Raw != nullptr);
  Interrupt I;
  std::unique_ptr<Channel> Near = Channel::adopt(Raw, I);
  auto TheCluster =
      std::make_shared<Cluster>(Settings(), std::vector<std::string>{"x86_64"});
  // Complete messages are received in order, before the error.
  size_t Next = 0;
  std::string Error;
  while (std::unique_ptr<Msg> M =
             Near->receive(Clock::now() + std::chrono::seconds(20), Error)) {
    check(Error.empty());
    check(Next != Types.size() && M->type == Types[Next] &&
          Ends[Next] <= Sent.size());
    ++Next;
    TheCluster->handle(*M);
    Cluster::Numbers N = TheCluster->numbers();
    check(N.Free <= N.Slots && N.Nodes <= Next);
  }
  check(isLine(Error) && !Near->hasTimedOut());
  std::string Said = dtlto::sdk::oneLine(Words.value_or(""));
  if (Words && Ends.back() == Sent.size())
    check(Next + 1 == Types.size() && (Said.empty() || Error == Said));
  else
    check(Next ==
          size_t(std::upper_bound(Ends.begin(), Ends.end(), Sent.size()) -
                 Ends.begin()));
  return 0;
}
