# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plugin that is built with hidden visibility, as plugins should be, exports
# only the entry.

set(language c)
if(COMPILER MATCHES "\\+\\+")
  set(language c++)
endif()
execute_process(
  COMMAND "${COMPILER}" -x ${language} -fPIC -shared -fvisibility=hidden
    "-I${INCLUDE}" "${SOURCE}" -o "${OUTPUT}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${NM}" --dynamic --defined-only --format=posix "${OUTPUT}"
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "^dtlto_plugin_entry [^\n]*\n$")
  message(FATAL_ERROR "${OUTPUT} exports:\n${symbols}")
endif()
