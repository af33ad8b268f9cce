# A folder is a module and a module is a target.

# guard_library(NAME FOLDER [dependency...])
# Every *.cc of FOLDER, but its main.cc and its subfolders, as a static library. A folder without
# any is an interface, so a module can be declared before it is written.
function(guard_library name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC guard_compiled ${ARGN})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE guard_compiled ${ARGN})
  endif()
endfunction()

# guard_executable(NAME FOLDER [STATIC | STATIC_PIE] [INSTALL_TO dir] [ALIASES alias...]
#                  LIBS dependency...)
# FOLDER's main.cc as an executable in bin/, once there is one. STATIC and STATIC_PIE hold unless
# GUARD_STATIC is off. Aliases are symbolic links beside the executable. INSTALL_TO: instead of bin.
function(guard_executable name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "STATIC;STATIC_PIE" "INSTALL_TO" "ALIASES;LIBS")
  file(GLOB main CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/main.cc)
  if(NOT main)
    return()
  endif()
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE guard_compiled ${arg_LIBS})
  if(GUARD_STATIC AND arg_STATIC)
    target_link_options(${name} PRIVATE -static -Wl,--gc-sections)
  elseif(GUARD_STATIC AND arg_STATIC_PIE)
    target_link_options(${name} PRIVATE -static-pie -Wl,--gc-sections)
  endif()
  if(NOT arg_INSTALL_TO)
    set(arg_INSTALL_TO bin)
  endif()
  install(TARGETS ${name} DESTINATION ${arg_INSTALL_TO})
  foreach(alias IN LISTS arg_ALIASES)
    install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${alias} DESTINATION ${arg_INSTALL_TO})
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${name} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${alias})
  endforeach()
endfunction()
