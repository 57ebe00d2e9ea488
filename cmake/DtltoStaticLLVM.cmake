# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# LLVM's archives, and the other libraries that its own ld.lld links. Defines
# dtlto_static_llvm.
#
# The hook is the same as with libLLVM: --wrap changes the references in LLD's
# archives. It also changes those in LLVM's, which are in legacy interfaces that
# LLD doesn't use. Without a plugin, the hooks change nothing.

set(_extensions "")
if(TARGET LLVMExtensions)
  get_target_property(_extensions LLVMExtensions INTERFACE_LINK_LIBRARIES)
endif()
# Debian registers Polly with its passes, but doesn't package its archive.
if("Polly" IN_LIST _extensions AND NOT EXISTS "${LLVM_LIBRARY_DIR}/libPolly.a")
  add_library(dtlto_no_polly STATIC tools/dtlto-codegen/NoPolly.cpp)
  target_include_directories(dtlto_no_polly SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(dtlto_no_polly PRIVATE ${_definitions})
  target_compile_options(dtlto_no_polly PRIVATE -fno-rtti -fno-exceptions)
  list(TRANSFORM _extensions REPLACE "^Polly$" dtlto_no_polly)
  set_property(TARGET LLVMExtensions PROPERTY
    INTERFACE_LINK_LIBRARIES "${_extensions}")
endif()

# From LLVM 22 on, LLD's own distribution of ThinLTO is a separate library.
set(_later "")
if(TARGET LLVMDTLTO)
  set(_later DTLTO)
endif()
llvm_map_components_to_libnames(_names ${_later}
  AllTargetsAsmParsers AllTargetsCodeGens AllTargetsDescs AllTargetsDisassemblers
  AllTargetsInfos
  LTO Passes Option Object BitReader BitWriter DebugInfoPDB DebugInfoDWARF
  LibDriver WindowsManifest WindowsDriver Symbolize TextAPI ObjCARCOpts)
add_library(dtlto_static_llvm INTERFACE)
target_link_libraries(dtlto_static_llvm INTERFACE ${_names})

# Static linking saves searching for LLVM and the C++ library, and relocating
# them, when the linker starts.
if(WIN32) # as the toolchain file has it
  # As in LLVM's own programs; Windows's default is a sixteenth.
  target_link_options(dtlto_static_llvm INTERFACE -Wl,--gc-sections
    -Wl,--stack,16777216)
else()
  target_link_options(dtlto_static_llvm INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>
    -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endif()
