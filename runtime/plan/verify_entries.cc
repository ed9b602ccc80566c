//===- verify_entries.cc - Checks of single table entries -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/profile.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {
namespace {

constexpr int kReferences = 1;

// Escapes the names in messages of the layout library, which does not.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      escaped.push_back(c);
    else
      absl::StrAppend(&escaped, "\\x", absl::Hex(byte, absl::kZeroPad2));
  }
  return escaped;
}

class EntryChecker {
 public:
  explicit EntryChecker(Context* context)
      : context_(*context), plan_(context->plan) {}

  void Run() {
    CheckHeader();
    CheckSlices();
    CheckLayouts();
    CheckKernels();
    CheckBuffers();
    CheckActions();
    CheckEdges();
    CheckArguments();
    CheckResults();
    if (context_.issues.empty()) CheckFits();
  }

 private:
  // Returns true if `index` is in a table of `size` entries; otherwise reports
  // it as `what` of `whose`.
  bool InRange(uint64_t index, int size, Subject subject,
               absl::string_view whose, absl::string_view what) {
    if (index < static_cast<uint64_t>(size)) return true;
    if (!context_.full())
      context_.Add(kReferences, subject.table, subject.index, whose, " names ",
                   what, " ", index, ", but the plan has ", size);
    return false;
  }

  template <typename Table>
  void CheckNames(const Table& table, Subject::Table kind,
                  absl::string_view what) {
    absl::flat_hash_map<absl::string_view, int> seen;
    for (int i = 0; i < table.size() && !context_.full(); ++i) {
      const std::string& name = table.Get(i).name();
      if (name.empty()) {
        context_.Add(kReferences, kind, i, what, " ", i, " has no name");
        continue;
      }
      auto [it, added] = seen.try_emplace(name, i);
      if (added) continue;
      context_
          .Add(kReferences, kind, i, what, "s ", it->second, " and ", i,
               " are both named ", Quoted(name))
          .notes.push_back(
              {{kind, it->second},
               absl::StrCat(what, " ", it->second, " has the name first")});
    }
  }

  void CheckHeader() {
    uint32_t steps = plan_.header().steps_in_flight();
    if (steps < 1 || steps > kMaxStepsInFlight)
      context_.Add(kLimits, Subject::kHeader, 0, "plan ",
                   Quoted(plan_.header().program()), " has ", steps,
                   " steps in flight, expected 1 to ", kMaxStepsInFlight);
    const std::string& fingerprint = plan_.header().fingerprint();
    if (!fingerprint.empty() && !IsFingerprint(fingerprint))
      context_.Add(kLimits, Subject::kHeader, 0, "plan ",
                   Quoted(plan_.header().program()), " has fingerprint ",
                   Quoted(fingerprint), ", expected 32 hexadecimal digits");
  }

  void CheckSlices() {
    CheckNames(plan_.slices(), Subject::kSlice, "slice");
    for (int i = 0; i < plan_.slices_size() && !context_.full(); ++i) {
      const proto::Slice& slice = plan_.slices(i);
      std::string name = context_.SliceText(i);
      context_.meshes.push_back({});
      if (slice.axes_size() > kMaxAxes) {
        context_.Add(kLimits, Subject::kSlice, i, name, " has ",
                     slice.axes_size(), " mesh axes, at most ", kMaxAxes,
                     " are accepted");
        continue;
      }
      if (NumShards(slice) > layout::kMaxShards) {
        context_.Add(kLimits, Subject::kSlice, i, name, " has more than ",
                     layout::kMaxShards, " shards");
        continue;
      }
      layout::Mesh mesh = MeshOf(slice);
      if (std::string error = layout::CheckMesh(mesh); !error.empty()) {
        context_.Add(kReferences, Subject::kSlice, i, name, ": ",
                     Escaped(error));
        continue;
      }
      context_.meshes.back() = std::move(mesh);
      CheckBinding(i, name);
    }
  }

