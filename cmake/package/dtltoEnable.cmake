# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# dtlto_enable(<target> [PLUGIN <name or path>] [ARGS <arg>...])
#
#   Compiles <target> as ThinLTO bitcode and, if it is an executable or a shared
#   library, links it with dtlto. PLUGIN runs its jobs (default: the variable
#   DTLTO_PLUGIN, or `local`). Each of ARGS is passed to the plugin
#   (--thinlto-dist-plugin-arg=; default: DTLTO_PLUGIN_ARGS).
#
#   A static or object library is only compiled. Call this for the libraries whose
#   code shall take part, and for the targets that link them.
#
# The project's compilers must be clang of the linker's own LLVM version.

include_guard(DIRECTORY)

# Fails if a compiler of the project can't make what the linker reads.
function(_dtlto_check_compilers who)
  get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language C CXX OBJC OBJCXX)
    if(NOT language IN_LIST enabled)
      continue()
    endif()
    set(id "${CMAKE_${language}_COMPILER_ID}")
    set(version "${CMAKE_${language}_COMPILER_VERSION}")
    string(REGEX MATCH "^[0-9]+" major "${version}")
    if(NOT id STREQUAL "Clang" OR NOT major EQUAL dtlto_LLVM_VERSION_MAJOR)
      set(name clang)
      if(language MATCHES "CXX$")
        set(name clang++)
      endif()
      message(FATAL_ERROR
        "${who}: dtlto reads the bitcode of clang ${dtlto_LLVM_VERSION_MAJOR}, "
        "and the ${language} compiler is ${id} ${version} "
        "(${CMAKE_${language}_COMPILER}): configure a new build folder with "
        "-DCMAKE_${language}_COMPILER=${name}-${dtlto_LLVM_VERSION_MAJOR}")
    endif()
  endforeach()
endfunction()

function(dtlto_enable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PLUGIN" "ARGS")
  set(who "dtlto_enable: target '${target}'")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${who}: there is none of that name")
  endif()
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${who}: unknown argument '${arg_UNPARSED_ARGUMENTS}': "
      "expected PLUGIN <name or path> and ARGS <arg>...")
  endif()
  if("PLUGIN" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${who}: PLUGIN needs a name or a path")
  endif()
  get_target_property(type "${target}" TYPE)
  get_target_property(imported "${target}" IMPORTED)
  if(imported OR NOT type MATCHES
      "^(EXECUTABLE|(SHARED|MODULE|STATIC|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "${who}: nothing of it is compiled here")
  endif()
  _dtlto_check_compilers("${who}")

  target_compile_options("${target}" PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX,OBJC,OBJCXX>:-flto=thin>)
  if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
    return()
  endif()

  if(NOT DEFINED arg_PLUGIN)
    set(arg_PLUGIN "${DTLTO_PLUGIN}")
    if(arg_PLUGIN STREQUAL "")
      set(arg_PLUGIN local)
    endif()
  endif()
  if(NOT DEFINED arg_ARGS)
    set(arg_ARGS "${DTLTO_PLUGIN_ARGS}")
  endif()
  target_link_options("${target}" PRIVATE -flto=thin "--ld-path=${dtlto_LINKER}"
    "LINKER:SHELL:\"--thinlto-dist-plugin=${arg_PLUGIN}\"")
  foreach(text IN LISTS arg_ARGS)
    # Not with others in one -Wl, which would split it at its commas.
    target_link_options("${target}" PRIVATE
      "LINKER:SHELL:\"--thinlto-dist-plugin-arg=${text}\"")
  endforeach()
endfunction()
