# The sanitizers' presets compile several sources of a target as one
# (CMAKE_UNITY_BUILD): mostly it is headers that take time, and the sources that they
# check are the same. Where two of a target have different things of one name, or
# other people's do, each is compiled alone, as everything is in the other presets.
set(clashing
  pathways_proto pathways_protocol pathways_plan pathways_client pathways_simulate pw-node
  client_test controller_test layout_test plan_test topology_test world_test)
foreach(target ${clashing})
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endforeach()