  void CheckBinding(int i, const std::string& name) {
    const proto::Slice& slice = plan_.slices(i);
    const proto::Binding& binding = slice.binding();
    int64_t shards = NumShards(slice);
    if (shards % NumIslands(slice) != 0) {
      context_.Add(kReferences, Subject::kSlice, i, name, " is bound to ",
                   NumIslands(slice), " islands, which do not divide its ",
                   shards, " shards");
      return;
    }
    if (binding.has_list()) {
      if (binding.list().devices_size() != shards) {
        context_.Add(kReferences, Subject::kSlice, i, name, " is bound to ",
                     binding.list().devices_size(), " devices, its mesh has ",
                     shards, " shards");
        return;
      }
      for (int s = 0; s < binding.list().devices_size(); ++s) {
        if (DeviceOf(slice, s).has_value()) continue;
        context_.Add(kReferences, Subject::kSlice, i, name, " binds shard ", s,
                     " to device ", binding.list().devices(s),
                     ", which is not a valid device number");
        return;
      }
      return;
    }
    if (!binding.has_affine()) {
      context_.Add(kReferences, Subject::kSlice, i, name,
                   " is not bound to devices");
      return;
    }
    const proto::AffineDevices& affine = binding.affine();
    if (affine.strides_size() != slice.axes_size()) {
      context_.Add(kReferences, Subject::kSlice, i, name, " is bound with ",
                   affine.strides_size(), " strides, its mesh has ",
                   slice.axes_size(), " axes");
      return;
    }
    // Strides are not negative, so the last shard has the largest sum; with a
    // wrap-around any number below the span may occur.
    constexpr int64_t kMost = int64_t{1} << 31;
    std::vector<int64_t> bases = {affine.base()};
    for (const proto::IslandRun& run : binding.more()) {
      bases.push_back(run.base());
    }
    const std::optional<BoundDevice> last = DeviceOf(slice, shards - 1);
    // If `last` has a value, the span is not negative.
    const int64_t above = !last.has_value()   ? kMost + 1
                          : affine.span() > 0 ? affine.span()
                                              : last->device - bases.back();
    for (int64_t base : bases) {
      if (base >= 0 && above <= kMost && base <= kMost - above) continue;
      context_.Add(kReferences, Subject::kSlice, i, name, " is bound from ",
                   base, " with a span of ", affine.span(),
                   ", which does not give a device number to each of its ",
                   shards, " shards");
      return;
    }
  }

  void CheckLayouts() {
    for (int i = 0; i < plan_.layouts_size() && !context_.full(); ++i) {
      const proto::Layout& layout = plan_.layouts(i);
      context_.layouts.push_back({});
      if (elementBytes(layout.element()) == 0) {
        context_.Add(kReferences, Subject::kLayout, i, "layout ", i,
                     " has element type ", static_cast<int>(layout.element()),
                     ", which is not known");
      } else if (layout.partial_kind() < proto::REDUCTION_UNSPECIFIED ||
                 layout.partial_kind() > proto::ReductionKind_MAX) {
        context_.Add(kReferences, Subject::kLayout, i, "layout ", i,
                     " has partial kind ",
                     static_cast<int>(layout.partial_kind()),
                     ", which is not known");
      } else if (const std::string wrong =
                     WhyNotReduced(layout.partial_kind(), layout.element());
                 !wrong.empty()) {
        context_.Add(kReferences, Subject::kLayout, i, "layout ", i,
                     " is partial: ", wrong);
      } else if (layout.shape_size() > kMaxRank) {
        context_.Add(kLimits, Subject::kLayout, i, "layout ", i, " has rank ",
                     layout.shape_size(), ", at most ", kMaxRank,
                     " is accepted");
      } else if (!CheckShape(i)) {
        continue;
      } else {
        context_.layouts.back() = LayoutOf(layout);
      }
    }
  }

  bool CheckShape(int i) {
    const proto::Layout& layout = plan_.layouts(i);
    if (layout.dims_size() != layout.shape_size()) {
      context_.Add(kReferences, Subject::kLayout, i, "layout ", i, " splits ",
                   layout.dims_size(), " dimensions, but its array has rank ",
                   layout.shape_size());
      return false;
    }
    int64_t elements = 1;
    for (int64_t size : layout.shape()) {
      if (size < 0) {
        context_.Add(kReferences, Subject::kLayout, i, "layout ", i,
                     " has a dimension of size ", size);
        return false;
      }
      if (size > 0 && size > layout::kMaxElements / elements) {
        context_.Add(kLimits, Subject::kLayout, i, "layout ", i,
                     " has more than ", layout::kMaxElements, " elements");
        return false;
      }
      elements *= std::max<int64_t>(size, 1);
    }
    return true;
  }

