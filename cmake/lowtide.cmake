# SPDX-License-Identifier: Apache-2.0
# The flags every target shares, and the one function that makes a module.

add_library(lowtide_flags INTERFACE)
target_compile_features(lowtide_flags INTERFACE cxx_std_20)
target_compile_options(lowtide_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
target_include_directories(lowtide_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(LOWTIDE_SANITIZE)
  set(flag -fsanitize=${LOWTIDE_SANITIZE})
  target_compile_options(lowtide_flags INTERFACE ${flag} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(lowtide_flags INTERFACE ${flag})
endif()
if(LOWTIDE_BUILD_TESTS)
  include(GoogleTest)
  find_package(GTest REQUIRED)
endif()
if(LOWTIDE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

# lowtide_module(<name> [DEPS <module>...] [LINKS <target>...] [PROGRAM <name>])
#
# A module is a folder, and the ending of a file's name says what the file is:
# *_test.cc is a test, *_bench.cc a benchmark, main.cc a program, any other *.cc
# the module itself. Nothing is listed by hand, so nothing can be left out.
# tools/check_layers.py reads the DEPS of these lines too.
function(lowtide_module name)
  cmake_parse_arguments(arg "" "PROGRAM" "DEPS;LINKS" ${ARGN})
  string(REPLACE "/" "_" target lowtide_${name})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  file(GLOB benches CONFIGURE_DEPENDS *_bench.cc)
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/main)\\.cc$")

  set(scope PUBLIC)
  if(sources)
    add_library(${target} STATIC ${sources})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  list(TRANSFORM arg_DEPS REPLACE "/" "_")
  list(TRANSFORM arg_DEPS PREPEND lowtide_)
  target_link_libraries(${target} ${scope} lowtide_flags ${arg_DEPS} ${arg_LINKS})

  if(arg_PROGRAM)
    add_executable(${arg_PROGRAM} main.cc)
    target_link_libraries(${arg_PROGRAM} PRIVATE ${target})
  endif()
  if(LOWTIDE_BUILD_TESTS AND tests)
    add_executable(${target}_test ${tests})
    target_link_libraries(${target}_test PRIVATE ${target} GTest::gtest_main)
    gtest_discover_tests(${target}_test TEST_PREFIX ${name}/)
  endif()
  if(LOWTIDE_BUILD_BENCH AND benches)
    add_executable(${target}_bench ${benches})
    target_link_libraries(${target}_bench PRIVATE ${target} benchmark::benchmark_main)
  endif()
endfunction()
