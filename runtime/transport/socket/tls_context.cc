//===- tls_context.cc - TLS with a shared key -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/tls_context.h"

#include <openssl/err.h>

#include <cstring>

namespace pathways {
namespace {

// Identity of the key for both sides; not secret.
constexpr unsigned char kName[] = "pathways cluster";
constexpr size_t kNameBytes = sizeof kName - 1;
constexpr char kCipher[] = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char kCipherId[] = {0x13, 0x01};  // the id of kCipher

}  // namespace

std::unique_ptr<const TlsContext> TlsContext::Make(
    std::shared_ptr<const ClusterKey> key) {
  std::unique_ptr<TlsContext> made(new TlsContext(std::move(key)));
  made->dialed_ = SSL_CTX_new(TLS_client_method());
  made->listened_ = SSL_CTX_new(TLS_server_method());
  if (!made->Prepare(made->dialed_) || !made->Prepare(made->listened_)) {
    ERR_clear_error();
    return nullptr;
  }
  // The dialing side refuses a peer that shows a certificate instead of the
  // key, since no certificate is known. The listening side has none, and asks
  // for none.
  SSL_CTX_set_verify(made->dialed_, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_use_session_callback(made->dialed_, OnDialed);
  SSL_CTX_set_psk_find_session_callback(made->listened_, OnListened);
  return made;
}

bool TlsContext::Prepare(SSL_CTX* context) {
  if (context == nullptr) return false;
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Reads a record with one system call instead of two.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, 64 << 10);
  return SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_max_early_data(context, 0) == 1 &&
         SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCipher) == 1;
}

TlsContext::~TlsContext() {
  SSL_CTX_free(dialed_);
  SSL_CTX_free(listened_);
}

SSL* TlsContext::NewEnd(bool dialed) const {
  SSL* end = SSL_new(dialed ? dialed_ : listened_);
  if (end == nullptr) return nullptr;
  if (dialed) {
    SSL_set_connect_state(end);
  } else {
    SSL_set_accept_state(end);
  }
  return end;
}

SSL_SESSION* TlsContext::SessionFor(const SSL* end) {
  const auto* self = static_cast<const TlsContext*>(
      SSL_CTX_get_app_data(SSL_get_SSL_CTX(end)));
  const SSL_CIPHER* cipher = SSL_CIPHER_find(const_cast<SSL*>(end), kCipherId);
  SSL_SESSION* session = SSL_SESSION_new();
  const absl::Span<const unsigned char> key = self->key_->bytes();
  if (session != nullptr && cipher != nullptr &&
      SSL_SESSION_set1_master_key(session, key.data(), key.size()) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1) {
    return session;
  }
  SSL_SESSION_free(session);
  return nullptr;
}

int TlsContext::OnDialed(SSL* end, const EVP_MD* hash,
                         const unsigned char** name, size_t* bytes,
                         SSL_SESSION** session) {
  *session = nullptr;
  // The other side asked again for a hash that does not fit the key.
  if (hash != nullptr && EVP_MD_get_type(hash) != NID_sha256) return 1;
  *session = SessionFor(end);
  *name = kName;
  *bytes = kNameBytes;
  return *session != nullptr;
}

int TlsContext::OnListened(SSL* end, const unsigned char* name, size_t bytes,
                           SSL_SESSION** session) {
  *session = nullptr;
  if (bytes != kNameBytes || std::memcmp(name, kName, bytes) != 0) return 1;
  *session = SessionFor(end);
  return *session != nullptr;
}

}  // namespace pathways
