//===- verify_internal.h - The verifier's own parts ----------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of the verifier share; nobody else includes this.
//
// Rules are checked in phases, because each relies on those before it:
// CheckEntries makes every index and layout safe to follow, CheckActions makes
// every action have the shape of its kind, CheckFlow finds writers and readers,
// and the others build on these. A phase with an issue is the last.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PLAN_VERIFY_INTERNAL_H_
#define RUNTIME_PLAN_VERIFY_INTERNAL_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "runtime/layout/layout.h"
#include "runtime/plan/verify.h"

namespace pathways::verify_internal {

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
inline constexpr int kMaxAxes = static_cast<int>(layout::kMaxAxes);
inline constexpr int kMaxRank = 64;
// The rule that more than one source checks.
inline constexpr int kLimits = 9;

// Edges of a plan that passed CheckEntries, found by all they say. Rule 1: no
// two edges say the same.
class EdgeIndex {
 public:
  // Returns the edge that says the same, or kNone after adding this one.
  uint32_t Add(const proto::Edge& edge, uint32_t index);
  // The edge that says just this, or kNone.
  uint32_t Find(uint32_t from, uint32_t to, uint32_t tokens,
                proto::EdgeKind kind, proto::Relation relation) const;
  // The first edge of `kind` between two actions, or kNone.
  uint32_t FindAny(uint32_t from, uint32_t to, proto::EdgeKind kind) const;

 private:
  using Key = std::pair<uint64_t, uint64_t>;
  static uint64_t Ends(uint32_t from, uint32_t to) {
    return uint64_t{from} << 32 | to;
  }
  absl::flat_hash_map<Key, uint32_t> edges_;  // looked up, never walked
  absl::flat_hash_map<Key, uint32_t> first_;
};

// Who touches a buffer.
struct Access {
  uint32_t writer = kNone;
  std::vector<uint32_t> readers;  // in table order, each once, writer excluded
  bool reads_itself = false;      // the writer is a reader as well
};

struct Context {
  Context(const proto::Plan& plan, uint64_t blob_bytes,
          const VerifyOptions& options)
      : plan(plan), blob_bytes(blob_bytes), options(options) {
    // Without room for one issue a bad plan would look like a good one.
    this->options.max_issues = std::max(options.max_issues, 1);
  }

  const proto::Plan& plan;
  const uint64_t blob_bytes;
  VerifyOptions options;
  std::vector<PlanIssue> issues;

  // From CheckEntries on.
  std::vector<layout::Mesh> meshes;     // per slice
  std::vector<layout::Layout> layouts;  // per layout
  std::vector<uint64_t> shard_bytes;    // per buffer
  EdgeIndex edges;
  // From CheckFlow on.
  std::vector<Access> access;  // per buffer

  bool full() const {
    return static_cast<int>(issues.size()) >= options.max_issues;
  }
  // Adds an issue; the reference is good until the next one.
  template <typename... Parts>
  PlanIssue& Add(int rule, Subject::Table table, int64_t index,
                 const Parts&... parts) {
    issues.push_back({rule, absl::StrCat(parts...), {table, index}, {}});
    return issues.back();
  }

  const proto::Action& action(uint32_t i) const {
    return plan.actions(static_cast<int>(i));
  }
  const proto::Buffer& buffer(uint32_t i) const {
    return plan.buffers(static_cast<int>(i));
  }
  const proto::Edge& edge(uint32_t i) const {
    return plan.edges(static_cast<int>(i));
  }
  std::vector<int64_t> ShardShape(uint32_t buffer_index) const;
  // Firings between the one that writes a content and the one in which
  // `reader` reads it: 1 for the feed of a carried argument.
  uint32_t Lag(uint32_t reader) const {
    return action(reader).kind() == proto::FEED ? 1 : 0;
  }

  // "gang 'layer0'", "buffer 'x'", "slice 's'", "data edge 'a' -> 'b' (same,
  // 0 tokens)".
  std::string ActionText(uint32_t i) const;
  std::string BufferText(uint32_t i) const;
  std::string SliceText(uint32_t i) const;
  std::string EdgeText(uint32_t i) const;
};

// Short paths in tokens: an edge; or the queue order of one slice, which an
// action that is no gang joins, and leaves, by one edge. Queue order joins the
// gangs of one slice: forward in the table without tokens, backward with one.
// Only edges that hold shard by shard count: relations same and all, and, as if
// it were relation same to its recv, relation pieces back to a send, because
// no piece comes to a shard before the send had that shard's token.
class PathIndex {
 public:
  static constexpr uint64_t kNoPath = std::numeric_limits<uint64_t>::max();

  explicit PathIndex(const Context& context);

  // Fewest tokens on a path from `from` to `to`, or any number up to `enough`;
  // 0 when they are one.
  uint64_t Tokens(uint32_t from, uint32_t to, uint64_t enough) const;
  // The same for a path from `from`, on the destination slice of the movement
  // of `send`, to all shards of `send` that send to the shard.
  uint64_t TokensToSend(uint32_t from, uint32_t send, uint64_t enough) const;

 private:
  struct Link {
    uint32_t node;   // the action whose links these are; not a gang
    uint32_t slice;  // of the gang at the other end
    uint32_t gang;   // its position
    uint64_t tokens;
    uint64_t upto = 0;  // fewest tokens of the links of this node and slice
    uint64_t from = 0;  // up to / from this one on
  };
  using Links = std::vector<Link>;
  using Direct = absl::flat_hash_map<uint64_t, uint64_t>;

  static void Finish(Links* links);
  static void AddDirect(Direct* direct, uint32_t from, uint32_t to,
                        uint64_t tokens);
  static uint64_t FindDirect(const Direct& direct, uint32_t from, uint32_t to);
  // From a gang at `position` by a link into `node`.
  static uint64_t FromGang(const Links& links, uint32_t node, uint32_t slice,
                           uint32_t position);
  // From `node` by a link to a gang at or after `position`.
  static uint64_t ToGang(const Links& links, uint32_t node, uint32_t slice,
                         uint32_t position);
  // From `from` by a link of out_, queue order of `from`'s slice, and a link of
  // `in`, to `to`.
  uint64_t ThroughQueue(uint32_t from, const Links& in, uint32_t to) const;
  bool IsGang(uint32_t action) const {
    return context_.action(action).kind() == proto::GANG;
  }

  const Context& context_;
  Links out_;      // of actions that are no gangs, to gangs
  Links in_;       // into actions that are no gangs, from gangs
  Links to_send_;  // into sends, from gangs
  Direct direct_;
  Direct direct_to_send_;
  // Links that ThroughQueue may still look at; without any left it finds no
  // path. Linear in the plan: only a plan in which many actions with very many
  // edges share memory could need more.
  mutable int64_t budget_;
};

// Rules 1 and 9.
void CheckEntries(Context* context);
// Rule 7.
void CheckActions(Context* context);
// Rule 8.
void CheckInterface(Context* context);
// Rules 2 and 3, and the credits of rule 5.
void CheckFlow(Context* context);
// Rules 4 and 5.
void CheckBounds(Context* context, const PathIndex& paths);
// Rules 6 and 10.
void CheckMemory(Context* context, const PathIndex& paths);

}  // namespace pathways::verify_internal

#endif  // RUNTIME_PLAN_VERIFY_INTERNAL_H_
