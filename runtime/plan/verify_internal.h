//===- verify_internal.h - Internals of the verifier ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the files of the verifier, and included by no other file.
//
// Rules are checked in phases, because each phase relies on the previous ones:
// CheckEntries makes every index and layout safe to follow, CheckActions makes
// every action have the shape of its kind, CheckFlow finds writers and readers,
// and the others build on these. A phase that finds an issue is the last one.
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
// Rule 9, which more than one source file checks.
inline constexpr int kLimits = 9;

// Finds edges of a plan that passed CheckEntries by all their fields. By rule 1
// no two edges are equal.
class EdgeIndex {
 public:
  // Returns an equal edge, or adds this one and returns kNone.
  uint32_t Add(const proto::Edge& edge, uint32_t index);
  // Returns the edge with exactly these fields, or kNone.
  uint32_t Find(uint32_t from, uint32_t to, uint32_t tokens,
                proto::EdgeKind kind, proto::Relation relation) const;
  // Returns the first edge of `kind` between two actions, or kNone.
  uint32_t FindAny(uint32_t from, uint32_t to, proto::EdgeKind kind) const;

 private:
  using Key = std::pair<uint64_t, uint64_t>;
  static uint64_t Ends(uint32_t from, uint32_t to) {
    return uint64_t{from} << 32 | to;
  }
  absl::flat_hash_map<Key, uint32_t> edges_;  // only looked up, never iterated
  absl::flat_hash_map<Key, uint32_t> first_;
};

// The actions that access a buffer.
struct Access {
  uint32_t writer = kNone;
  // Readers in table order, each once, without the writer.
  std::vector<uint32_t> readers;
  bool reads_itself = false;  // the writer is also a reader
};

struct Context {
  Context(const proto::Plan& plan, uint64_t blob_bytes,
          const VerifyOptions& options)
      : plan(plan), blob_bytes(blob_bytes), options(options) {
    // With no room for an issue, an invalid plan would look valid.
    this->options.max_issues = std::max(options.max_issues, 1);
  }

  const proto::Plan& plan;
  const uint64_t blob_bytes;
  VerifyOptions options;
  std::vector<PlanIssue> issues;

  // Filled by CheckEntries.
  std::vector<layout::Mesh> meshes;     // by slice
  std::vector<layout::Layout> layouts;  // by layout
  std::vector<uint64_t> shard_bytes;    // by buffer
  EdgeIndex edges;
  // Filled by CheckFlow.
  std::vector<Access> access;  // by buffer

  bool full() const {
    return static_cast<int>(issues.size()) >= options.max_issues;
  }
  // Adds an issue. The reference is valid until the next call.
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
  // Returns the number of firings from the one that writes a content to the one
  // in which `reader` reads it: 1 for the feed of a carried argument, else 0.
  uint32_t Lag(uint32_t reader) const {
    return action(reader).kind() == proto::FEED ? 1 : 0;
  }

  // Return "gang 'layer0'", "buffer 'x'", "slice 's'", "data edge 'a' -> 'b'
  // (same, 0 tokens)".
  std::string ActionText(uint32_t i) const;
  std::string BufferText(uint32_t i) const;
  std::string SliceText(uint32_t i) const;
  std::string EdgeText(uint32_t i) const;
};

// Finds short paths between actions, measured in tokens: an edge; or the queue
// order of one slice, which an action that is no gang enters, and leaves, by
// one edge. Queue order connects the gangs of a slice: forward in the table
// without tokens, backward with one. Only edges that hold shard by shard count.
// These are the relation same, the relation all, and the relation pieces back
// to a send; the latter counts as relation same to the recv, because no piece
// reaches a shard before the send had that shard's token.
class PathIndex {
 public:
  static constexpr uint64_t kNoPath = std::numeric_limits<uint64_t>::max();

  explicit PathIndex(const Context& context);

  // Returns the fewest tokens on a path from `from` to `to`, or any number up
  // to `enough` that a path has; 0 if both are the same action.
  uint64_t Tokens(uint32_t from, uint32_t to, uint64_t enough) const;
  // Like Tokens, for a path from `from`, an action on the destination slice of
  // the movement of `send`, to all shards of `send` that send to the shard.
  uint64_t TokensToSend(uint32_t from, uint32_t send, uint64_t enough) const;

 private:
  struct Link {
    uint32_t node;   // the action with these links; not a gang
    uint32_t slice;  // slice of the gang at the other end
    uint32_t gang;   // position of that gang
    uint64_t tokens;
    // Fewest tokens of the links of this node and slice up to this one.
    uint64_t upto = 0;
    // Fewest tokens of the links of this node and slice from this one on.
    uint64_t from = 0;
  };
  using Links = std::vector<Link>;
  using Direct = absl::flat_hash_map<uint64_t, uint64_t>;

  static void Finish(Links* links);
  static void AddDirect(Direct* direct, uint32_t from, uint32_t to,
                        uint64_t tokens);
  static uint64_t FindDirect(const Direct& direct, uint32_t from, uint32_t to);
  // Returns the fewest tokens from the gang at `position` by queue order and a
  // link into `node`.
  static uint64_t FromGang(const Links& links, uint32_t node, uint32_t slice,
                           uint32_t position);
  // Returns the fewest tokens from `node` by a link and queue order to the gang
  // at `position`.
  static uint64_t ToGang(const Links& links, uint32_t node, uint32_t slice,
                         uint32_t position);
  // Returns the fewest tokens from `from` to `to` by a link of out_, the queue
  // order of `from`'s slice, and a link of `in`.
  uint64_t ThroughQueue(uint32_t from, const Links& in, uint32_t to) const;
  bool IsGang(uint32_t action) const {
    return context_.action(action).kind() == proto::GANG;
  }

  const Context& context_;
  Links out_;      // links from other actions to gangs
  Links in_;       // links from gangs to other actions
  Links to_send_;  // links from gangs to sends
  Direct direct_;
  Direct direct_to_send_;
  // Number of links that ThroughQueue may still visit; at 0 it finds no path.
  // It is linear in the size of the plan: only a plan in which many actions
  // with very many edges share memory could need more.
  mutable int64_t budget_;
};

// Checks rules 1 and 9.
void CheckEntries(Context* context);
// Checks rule 7.
void CheckActions(Context* context);
// Checks rule 8.
void CheckInterface(Context* context);
// Checks rules 2 and 3, and the credits of rule 5.
void CheckFlow(Context* context);
// Checks rules 4 and 5.
void CheckBounds(Context* context, const PathIndex& paths);
// Checks rule 11, of a plan that passed CheckEntries.
void CheckLoops(Context* context);
// Returns the issues of a plan with loops that passed CheckLoops: those of the
// plan that hosts run, each at the entry that it comes from.
std::vector<PlanIssue> VerifyExpanded(Context* context);
// Checks rules 6 and 10.
void CheckMemory(Context* context, const PathIndex& paths);

}  // namespace pathways::verify_internal

#endif  // RUNTIME_PLAN_VERIFY_INTERNAL_H_
