# The standard headers that most files read, and the two libraries that most files use, are read once
# for all of weir and once for all of its tests. That takes a third off a build. The preset `asan`
# does without, so that a file which forgets to include what it uses is found.
option(WEIR_PRECOMPILE "Read common headers once" ON)

set(weir_common_headers <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <filesystem>
  <functional> <map> <memory> <optional> <set> <string> <string_view> <utility> <vector>
  <fmt/format.h>)

if(WEIR_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)  # for ccache
elseif(WEIR_PRECOMPILE)
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # for ccache
endif()

# One target reads them, others use what it read: they must be compiled with the same options.
function(weir_precompile target)
  cmake_parse_arguments(ARG "" "AS" "ALSO" ${ARGN})
  if(NOT WEIR_PRECOMPILE)
    return()
  endif()
  if(ARG_AS)
    target_precompile_headers(${target} REUSE_FROM ${ARG_AS})
  else()
    target_precompile_headers(${target} PRIVATE ${weir_common_headers} ${ARG_ALSO})
  endif()
endfunction()
