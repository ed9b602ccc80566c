//===- verify_actions.cc - Checks of actions by kind ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {
namespace {

constexpr int kActions = 7;

// Effect of a gang's steps so far on a buffer.
struct BufferState {
  bool operand = false;
  bool result = false;
  bool valid = false;    // holds a value that a step may read
  bool written = false;  // written by a step, or valid through an alias
};
using States = absl::flat_hash_map<uint32_t, BufferState>;

class ActionChecker {
 public:
  explicit ActionChecker(Context* context)
      : context_(*context), plan_(context->plan) {}

  void Run() {
    for (int i = 0; i < plan_.actions_size() && !context_.full(); ++i) {
      action_ = static_cast<uint32_t>(i);
      name_ = context_.ActionText(action_);
      CheckCommon();
      CheckGuard();
      switch (plan_.actions(i).kind()) {
        case proto::GANG:
          CheckGang();
          break;
        case proto::SEND:
          CheckCounts(1, action().has_guard() ? 2 : 1, 0);
          CheckSend();
          break;
        case proto::RECV:
          CheckCounts(0, 0, 1);
          CheckRecv();
          break;
        case proto::FEED:
          CheckCounts(0, 1, 1);
          break;
        default:
          CheckCounts(1, 1, 0);
          break;
      }
    }
    for (int i = 0; i < plan_.edges_size() && !context_.full(); ++i)
      CheckEdge(static_cast<uint32_t>(i));
  }

 private:
  const proto::Action& action() const { return context_.action(action_); }

  template <typename... Parts>
  PlanIssue& Add(const Parts&... parts) {
    return context_.Add(kActions, Subject::kAction, action_, name_, parts...);
  }

  // Checks that buffers are on the action's slice, results are named once, and
  // fields of other kinds of action are unset.
  void CheckCommon() {
    for (bool is_result : {false, true}) {
      for (uint32_t b : is_result ? action().results() : action().operands()) {
        uint32_t slice = context_.buffer(b).slice();
        if (slice == action().slice()) continue;
        Add(" on ", context_.SliceText(action().slice()),
            is_result ? " writes " : " reads ", context_.BufferText(b), " on ",
            context_.SliceText(slice))
            .notes.push_back(
                {{Subject::kBuffer, b}, context_.BufferText(b) + " is here"});
      }
    }
    absl::flat_hash_set<uint32_t> results;
    for (uint32_t b : action().results()) {
      if (!results.insert(b).second)
        Add(" has ", context_.BufferText(b), " twice among its results");
    }
    proto::ActionKind kind = action().kind();
    bool gang = kind == proto::GANG;
    bool runs = false;
    for (const proto::GangStep& step : action().steps()) runs |= step.has_run();
    if (!gang && action().steps_size() > 0)
      Add(" has ", action().steps_size(), " steps, but only a gang has steps");
    if (!gang && action().aliases_size() > 0)
      Add(" has ", action().aliases_size(),
          " aliases, but only a gang has aliases");
    if (!(gang && runs) && action().kernel() != 0)
      Add(" names kernel ", action().kernel(),
          ", but none of its steps runs a kernel");
    if (kind != proto::SEND && kind != proto::RECV && action().peer() != 0)
      Add(" names peer ", action().peer(),
          ", but only a send or recv has a peer");
    if (kind != proto::FEED && kind != proto::FETCH &&
        action().interface() != 0)
      Add(" names interface entry ", action().interface(),
          ", but only a feed or fetch has one");
  }

  // Checks that the guard is an operand with one i1 that all shards have.
  void CheckGuard() {
    if (!action().has_guard()) return;
    if (action().kind() != proto::GANG && action().kind() != proto::SEND) {
      Add(" has a guard, but only a gang or send has a guard");
      return;
    }
    const uint32_t b = action().guard().buffer();
    const std::string guard = context_.BufferText(b);
    const proto::Layout& layout =
        plan_.layouts(static_cast<int>(context_.buffer(b).layout()));
    if (layout.element() != proto::I1 || layout.shape_size() != 0 ||
        layout.partial_axes_size() != 0) {
      Add(" has ", guard, " of ",
          ShapeText({layout.shape().begin(), layout.shape().end()},
                    layout.element()),
          layout.partial_axes_size() != 0 ? " contributions" : "",
          " as its guard, expected one i1");
    }
    const auto& operands = action().operands();
    if (std::find(operands.begin(), operands.end(), b) == operands.end())
      Add(" has ", guard, " as its guard, which is not one of its operands");
    if (action().kind() == proto::SEND && operands.size() == 2 &&
        (operands[1] != b || operands[0] == b))
      Add(" sends ", context_.BufferText(operands[0]), " and reads ",
          context_.BufferText(operands[1]), ", expected its guard, ", guard);
  }

