//===- Endpoint.h - A service, and headers for it ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_ENDPOINT_H
#define DTLTO_REAPI_ENDPOINT_H

#include <string>
#include <string_view>

namespace dtlto::reapi {

/// The address of a service.
struct Endpoint {
  std::string Target; // for gRPC: HOST:PORT, or unix:PATH; empty: not set
  bool Tls = false;
  /// Whether the service is on this machine.
  bool isLocal() const;
  /// The name in messages.
  std::string name() const { return (Tls ? "grpcs://" : "grpc://") + Target; }
};

/// Reads [grpc[s]|http[s]://]HOST[:PORT] or unix:PATH. Without a scheme, \p Tls
/// decides. Returns false for any other text.
bool readEndpoint(std::string_view Text, bool Tls, Endpoint &E);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_ENDPOINT_H
