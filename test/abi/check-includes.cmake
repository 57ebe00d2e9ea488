# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The header includes <stdint.h> and nothing else.

file(STRINGS "${HEADER}" includes
  REGEX "^[ \t]*(#|%:)[ \t]*(include|include_next|import|embed)[^a-z]")
if(NOT includes STREQUAL "#include <stdint.h>")
  message(FATAL_ERROR "${HEADER} includes: ${includes}")
endif()
