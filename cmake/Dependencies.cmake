# LLVM and MLIR 19 come from Debian's packages and are linked as their two
# shared libraries. The static MLIR targets of MLIRConfig.cmake are not used.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(Threads REQUIRED)

set(SPOKESHAVE_LLVM_PREFIX "${LLVM_INSTALL_PREFIX}")
find_library(SPOKESHAVE_MLIR_LIBRARY MLIR HINTS "${SPOKESHAVE_LLVM_PREFIX}/lib" NO_DEFAULT_PATH REQUIRED)
find_program(SPOKESHAVE_MLIR_TBLGEN mlir-tblgen HINTS "${SPOKESHAVE_LLVM_PREFIX}/bin" NO_DEFAULT_PATH REQUIRED)

add_library(spokeshave_llvm INTERFACE)
target_include_directories(spokeshave_llvm SYSTEM INTERFACE "${SPOKESHAVE_LLVM_PREFIX}/include")
target_link_libraries(spokeshave_llvm INTERFACE "${SPOKESHAVE_MLIR_LIBRARY}" LLVM Threads::Threads)
