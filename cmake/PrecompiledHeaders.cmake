# What most files of a part include is compiled once for each part. Only other
# people's headers: ours change. CMAKE_DISABLE_PRECOMPILE_HEADERS turns it off, as
# the presets dev and gcc do, so that each file still says what it needs.

# pathways_all_targets(FOLDER RESULT): those of a folder and of the ones that it adds.
function(pathways_all_targets folder result)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${below})
    pathways_all_targets(${subfolder} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# pathways_links(TARGET LIBRARY RESULT): whether TARGET links LIBRARY, directly or by
# targets of this project.
function(pathways_links target library result)
  set(work ${target})
  set(seen)
  set(${result} FALSE PARENT_SCOPE)
  while(work)
    list(POP_FRONT work next)
    get_target_property(links ${next} LINK_LIBRARIES)
    foreach(link ${links})
      if(link STREQUAL library)
        set(${result} TRUE PARENT_SCOPE)
        return()
      endif()
      if(TARGET "${link}" AND NOT link IN_LIST seen)
        get_target_property(imported ${link} IMPORTED)
        list(APPEND seen ${link})
        if(NOT imported)
          list(APPEND work ${link})
        endif()
      endif()
    endforeach()
  endwhile()
endfunction()

# pathways_precompile(FOLDER TYPE OWNER LIBRARY HEADERS...): all targets of one type in
# a folder use what OWNER, one of them, compiles, if they have its options. One type:
# they are all made for programs or all for libraries. Inline functions of headers are
# compiled into each target, with the symbols that they use, so a target uses headers of
# LIBRARY only if it links that. LIBRARY is empty where all targets link what they need.
function(pathways_precompile folder type owner library)
  target_precompile_headers(${owner} PRIVATE ${ARGN})
  get_target_property(options ${owner} COMPILE_OPTIONS)
  pathways_all_targets(${PROJECT_SOURCE_DIR} targets)
  list(REMOVE_ITEM targets ${owner})
  foreach(target ${targets})
    get_target_property(target_folder ${target} SOURCE_DIR)
    get_target_property(target_type ${target} TYPE)
    get_target_property(target_options ${target} COMPILE_OPTIONS)
    if(target_type STREQUAL type AND "${target_options}" STREQUAL "${options}" AND
       target_folder MATCHES "^${PROJECT_SOURCE_DIR}/${folder}/")
      set(links TRUE)
      if(library)
        pathways_links(${target} ${library} links)
      endif()
      if(links)
        target_precompile_headers(${target} REUSE_FROM ${owner})
      endif()
    endif()
  endforeach()
endfunction()

set(runtime_headers
  <algorithm> <functional> <map> <memory> <optional> <string> <vector>
  <absl/status/statusor.h> <absl/strings/str_cat.h> <google/protobuf/arena.h>
  <google/protobuf/generated_message_reflection.h>
  <google/protobuf/generated_message_util.h> <google/protobuf/message.h>
  <google/protobuf/repeated_field.h> <google/protobuf/unknown_field_set.h>)
set(compiler_headers
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/IR/ImplicitLocOpBuilder.h>
  <mlir/Pass/Pass.h>)
set(test_headers <gmock/gmock.h> <gtest/gtest.h>)

pathways_precompile(runtime STATIC_LIBRARY pathways_base "" ${runtime_headers})
if(PATHWAYS_COMPILER)
  pathways_precompile(lib STATIC_LIBRARY PathwaysSupport MLIR ${compiler_headers})
endif()
if(PATHWAYS_TESTS)
  pathways_precompile(unittests/runtime EXECUTABLE base_test ""
    ${runtime_headers} ${test_headers})
  if(PATHWAYS_COMPILER)
    pathways_precompile(unittests/lib EXECUTABLE analysis_test MLIR
      ${compiler_headers} ${test_headers})
  endif()
endif()
