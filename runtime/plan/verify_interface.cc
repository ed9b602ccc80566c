//===- verify_interface.cc - Checks of arguments and results --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {
namespace {

constexpr int kInterface = 8;

// Returns what is wrong with the check of `result`, or "".
std::string WrongExpectation(const Context& context,
                             const proto::Result& result) {
  const proto::Plan& plan = context.plan;
  const proto::Expectation& expect = result.expect();
  const proto::Result& expected =
      plan.interface().results(static_cast<int>(expect.result()));
  const auto layout_of = [&](const proto::Result& of) -> const proto::Layout& {
    const uint32_t buffer = context.action(of.action()).operands(0);
    return plan.layouts(
        static_cast<int>(plan.buffers(static_cast<int>(buffer)).layout()));
  };
  const proto::Layout &got = layout_of(result), &want = layout_of(expected);
  if (expected.has_expect()) return ", which is checked itself";
  if (expected.stepped() != result.stepped())
    return ", but only one of the two is stepped";
  if (got.element() != want.element() ||
      !std::equal(got.shape().begin(), got.shape().end(), want.shape().begin(),
                  want.shape().end()))
    return ", which has another shape or element type";
  const bool is_float =
      got.element() == proto::F16 || got.element() == proto::BF16 ||
      got.element() == proto::F32 || got.element() == proto::F64;
  if (expect.kind() != proto::Expectation::EQ && !is_float)
    return ", but a check other than eq is for floats";
  const bool has_ulp = expect.min_ulp() != 0 || expect.max_ulp() != 0;
  if ((has_ulp && expect.kind() != proto::Expectation::CLOSE) ||
      expect.min_ulp() > expect.max_ulp())
    return absl::StrCat(" within ", expect.min_ulp(), " to ", expect.max_ulp(),
                        " units in the last place");
  const double tolerance = expect.tolerance();
  if (!std::isfinite(tolerance) || tolerance < 0 ||
      (tolerance > 0 && expect.kind() != proto::Expectation::ALMOST_EQ))
    return absl::StrCat(" within a tolerance of ", tolerance);
  return "";
}

// Returns what is wrong with the constant value of `argument`, or "".
std::string WrongConstant(const Context& context,
                          const proto::Argument& argument) {
  const proto::Plan& plan = context.plan;
  const proto::Constant& constant = argument.constant();
  if (argument.carried() || argument.stepped())
    return absl::StrCat(" has a constant value, but is ",
                        argument.carried() ? "carried" : "stepped");
  const uint32_t buffer = context.action(argument.action()).results(0);
  const proto::Layout& layout = plan.layouts(
      static_cast<int>(plan.buffers(static_cast<int>(buffer)).layout()));
  if (layout.partial_axes_size() != 0)
    return " has a constant value, but is partial";
  auto bytes = static_cast<uint64_t>(elementBytes(layout.element()));
  for (int64_t extent : layout.shape()) bytes *= extent;
  if (constant.blob_bytes() != bytes)
    return absl::StrCat(" has a constant value of ", constant.blob_bytes(),
                        " bytes, but takes ", bytes);
  if (constant.blob_offset() % kBlobAlignment != 0)
    return absl::StrCat(" has a constant value at ", constant.blob_offset(),
                        " in the blobs, not a multiple of ", kBlobAlignment);
  if (constant.blob_offset() > context.blob_bytes ||
      bytes > context.blob_bytes - constant.blob_offset())
    return absl::StrCat(" has a constant value of ", bytes, " bytes from ",
                        constant.blob_offset(), ", but the blobs have ",
                        context.blob_bytes);
  if (constant.sha256().size() != sizeof(PlanHash::bytes))
    return absl::StrCat(" has a constant value with a hash of ",
                        constant.sha256().size(), " bytes, expected ",
                        sizeof(PlanHash::bytes));
  return "";
}

}  // namespace

