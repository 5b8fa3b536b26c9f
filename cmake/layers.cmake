# One target a layer, each linked only to what lies below it: an upward call does not link.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(CARES REQUIRED IMPORTED_TARGET libcares)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncurses)

function(weir_layer name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE;READS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(weir_${name} STATIC ${sources})
  target_link_libraries(weir_${name} PUBLIC weir_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  target_include_directories(weir_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  if(name STREQUAL "core" OR ARG_READS)
    weir_precompile(weir_${name} ALSO ${ARG_READS})
  else()
    weir_precompile(weir_${name} AS weir_core)
  endif()
endfunction()

weir_layer(core PUBLIC fmt::fmt)
weir_layer(net PUBLIC weir_core Threads::Threads PRIVATE PkgConfig::UV PkgConfig::CARES spdlog::spdlog)
weir_layer(upstream PUBLIC weir_net)
weir_layer(proxy PUBLIC weir_upstream)
weir_layer(config PUBLIC weir_core PRIVATE yaml-cpp)
weir_layer(admin PUBLIC weir_proxy weir_config
  PRIVATE PkgConfig::MICROHTTPD nlohmann_json::nlohmann_json READS <nlohmann/json.hpp>)
set(dashboard ${CMAKE_BINARY_DIR}/generated/dashboard.cc)
file(GLOB dashboard_parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/admin/dashboard/*)
add_custom_command(OUTPUT ${dashboard}
  COMMAND ${CMAKE_COMMAND} -DFROM=${CMAKE_SOURCE_DIR}/src/admin/dashboard -DTO=${dashboard}
    -P ${CMAKE_SOURCE_DIR}/cmake/dashboard.cmake
  DEPENDS ${dashboard_parts} ${CMAKE_SOURCE_DIR}/cmake/dashboard.cmake)
target_sources(weir_admin PRIVATE ${dashboard})
weir_layer(app PUBLIC weir_admin PRIVATE PkgConfig::SYSTEMD nlohmann_json::nlohmann_json)

add_executable(weir ${CMAKE_SOURCE_DIR}/src/app/main.cc)
target_include_directories(weir PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(weir PRIVATE weir_app CLI11::CLI11)

# The operator's tool: no layer of the balancer, and linked to none. It speaks HTTP to it.
weir_layer(ctl PUBLIC fmt::fmt nlohmann_json::nlohmann_json
  PRIVATE PkgConfig::CURL PkgConfig::NCURSES CLI11::CLI11 READS <nlohmann/json.hpp>)
if(NOT WEIR_SANITIZE)
  # It waits for weir and for people, and CLI11 costs -O2 a minute.
  target_compile_options(weir_ctl PRIVATE -O1)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/app/main.cc PROPERTIES COMPILE_OPTIONS -O1)
endif()
add_executable(weirctl ${CMAKE_SOURCE_DIR}/src/ctl/main.cc)
target_include_directories(weirctl PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(weirctl PRIVATE weir_ctl PkgConfig::CURL)
