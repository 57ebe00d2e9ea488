# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DPAGE=<folder> -DOUTPUT=<file> -P embed.cmake
#
# Makes a C++ file of the report's page: page.html with its style sheet and its
# scripts inserted, as a string.

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

read_hex(page.html page)
insert("/*style*/" page.css)
insert("/*script*/" data.js timeline.js tables.js page.js)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${page}")
file(WRITE "${OUTPUT}.new"
  "// Made by embed.cmake.\n"
  "extern const char dtlto_report_page[] = {\n${bytes}0};\n")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
