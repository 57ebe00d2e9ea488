//===- Credentials.cpp - Tokens and credential helpers --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Credentials.h"
#include "SettingsFile.h"
#include "dtlto/sdk/Result.hpp"

using namespace dtlto::reapi;
using dtlto::CredentialHelper;
namespace sdk = dtlto::sdk;

// Ends the retries of a call if the file keeps changing.
static constexpr unsigned MaxRefused = 2;

//===----------------------------------------------------------------------===//
// A token in a file
//===----------------------------------------------------------------------===//

std::string TokenFile::read(const std::string &Name) {
  std::string Token = readSecretFile(Name, "token-file");
  return Token.empty() ? "" : "Bearer " + Token;
}

std::string TokenFile::header() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Header;
}

void TokenFile::onAccepted(const std::string &Used) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Used == Header)
    RefusalStreak = 0;
}

bool TokenFile::renew(const std::string &Used) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Used != Header) // another call has renewed it
    return RefusalStreak <= MaxRefused;
  if (++RefusalStreak > MaxRefused)
    return false;
  try {
    std::string New = read(Name);
    if (New.empty())
      return false;
    Header.swap(New);
    return Header != Used;
  } catch (const sdk::Error &) {
    return false; // another program may be renewing the file
  }
}

//===----------------------------------------------------------------------===//
// A credential helper
//===----------------------------------------------------------------------===//

/// Returns the URI of a server as Bazel writes it, whatever the encryption:
/// helpers look at the host. It has no control character.
static std::string uriOf(const Endpoint &To) {
  if (To.Target.compare(0, 5, "unix:") == 0)
    return To.Target;
  std::string Uri = "https://" + To.Target;
  if (size_t Port = Uri.rfind(':'); Uri.compare(Port, Uri.npos, ":443") == 0)
    Uri.resize(Port);
  return Uri;
}

static Fault helperFault(CredentialHelper::Failure F) {
  using Failure = CredentialHelper::Failure;
  return F.What == Failure::None ? Fault()
         : F.What == Failure::Cancelled
             ? Fault::cancelled()
             : Fault(Fault::Refused, std::move(F.Why),
                     grpc::StatusCode::UNAUTHENTICATED);
}

CredentialHelper::Patience ServerHelper::patience(const Stop &Stopping) const {
  return {CredentialHelper::Clock::now() + Limit,
          [&Stopping] { return Stopping.raised(); }};
}

Fault ServerHelper::get(Stop &Stopping, const Endpoint &To, HeaderList &Headers,
                        uint64_t &Stamp, bool MayWait) {
  return helperFault(
      Helper.get(patience(Stopping), uriOf(To), Headers, Stamp, MayWait));
}

void ServerHelper::onAccepted(const Endpoint &To, uint64_t Stamp) {
  Helper.onAccepted(uriOf(To), Stamp);
}

bool ServerHelper::renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp,
                         Fault &Why) {
  CredentialHelper::Failure F;
  bool HasOthers = Helper.renew(patience(Stopping), uriOf(To), Stamp, F);
  if (F)
    Why = helperFault(std::move(F));
  return HasOthers;
}
