# Bodies to segments to object code. A library of its own: tests of code
# generation need nothing of the plan.
add_library(PathwaysKernels
  CodeCache.cpp
  KernelBuffers.cpp
  KernelChecks.cpp
  KernelCodegen.cpp
  KernelFusion.cpp
  KernelMath.cpp
  KernelMatmul.cpp
  KernelNarrow.cpp
  KernelObject.cpp
  KernelPrepare.cpp
  KernelSegments.cpp
  KernelTranspose.cpp)
target_link_libraries(PathwaysKernels
  PUBLIC PathwaysDialect pathways::proto MLIR LLVM
  PRIVATE pathways::kernel_target)