void CheckInterface(Context* context) {
  const proto::Plan& plan = context->plan;
  const proto::Interface& interface = plan.interface();
  // Checks both directions, so that entries and actions match one to one.
  auto check = [&](const auto& table, Subject::Table kind,
                   proto::ActionKind action_kind, absl::string_view what) {
    for (int i = 0; i < table.size() && !context->full(); ++i) {
      const proto::Action& action = context->action(table[i].action());
      if (action.kind() == action_kind &&
          action.interface() == static_cast<uint32_t>(i))
        continue;
      context
          ->Add(
              kInterface, kind, i, what, " ", Quoted(table[i].name()),
              " names ", context->ActionText(table[i].action()),
              action.kind() == action_kind
                  ? absl::StrCat(", which belongs to ", what, " ",
                                 Quoted(table[action.interface()].name()))
                  : absl::StrCat(", expected a ", ActionKindName(action_kind)))
          .notes.push_back(
              {{Subject::kAction, table[i].action()}, "the action is here"});
    }
    for (int a = 0; a < plan.actions_size() && !context->full(); ++a) {
      const proto::Action& action = plan.actions(a);
      if (action.kind() != action_kind) continue;
      const auto& entry = table[action.interface()];
      if (entry.action() == static_cast<uint32_t>(a)) continue;
      context
          ->Add(kInterface, Subject::kAction, a, context->ActionText(a),
                " is for ", what, " ", Quoted(entry.name()),
                ", whose action is ", context->ActionText(entry.action()))
          .notes.push_back({{kind, action.interface()},
                            absl::StrCat("the ", what, " is here")});
    }
  };
  check(interface.arguments(), Subject::kArgument, proto::FEED, "argument");
  check(interface.results(), Subject::kResult, proto::FETCH, "result");
  if (!context->issues.empty()) return;

  for (int i = 0; i < interface.results_size() && !context->full(); ++i) {
    const proto::Result& result = interface.results(i);
    if (!result.has_expect()) continue;
    const std::string wrong = WrongExpectation(*context, result);
    if (wrong.empty()) continue;
    const uint32_t expected = result.expect().result();
    const std::string name =
        Quoted(interface.results(static_cast<int>(expected)).name());
    context
        ->Add(kInterface, Subject::kResult, i, "result ", Quoted(result.name()),
              " expects result ", name, wrong)
        .notes.push_back({{Subject::kResult, expected},
                          absl::StrCat("result ", name, " is here")});
  }

  for (int i = 0; i < interface.arguments_size() && !context->full(); ++i) {
    const proto::Argument& argument = interface.arguments(i);
    const proto::Action& feed = context->action(argument.action());
    std::string name = absl::StrCat("argument ", Quoted(argument.name()));
    if (argument.has_constant()) {
      const std::string wrong = WrongConstant(*context, argument);
      if (!wrong.empty())
        context->Add(kInterface, Subject::kArgument, i, name, wrong);
    }
    if (!argument.carried()) {
      if (feed.operands_size() != 0)
        context->Add(kInterface, Subject::kArgument, i, name,
                     " is not carried, but ",
                     context->ActionText(argument.action()), " reads ",
                     context->BufferText(feed.operands(0)));
      if (argument.from() != 0)
        context->Add(kInterface, Subject::kArgument, i, name,
                     " is not carried, but names result ", argument.from());
      continue;
    }
    const proto::Result& result =
        interface.results(static_cast<int>(argument.from()));
    std::string from = absl::StrCat("result ", Quoted(result.name()));
    auto add = [&](auto&&... parts) {
      context->Add(kInterface, Subject::kArgument, i, name, parts...).notes = {
          {{Subject::kResult, argument.from()}, from + " is here"}};
    };
    if (argument.stepped()) add(" is both carried and stepped");
    uint32_t source = context->action(result.action()).operands(0);
    if (feed.operands_size() != 1 || feed.operands(0) != source) {
      add(" is carried from ", from, " in ", context->BufferText(source), ", ",
          context->ActionText(argument.action()), " reads ",
          feed.operands_size() == 0 ? "nothing"
                                    : context->BufferText(feed.operands(0)));
      continue;
    }
    const proto::Buffer& a = context->buffer(source);
    const proto::Buffer& b = context->buffer(feed.results(0));
    const proto::Layout& la = plan.layouts(static_cast<int>(a.layout()));
    const proto::Layout& lb = plan.layouts(static_cast<int>(b.layout()));
    if (context->layouts[a.layout()] != context->layouts[b.layout()] ||
        la.element() != lb.element())
      add(" in ", context->BufferText(feed.results(0)), " has layout ",
          b.layout(), ", it is carried from ", from, " in ",
          context->BufferText(source), " of layout ", a.layout(),
          ", which is not equal");
  }
}

}  // namespace pathways::verify_internal
