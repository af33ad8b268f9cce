# Python tests and the C programs ("probes") that they run in and out of a sandbox.

set(as_user ${CMAKE_CURRENT_SOURCE_DIR}/support/as-user)

# guard_script_tests(FOLDER [SECONDS]): with SECONDS, each file's limit, they run with `ctest -C FOLDER` only.
function(guard_script_tests folder)
  set(seconds 300)
  set(chosen "")
  if(ARGC GREATER 1)
    set(seconds ${ARGV1})
    set(chosen CONFIGURATIONS ${folder})
  endif()
  math(EXPR seconds "${seconds} * ${GUARD_SLOW}")
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/test_*.py)
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    string(REGEX REPLACE "^test_" "" name ${stem})
    set(launcher ${as_user})
    set(labels ${folder})
    if(name MATCHES "^root_")
      set(launcher "")
      list(APPEND labels root)
    endif()
    add_test(NAME ${folder}.${name} ${chosen}
      COMMAND ${launcher} /usr/bin/python3 -B ${script} -v)
    set_tests_properties(${folder}.${name} PROPERTIES
      LABELS "${labels}"
      TIMEOUT ${seconds}
      SKIP_RETURN_CODE 77
      # Scripts run alone: attacks without a sandbox reach every process of the test user, and the
      # others count and time processes.
      RUN_SERIAL ON
      # The leak check traces its process, which a filtered one does not let happen.
      ENVIRONMENT "${GUARD_SANITIZER_OPTIONS};ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32;GUARD_SANITIZED=${GUARD_SANITIZE};GUARD_SLOW=${GUARD_SLOW};GUARD_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};GUARD_PROBE_DIR=${CMAKE_BINARY_DIR}/probes;GUARD_SOURCE_DIR=${CMAKE_SOURCE_DIR};PYTHONPATH=${CMAKE_SOURCE_DIR}/tests/support")
  endforeach()
endfunction()

guard_script_tests(integration)
guard_script_tests(escape)
guard_script_tests(lint)
guard_script_tests(support)
guard_script_tests(soak 1800)

file(GLOB probes CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/integration/probes/*.c ${CMAKE_CURRENT_SOURCE_DIR}/escape/probes/*.c)
foreach(probe IN LISTS probes)
  cmake_path(GET probe STEM name)
  add_executable(probe_${name} ${probe})
  target_compile_definitions(probe_${name} PRIVATE _GNU_SOURCE)
  # Without sanitizers in any build: their runtimes open files, map memory and trace by themselves.
  target_compile_options(probe_${name} PRIVATE -O1 -Wall -fno-sanitize=all)
  target_link_options(probe_${name} PRIVATE -fno-sanitize=all)
  target_link_libraries(probe_${name} PRIVATE pthread rt)
  set_target_properties(probe_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/probes)
endforeach()
