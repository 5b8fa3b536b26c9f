# What every target is compiled with, in one interface library.
add_library(weir_options INTERFACE)
target_include_directories(weir_options INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(weir_options INTERFACE WEIR_VERSION="${PROJECT_VERSION}")
target_compile_options(weir_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wswitch-enum -Wimplicit-fallthrough -Werror)

if(WEIR_SANITIZE STREQUAL "address")
  # Not vptr: to look at an object it opens a pipe, and calls it broken at the descriptor limit.
  set(flags -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
elseif(WEIR_SANITIZE STREQUAL "thread")
  set(flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(WEIR_SANITIZE)
  message(FATAL_ERROR "WEIR_SANITIZE is address, thread or empty, not ${WEIR_SANITIZE}")
endif()
if(WEIR_FUZZ)
  target_compile_options(weir_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(WEIR_SANITIZE)
  target_compile_options(weir_options INTERFACE ${flags})
  target_link_options(weir_options INTERFACE ${flags})
endif()
