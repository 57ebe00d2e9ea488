// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shapes.h"

std::string square(int size) { return "square " + std::to_string(size); }
