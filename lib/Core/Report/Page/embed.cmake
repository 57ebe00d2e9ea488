# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DPAGE=<folder> -DOUTPUT=<file> -P embed.cmake
#
# Makes a C++ file of the report's page: page.html with its style sheet and its
# scripts inserted, as two arrays of bytes, before and after the data.

# Works in hexadecimal, since CMake strings can't hold `[` or `;` safely.
function(read_hex file variable)
  file(READ "${PAGE}/${file}" hex HEX)
  set(${variable} "${hex}" PARENT_SCOPE)
endfunction()

function(insert marker)
  string(HEX "${marker}" marker_hex)
  set(all "")
  foreach(file ${ARGN})
    read_hex(${file} hex)
    string(APPEND all "${hex}")
  endforeach()
  string(FIND "${page}" "${marker_hex}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "page.html has no ${marker}")
  endif()
  string(REPLACE "${marker_hex}" "${all}" page "${page}")
  set(page "${page}" PARENT_SCOPE)
endfunction()

function(write_array name hex)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  file(APPEND "${OUTPUT}.new"
    "extern const size_t ${name}_size = ${size};\n"
    "extern const char ${name}[] = {\n${bytes}};\n")
endfunction()

read_hex(page.html page)
insert("/*style*/" page.css)
insert("/*script*/" data.js timeline.js tables.js page.js)
string(HEX "/*data*/" marker)
string(FIND "${page}" "${marker}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "page.html has no place for the data")
endif()
string(SUBSTRING "${page}" 0 ${at} head)
string(LENGTH "${marker}" length)
math(EXPR at "${at} + ${length}")
string(SUBSTRING "${page}" ${at} -1 tail)

file(WRITE "${OUTPUT}.new" "// Made by embed.cmake.\n#include <cstddef>\n")
write_array(dtlto_report_head "${head}")
write_array(dtlto_report_tail "${tail}")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
