//===- verify_memory.cc - Checks of shared memory -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/occupants.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify_internal.h"

namespace pathways::verify_internal {
namespace {

constexpr int kMemory = 6;
constexpr int kEnds = 10;

class MemoryChecker {
 public:
  MemoryChecker(Context* context, const PathIndex& paths)
      : context_(*context),
        paths_(paths),
        // Linear in the size of the plan. Plans of the compiler need a few
        // checks per buffer; only a buffer with very many readers outside gangs
        // that shares memory with very many others needs more.
        budget_((int64_t{1} << 20) +
                64 * (int64_t{context->plan.actions_size()} +
                      context->plan.edges_size() +
                      context->plan.buffers_size())) {
    for (const proto::Action& action : context->plan.actions()) {
      for (const proto::Alias& alias : action.aliases())
        aliases_.insert({alias.operand(), alias.result()});
    }
  }

  void Run() {
    size_t issues = context_.issues.size();
    for (int b = 0; b < context_.plan.buffers_size() && !context_.full(); ++b)
      CheckBuffer(static_cast<uint32_t>(b));
    // The sums in CheckSharing rely on spans that do not overflow.
    if (context_.issues.size() > issues) return;
    CheckSharing();
  }

 private:
  uint64_t Begin(uint32_t b) const { return context_.buffer(b).offset(); }
  uint64_t SlotEnd(uint32_t b) const {
    return Begin(b) + context_.buffer(b).bytes();
  }
  uint64_t SpanEnd(uint32_t b) const {
    return Begin(b) + SpanBytes(context_.buffer(b));
  }
  uint32_t Entry(uint32_t b) const {
    return EntryOf(context_.plan, context_.access[b].writer);
  }

  void CheckBuffer(uint32_t b) {
    const proto::Buffer& buffer = context_.buffer(b);
    std::string name = context_.BufferText(b);
    auto add = [&](int rule, auto&&... parts) {
      context_.Add(rule, Subject::kBuffer, b, name, parts...);
    };
    if (buffer.offset() % kBufferAlignment != 0)
      add(kMemory, " is at offset ", buffer.offset(), ", not a multiple of ",
          kBufferAlignment);
    if (buffer.slot_stride() % kBufferAlignment != 0)
      add(kMemory, " has a slot stride of ", buffer.slot_stride(),
          ", not a multiple of ", kBufferAlignment);
    if (buffer.bytes() != context_.shard_bytes[b])
      add(kMemory, " has ", buffer.bytes(), " bytes, but one shard has ",
          context_.shard_bytes[b]);
    if (buffer.credits() > 1 && buffer.slot_stride() < buffer.bytes())
      add(kMemory, " has a slot stride of ", buffer.slot_stride(), " and ",
          buffer.credits(), " slots of ", buffer.bytes(), " bytes");
    unsigned __int128 end =
        static_cast<unsigned __int128>(buffer.credits() - 1) *
            buffer.slot_stride() +
        buffer.offset();
    end += buffer.bytes();
    if (end > kMaxSegmentBytes)
      add(kLimits, " with ", buffer.credits(), " slots from offset ",
          buffer.offset(), " by ", buffer.slot_stride(),
          " ends beyond the largest segment, ", kMaxSegmentBytes, " bytes");

    const Access& access = context_.access[b];
    uint32_t first = access.writer;
    uint32_t last = access.writer;
    if (!access.readers.empty()) {
      first = std::min(first, access.readers.front());
      last = std::max(last, access.readers.back());
    }
    if (buffer.first_action() != first || buffer.last_action() != last)
      add(kEnds, " states that it is used from action ", buffer.first_action(),
          " to ", buffer.last_action(), ", but it is used from ",
          context_.ActionText(first), " at ", first, " to ",
          context_.ActionText(last), " at ", last);
  }

  // Returns true if the slots of two buffers have equal strides.
  bool SameSlots(uint32_t a, uint32_t b) const {
    const proto::Buffer& x = context_.buffer(a);
    const proto::Buffer& y = context_.buffer(b);
    return x.credits() == y.credits() &&
           (x.credits() == 1 || x.slot_stride() == y.slot_stride());
  }

