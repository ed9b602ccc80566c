# What `cmake --install` copies, and the package that find_package(Pathways)
# finds. Only the public headers are installed; the libraries behind them are
# linked but not seen.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(pathways_libraries
  pathways_base pathways_layout pathways_proto pathways_transport pathways_transport_testing pathways_socket_transport
  pathways_topology pathways_faults pathways_plan pathways_checkpoint
  pathways_protocol pathways_world pathways_trace pathways_store pathways_kernel_target pathways_kernel
  pathways_binding pathways_program pathways_device pathways_staging pathways_executor
  pathways_scheduler pathways_resources pathways_controller pathways_client pathways_cluster
  pathways_node)
install(TARGETS pw-node)
if(PATHWAYS_UCX)
  # Where programs look for it first.
  install(TARGETS pathways_ucx LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(PATHWAYS_COMPILER)
  list(APPEND pathways_libraries
    PathwaysSupport PathwaysDialect PathwaysPlanDialect PathwaysAnalysis PathwaysTransforms
    PathwaysShardy PathwaysStableHlo PathwaysImport PathwaysCodegen PathwaysLowering PathwaysPlanFile PathwaysExecute PathwaysCompile pathways_proto_shared pathways_c)
  install(TARGETS pw-opt pw-run pw-translate)
  # Nobody links it: libpathways.so opens it.
  install(TARGETS pathways_c_compile
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
  configure_file(cmake/pathways.pc.in ${PROJECT_BINARY_DIR}/pathways.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pathways.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

install(TARGETS ${pathways_libraries} EXPORT PathwaysTargets)
install(EXPORT PathwaysTargets NAMESPACE pathways::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pathways)
install(FILES include/pathways/Array.h include/pathways/CApi.h include/pathways/Compile.h include/pathways/EventQueue.h
              include/pathways/Executable.h include/pathways/Execute.h
              include/pathways/HostArray.h include/pathways/Options.h
              include/pathways/Pathways.h include/pathways/Plan.h include/pathways/PlanCosts.h
              include/pathways/ScheduleCosts.h
              include/pathways/PortInfo.h include/pathways/Result.h include/pathways/Session.h
              include/pathways/Statistics.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pathways)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/PathwaysConfig.cmake.in
  ${PROJECT_BINARY_DIR}/PathwaysConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pathways)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PathwaysConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PathwaysConfig.cmake
              ${PROJECT_BINARY_DIR}/PathwaysConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pathways)