  void CheckCounts(int least_operands, int most_operands, int results) {
    int operands = action().operands_size();
    if (operands < least_operands || operands > most_operands)
      Add(" has ", operands, " operands, expected ",
          least_operands == most_operands ? "" : "at most ", most_operands);
    if (action().results_size() != results)
      Add(" has ", action().results_size(), " results, expected ", results);
  }

  bool CheckPeer(proto::ActionKind expected) {
    const proto::Action& peer = context_.action(action().peer());
    if (peer.kind() != expected) {
      Add(" has ", context_.ActionText(action().peer()),
          " as its peer, expected a ", ActionKindName(expected))
          .notes.push_back(
              {{Subject::kAction, action().peer()}, "the peer is here"});
      return false;
    }
    if (peer.peer() != action_) {
      Add(" has ", context_.ActionText(action().peer()),
          " as its peer, whose own peer is ", context_.ActionText(peer.peer()))
          .notes.push_back(
              {{Subject::kAction, action().peer()}, "the peer is here"});
      return false;
    }
    return true;
  }

  void CheckRecv() { CheckPeer(proto::SEND); }

  void CheckSend() {
    if (!CheckPeer(proto::RECV)) return;
    const proto::Action& recv = context_.action(action().peer());
    if (action().operands_size() != 1 || recv.results_size() != 1) return;
    const proto::Layout& source = plan_.layouts(
        static_cast<int>(context_.buffer(action().operands(0)).layout()));
    const proto::Layout& destination = plan_.layouts(
        static_cast<int>(context_.buffer(recv.results(0)).layout()));
    std::vector<int64_t> from(source.shape().begin(), source.shape().end());
    std::vector<int64_t> to(destination.shape().begin(),
                            destination.shape().end());
    if (from != to || source.element() != destination.element())
      Add(" sends ", ShapeText(from, source.element()), " from ",
          context_.BufferText(action().operands(0)), ", ",
          context_.ActionText(action().peer()), " receives ",
          ShapeText(to, destination.element()), " in ",
          context_.BufferText(recv.results(0)))
          .notes.push_back(
              {{Subject::kAction, action().peer()}, "the peer is here"});
    CheckContributions(action().operands(0), recv.results(0));
  }

  // Checks that partial values are only copied: a movement does not reduce
  // them.
  void CheckContributions(uint32_t from, uint32_t to) {
    const layout::Layout& source =
        context_.layouts[context_.buffer(from).layout()];
    const layout::Layout& target =
        context_.layouts[context_.buffer(to).layout()];
    if (source.partial.empty() && target.partial.empty()) return;
    const uint32_t from_slice = context_.buffer(from).slice();
    const uint32_t to_slice = context_.buffer(to).slice();
    if (source == target &&
        (from_slice == to_slice ||
         context_.meshes[from_slice] == context_.meshes[to_slice])) {
      return;
    }
    Add(" moves ", context_.BufferText(from), " of ", layout::ToString(source),
        " to ", context_.BufferText(to), " of ", layout::ToString(target),
        ": a movement copies partial values only to a slice of the same mesh; "
        "a gang must reduce them first")
        .notes.push_back(
            {{Subject::kAction, action().peer()}, "the peer is here"});
  }

  void CheckGang() {
    States states;
    for (uint32_t b : action().operands()) {
      states[b].operand = true;
      states[b].valid = true;
    }
    for (uint32_t b : action().results()) {
      states[b].result = true;
      // A result that is also an operand starts invalid: the content of this
      // firing counts.
      states[b].valid = false;
    }
    CheckAliases(&states);
    for (int s = 0; s < action().steps_size() && !context_.full(); ++s) {
      const proto::GangStep& step = action().steps(s);
      std::string where = absl::StrCat(", step ", s, ",");
      if (step.has_run())
        CheckRun(step.run(), where, &states);
      else
        CheckCollective(step.collective(), where, &states);
    }
    // A gang without steps only costs time.
    if (action().steps().empty()) return;
    for (uint32_t b : action().results()) {
      if (!states[b].written && !context_.full())
        Add(" has ", context_.BufferText(b),
            " as a result, but no step writes it");
    }
  }

