# tests/<layer>/*_test.cc become one executable a layer, each test case one ctest entry.
find_package(doctest REQUIRED)
include(doctest)

add_library(weir_test_main STATIC ${CMAKE_SOURCE_DIR}/tests/main.cc)
target_link_libraries(weir_test_main PUBLIC weir_options doctest::doctest fmt::fmt)
# Tests are built more often than they run, and wait more than they compute.
add_library(weir_test_options INTERFACE)
if(NOT WEIR_SANITIZE)
  # At -O1 g++ 12 takes a string's short buffer for all that it can hold.
  target_compile_options(weir_test_options INTERFACE -O1 -Wno-array-bounds -Wno-stringop-overflow)
endif()
target_link_libraries(weir_test_main PUBLIC weir_test_options)
weir_precompile(weir_test_main ALSO <doctest/doctest.h>)

function(weir_tests name)
  cmake_parse_arguments(ARG "ALONE" "TIMEOUT;LABEL" "LINK;WITHOUT;READS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cc)
  if(NOT ARG_LABEL)
    set(ARG_LABEL ${name})
  endif()
  if(ARG_WITHOUT)
    list(REMOVE_ITEM sources ${ARG_WITHOUT})
  endif()
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name}_test PRIVATE weir_test_main ${ARG_LINK})
  target_compile_definitions(${name}_test PRIVATE WEIR_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    WEIR_BINARY="$<TARGET_FILE:weir>")
  if(ARG_READS)
    weir_precompile(${name}_test ALSO <doctest/doctest.h> ${ARG_READS})
  else()
    weir_precompile(${name}_test AS weir_test_main)
  endif()
  doctest_discover_tests(${name}_test TEST_PREFIX "${name}: "
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABEL} RUN_SERIAL ${ARG_ALONE})
endfunction()

# What end-to-end tests share: peers, scenes, a whole weir.
file(GLOB stage CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/e2e/*.cc)
list(FILTER stage EXCLUDE REGEX "_test\\.cc$")
add_library(weir_stage STATIC ${stage})
target_include_directories(weir_stage PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(weir_stage PUBLIC weir_options doctest::doctest weir_app
  PRIVATE weir_test_options)
weir_precompile(weir_stage AS weir_test_main)
target_compile_definitions(weir_stage PRIVATE WEIR_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  WEIR_BINARY="$<TARGET_FILE:weir>")

weir_tests(core TIMEOUT 120 LINK weir_core)
weir_tests(net TIMEOUT 120 LINK weir_net)
weir_tests(upstream TIMEOUT 120 LINK weir_upstream)
weir_tests(simulation TIMEOUT 120 LINK weir_upstream)
weir_tests(proxy TIMEOUT 120 LINK weir_proxy)
weir_tests(config TIMEOUT 120 LINK weir_config)
weir_tests(admin TIMEOUT 120 LINK weir_admin nlohmann_json::nlohmann_json READS <nlohmann/json.hpp>)
weir_tests(app TIMEOUT 120 LINK weir_app)
weir_tests(ctl TIMEOUT 120 LINK weir_ctl READS <nlohmann/json.hpp>)
target_compile_definitions(ctl_test PRIVATE WEIRCTL_BINARY="$<TARGET_FILE:weirctl>")
add_dependencies(ctl_test weirctl)
weir_tests(e2e TIMEOUT 120 LINK weir_stage WITHOUT ${stage})
add_dependencies(e2e_test weir)
weir_tests(upgrade TIMEOUT 180 LINK weir_stage)
add_dependencies(upgrade_test weir)
# Half a minute of load: with the real servers rather than with the quick ones.
weir_tests(proof TIMEOUT 300 LABEL real LINK weir_stage)
add_dependencies(proof_test weir)
# About load itself, so nothing else runs beside it.
weir_tests(incident TIMEOUT 120 ALONE LINK weir_stage)

add_test(NAME layers COMMAND ${CMAKE_SOURCE_DIR}/scripts/check_layers)