  void CheckKernels() {
    CheckNames(plan_.kernels(), Subject::kKernel, "kernel");
    for (int i = 0; i < plan_.kernels_size() && !context_.full(); ++i) {
      const proto::Kernel& kernel = plan_.kernels(i);
      if (!proto::Rounding_IsValid(kernel.rounding()))
        context_.Add(kReferences, Subject::kKernel, i, "kernel ",
                     Quoted(kernel.name()), " has rounding ",
                     static_cast<int>(kernel.rounding()),
                     ", which this version does not know");
      for (int k = 0; k < kernel.objects_size() && !context_.full(); ++k) {
        const proto::KernelObject& object = kernel.objects(k);
        if (object.blob_offset() % kBlobAlignment != 0)
          context_.Add(kReferences, Subject::kKernel, i, "kernel ",
                       Quoted(kernel.name()), ": object ", k, " begins at ",
                       object.blob_offset(),
                       " in the blobs, not a multiple of ", kBlobAlignment);
        else if (object.blob_offset() > context_.blob_bytes ||
                 object.blob_bytes() >
                     context_.blob_bytes - object.blob_offset())
          context_.Add(kReferences, Subject::kKernel, i, "kernel ",
                       Quoted(kernel.name()), ": object ", k, " has ",
                       object.blob_bytes(), " bytes from ",
                       object.blob_offset(), ", but the blobs have ",
                       context_.blob_bytes);
      }
      for (int k = 0; k < kernel.segments_size() && !context_.full(); ++k) {
        const proto::Segment& segment = kernel.segments(k);
        if (segment.symbol().empty())
          context_.Add(kReferences, Subject::kKernel, i, "kernel ",
                       Quoted(kernel.name()), ": segment ", k,
                       " has no symbol");
        if (segment.scratch_bytes() > kMaxSegmentBytes)
          context_.Add(kLimits, Subject::kKernel, i, "kernel ",
                       Quoted(kernel.name()), ": segment ", k, " asks for ",
                       segment.scratch_bytes(), " bytes of scratch, at most ",
                       kMaxSegmentBytes, " are accepted");
        for (const proto::KernelOperand& operand : segment.operands()) {
          const proto::ElementType element = operand.element();
          if (elementBytes(element) != 0 && KernelElement(element) == element)
            continue;
          if (elementBytes(element) != 0) {
            context_.Add(kReferences, Subject::kKernel, i, "kernel ",
                         Quoted(kernel.name()), ": an operand of segment ", k,
                         " has element type ", ElementTypeName(element),
                         ", expected ", ElementTypeName(KernelElement(element)),
                         ", which stands for both signs");
            break;
          }
          context_.Add(kReferences, Subject::kKernel, i, "kernel ",
                       Quoted(kernel.name()), ": an operand of segment ", k,
                       " has element type ", static_cast<int>(element),
                       ", which is not known");
          break;
        }
      }
    }
  }

  void CheckBuffers() {
    CheckNames(plan_.buffers(), Subject::kBuffer, "buffer");
    for (int i = 0; i < plan_.buffers_size() && !context_.full(); ++i) {
      const proto::Buffer& buffer = plan_.buffers(i);
      std::string name = context_.BufferText(i);
      Subject subject{Subject::kBuffer, i};
      InRange(buffer.slice(), plan_.slices_size(), subject, name, "slice");
      InRange(buffer.layout(), plan_.layouts_size(), subject, name, "layout");
      if (buffer.memory() != proto::DEVICE && buffer.memory() != proto::HOST)
        context_.Add(kReferences, Subject::kBuffer, i, name,
                     " has memory kind ", static_cast<int>(buffer.memory()),
                     ", which is not known");
    }
  }

