# What scripts/bench measures with. No weir code in it: it must not share a mistake with weir.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/bench/*.cc)
add_executable(weir-bench-load ${bench_sources})
target_link_libraries(weir-bench-load PRIVATE weir_options fmt::fmt)

# What scripts/bench core measures: weir's core alone, with the allocations counted as its tests do.
file(GLOB bench_core_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/bench/core/*.cc)
add_executable(weir-bench-core ${bench_core_sources} ${CMAKE_SOURCE_DIR}/tools/bench/arguments.cc
  ${CMAKE_SOURCE_DIR}/tests/core/allocations.cc)
target_include_directories(weir-bench-core PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(weir-bench-core PRIVATE weir_core Threads::Threads)
