//===- tls_context.h - TLS with a shared key --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_SOCKET_TLS_CONTEXT_H_
#define RUNTIME_TRANSPORT_SOCKET_TLS_CONTEXT_H_

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/transport/socket/cluster_key.h"

namespace pathways {

// Makes ends of TLS 1.3 connections on which both sides prove that they know
// one key. Each connection has encryption keys of its own; there are no
// certificates, tickets or early data. Thread-safe after Make.
class TlsContext {
 public:
  // Returns null if the library does not support this.
  static std::unique_ptr<const TlsContext> Make(
      std::shared_ptr<const ClusterKey> key);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  // Returns null if memory ran out.
  SSL* NewEnd(bool dialed) const;

 private:
  explicit TlsContext(std::shared_ptr<const ClusterKey> key)
      : key_(std::move(key)) {}
  bool Prepare(SSL_CTX* context);
  static SSL_SESSION* SessionFor(const SSL* end);
  static int OnDialed(SSL* end, const EVP_MD* hash, const unsigned char** name,
                      size_t* bytes, SSL_SESSION** session);
  static int OnListened(SSL* end, const unsigned char* name, size_t bytes,
                        SSL_SESSION** session);

  const std::shared_ptr<const ClusterKey> key_;
  SSL_CTX* dialed_ = nullptr;
  SSL_CTX* listened_ = nullptr;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_SOCKET_TLS_CONTEXT_H_
