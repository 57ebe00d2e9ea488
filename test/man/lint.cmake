# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fails if mandoc reports anything about PAGE. Messages about other pages depend
# on the machine, and are ignored.
execute_process(COMMAND "${MANDOC}" -T lint "${PAGE}"
  OUTPUT_VARIABLE said ERROR_QUIET)
string(REGEX REPLACE
  "mandoc: [^\n]*(referenced manual not found|outdated mandoc.db)[^\n]*\n" ""
  said "${said}")
if(NOT said STREQUAL "")
  message(FATAL_ERROR "${said}")
endif()
# A page that can't be read must fail.
execute_process(COMMAND "${MANDOC}" "${PAGE}"
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(LENGTH "${text}" length)
if(length LESS 500)
  message(FATAL_ERROR "${PAGE} is ${length} characters long")
endif()
