# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCES=<lib/Core> -DFOLDERS=<name>|<name>... -P check-spelling.cmake
#
# Fails if a file includes a header by a path that is relative to the file's own.

file(GLOB_RECURSE files ${SOURCES}/*.h ${SOURCES}/*.cpp)
foreach(file ${files})
  file(STRINGS ${file} lines REGEX "^ *# *include \"")
  foreach(line ${lines})
    if(NOT line MATCHES "\"(${FOLDERS}|dtlto|llvm|llvm-c)/[^.]" OR line MATCHES "\\.\\./")
      message(SEND_ERROR "${file}: ${line}: include it with its folder")
    endif()
  endforeach()
endforeach()
