//===- Headers.cpp - Carries the tests' precompiled headers ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Empty. A target with precompiled headers needs a source file.
