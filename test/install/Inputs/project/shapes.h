// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <string>

extern "C" int twice(int n);
std::string square(int size);