  // Partitions the buffers into sets with overlapping spans, and checks each
  // set.
  void CheckSharing() {
    std::vector<uint32_t> order;
    for (int i = 0; i < context_.plan.buffers_size(); ++i) {
      uint32_t b = static_cast<uint32_t>(i);
      // Buffers without bytes share nothing.
      if (context_.buffer(b).bytes() > 0) order.push_back(b);
    }
    auto key = [&](uint32_t b) {
      const proto::Buffer& buffer = context_.buffer(b);
      return std::make_tuple(buffer.slice(), buffer.memory(), buffer.offset(),
                             b);
    };
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    size_t begin = 0;
    while (begin < order.size() && !context_.full()) {
      const proto::Buffer& first = context_.buffer(order[begin]);
      uint32_t furthest = order[begin];
      size_t end = begin + 1;
      bool apart = true;
      for (; end < order.size() && !context_.full(); ++end) {
        uint32_t b = order[end];
        const proto::Buffer& buffer = context_.buffer(b);
        if (buffer.slice() != first.slice() ||
            buffer.memory() != first.memory() || Begin(b) >= SpanEnd(furthest))
          break;
        apart &= CheckSlots(order[begin], furthest, b);
        if (SpanEnd(b) > SpanEnd(furthest)) furthest = b;
      }
      if (apart) CheckSet({order.begin() + begin, order.begin() + end});
      begin = end;
    }
  }

  // Checks the slots of `a` and `b`, which begins before the span of `a` ends.
  // `first`: first buffer of their set.
  bool CheckSlots(uint32_t first, uint32_t a, uint32_t b) {
    if (!SameSlots(a, b)) {
      const proto::Buffer& x = context_.buffer(a);
      const proto::Buffer& y = context_.buffer(b);
      AddPair(a, b, " share memory, but have ", x.credits(), " and ",
              y.credits(), " credits with strides of ", x.slot_stride(),
              " and ", y.slot_stride(), " bytes, expected equal ones");
      return false;
    }
    const proto::Buffer& buffer = context_.buffer(b);
    if (buffer.credits() > 1 &&
        SlotEnd(b) - Begin(first) > buffer.slot_stride()) {
      AddPair(first, b,
              " have slots in turn, but do not lie within one "
              "stride: they take the bytes from ",
              Begin(first), " to ", SlotEnd(b), ", but their stride is ",
              buffer.slot_stride());
      return false;
    }
    return true;
  }

  // Checks buffers whose slots have equal strides, so that one slot stands for
  // all.
  void CheckSet(std::vector<uint32_t> set) {
    if (set.size() < 2) return;
    std::sort(set.begin(), set.end(), [&](uint32_t a, uint32_t b) {
      return std::make_pair(Entry(a), a) < std::make_pair(Entry(b), b);
    });
    Occupants last;
    for (uint32_t b : set) {
      if (context_.full()) return;
      std::set<uint32_t> seen;
      last.Enter(Begin(b), SlotEnd(b), b, [&](uint32_t old) {
        if (seen.insert(old).second) CheckOrdered(old, b, 0);
      });
    }
    // Entering the buffers in reverse order leaves the first occupant of each
    // byte.
    Occupants first;
    for (size_t i = set.size(); i-- > 0;)
      first.Enter(Begin(set[i]), SlotEnd(set[i]), set[i], [](uint32_t) {});
    std::set<std::pair<uint32_t, uint32_t>> turns;
    auto x = last.ranges().begin();
    auto y = first.ranges().begin();
    while (x != last.ranges().end() && y != first.ranges().end()) {
      uint64_t from = std::max(x->first, y->first);
      uint64_t to = std::min(x->second.first, y->second.first);
      if (from < to && x->second.second != y->second.second)
        turns.insert({x->second.second, y->second.second});
      if (x->second.first < y->second.first)
        ++x;
      else
        ++y;
    }
    for (const auto& [a, b] : turns) {
      if (context_.full()) return;
      CheckOrdered(a, b, context_.buffer(a).credits());
    }
  }

