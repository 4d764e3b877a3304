# How a folder of this project is built.

add_library(spokeshave_options INTERFACE)
target_compile_options(spokeshave_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<BOOL:${SPOKESHAVE_WERROR}>:-Werror>)
target_include_directories(spokeshave_options INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_link_libraries(spokeshave_options INTERFACE spokeshave_llvm)
if(SPOKESHAVE_SANITIZE)
  string(REPLACE ";" "," _sanitizers "${SPOKESHAVE_SANITIZE}")
  target_compile_options(spokeshave_options INTERFACE
    -fsanitize=${_sanitizers} -fno-omit-frame-pointer
    # Generated code has no type before its functions to check.
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(spokeshave_options INTERFACE -fsanitize=${_sanitizers})
endif()
if(SPOKESHAVE_FUZZ)
  target_compile_options(spokeshave_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# One precompiled header of LLVM's and MLIR's own headers serves all folders:
# it turns six seconds for a typical file into two.
add_library(spokeshave_pch OBJECT "${PROJECT_SOURCE_DIR}/cmake/pch.cpp")
target_link_libraries(spokeshave_pch PRIVATE spokeshave_options)
target_precompile_headers(spokeshave_pch PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch.h")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(spokeshave_pch PUBLIC "SHELL:-Xclang -fno-pch-timestamp")
endif()

# spokeshave_library(NAME SOURCES ... [DEPENDS ...] [NO_PCH])
# A static library of one folder. DEPENDS names libraries of folders above it.
function(spokeshave_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC spokeshave_options ${ARG_DEPENDS})
  if(NOT ARG_NO_PCH)
    spokeshave_use_pch(${name})
  endif()
endfunction()

function(spokeshave_use_pch target)
  target_precompile_headers(${target} REUSE_FROM spokeshave_pch)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# spokeshave_tablegen(TARGET SOURCE.td OUTPUT.inc -gen-... [more options])
# Generates OUTPUT.inc beside the folder's build files. Repeat with the same
# TARGET for several outputs; libraries that include them name TARGET in
# add_dependencies.
function(spokeshave_tablegen target source output)
  set(_source "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  set(_output "${CMAKE_CURRENT_BINARY_DIR}/${output}")
  file(GLOB _tds "${CMAKE_CURRENT_SOURCE_DIR}/*.td")
  add_custom_command(OUTPUT "${_output}"
    COMMAND "${SPOKESHAVE_MLIR_TBLGEN}" ${ARGN}
            -I "${SPOKESHAVE_LLVM_PREFIX}/include" -I "${PROJECT_SOURCE_DIR}"
            --write-if-changed "${_source}" -o "${_output}"
    DEPENDS ${_tds}
    COMMENT "tablegen ${output}" VERBATIM)
  if(NOT TARGET ${target})
    add_custom_target(${target})
  endif()
  string(MAKE_C_IDENTIFIER "${target}_${output}" _id)
  add_custom_target(${_id} DEPENDS "${_output}")
  add_dependencies(${target} ${_id})
endfunction()

# spokeshave_unit_test(NAME SOURCES ... [DEPENDS ...])
# A gtest program that stands beside the code it tests.
function(spokeshave_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT SPOKESHAVE_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE spokeshave_options ${ARG_DEPENDS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
