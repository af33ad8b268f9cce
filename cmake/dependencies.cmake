# The libraries we link, each as one target. All are Debian 12's own packages.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers only: Asio
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(SECCOMP REQUIRED libseccomp)
pkg_check_modules(GRPC_UNSECURE REQUIRED grpc++_unsecure grpc_unsecure)
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

# libseccomp: archive in the static binaries, which makes it their only dependency.
add_library(guard_libseccomp INTERFACE)
target_link_libraries(guard_libseccomp INTERFACE seccomp)

# fmt is header-only everywhere, so that one module can serve static and shared executables.
add_library(guard_fmt INTERFACE)
target_link_libraries(guard_fmt INTERFACE fmt::fmt-header-only)

add_library(guard_json INTERFACE)
target_link_libraries(guard_json INTERFACE nlohmann_json::nlohmann_json)

add_library(guard_cli11 INTERFACE)
target_link_libraries(guard_cli11 INTERFACE CLI11::CLI11)

# gRPC for guardd and the tests: shared. gRPC's package for CMake wants every library that it was
# ever built with; naming what we link is shorter.
add_library(guard_grpc_shared INTERFACE)
target_link_libraries(guard_grpc_shared INTERFACE
  grpc++_reflection grpc++ grpc gpr protobuf absl_synchronization Threads::Threads)

# gRPC for guardctl: the archives without TLS (the socket file's mode is what protects it). A fully
# static, non-PIE guardctl starts in a sixth of the time that the shared one takes.
if(GUARD_STATIC)
  set(abseil ${GRPC_UNSECURE_STATIC_LIBRARIES})
  list(FILTER abseil INCLUDE REGEX "^absl_")
  list(REMOVE_DUPLICATES abseil)
  add_library(guard_grpc_static INTERFACE)
  target_link_libraries(guard_grpc_static INTERFACE
    -Wl,--start-group
    grpc++_unsecure grpc_unsecure gpr upb address_sorting re2 cares protobuf z ${abseil}
    -Wl,--end-group
    Threads::Threads dl rt m)
else()
  add_library(guard_grpc_static ALIAS guard_grpc_shared)
endif()
