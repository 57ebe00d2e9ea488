# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

find_program(DTLTO_GZIP gzip REQUIRED)

# Compresses the file `from` into `to` now, and again when it changes. The
# result has no name or time, so that equal texts give equal files.
function(dtlto_gzip from to)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${from}")
  cmake_path(GET to PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${DTLTO_GZIP}" -9 -n -c "${from}"
    OUTPUT_FILE "${to}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
