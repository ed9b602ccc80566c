//===- chaos_transport_test.cc - Effects of a bad network -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/testing/chaos_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "runtime/base/steady_time.h"
#include "runtime/transport/socket/socket_transport.h"
#include "runtime/transport/testing/in_process_transport.h"
#include "unittests/runtime/transport/socket_folder.h"
#include "unittests/runtime/transport/transport_conformance.h"

namespace pathways {
namespace {

// A pair of transports in this process, of which one has chaos on its way out.
class ChaosTest : public testing::Test {
 protected:
  void Connect(ChaosOptions options) {
    options.now = [this] { return now_; };
    auto chaos = std::make_unique<ChaosTransport>(
        options, &from_, [this](TransportEvents* events) {
          return MakeInProcessTransport(network_, {}, events);
        });
    chaos_ = chaos.get();
    from_.transport = std::move(chaos);
    to_.transport = MakeInProcessTransport(network_, {}, &to_);
    ASSERT_TRUE(to_.transport->Listen("local:to").ok());
    to_of_from_ = *chaos_->Dial("local:to", absl::Seconds(60));
    PollAll();
    from_of_to_ = to_.dialers().back();
  }
  void PollAll() {
    for (bool moved = true; moved;) {
      moved = from_.transport->Poll();
      moved |= to_.transport->Poll();
    }
  }
  void Advance(absl::Duration by) {
    now_ += by;
    PollAll();
  }
  void SendNumbers(int count, Urgency urgency = Urgency::kCritical) {
    for (int i = 0; i < count; ++i) {
      chaos_->Send(to_of_from_, urgency, std::to_string(i), {});
      PollAll();
    }
  }
  std::vector<std::string> Came() { return to_.Of(from_of_to_).headers; }
  static std::vector<std::string> Numbers(int count) {
    std::vector<std::string> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }
  static std::vector<std::string> Sorted(std::vector<std::string> text) {
    std::sort(text.begin(), text.end());
    return text;
  }

