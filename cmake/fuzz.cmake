# Programs that libFuzzer feeds, for scripts/fuzz; only in the preset `fuzz`, which compiles weir
# itself with coverage counters.
function(weir_fuzz name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name}_fuzz ${CMAKE_SOURCE_DIR}/tools/fuzz/${name}_fuzz.cc)
  target_include_directories(${name}_fuzz PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name}_fuzz PRIVATE weir_options ${ARG_LINK})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()

weir_fuzz(admin LINK weir_admin nlohmann_json::nlohmann_json)
weir_fuzz(proxy_header LINK weir_core)
weir_fuzz(preamble LINK weir_core)
