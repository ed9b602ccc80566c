//===- text_page_test.cc - One page of text, over HTTP --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/transport/socket/http_text_server.h"

namespace pathways {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TextPageTest : public ::testing::Test {
 protected:
  static std::unique_ptr<TextPage> Serve() {
    auto page = TextPage::Serve("127.0.0.1:0", "/metrics",
                                [] { return std::string("one 1\ntwo 2\n"); });
    EXPECT_TRUE(page.ok()) << page.status();
    return *std::move(page);
  }
  static int Dial(const TextPage& page) {
    const std::string address = page.address();
    int port = 0;
    EXPECT_TRUE(
        absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  static void Say(int fd, const std::string& text) {
    EXPECT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // All that comes until the other end closes it.
  static std::string Hear(int fd) {
    std::string all;
    char some[512];
    for (ssize_t got; (got = recv(fd, some, sizeof some, 0)) > 0;) {
      all.append(some, static_cast<size_t>(got));
    }
    close(fd);
    return all;
  }
  static std::string Ask(const TextPage& page, const std::string& request) {
    const int fd = Dial(page);
    Say(fd, request);
    return Hear(fd);
  }
};

TEST_F(TextPageTest, HasOnePage) {
  const auto page = Serve();
  const std::string got =
      Ask(*page, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; "
                              "version=0.0.4; charset=utf-8\r\n"
                              "Content-Length: 12\r\n"));
  EXPECT_THAT(got, EndsWith("\r\n\r\none 1\ntwo 2\n"));
  EXPECT_THAT(Ask(*page, "GET /metrics?a=b HTTP/1.0\r\n\r\n"),
              HasSubstr("200 OK"));
}

TEST_F(TextPageTest, AnythingElseIsRefused) {
  const auto page = Serve();
  EXPECT_THAT(Ask(*page, "GET / HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(Ask(*page, "GET /metricsandmore HTTP/1.1\r\n\r\n"),
              HasSubstr("404"));
  EXPECT_THAT(Ask(*page, "POST /metrics HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask(*page, std::string("\0\xff\r\n\r\n", 6)),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask(*page, std::string(TextPage::kMaxRequestBytes, 'x')),
              StartsWith("HTTP/1.1 431 "));
}

// However many say nothing, who asks is served when one of them goes.
TEST_F(TextPageTest, ThoseThatSayNothingKeepNobodyOut) {
  const auto page = Serve();
  std::vector<int> silent;
  for (int i = 0; i < TextPage::kMaxConnections; ++i) {
    silent.push_back(Dial(*page));
    Say(silent.back(), "GET");
  }
  const int fd = Dial(*page);
  Say(fd, "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(Hear(fd), HasSubstr("one 1"));
  // Only the oldest gave way: the others still have time for their request.
  char byte;
  EXPECT_EQ(recv(silent.front(), &byte, 1, 0), 0);
  EXPECT_EQ(recv(silent.back(), &byte, 1, MSG_DONTWAIT), -1);
  // Ends with connections open.
  for (int one : silent) close(one);
}

TEST_F(TextPageTest, AddressesThatAreNone) {
  for (const char* address : {"", "nowhere", "127.0.0.1:99999", "host:"}) {
    EXPECT_FALSE(TextPage::Serve(address, "/", [] { return ""; }).ok())
        << address;
  }
  const auto page = Serve();
  const absl::Status taken =
      TextPage::Serve(page->address(), "/", [] { return ""; }).status();
  EXPECT_THAT(
      std::string(taken.message()),
      HasSubstr(absl::StrCat("cannot listen at '", page->address(), "': ")));
}

}  // namespace
}  // namespace pathways
