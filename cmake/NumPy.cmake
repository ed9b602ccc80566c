# Sets `variable` to a Python that has NumPy: the one that CMake found, or that of the
# system. If neither has it, tests that need it are skipped.

function(pathways_find_numpy variable)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(${variable} ${Python3_EXECUTABLE} PARENT_SCOPE)
  foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE missing
                    OUTPUT_QUIET ERROR_QUIET)
    if(missing EQUAL 0)
      set(${variable} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
