//===- derive_edges.cc - Edges that follow from buffers -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/derive_edges.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "runtime/plan/occupants.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// The actions that use a buffer.
struct Use {
  uint32_t writer = 0;
  // In table order, each once, without the writer.
  std::vector<uint32_t> readers;
};

std::vector<Use> FindUses(const proto::Plan& plan) {
  std::vector<Use> uses(plan.buffers_size());
  for (int a = 0; a < plan.actions_size(); ++a)
    for (uint32_t b : plan.actions(a).results())
      uses[b].writer = static_cast<uint32_t>(a);
  for (int a = 0; a < plan.actions_size(); ++a) {
    const uint32_t action = static_cast<uint32_t>(a);
    for (uint32_t b : plan.actions(a).operands()) {
      Use& use = uses[b];
      if (use.writer != action &&
          (use.readers.empty() || use.readers.back() != action))
        use.readers.push_back(action);
    }
  }
  return uses;
}

// A buffer with the action that lets it into its bytes.
struct Entry {
  uint32_t action = 0;
  uint32_t buffer = 0;
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator<(const Entry& other) const {
    return std::tie(action, buffer) < std::tie(other.action, other.buffer);
  }
};

// Appends the turns of buffers whose slots advance together.
void AppendTurns(std::vector<Entry> entries, std::vector<MemoryTurn>* turns) {
  std::sort(entries.begin(), entries.end());
  std::set<std::pair<uint32_t, uint32_t>> known;
  auto add = [&](uint32_t before, uint32_t after, bool is_later) {
    if (known.insert({before, after}).second)
      turns->push_back({before, after, is_later});
  };
  Occupants last;
  for (const Entry& entry : entries)
    last.Enter(entry.begin, entry.end, entry.buffer, [&](uint32_t before) {
      add(before, entry.buffer, /*is_later=*/false);
    });
  // The first occupant of each byte is the last one in reverse order.
  Occupants first;
  for (size_t i = entries.size(); i-- > 0;)
    first.Enter(entries[i].begin, entries[i].end, entries[i].buffer,
                [](uint32_t) {});
  known.clear();
  auto a = last.ranges().begin();
  auto b = first.ranges().begin();
  while (a != last.ranges().end() && b != first.ranges().end()) {
    const uint64_t begin = std::max(a->first, b->first);
    const uint64_t end = std::min(a->second.first, b->second.first);
    if (begin < end && a->second.second != b->second.second)
      add(a->second.second, b->second.second, /*is_later=*/true);
    ++(a->second.first < b->second.first ? a : b);
  }
}

std::vector<MemoryTurn> FindTurnsOf(const proto::Plan& plan,
                                    const std::vector<Use>& uses) {
  std::map<std::tuple<uint32_t, int, uint32_t>, std::vector<Entry>> frames;
  for (int i = 0; i < plan.buffers_size(); ++i) {
    const proto::Buffer& buffer = plan.buffers(i);
    // Buffers without bytes share nothing.
    if (buffer.bytes() == 0) continue;
    frames[{buffer.slice(), buffer.memory(), buffer.credits()}].push_back(
        {EntryOf(plan, uses[i].writer), static_cast<uint32_t>(i),
         buffer.offset(), buffer.offset() + buffer.bytes()});
  }
  std::vector<MemoryTurn> turns;
  for (auto& [key, entries] : frames) AppendTurns(std::move(entries), &turns);
  return turns;
}

class EdgeDeriver {
 public:
  explicit EdgeDeriver(proto::Plan* plan)
      : plan_(*plan), uses_(FindUses(*plan)) {
    for (const proto::Edge& edge : plan->edges()) known_.insert(KeyOf(edge));
  }

  void Run() {
    for (int b = 0; b < plan_.buffers_size(); ++b)
      AddData(static_cast<uint32_t>(b));
    for (const MemoryTurn& turn : FindTurnsOf(plan_, uses_)) OrderTurn(turn);
  }

 private:
  using Key = std::pair<uint64_t, uint64_t>;

