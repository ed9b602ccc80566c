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
  const char *bytes = reinterpret_cast<const char *>(values);
  pathways::HostArray input{pathways::ElementType::kF32, {3}, {}};
  input.data.assign(bytes, bytes + sizeof values);
  auto array = session->put(input);
  if (!array)
    return array.error().message;
  auto output = array->get();
  if (!output)
    return output.error().message;
  std::string text;
  for (int64_t i = 0; i < output->num_elements(); ++i)
    text += std::to_string(static_cast<int>(
                reinterpret_cast<const float *>(output->data.data())[i])) +
            " ";
  return text;
}
