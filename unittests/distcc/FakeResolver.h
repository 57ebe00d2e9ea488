//===- FakeResolver.h - Names that a test makes up --------------*- C++ -*-===//
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

/// Takes the place of getaddrinfo() in a test that is linked with it: \p Find
/// returns the numeric addresses of a name that isn't numeric itself, or none
/// for a name that doesn't exist. On the thread that asks, so it may wait.
void setResolver(
    std::function<std::vector<std::string>(const std::string &)> Find);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_DISTCC_FAKERESOLVER_H
