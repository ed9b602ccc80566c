//===- http_text_server.cc - HTTP server of one page of text --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/http_text_server.h"

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <list>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/transport/socket_address.h"

namespace pathways {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kPatience{5};

class Reader;

struct Page {
  std::string path;
  std::function<std::string()> text;
  std::list<Reader*> open;  // connections, the oldest first
};

std::string Answer(const std::string& status, const std::string& body) {
  return absl::StrCat("HTTP/1.1 ", status,
                      "\r\nContent-Type: text/plain; version=0.0.4; "
                      "charset=utf-8\r\nContent-Length: ",
                      body.size(), "\r\nConnection: close\r\n\r\n", body);
}

// One connection, from its beginning to its end. Its pending operations keep it
// alive.
class Reader : public std::enable_shared_from_this<Reader> {
 public:
  Reader(tcp::socket socket, std::shared_ptr<Page> page)
      : page_(std::move(page)),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()) {
    page_->open.push_back(this);
  }
  ~Reader() { page_->open.remove(this); }

  void Start() {
    timer_.expires_after(kPatience);
    timer_.async_wait([self = shared_from_this()](std::error_code error) {
      if (!error) self->Close();
    });
    asio::async_read_until(
        socket_, asio::dynamic_buffer(request_, TextPage::kMaxRequestBytes),
        "\r\n\r\n", [self = shared_from_this()](std::error_code error, size_t) {
          if (error && error != asio::error::not_found) return self->Close();
          self->Reply();
        });
  }
  bool has_asked() const { return !answer_.empty(); }
  void Close() {
    page_->open.remove(this);
    timer_.cancel();
    std::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

 private:
  void Reply() {
    const std::string line = request_.substr(0, request_.find("\r\n"));
    if (!absl::StrContains(request_, "\r\n\r\n")) {
      answer_ = Answer("431 Request Header Fields Too Large",
                       "the request is too long\n");
    } else if (!absl::StartsWith(line, "GET ")) {
      answer_ = Answer("405 Method Not Allowed", "only GET is supported\n");
    } else if (!absl::StartsWith(line,
                                 absl::StrCat("GET ", page_->path, " ")) &&
               !absl::StartsWith(line,
                                 absl::StrCat("GET ", page_->path, "?"))) {
      answer_ = Answer("404 Not Found",
                       absl::StrCat("the only page is ", page_->path, "\n"));
    } else {
      answer_ = Answer("200 OK", page_->text());
    }
    asio::async_write(socket_, asio::buffer(answer_),
                      [self = shared_from_this()](std::error_code, size_t) {
                        self->Close();
                      });
  }

  const std::shared_ptr<Page> page_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::string request_, answer_;
};

class AsioTextPage final : public TextPage {
 public:
  AsioTextPage(std::string path, std::function<std::string()> text)
      : page_(std::make_shared<Page>(
            Page{std::move(path), std::move(text), {}})) {}
  ~AsioTextPage() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const std::string& text) {
    const absl::StatusOr<SocketAddress> address =
        ParseSocketAddress(absl::StrCat("tcp:", text));
    if (!address.ok()) return address.status();
    const absl::StatusOr<std::vector<Endpoint>> endpoints =
        Resolve(*address, text);
    if (!endpoints.ok()) return endpoints.status();
    const Endpoint& first = endpoints->front();
    tcp::endpoint endpoint;
    endpoint.resize(first.bytes);
    std::copy_n(reinterpret_cast<const char*>(first.get()), first.bytes,
                reinterpret_cast<char*>(endpoint.data()));
    std::error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kMaxConnections, error);
    if (error) return SystemError("listen at", text, error.value());
    const tcp::endpoint local = acceptor_.local_endpoint(error);
    address_ = absl::StrCat(address->host, ":", local.port());
    Accept();
    thread_ = std::thread([this] { context_.run(); });
    return absl::OkStatus();
  }

  std::string address() const override { return address_; }

 private:
  void Accept() {
    acceptor_.async_accept([this](std::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        MakeRoom();
        std::make_shared<Reader>(std::move(socket), page_)->Start();
        return Accept();
      }
      // There may be, for instance, no free descriptors now but some later.
      pause_.expires_after(std::chrono::milliseconds(100));
      pause_.async_wait([this](std::error_code) { Accept(); });
    });
  }

  // Closes the oldest connection that has not asked, or else the oldest one.
  void MakeRoom() {
    if (page_->open.size() < kMaxConnections) return;
    const auto silent =
        std::find_if(page_->open.begin(), page_->open.end(),
                     [](const Reader* reader) { return !reader->has_asked(); });
    (silent == page_->open.end() ? page_->open.front() : *silent)->Close();
  }

  const std::shared_ptr<Page> page_;
  std::string address_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TextPage>> TextPage::Serve(
    const std::string& address, const std::string& path,
    std::function<std::string()> text) {
  auto page = std::make_unique<AsioTextPage>(path, std::move(text));
  absl::Status listens = page->Listen(address);
  if (!listens.ok()) return listens;
  return page;
}

}  // namespace pathways
