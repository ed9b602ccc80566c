//===- execute_only.cpp - Code that uses Execute.h alone ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "execute_only.h"

#include "pathways/Execute.h"

std::string putAndGet() {
  if (pathways::Plan::parse("this is no plan"))
    return "a text that is no plan was taken for one";
  auto session = pathways::Session::open({.topology = "1x1x1"});
  if (!session)
    return session.error().message;
  const float values[] = {1, 2, 4};
  auto array = session->put(pathways::HostArray::of<float>(values));
  if (!array)
    return array.error().message;
  auto output = array->fetch();
  if (!output)
    return output.error().message;
  std::string text;
  for (float value : output->values<float>())
    text += std::to_string(static_cast<int>(value)) + " ";
  return text;
}
