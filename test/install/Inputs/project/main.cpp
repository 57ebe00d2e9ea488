// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shapes.h"
#include <iostream>

int main() { std::cout << square(twice(21)) << '\n'; }
