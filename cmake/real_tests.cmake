# Tests with real servers and clients, and the soak. Each makes its own folders and ports, so that
# they may run beside each other. Debian's own Python: only it sees Debian's packages, gRPC among them.
set(WEIR_PYTHON /usr/bin/python3)

function(weir_real_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "" ${ARGN})
  add_test(NAME "real: ${name}"
    COMMAND ${WEIR_PYTHON} ${CMAKE_SOURCE_DIR}/tests/real/${name}_test.py)
  set_tests_properties("real: ${name}" PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS real COST 50
    ENVIRONMENT "WEIR_BINARY=$<TARGET_FILE:weir>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

# Timeouts are some ten times what each takes on a quiet machine.
if(NOT WEIR_SANITIZE)
  weir_real_test(postgres TIMEOUT 300)
  weir_real_test(redis TIMEOUT 180)
  weir_real_test(mariadb TIMEOUT 180)
  weir_real_test(mariadb_health TIMEOUT 180)
  weir_real_test(grpc TIMEOUT 180)
  weir_real_test(control TIMEOUT 300)
  weir_real_test(dashboard TIMEOUT 300)
endif()

# A sanitizer keeps freed memory for a while: its soak is about errors, not about memory.
if(WEIR_SANITIZE)
  set(soak_arguments 20 --no-rss)
else()
  set(soak_arguments 60)
endif()
add_test(NAME soak COMMAND ${WEIR_PYTHON} ${CMAKE_SOURCE_DIR}/scripts/soak ${soak_arguments})
# The longest of all, so the first to be started; its last sessions and its settling add to its time.
set_tests_properties(soak PROPERTIES TIMEOUT 420 LABELS soak COST 100
  ENVIRONMENT "WEIR_BINARY=$<TARGET_FILE:weir>;PYTHONDONTWRITEBYTECODE=1")