  static Key KeyOf(const proto::Edge& edge) {
    return {uint64_t{edge.from()} << 32 | edge.to(),
            uint64_t{edge.tokens()} << 8 | uint64_t(edge.kind()) << 4 |
                uint64_t(edge.relation())};
  }
  void Add(uint32_t from, uint32_t to, uint32_t tokens, proto::EdgeKind kind,
           proto::Relation relation) {
    proto::Edge edge;
    edge.set_from(from);
    edge.set_to(to);
    edge.set_tokens(tokens);
    edge.set_kind(kind);
    edge.set_relation(relation);
    if (known_.insert(KeyOf(edge)).second) *plan_.add_edges() = edge;
  }

  proto::ActionKind KindOf(uint32_t action) const {
    return plan_.actions(static_cast<int>(action)).kind();
  }
  bool IsGang(uint32_t action) const { return KindOf(action) == proto::GANG; }
  bool IsFeed(uint32_t action) const { return KindOf(action) == proto::FEED; }
  // Returns true if the buffer is the destination of a movement.
  bool IsMoved(uint32_t buffer) const {
    return KindOf(uses_[buffer].writer) == proto::RECV;
  }
  uint32_t Credits(uint32_t buffer) const {
    return plan_.buffers(static_cast<int>(buffer)).credits();
  }
  uint32_t Entry(uint32_t buffer) const {
    return EntryOf(plan_, uses_[buffer].writer);
  }
  // Returns true if `action` has `buffer` as an operand.
  bool Reads(uint32_t action, uint32_t buffer) const {
    const auto& operands = plan_.actions(static_cast<int>(action)).operands();
    return std::find(operands.begin(), operands.end(), buffer) !=
           operands.end();
  }
  // Returns the relation between the shards of a buffer and those of the action
  // that lets it in.
  proto::Relation EntryRelation(uint32_t buffer) const {
    return IsMoved(buffer) ? proto::PIECES : proto::SAME;
  }

  void AddData(uint32_t buffer);
  void OrderTurn(const MemoryTurn& turn);
  void OrderSend(uint32_t before, uint32_t after);
  void CloseTurns(uint32_t last, uint32_t head);
  std::optional<uint32_t> FindLastGang(uint32_t buffer) const;
  bool IsReadByGang(uint32_t buffer) const;

  proto::Plan& plan_;
  const std::vector<Use> uses_;     // by buffer
  absl::flat_hash_set<Key> known_;  // only looked up, never iterated
};

void EdgeDeriver::AddData(uint32_t buffer) {
  const Use& use = uses_[buffer];
  const uint32_t entry = Entry(buffer);
  const proto::Relation back = EntryRelation(buffer);
  if (IsMoved(buffer)) {
    Add(entry, use.writer, 0, proto::DATA, proto::PIECES);
    if (use.readers.empty())
      Add(use.writer, entry, Credits(buffer), proto::CREDIT, back);
  }
  for (uint32_t reader : use.readers) {
    // A feed reads the value of the previous firing.
    const uint32_t lag = IsFeed(reader) ? 1 : 0;
    Add(use.writer, reader, lag, proto::DATA, proto::SAME);
    Add(reader, entry, Credits(buffer) - lag, proto::CREDIT, back);
  }
  // The value is carried unchanged: poison propagates to the next firing of its
  // feed.
  if (IsFeed(use.writer) && Reads(use.writer, buffer))
    Add(use.writer, use.writer, 1, proto::DATA, proto::SAME);
}

// Makes `turn.after` wait for the users of `turn.before`.
void EdgeDeriver::OrderTurn(const MemoryTurn& turn) {
  if (turn.is_later) return CloseTurns(turn.before, turn.after);
  if (IsMoved(turn.after)) return OrderSend(turn.before, turn.after);
  // A gang writes `after`: a feed takes only bytes that no buffer had in the
  // same firing.
  const Use& use = uses_[turn.before];
  const uint32_t writer = uses_[turn.after].writer;
  for (uint32_t reader : use.readers) {
    if (IsGang(reader)) continue;
    Add(reader, writer, 0, proto::REUSE, proto::SAME);
    // The edge back. Queue order implies it if a gang wrote the buffer.
    if (!IsGang(use.writer))
      Add(writer, reader, Credits(turn.before), proto::REUSE, proto::SAME);
  }
  // A buffer without readers occupies its bytes until its writer is done.
  if (use.readers.empty() && !IsGang(use.writer)) {
    Add(use.writer, writer, 0, proto::REUSE, proto::SAME);
    if (IsMoved(turn.before))
      Add(writer, use.writer, Credits(turn.before), proto::REUSE, proto::SAME);
  }
}

