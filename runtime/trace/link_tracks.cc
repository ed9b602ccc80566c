//===- link_tracks.cc - Messages on links ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/link_tracks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/trace/chrome_json.h"
#include "runtime/trace/event_text.h"
#include "runtime/trace/sent_messages.h"
#include "runtime/trace/trace.h"

namespace pathways::trace {
namespace {

class Links {
 public:
  explicit Links(const TraceLog& log) : log_(log) {}

  void Add(const TraceActor& from, const TraceActor& to,
           TrackRows::Group message) {
    // Links within an island, between islands, and with the controller.
    static const char* const kKinds[] = {"ici", "dcn", "control"};
    const int kind = from.host < 0 || to.host < 0 ? 2
                     : from.island != to.island   ? 1
                                                  : 0;
    Link& link = links_[{kind, from.host, to.host}];
    if (link.name.empty()) {
      link.name = absl::StrCat(kKinds[kind], ": ", HostName(log_, from), " -> ",
                               HostName(log_, to));
    }
    link.rows.Add(std::move(message));
  }
  TrackGroup Place() {
    TrackGroup group{"links", {}, {}};
    for (auto& [key, link] : links_) link.rows.Place(link.name, &group.tracks);
    return group;
  }

 private:
  struct Link {
    std::string name;
    TrackRows rows;
  };
  const TraceLog& log_;
  std::map<std::tuple<int, int, int>, Link> links_;  // by kind, hosts
};

// Returns the slices of a message whose way is known. `sent` is null for a
// control message.
TrackRows::Group Crossing(const LogIndex& index, const TraceEvent& crossed,
                          const TraceEvent* sent) {
  const TimeNs wire = static_cast<TimeNs>(crossed.value);
  const TimeNs wired = wire + crossed.target;
  const TimeNs arrival = std::max<TimeNs>(crossed.time + crossed.firing, wired);
  Args args;
  args.Add("bytes", crossed.item);
  std::string name =
      sent == nullptr ? "control" : MessageName(index, *sent, &args);
  TrackRows::Group group{
      Span(crossed.time, arrival, "link", std::move(name), args.text()), {}};
  auto add = [&](TimeNs begin, TimeNs end, const char* part) {
    if (begin < end) group.inner.push_back(Span(begin, end, "link", part));
  };
  add(crossed.time, wire, "queue");
  add(wire, wired, "wire");
  add(wired, arrival, "flight");
  return group;
}

}  // namespace

TrackGroup LinkTracks(const LogIndex& index) {
  const TraceLog& log = index.log();
  const SentMessages messages(index);
  std::vector<const TraceEvent*> crossed, received;
  for (const TraceEvent& e : log.events) {
    if (e.Kind() == TraceKind::kCrossed) crossed.push_back(&e);
    if (e.Kind() == TraceKind::kReceived) received.push_back(&e);
  }
  // A simulation records the way of each message; threads record only its ends.
  if (!crossed.empty()) received.clear();
  Links links(log);
  for (const TraceEvent* e : crossed) {
    const TraceActor* from = index.actor(e->actor);
    const TraceActor* to = index.actor(e->other);
    if (from == nullptr || to == nullptr) continue;
    const TraceEvent* sent =
        e->program != 0 ? messages.Find(from->host, to->host, e->program)
                        : nullptr;
    links.Add(*from, *to, Crossing(index, *e, sent));
  }
  for (const TraceEvent* e : received) {
    const TraceActor* to = index.actor(e->actor);
    if (to == nullptr) continue;
    const TraceEvent* sent =
        messages.Find(static_cast<int>(e->other), to->host, e->value);
    if (sent == nullptr) continue;
    Args args;
    args.Add("bytes", e->firing);
    std::string name = MessageName(index, *sent, &args);
    links.Add(
        *index.actor(sent->actor), *to,
        {Span(sent->time, e->time, "link", std::move(name), args.text()), {}});
  }
  return links.Place();
}

}  // namespace pathways::trace