  void CheckActions() {
    CheckNames(plan_.actions(), Subject::kAction, "action");
    int buffers = plan_.buffers_size();
    for (int i = 0; i < plan_.actions_size() && !context_.full(); ++i) {
      const proto::Action& action = plan_.actions(i);
      Subject subject{Subject::kAction, i};
      if (action.kind() < proto::GANG || action.kind() > proto::FETCH) {
        context_.Add(kReferences, Subject::kAction, i, "action ",
                     Quoted(action.name()), " has kind ",
                     static_cast<int>(action.kind()), ", which is not known");
        continue;
      }
      std::string name = context_.ActionText(i);
      InRange(action.slice(), plan_.slices_size(), subject, name, "slice");
      for (uint32_t b : action.operands())
        InRange(b, buffers, subject, name, "operand buffer");
      for (uint32_t b : action.results())
        InRange(b, buffers, subject, name, "result buffer");
      for (const proto::Alias& alias : action.aliases()) {
        InRange(alias.operand(), buffers, subject, name, "alias buffer");
        InRange(alias.result(), buffers, subject, name, "alias buffer");
      }
      if (action.has_guard())
        InRange(action.guard().buffer(), buffers, subject, name,
                "guard buffer");
      bool moves = action.kind() == proto::SEND || action.kind() == proto::RECV;
      if (moves)
        InRange(action.peer(), plan_.actions_size(), subject, name,
                "peer action");
      if (action.kind() == proto::FEED)
        InRange(action.interface(), plan_.interface().arguments_size(), subject,
                name, "argument");
      if (action.kind() == proto::FETCH)
        InRange(action.interface(), plan_.interface().results_size(), subject,
                name, "result");
      if (action.cost_ns() > kMaxCostNs)
        context_.Add(kLimits, Subject::kAction, i, name, " has a cost of ",
                     action.cost_ns(), " ns, at most ", kMaxCostNs,
                     " are accepted");
      CheckSteps(i, name);
    }
  }

  void CheckSteps(int i, const std::string& name) {
    const proto::Action& action = plan_.actions(i);
    Subject subject{Subject::kAction, i};
    int buffers = plan_.buffers_size();
    for (int s = 0; s < action.steps_size() && !context_.full(); ++s) {
      const proto::GangStep& step = action.steps(s);
      std::string where = absl::StrCat(name, ", step ", s, ",");
      switch (step.step_case()) {
        case proto::GangStep::kRun: {
          for (uint32_t b : step.run().buffers())
            InRange(b, buffers, subject, where, "buffer");
          if (!InRange(action.kernel(), plan_.kernels_size(), subject, where,
                       "kernel"))
            break;
          const proto::Kernel& kernel =
              plan_.kernels(static_cast<int>(action.kernel()));
          if (context_.options.before_codegen && kernel.segments().empty())
            break;
          if (step.run().segment() >=
              static_cast<uint32_t>(kernel.segments_size()))
            context_.Add(kReferences, Subject::kAction, i, where,
                         " names segment ", step.run().segment(), ", kernel ",
                         Quoted(kernel.name()), " has ",
                         kernel.segments_size());
          break;
        }
        case proto::GangStep::kCollective: {
          const proto::Collective& collective = step.collective();
          if (collective.kind() < proto::ALL_REDUCE ||
              collective.kind() > proto::BROADCAST)
            context_.Add(kReferences, Subject::kAction, i, where,
                         " has collective kind ",
                         static_cast<int>(collective.kind()),
                         ", which is not known");
          if (collective.reduction() < proto::REDUCTION_UNSPECIFIED ||
              collective.reduction() > proto::ReductionKind_MAX)
            context_.Add(kReferences, Subject::kAction, i, where,
                         " has reduction ",
                         static_cast<int>(collective.reduction()),
                         ", which is not known");
          InRange(collective.source(), buffers, subject, where,
                  "source buffer");
          InRange(collective.result(), buffers, subject, where,
                  "result buffer");
          break;
        }
        case proto::GangStep::STEP_NOT_SET:
          context_.Add(kReferences, Subject::kAction, i, where,
                       " is neither a run nor a collective");
          break;
      }
    }
  }

