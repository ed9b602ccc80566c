# Installs the tree at BUILD into a folder of WORK, builds the projects at SOURCE and
# C_SOURCE against it alone, the second with pkg-config too, and runs the results.
file(REMOVE_RECURSE ${WORK})
macro(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGN}\n${output}")
  endif()
endmacro()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
function(check_output program)
  run(${program})
  if(NOT output MATCHES "2 4 6 8 10 12 14 16 \n$")
    message(FATAL_ERROR "${program} printed: ${output}")
  endif()
endfunction()
function(check_project source build program)
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -G Ninja
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_EXE_LINKER_FLAGS=${LINKER_FLAGS}
      -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${build})
  check_output(${build}/${program})
endfunction()
check_project(${SOURCE} ${WORK}/build embed)
check_project(${C_SOURCE} ${WORK}/build_c embed_c)

file(GLOB_RECURSE package ${WORK}/prefix/pathways.pc)
cmake_path(GET package PARENT_PATH folder)
cmake_path(GET folder PARENT_PATH libraries)
set(ENV{PKG_CONFIG_PATH} ${folder})
run(sh -c "${C_COMPILER} -std=c11 -pedantic-errors ${C_SOURCE}/embed.c -o ${WORK}/embed_c \
           $(pkg-config --cflags --libs pathways) -Wl,-rpath,${libraries}")
check_output(${WORK}/embed_c)
