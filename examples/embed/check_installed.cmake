# Installs the tree at BUILD into a folder of WORK, builds the project at SOURCE
# against it alone, and runs the result.
file(REMOVE_RECURSE ${WORK})
macro(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGN}\n${output}")
  endif()
endmacro()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_EXE_LINKER_FLAGS=${LINKER_FLAGS}
    -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/embed)
if(NOT output STREQUAL "2 4 6 8 10 12 14 16 \n")
  message(FATAL_ERROR "embed printed: ${output}")
endif()
