// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SDK's C++ headers, after others and twice.

#include <string>

#include "dtlto/sdk/RunJob.hpp"

#include "dtlto/sdk/CompileResult.hpp"
#include "dtlto/sdk/Plugin.hpp"
#include "dtlto/sdk/RunJob.hpp"
#include "dtlto/sdk/Socket.hpp"
#include "dtlto/testing/Host.hpp"
