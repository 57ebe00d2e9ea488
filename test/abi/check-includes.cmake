# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PluginAPI.h includes only <stdint.h>, and an extension's header includes only
# PluginAPI.h.

function(check header expected)
  file(STRINGS "${header}" includes
    REGEX "^[ \t]*(#|%:)[ \t]*(include|include_next|import|embed)[^a-z]")
  if(NOT includes STREQUAL expected)
    message(FATAL_ERROR "${header} includes: ${includes}")
  endif()
endfunction()

check("${FOLDER}/PluginAPI.h" "#include <stdint.h>")
file(GLOB headers "${FOLDER}/ext/*.h")
file(GLOB drafts "${FOLDER}/ext/draft/*.h")
if(NOT headers OR NOT drafts)
  message(FATAL_ERROR "no headers in ${FOLDER}/ext or ${FOLDER}/ext/draft")
endif()
foreach(header IN LISTS headers)
  check("${header}" "#include \"../PluginAPI.h\"")
endforeach()
foreach(header IN LISTS drafts)
  check("${header}" "#include \"../../PluginAPI.h\"")
endforeach()