  // Returns true if the first slot of `inner` is within that of `outer`.
  static bool IsWithin(const proto::Buffer& inner, const proto::Buffer& outer) {
    return inner.memory() == outer.memory() &&
           inner.offset() >= outer.offset() && inner.bytes() <= outer.bytes() &&
           inner.offset() - outer.offset() <= outer.bytes() - inner.bytes();
  }

  void CheckAliases(States* states) {
    absl::flat_hash_set<uint32_t> operands, results;
    for (const proto::Alias& alias : action().aliases()) {
      const proto::Buffer& from = context_.buffer(alias.operand());
      const proto::Buffer& to = context_.buffer(alias.result());
      std::string pair =
          absl::StrCat(" aliases ", context_.BufferText(alias.operand()),
                       " and ", context_.BufferText(alias.result()));
      auto operand = states->find(alias.operand());
      auto result = states->find(alias.result());
      if (operand == states->end() || !operand->second.operand ||
          result == states->end() || !result->second.result) {
        Add(pair, ", expected an operand and a result of its own");
        continue;
      }
      if (operand->second.result || result->second.operand) {
        Add(pair, ", but one of them is both an operand and a result");
        continue;
      }
      // A gang without steps may cut an operand into results, or stack
      // operands to a result.
      const bool cuts = IsWithin(to, from) && from.bytes() != to.bytes();
      const bool stacks = IsWithin(from, to) && from.bytes() != to.bytes();
      const bool has_steps = !action().steps().empty();
      const bool is_new_operand = operands.insert(alias.operand()).second;
      const bool is_new_result = results.insert(alias.result()).second;
      if ((!is_new_operand && (has_steps || !cuts)) ||
          (!is_new_result && (has_steps || !stacks))) {
        Add(pair, ", but one of them already has an alias");
        continue;
      }
      if (!has_steps && (cuts || stacks)) continue;
      if (from.offset() != to.offset() || from.bytes() != to.bytes() ||
          from.memory() != to.memory()) {
        Add(pair, " at offsets ", from.offset(), " and ", to.offset(), " with ",
            from.bytes(), " and ", to.bytes(), " bytes in ",
            MemoryKindName(from.memory()), " and ", MemoryKindName(to.memory()),
            " memory, expected the same bytes");
        continue;
      }
      // If no step changes it, the result has the operand's value.
      result->second.written = true;
      result->second.valid = true;
    }
  }

  // Checks that a step may read or write `b`: the gang must have it as an
  // operand or a result.
  void Touch(uint32_t b, bool writes, const std::string& where,
             States* states) {
    auto it = states->find(b);
    if (it == states->end()) {
      Add(where, " uses ", context_.BufferText(b),
          ", which is neither an operand nor a result of the gang");
      return;
    }
    BufferState& state = it->second;
    if (!writes) {
      if (!state.valid)
        Add(where, " reads ", context_.BufferText(b),
            " before any step writes it");
      return;
    }
    if (!state.result)
      Add(where, " writes ", context_.BufferText(b),
          ", which is not a result of the gang");
    state.valid = true;
    state.written = true;
  }

  void CheckRun(const proto::GangStep::Run& run, const std::string& where,
                States* states) {
    const proto::Kernel& kernel =
        plan_.kernels(static_cast<int>(action().kernel()));
    if (context_.options.before_codegen && kernel.segments().empty()) {
      // Before code generation it is unknown which buffers are read or written.
      for (uint32_t b : run.buffers()) {
        auto it = states->find(b);
        if (it == states->end())
          Touch(b, /*writes=*/false, where, states);
        else if (it->second.result)
          Touch(b, /*writes=*/true, where, states);
      }
      return;
    }
    int axes = plan_.slices(static_cast<int>(action().slice())).axes_size();
    if (kernel.coordinates() > static_cast<uint32_t>(axes))
      Add(where, " runs kernel ", Quoted(kernel.name()), ", which expects ",
          kernel.coordinates(), " coordinates, but ",
          context_.SliceText(action().slice()), " has ", axes, " mesh axes");
    const proto::Segment& segment =
        kernel.segments(static_cast<int>(run.segment()));
    if (run.buffers_size() != segment.operands_size()) {
      Add(where, " passes ", run.buffers_size(), " buffers to segment ",
          Quoted(segment.symbol()), ", which has ", segment.operands_size(),
          " operands");
      return;
    }
    for (int k = 0; k < run.buffers_size() && !context_.full(); ++k) {
      uint32_t b = run.buffers(k);
      const proto::KernelOperand& operand = segment.operands(k);
      proto::ElementType element =
          plan_.layouts(static_cast<int>(context_.buffer(b).layout()))
              .element();
      std::vector<int64_t> have = context_.ShardShape(b);
      std::vector<int64_t> want(operand.shape().begin(), operand.shape().end());
      if (have != want || KernelElement(element) != operand.element())
        Add(where, " passes ", context_.BufferText(b), " with shards of ",
            ShapeText(have, element), " as operand ", k, " of segment ",
            Quoted(segment.symbol()), ", which expects ",
            ShapeText(want, operand.element()))
            .notes.push_back(
                {{Subject::kBuffer, b}, context_.BufferText(b) + " is here"});
    }
    // Reads are checked first: a segment may write a buffer that another
    // operand passes in.
    for (bool writes : {false, true}) {
      for (int k = 0; k < run.buffers_size() && !context_.full(); ++k) {
        if (segment.operands(k).written() == writes)
          Touch(run.buffers(k), writes, where, states);
      }
    }
  }