  SteadyTime now_;
  const std::shared_ptr<InProcessNetwork> network_ =
      std::make_shared<InProcessNetwork>();
  Node from_, to_;
  ChaosTransport* chaos_ = nullptr;
  PeerId to_of_from_{}, from_of_to_{};
};

TEST_F(ChaosTest, DelaysInOrder) {
  ChaosOptions options;
  options.delay = 0.5;
  Connect(options);
  SendNumbers(100);
  EXPECT_LT(Came().size(), 100);
  EXPECT_GT(chaos_->backlog(to_of_from_), 0);
  Advance(options.longest_delay);
  EXPECT_EQ(Came(), Numbers(100));
  EXPECT_EQ(chaos_->backlog(to_of_from_), 0);
}

TEST_F(ChaosTest, DuplicatesLater) {
  ChaosOptions options;
  options.duplicate = 1;
  Connect(options);
  SendNumbers(10);
  EXPECT_EQ(Came(), Numbers(10));
  Advance(options.longest_delay);
  std::vector<std::string> twice = Numbers(10);
  for (const std::string& number : Numbers(10)) twice.push_back(number);
  EXPECT_EQ(Sorted(Came()), Sorted(twice));
}

TEST_F(ChaosTest, LetsOthersPass) {
  ChaosOptions options;
  options.reorder = 0.3;
  Connect(options);
  SendNumbers(100);
  Advance(options.longest_delay);
  EXPECT_NE(Came(), Numbers(100));
  EXPECT_EQ(Sorted(Came()), Sorted(Numbers(100)));
}

TEST_F(ChaosTest, KeepsOrderWhereItIsToldTo) {
  ChaosOptions options;
  options.delay = options.duplicate = options.reorder = options.drop = 0.5;
  // Every tenth; the others are of either class.
  options.keeps_order = [](absl::Span<const char> header) {
    return header.back() == '0';
  };
  Connect(options);
  for (int i = 0; i < 200; ++i) {
    const bool is_bulk = i % 10 != 0 && i % 2 == 0;
    chaos_->Send(to_of_from_, is_bulk ? Urgency::kBulk : Urgency::kCritical,
                 std::to_string(i), {});
    PollAll();
  }
  Advance(options.longest_delay * 3 + options.retry);
  std::vector<int> in_order;
  bool overtaken = false;
  for (const std::string& text : Came()) {
    const int number = std::stoi(text);
    if (number % 10 == 0) {
      in_order.push_back(number);
      continue;
    }
    // None of those before it that keep their order is behind it.
    EXPECT_GT(in_order.size(), number / 10) << number;
    overtaken |= !in_order.empty() && in_order.back() > number;
  }
  std::vector<int> expected;
  for (int i = 0; i < 200; i += 10) expected.push_back(i);
  EXPECT_EQ(in_order, expected);
  EXPECT_TRUE(overtaken);
  EXPECT_GT(Came().size(), 200);
}

TEST_F(ChaosTest, SendsAgainWhatItDropped) {
  ChaosOptions options;
  options.drop = 1;
  Connect(options);
  SendNumbers(10, Urgency::kBulk);
  Advance(options.retry - absl::Nanoseconds(1));
  EXPECT_TRUE(Came().empty());
  Advance(absl::Nanoseconds(1));
  EXPECT_EQ(Came(), Numbers(10));
}

TEST_F(ChaosTest, HoldsPayloadsBackAndBringsThemOnce) {
  ChaosOptions options;
  options.drop = options.duplicate = options.delay = options.reorder = 1;
  Connect(options);
  const std::string bytes = Pattern(1000, 1);
  std::string memory(1000, '.');
  int given_back = 0;
  to_.transport->Expect(from_of_to_, 7, memory.data(), memory.size());
  chaos_->Put(to_of_from_, 7, bytes, [&] { ++given_back; });
  PollAll();
  EXPECT_EQ(given_back, 0);
  Advance(options.retry + 2 * options.longest_delay);
  EXPECT_EQ(given_back, 1);
  EXPECT_EQ(to_.TokensOf(from_of_to_), 1);
  EXPECT_TRUE(memory == bytes);
}

TEST_F(ChaosTest, CutsAsACableBreaks) {
  ChaosOptions options;
  options.delay = 1;
  Connect(options);
  const std::string bytes(10, 'x');
  int given_back = 0;
  chaos_->Put(to_of_from_, 7, bytes, [&] { ++given_back; });
  SendNumbers(1);
  chaos_->Cut(to_of_from_);
  SendNumbers(1);
  PollAll();
  EXPECT_EQ(from_.Of(to_of_from_).why.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(to_.Of(from_of_to_).why.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(from_.Of(to_of_from_).downs, 1);
  EXPECT_TRUE(Came().empty());
  EXPECT_EQ(given_back, 1);
}

TEST_F(ChaosTest, CutsByChance) {
  ChaosOptions options;
  options.cut = 0.1;
  Connect(options);
  SendNumbers(200);
  EXPECT_TRUE(from_.IsDown(to_of_from_) && to_.IsDown(from_of_to_));
  EXPECT_LT(Came().size(), 200);
  EXPECT_EQ(Came(), Numbers(Came().size()));
}

TEST_F(ChaosTest, SendsNoFasterThanTheCap) {
  ChaosOptions options;
  options.bytes_per_second = 1000;
  Connect(options);
  const std::string bytes(98, 'x');
  for (int i = 10; i < 20; ++i) {
    chaos_->Send(to_of_from_, Urgency::kBulk, std::to_string(i), bytes);
  }
  chaos_->Send(to_of_from_, Urgency::kCritical, std::string("cc"), bytes);
  PollAll();
  EXPECT_EQ(Came(), std::vector<std::string>{"10"});
  Advance(absl::Milliseconds(99));
  EXPECT_EQ(Came().size(), 1);
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(Came().back(), "cc");
  for (size_t i = 3; i <= 11; ++i) {
    Advance(absl::Milliseconds(100));
    EXPECT_EQ(Came().size(), i);
  }
}

TEST_F(ChaosTest, SendsWhatIsLateBeforeItCloses) {
  ChaosOptions options;
  options.delay = options.drop = 0.5;
  Connect(options);
  SendNumbers(20);
  chaos_->Close(to_of_from_);
  SendNumbers(1);
  Advance(options.retry + options.longest_delay);
  EXPECT_EQ(Sorted(Came()), Sorted(Numbers(20)));
  EXPECT_TRUE(from_.IsDown(to_of_from_));
  EXPECT_TRUE(from_.Of(to_of_from_).why.ok());
}

TEST(ChaosSeedTest, ChoosesTheSameBySeed) {
  const auto run = [](uint64_t seed) {
    class Run : public ChaosTest {
     public:
      void TestBody() override {}
      std::vector<std::string> Order(uint64_t seed) {
        ChaosOptions options;
        options.seed = seed;
        options.delay = options.duplicate = options.reorder = options.drop =
            0.3;
        Connect(options);
        SendNumbers(50);
        for (int i = 0; i < 100; ++i) Advance(absl::Milliseconds(1));
        return Came();
      }
    };
    return Run().Order(seed);
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(ChaosTimeTest, NeedsNobodyWhoPolls) {
  const SocketFolder folder;
  const std::string address = folder.address("socket");
  ChaosOptions options;
  options.delay = options.drop = 1;
  options.longest_delay = options.retry = absl::Milliseconds(2);
  Node from, to;
  from.transport = std::make_unique<ChaosTransport>(
      options, &from,
      [](TransportEvents* events) { return MakeSocketTransport({}, events); });
  to.transport = MakeSocketTransport({}, &to);
  ASSERT_TRUE(to.transport->Listen(address).ok());
  const auto peer = from.transport->Dial(address, absl::Seconds(60));
  ASSERT_TRUE(peer.ok()) << peer.status();
  std::atomic<bool> came{false};
  to.OnEachMessage([&](PeerId, absl::string_view) {
    came.store(true);
    came.notify_all();
  });
  from.transport->Send(*peer, Urgency::kCritical, std::string("late"), {});
  came.wait(false);
  to.transport->Stop();
}

}  // namespace
}  // namespace pathways
