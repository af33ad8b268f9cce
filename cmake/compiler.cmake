# What everything is compiled with. `guard_compiled` carries the flags of our own code; generated
# code and the test probes go without our warnings.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# "dev" is the everyday build: fast to compile, quick enough to run, assertions on.
set(CMAKE_C_FLAGS_DEV "-O1 -g")
set(CMAKE_CXX_FLAGS_DEV "-O1 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Dev CACHE STRING "Dev or Release" FORCE)
endif()

option(GUARD_WERROR "Warnings are errors" ON)
option(GUARD_STATIC "Link guardctl, guard-launcher and xenarch-guard statically" ON)
set(GUARD_SANITIZE "" CACHE STRING "Sanitizers of the whole build, as -fsanitize= takes them")
option(GUARD_FUZZ "Build the fuzz targets (clang)" OFF)
option(GUARD_COVERAGE "Count what runs (gcov)" OFF)

# The static binaries are linked with --gc-sections. Paths in binaries are those of the repository,
# not of the machine that built them.
add_compile_options(
  -ffunction-sections -fdata-sections
  -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
  $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>
  $<$<CONFIG:Release>:-fstack-protector-strong>
  $<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>)

if(GUARD_SANITIZE)
  add_compile_options(-fsanitize=${GUARD_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GUARD_SANITIZE})
  if(GUARD_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Its runtime as a library refuses to start after a preloaded one, as in a run of ours.
    add_link_options(-static-libasan)
  endif()
  if(GUARD_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Asio puts fences around handlers, which TSan does not follow; the mutex of the queue that a
    # handler goes through orders what the handlers share.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
  set(GUARD_STATIC OFF)  # the sanitizers' runtimes are shared or want to be found by dlsym
endif()

if(GUARD_COVERAGE)
  add_compile_options(-O0 --coverage -fprofile-update=atomic)
  add_link_options(--coverage)
  set(GUARD_STATIC OFF)  # gcov's runtime writes its files at exit, through the shared libc
endif()

add_library(guard_compiled INTERFACE)
target_include_directories(guard_compiled INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(guard_compiled INTERFACE
  -Wall -Wextra -Wconversion
  $<$<BOOL:${GUARD_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 sees overlap in std::string's operator+ where there is none (gcc bug 105651), and loses
  # track of what is initialized once a sanitizer has instrumented it.
  target_compile_options(guard_compiled INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  if(GUARD_SANITIZE)
    target_compile_options(guard_compiled INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # CCACHE_BASEDIR and no directory in the hash: two checkouts share what they compile.
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
        env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
    endif()
  endforeach()
endif()