// Returns the last gang that accesses `buffer`, unless another access follows
// that gang's. Queue order puts all other gangs before it.
std::optional<uint32_t> EdgeDeriver::FindLastGang(uint32_t buffer) const {
  const Use& use = uses_[buffer];
  for (size_t i = use.readers.size(); i-- > 0;)
    if (IsGang(use.readers[i])) return use.readers[i];
  if (use.readers.empty() && IsGang(use.writer)) return use.writer;
  return std::nullopt;
}

bool EdgeDeriver::IsReadByGang(uint32_t buffer) const {
  const std::vector<uint32_t>& readers = uses_[buffer].readers;
  return std::any_of(readers.begin(), readers.end(),
                     [&](uint32_t reader) { return IsGang(reader); });
}

// Makes the send to `after` wait for the users of `before`, which has its
// bytes. Queue order leads back to a gang from the gangs that read the received
// value. If there are none, and for other actions, an edge leads back.
void EdgeDeriver::OrderSend(uint32_t before, uint32_t after) {
  const Use& old = uses_[before];
  const uint32_t send = Entry(after);
  const uint32_t recv = uses_[after].writer;
  auto wait = [&](uint32_t user, bool has_way_back) {
    Add(user, send, 0, proto::REUSE, proto::PIECES);
    if (!has_way_back)
      Add(recv, user, Credits(after), proto::REUSE, proto::SAME);
  };
  for (uint32_t reader : old.readers)
    if (!IsGang(reader)) wait(reader, /*has_way_back=*/false);
  if (old.readers.empty() && !IsGang(old.writer))
    wait(old.writer, /*has_way_back=*/false);
  if (std::optional<uint32_t> gang = FindLastGang(before))
    wait(*gang, IsReadByGang(after));
}

// Closes the cycle of buffers in some bytes: `last` is the last buffer of a
// firing there, `head` the first one.
void EdgeDeriver::CloseTurns(uint32_t last, uint32_t head) {
  const Use& old = uses_[last];
  const uint32_t copies = Credits(head);
  const uint32_t writer = uses_[head].writer;
  const bool gangs = IsGang(writer);
  // The feed of a carried argument that is updated in place reads the last
  // buffer and writes the first, and has its edges from that. Its credit leads
  // back to all gangs after the writer.
  const bool is_ring = IsFeed(writer) && Reads(writer, last);
  const uint32_t entry = Entry(head);
  const proto::Relation relation = EntryRelation(head);
  auto wait = [&](uint32_t user) {
    // A feed reads the value of the previous firing.
    const uint32_t lag = IsFeed(user) ? 1 : 0;
    Add(user, entry, copies - lag, proto::REUSE, relation);
    // The edge back. Queue order implies it from a gang to a gang, or to an
    // action that reads the gang's buffer.
    if ((!gangs || !IsGang(old.writer)) && !is_ring)
      Add(writer, user, lag, proto::REUSE, proto::SAME);
  };
  for (uint32_t reader : old.readers)
    if (!IsGang(reader) && !(is_ring && reader == entry)) wait(reader);
  // A buffer without readers occupies its bytes until its writer is done.
  if (old.readers.empty() && IsMoved(last)) wait(old.writer);
  if (gangs) return;
  // The entry follows the gang that wrote the buffer, if no gang reads it. A
  // received buffer counts only once its recv is done.
  std::optional<uint32_t> last_gang = FindLastGang(last);
  if (!last_gang && !IsMoved(last)) last_gang = old.writer;
  // A gang that reads the head already has this edge as a credit, and the gang
  // that writes the buffer of a ring's feed has it as data.
  const std::vector<uint32_t>& readers = uses_[head].readers;
  if (!last_gang ||
      std::find(readers.begin(), readers.end(), *last_gang) != readers.end() ||
      (is_ring && *last_gang == old.writer))
    return;
  Add(*last_gang, entry, copies, proto::REUSE, relation);
  if (IsMoved(head) && !IsReadByGang(head))
    Add(writer, *last_gang, 0, proto::REUSE, proto::SAME);
}

}  // namespace

std::vector<MemoryTurn> FindTurns(const proto::Plan& plan) {
  return FindTurnsOf(plan, FindUses(plan));
}

void DeriveEdges(proto::Plan* plan) { EdgeDeriver(plan).Run(); }

}  // namespace pathways
