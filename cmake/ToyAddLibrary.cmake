# toy_add_library(NAME SOURCES a.cpp ... DEPS toy_x ...): a static library of one folder.
# Give MLIR to a library whose sources include MLIR's or LLVM's headers.
function(toy_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} fmt::fmt)
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${TOY_MLIR_INCLUDES})
    target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
    if(TOY_ASAN)
      target_compile_options(${name} PUBLIC "SHELL:$<$<COMPILE_LANGUAGE:CXX>:-include ${CMAKE_SOURCE_DIR}/cmake/llvm-without-poison.h>")
    endif()
  endif()
endfunction()

# A program with MLIR's headers reads those that a library has precompiled, for which it has to be compiled as that is: -fPIC, not -fPIE.
function(toy_reuse_headers program library)
  set_target_properties(${program} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${program} PRIVATE -fPIC)
  target_precompile_headers(${program} REUSE_FROM ${library})
endfunction()
