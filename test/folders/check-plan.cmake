# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fails if a file below SOURCES includes more than the folder's own headers and
# the standard library's headers for pure computation, or reads a clock.

set(allowed "algorithm|array|cassert|charconv|chrono|cmath|cstddef|cstdint|cstdlib")
string(APPEND allowed "|functional|limits|map|optional|random|set|string|string_view")
string(APPEND allowed "|tuple|unordered_map|utility|vector")

file(GLOB files ${SOURCES}/*.h ${SOURCES}/*.cpp)
if(NOT files)
  message(FATAL_ERROR "nothing in ${SOURCES}")
endif()
foreach(file ${files})
  file(STRINGS ${file} lines REGEX "#[ ]*include|_clock|std::(mutex|thread|atomic)")
  foreach(line ${lines})
    if(NOT line MATCHES "^#include (<(${allowed})>|\"Plan/[A-Za-z]+\\.h\")$")
      message(SEND_ERROR "${file}: ${line}")
    endif()
  endforeach()
endforeach()