  // Checks that every access of `a` comes before the entry of `b`, the action
  // that lets `b` in, by at most `most` tokens: 0 if `b` follows in the same
  // firing, else their credits.
  void CheckOrdered(uint32_t a, uint32_t b, uint64_t most) {
    const Access& access = context_.access[a];
    // The writer comes before each reader (rule 3), so readers suffice.
    if (access.readers.empty())
      CheckAccess(a, b, access.writer,
                  access.reads_itself ? context_.Lag(access.writer) : 0, most);
    for (uint32_t reader : access.readers) {
      if (context_.full()) return;
      CheckAccess(a, b, reader, context_.Lag(reader), most);
    }
  }

  // Checks an access by `by` to the content that `a` had `lag` firings before.
  void CheckAccess(uint32_t a, uint32_t b, uint32_t by, uint32_t lag,
                   uint64_t most) {
    if (budget_ == 0) return;
    if (--budget_ == 0) {
      AddPair(a, b,
              " share memory with so many others that checking it takes too "
              "long; expected fewer readers outside gangs or memory of their "
              "own");
      return;
    }
    uint32_t entry = Entry(b);
    if (by == entry && IsCarriedInPlace(a, b, by) && lag <= most) return;
    if (by == entry && context_.access[b].writer == by) {
      if (context_.access[a].writer == by) {
        AddPair(a, b, " share memory, but ", context_.ActionText(by),
                " writes both");
        return;
      }
      if (aliases_.contains({a, b})) return;
      if (context_.action(by).kind() == proto::FEED) {
        AddPair(a, b, " share memory, but ", context_.ActionText(by),
                " copies one into the other, expected equal places or none in "
                "common");
        return;
      }
      AddPair(a, b, " share memory, but ", context_.ActionText(by),
              " reads the first and writes the second without an alias");
      return;
    }
    bool moved =
        context_.action(context_.access[b].writer).kind() == proto::RECV;
    uint64_t enough = most > lag ? most - lag : 0;
    uint64_t tokens = moved ? paths_.TokensToSend(by, entry, enough)
                            : paths_.Tokens(by, entry, enough);
    if (tokens != PathIndex::kNoPath && tokens + lag <= most) return;
    PlanIssue& issue =
        AddPair(a, b, " share memory, but ", context_.ActionText(by),
                ", which uses the first, does not come before ",
                context_.ActionText(entry), ", which writes the second, ",
                most == 0 ? "in one step" : absl::StrCat(most, " steps later"),
                tokens == PathIndex::kNoPath
                    ? ": no path joins them"
                    : absl::StrCat(": the path between them has ", tokens + lag,
                                   tokens + lag == 1 ? " token" : " tokens",
                                   ", at most ", most, " are accepted"));
    issue.notes.push_back({{Subject::kAction, by}, "used here"});
    issue.notes.push_back({{Subject::kAction, entry}, "overwritten from here"});
  }

  // Returns true if `by` is the feed of a carried argument that finds the
  // previous firing's content of `a` in another slot, or in the place where it
  // puts the content of `b`.
  bool IsCarriedInPlace(uint32_t a, uint32_t b, uint32_t by) const {
    const proto::Buffer& x = context_.buffer(a);
    const proto::Buffer& y = context_.buffer(b);
    return context_.action(by).kind() == proto::FEED &&
           context_.access[a].writer != by && context_.access[b].writer == by &&
           (x.credits() > 1 ||
            (x.offset() == y.offset() && x.bytes() == y.bytes()));
  }

  template <typename... Parts>
  PlanIssue& AddPair(uint32_t a, uint32_t b, const Parts&... parts) {
    PlanIssue& issue =
        context_.Add(kMemory, Subject::kBuffer, b, "buffers ",
                     Quoted(context_.buffer(a).name()), " and ",
                     Quoted(context_.buffer(b).name()), " of ",
                     context_.SliceText(context_.buffer(a).slice()), parts...);
    issue.notes.push_back(
        {{Subject::kBuffer, a},
         absl::StrCat(context_.BufferText(a), " has the bytes from ", Begin(a),
                      " to ", SlotEnd(a))});
    return issue;
  }

  Context& context_;
  const PathIndex& paths_;
  int64_t budget_;
  // Operands and results in the same memory, as the writer of the result
  // declares.
  absl::flat_hash_set<std::pair<uint32_t, uint32_t>> aliases_;
};

}  // namespace

void CheckMemory(Context* context, const PathIndex& paths) {
  MemoryChecker(context, paths).Run();
}

}  // namespace pathways::verify_internal
