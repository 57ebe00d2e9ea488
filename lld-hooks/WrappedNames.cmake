# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The mangled names of the functions of LLVM that our hooks wrap, as LLD's
# archives call them. LTOHooks.cpp says why. The names contain the types of the
# parameters, so they are looked up among those that LLD calls.
#
# dtlto_wrapped_names(<archives> <nm> <names> <definitions> [GOLD]) sets <names>
# to the symbols, and <definitions> to preprocessor definitions, NAME or
# NAME="text". With GOLD, these are the functions that LLVMgold.so calls, too.
# As a script, with ARCHIVE, NM, OPTIONS and HEADER, this file writes the
# linker's options and a header: LLVM's own build makes the archive only at
# build time.

# _dtlto_wrap(<macro> <pattern> [OPTIONAL]) wraps the matching symbol, and
# defines the macro as its name.
macro(_dtlto_wrap macro pattern)
  string(REGEX MATCHALL "_ZNK?4llvm${pattern}[A-Za-z0-9_]*" _found "${_called}")
  list(REMOVE_DUPLICATES _found)
  list(LENGTH _found _count)
  if(_count EQUAL 1)
    list(APPEND _names ${_found})
    list(APPEND _definitions "${macro}=\"${_found}\"")
  elseif(NOT (_count EQUAL 0 AND "${ARGN}" STREQUAL "OPTIONAL"))
    message(FATAL_ERROR "${archives} calls ${_count} functions llvm::${pattern} "
      "where one is expected: ${_found}")
  endif()
endmacro()

function(dtlto_wrapped_names archives nm names definitions)
  execute_process(COMMAND ${nm} -u ${archives}
    OUTPUT_VARIABLE _called ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(_names "")
  set(_definitions "")
  _dtlto_wrap(DTLTO_CREATE_BACKEND 3lto26createInProcessThinBackend)
  _dtlto_wrap(DTLTO_CREATE_INPUT 3lto9InputFile6create)
  _dtlto_wrap(DTLTO_MAX_TASKS 3lto3LTO11getMaxTasks)
  _dtlto_wrap(DTLTO_PRUNE_CACHE 10pruneCache)
  _dtlto_wrap(DTLTO_START_TRACE 27timeTraceProfilerInitialize)
  _dtlto_wrap(DTLTO_WRITE_TRACE 22timeTraceProfilerWrite)
  if("${ARGN}" STREQUAL GOLD)
    _dtlto_wrap(DTLTO_RUN 3lto3LTO3run)
    set(${names} "${_names}" PARENT_SCOPE)
    set(${definitions} "${_definitions}" PARENT_SCOPE)
    return()
  endif()
  _dtlto_wrap(DTLTO_CREATE_DISTRIBUTED 3lto29createOutOfProcessThinBackend OPTIONAL)
  # In later versions, it is a class, which calls this.
  if(_called MATCHES "_ZTVN4llvm3lto5DTLTOE")
    _dtlto_wrap(DTLTO_CREATE_INDEX_WRITER 3lto29createWriteIndexesThinBackend)
  endif()
  _dtlto_wrap(DTLTO_MAIN_EXECUTABLE 3sys2fs17getMainExecutable OPTIONAL)
  _dtlto_wrap(DTLTO_PRINT_HELP 3opt8OptTable9printHelp)
  if(_called MATCHES "8OptTable9printHelp[A-Za-z0-9_]*9StringRefE")
    list(APPEND _definitions DTLTO_HELP_HAS_SUBCOMMAND)
  endif()
  # A function of LLD itself, called by its dispatcher at the end of a link.
  list(APPEND _names _ZN3lld7exitLldEi)
  set(${names} "${_names}" PARENT_SCOPE)
  set(${definitions} "${_definitions}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  dtlto_wrapped_names("${ARCHIVE}" "${NM}" _names _definitions)
  list(TRANSFORM _names PREPEND "-Wl,--wrap=")
  list(JOIN _names "\n" _text)
  file(WRITE "${OPTIONS}" "${_text}\n")
  set(_text "")
  foreach(_definition IN LISTS _definitions)
    string(REPLACE "=" " " _definition "${_definition}")
    string(APPEND _text "#define ${_definition}\n")
  endforeach()
  file(WRITE "${HEADER}" "${_text}")
endif()