  void CheckEdges() {
    int actions = plan_.actions_size();
    for (int i = 0; i < plan_.edges_size() && !context_.full(); ++i) {
      const proto::Edge& edge = plan_.edges(i);
      Subject subject{Subject::kEdge, i};
      std::string name = absl::StrCat("edge ", i);
      bool from = InRange(edge.from(), actions, subject, name, "source action");
      bool to = InRange(edge.to(), actions, subject, name, "target action");
      if (!from || !to) continue;
      absl::StrAppend(&name, " from ",
                      Quoted(context_.action(edge.from()).name()), " to ",
                      Quoted(context_.action(edge.to()).name()));
      if (edge.kind() < proto::DATA || edge.kind() > proto::CONTROL) {
        context_.Add(kReferences, Subject::kEdge, i, name, " has kind ",
                     static_cast<int>(edge.kind()), ", which is not known");
        continue;
      }
      if (edge.relation() < proto::SAME || edge.relation() > proto::ALL) {
        context_.Add(kReferences, Subject::kEdge, i, name, " has relation ",
                     static_cast<int>(edge.relation()), ", which is not known");
        continue;
      }
      uint32_t twin = context_.edges.Add(edge, i);
      if (twin != kNone)
        context_
            .Add(kReferences, Subject::kEdge, i, context_.EdgeText(i),
                 " appears twice, as edges ", twin, " and ", i)
            .notes.push_back({{Subject::kEdge, twin}, "first here"});
    }
  }

  void CheckArguments() {
    const auto& arguments = plan_.interface().arguments();
    CheckNames(arguments, Subject::kArgument, "argument");
    for (int i = 0; i < arguments.size() && !context_.full(); ++i) {
      Subject subject{Subject::kArgument, i};
      std::string name = absl::StrCat("argument ", Quoted(arguments[i].name()));
      InRange(arguments[i].action(), plan_.actions_size(), subject, name,
              "action");
      if (arguments[i].carried())
        InRange(arguments[i].from(), plan_.interface().results_size(), subject,
                name, "result");
    }
  }

  void CheckResults() {
    const auto& results = plan_.interface().results();
    CheckNames(results, Subject::kResult, "result");
    for (int i = 0; i < results.size() && !context_.full(); ++i) {
      const Subject subject{Subject::kResult, i};
      const std::string name =
          absl::StrCat("result ", Quoted(results[i].name()));
      InRange(results[i].action(), plan_.actions_size(), subject, name,
              "action");
      if (!results[i].has_expect()) continue;
      const proto::Expectation& expect = results[i].expect();
      InRange(expect.result(), results.size(), subject, name, "result");
      if (expect.kind() < proto::Expectation::EQ ||
          expect.kind() > proto::Expectation::ALMOST_EQ) {
        context_.Add(kReferences, Subject::kResult, i, name,
                     " has a check of kind ", static_cast<int>(expect.kind()),
                     ", which is not known");
      }
    }
  }

  // Checks that each used layout fits its slice; only then sizes are defined.
  void CheckFits() {
    absl::flat_hash_set<uint64_t> checked;
    for (int i = 0; i < plan_.buffers_size() && !context_.full(); ++i) {
      const proto::Buffer& buffer = plan_.buffers(i);
      if (checked.insert(uint64_t{buffer.layout()} << 32 | buffer.slice())
              .second) {
        std::string error = layout::CheckLayout(
            context_.layouts[buffer.layout()], context_.meshes[buffer.slice()]);
        if (!error.empty()) {
          context_
              .Add(kReferences, Subject::kBuffer, i, "layout ", buffer.layout(),
                   " of ", context_.BufferText(i), " does not fit ",
                   context_.SliceText(buffer.slice()), ": ", Escaped(error))
              .notes.push_back(
                  {{Subject::kLayout, buffer.layout()},
                   absl::StrCat("layout ", buffer.layout(), " is here")});
        }
      }
    }
    if (!context_.issues.empty()) return;
    for (int i = 0; i < plan_.buffers_size(); ++i) {
      uint64_t bytes = static_cast<uint64_t>(elementBytes(
          plan_.layouts(static_cast<int>(plan_.buffers(i).layout()))
              .element()));
      // There are at most 2^48 elements of 8 bytes, so nothing overflows.
      for (int64_t size : context_.ShardShape(i))
        bytes *= static_cast<uint64_t>(size);
      context_.shard_bytes.push_back(bytes);
    }
  }

  Context& context_;
  const proto::Plan& plan_;
};

}  // namespace

void CheckEntries(Context* context) { EntryChecker(context).Run(); }

}  // namespace pathways::verify_internal
