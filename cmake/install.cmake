# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where:
#
#     bin/lowtide                       the program
#     lib/lowtide/liblowtide_probe.so   what it loads into others; never linked, so not in lib/
#     include/lowtide/                  the public headers, and lib/cmake + lib/pkgconfig to find them
#     share/man/man1, share/bash-completion, share/zsh, share/fish
#
# The program finds the probe relative to itself, so the whole tree may be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS lowtide_bin RUNTIME)
install(TARGETS lowtide_probe LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lowtide)

add_library(lowtide_headers INTERFACE)
set_target_properties(lowtide_headers PROPERTIES EXPORT_NAME lowtide)
target_compile_features(lowtide_headers INTERFACE cxx_std_20)
target_include_directories(lowtide_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lowtide TYPE INCLUDE FILES_MATCHING PATTERN *.h)
install(TARGETS lowtide_headers EXPORT lowtide)
install(EXPORT lowtide NAMESPACE lowtide:: FILE lowtide-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lowtide)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/lowtide-config.cmake.in ${PROJECT_BINARY_DIR}/lowtide-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lowtide)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/lowtide-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/lowtide-config.cmake
  ${PROJECT_BINARY_DIR}/lowtide-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lowtide)
configure_file(${CMAKE_CURRENT_LIST_DIR}/lowtide.pc.in ${PROJECT_BINARY_DIR}/lowtide.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lowtide.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# The completions of three shells, from the one list of commands and options.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_Interpreter_FOUND)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  add_custom_command(
    OUTPUT ${completions}/lowtide.bash ${completions}/_lowtide ${completions}/lowtide.fish
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/completions.py ${completions}
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/completions.py)
  add_custom_target(lowtide_completions ALL DEPENDS ${completions}/lowtide.bash)
  install(FILES ${completions}/lowtide.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lowtide)
  install(FILES ${completions}/_lowtide DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completions}/lowtide.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

if(LOWTIDE_BUILD_TESTS)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_test(NAME house/layers COMMAND Python3::Interpreter
    ${PROJECT_SOURCE_DIR}/tools/check_layers.py ${PROJECT_SOURCE_DIR})
  add_test(NAME house/completions COMMAND Python3::Interpreter
    ${PROJECT_SOURCE_DIR}/tools/completions.py --check $<TARGET_FILE:lowtide_bin>)
endif()
