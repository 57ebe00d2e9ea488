//===- FakeResolver.h - A resolver for invented names -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_DISTCC_FAKERESOLVER_H
#define DTLTO_UNITTESTS_DISTCC_FAKERESOLVER_H

#include <functional>
#include <string>
#include <vector>

namespace dtlto::test {

/// Replaces getaddrinfo() in a test that links this file. \p Find returns the
/// numeric addresses of a name, or none if the name doesn't exist. It isn't
/// called for numeric names. It runs on the resolving thread and may block.
void setResolver(
    std::function<std::vector<std::string>(const std::string &)> Find);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_DISTCC_FAKERESOLVER_H