  void CheckCollective(const proto::Collective& collective,
                       const std::string& where, States* states) {
    std::string what =
        absl::StrCat(where, " ", CollectiveKindName(collective.kind()));
    const layout::Mesh& mesh = context_.meshes[action().slice()];
    int64_t group = 1;
    absl::flat_hash_set<absl::string_view> axes;
    for (const std::string& name : collective.axes()) {
      auto axis = std::find_if(mesh.begin(), mesh.end(),
                               [&](const auto& a) { return a.name == name; });
      if (axis == mesh.end()) {
        Add(what, " over axis ", Quoted(name), ", which ",
            context_.SliceText(action().slice()), " does not have");
        return;
      }
      if (!axes.insert(axis->name).second) {
        Add(what, " has axis ", Quoted(name), " twice");
        return;
      }
      group *= axis->size;
    }
    bool reduces = collective.kind() == proto::ALL_REDUCE ||
                   collective.kind() == proto::REDUCE_SCATTER;
    if (reduces != (collective.reduction() != proto::REDUCTION_UNSPECIFIED))
      Add(what, reduces ? " has no reduction" : " has a reduction");
    Touch(collective.source(), /*writes=*/false, what, states);
    Touch(collective.result(), /*writes=*/true, what, states);
    if (collective.source() == collective.result()) {
      Add(what, " reads and writes ", context_.BufferText(collective.source()),
          ", expected two buffers");
      return;
    }
    for (const proto::Alias& alias : action().aliases()) {
      if (alias.operand() == collective.source() &&
          alias.result() == collective.result())
        Add(what, " reads ", context_.BufferText(collective.source()),
            " and writes ", context_.BufferText(collective.result()),
            ", which are aliased: other shards may still read it");
    }
    CheckRanks(collective, group, what);
    CheckCollectiveShapes(collective, group, what);
  }

  void CheckRanks(const proto::Collective& collective, int64_t group,
                  const std::string& what) {
    const bool is_broadcast = collective.kind() == proto::BROADCAST;
    if (is_broadcast ? collective.root() < 0 || collective.root() >= group
                     : collective.root() != 0) {
      Add(what, " has root rank ", collective.root(), ", but its groups have ",
          group, " ranks");
    }
    if (collective.pairs().empty()) return;
    if (collective.kind() != proto::PERMUTE || collective.shift() != 0 ||
        collective.wrap()) {
      Add(what, " has pairs, but only a permute without a shift has pairs");
    }
    if (collective.pairs_size() % 2 != 0) {
      Add(what, " has ", collective.pairs_size(),
          " ranks in its pairs, expected an even number");
      return;
    }
    absl::flat_hash_map<int64_t, int64_t> senders;
    for (int i = 0; i < collective.pairs_size(); i += 2) {
      const int64_t from = collective.pairs(i), to = collective.pairs(i + 1);
      if (from < 0 || from >= group || to < 0 || to >= group) {
        Add(what, " sends from rank ", from, " to rank ", to,
            ", but its groups have ", group, " ranks");
      }
      auto [known, added] = senders.try_emplace(to, from);
      if (!added) {
        Add(what, " sends to rank ", to, " from ranks ", known->second, " and ",
            from);
      }
    }
  }

