# What scripts/bench measures with. No weir code in it: it must not share a mistake with weir.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/bench/*.cc)
add_executable(weir-bench-load ${bench_sources})
target_link_libraries(weir-bench-load PRIVATE weir_options fmt::fmt)