  void CheckCollectiveShapes(const proto::Collective& collective, int64_t group,
                             const std::string& what) {
    auto element = [&](uint32_t b) {
      return plan_.layouts(static_cast<int>(context_.buffer(b).layout()))
          .element();
    };
    proto::ElementType from = element(collective.source());
    proto::ElementType to = element(collective.result());
    std::vector<int64_t> source = context_.ShardShape(collective.source());
    std::vector<int64_t> result = context_.ShardShape(collective.result());
    int64_t rank = static_cast<int64_t>(source.size());
    std::vector<int64_t> expected = source;
    bool has_dim = collective.kind() == proto::ALL_GATHER ||
                   collective.kind() == proto::REDUCE_SCATTER ||
                   collective.kind() == proto::ALL_TO_ALL;
    if (has_dim && (collective.dim() < 0 || collective.dim() >= rank)) {
      Add(what, " has dimension ", collective.dim(), ", but ",
          context_.BufferText(collective.source()), " has rank ", rank);
      return;
    }
    bool cuts = has_dim && collective.kind() != proto::ALL_GATHER;
    if (cuts && source[collective.dim()] % group != 0) {
      Add(what, " splits dimension ", collective.dim(), " of ",
          context_.BufferText(collective.source()), " of size ",
          source[collective.dim()], ", not a multiple of the ", group,
          " shards of a group");
      return;
    }
    // Sizes are at most 2^48 and groups at most 2^24, so a product may
    // overflow; it is then no valid size of a result.
    auto grown = [&](int64_t size) {
      return size > layout::kMaxElements / group ? -1 : size * group;
    };
    if (collective.kind() == proto::ALL_GATHER) {
      expected[collective.dim()] = grown(expected[collective.dim()]);
    } else if (cuts) {
      expected[collective.dim()] /= group;
    }
    if (collective.kind() == proto::ALL_TO_ALL) {
      if (collective.concat_dim() < 0 || collective.concat_dim() >= rank) {
        Add(what, " has concat dimension ", collective.concat_dim(), ", but ",
            context_.BufferText(collective.source()), " has rank ", rank);
        return;
      }
      expected[collective.concat_dim()] =
          grown(expected[collective.concat_dim()]);
    }
    // The tensors of a kernel have no sign, so a collective may read an array
    // of unsigned integers and write a signed one, and take its bits as signed.
    const std::string wrong =
        WhyNotReduced(collective.reduction(), KernelElement(from));
    if (!wrong.empty())
      Add(what, " reads ", context_.BufferText(collective.source()), ": ",
          wrong);
    if (KernelElement(from) != KernelElement(to) || result != expected)
      Add(what, " of ", ShapeText(source, from), " from ",
          context_.BufferText(collective.source()), " writes ",
          ShapeText(result, to), " in ",
          context_.BufferText(collective.result()), ", expected ",
          ShapeText(expected, from));
  }

  void CheckEdge(uint32_t i) {
    const proto::Edge& edge = context_.edge(i);
    const proto::Action& from = context_.action(edge.from());
    const proto::Action& to = context_.action(edge.to());
    std::string name = context_.EdgeText(i);
    auto add = [&](auto&&... parts) {
      context_.Add(kActions, Subject::kEdge, i, name, parts...).notes = {
          {{Subject::kAction, edge.from()}, "from here"},
          {{Subject::kAction, edge.to()}, "to here"}};
    };
    if (edge.kind() == proto::CONTROL && edge.tokens() != 0)
      add(": a control edge has no tokens");
    switch (edge.relation()) {
      case proto::SAME:
        if (from.slice() != to.slice())
          add(" joins ", context_.SliceText(from.slice()), " and ",
              context_.SliceText(to.slice()),
              ", but a relation of same is within one slice");
        break;
      case proto::PIECES:
        if (edge.kind() == proto::CONTROL) {
          add(": a control edge has the relation same or all, not pieces");
        } else if (edge.kind() == proto::DATA) {
          if (from.kind() != proto::SEND || from.peer() != edge.to())
            add(" does not go from a send to its recv");
        } else if (to.kind() != proto::SEND) {
          add(" does not go to a send");
        } else if (uint32_t slice = context_.action(to.peer()).slice();
                   slice != from.slice()) {
          add(" comes from ", context_.SliceText(from.slice()),
              ", but the movement goes to ", context_.SliceText(slice));
        }
        break;
      default:
        if (edge.kind() == proto::DATA)
          add(": a data edge has the relation same or pieces, not all");
        break;
    }
  }

  Context& context_;
  const proto::Plan& plan_;
  uint32_t action_ = 0;
  std::string name_;
};

}  // namespace

void CheckActions(Context* context) { ActionChecker(context).Run(); }

}  // namespace pathways::verify_internal
