#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"

struct ssl_ctx_st;
struct ssl_session_st;

namespace prefix_router::net {

class TlsSession;

struct TlsContextReleaser {
    void operator()(ssl_ctx_st* context) const;
};
using TlsContext = std::unique_ptr<ssl_ctx_st, TlsContextReleaser>;

/// What the router shows to its clients: certificate, key, whom it asks for a certificate. TLS 1.2
/// and later, HTTP/1.1 only, no renegotiation; clients may resume sessions by tickets, so nothing
/// is kept of a client that left. Immutable, thread-safe.
class TlsServer {
  public:
    /// Error: InvalidConfiguration, with the file and the reason.
    static Result<std::shared_ptr<const TlsServer>> load(const config::Tls& options);

    std::chrono::system_clock::time_point expiry() const { return expiry_; }
    ssl_ctx_st* context() const { return context_.get(); }

  private:
    explicit TlsServer(TlsContext context);

    TlsContext context_;
    std::chrono::system_clock::time_point expiry_;
};

/// How the router speaks TLS to one backend: whom it believes, what it shows, and the session that
/// the next connection resumes. Thread-safe.
class TlsClient {
  public:
    /// `host` is the URL's. Error: InvalidConfiguration, with the file and the reason.
    static Result<std::shared_ptr<TlsClient>> load(const config::BackendTls& options,
                                                   const std::string& host);
    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    ssl_ctx_st* context() const { return context_.get(); }
    /// The name in SNI, the name or address to verify.
    const std::string& server_name() const { return server_name_; }
    /// Takes over a reference.
    void keep(ssl_session_st* session);
    /// With a reference for the caller; null: none yet.
    ssl_session_st* last_session() const;

  private:
    TlsClient(TlsContext context, std::string server_name);

    TlsContext context_;
    std::string server_name_;
    mutable std::mutex mutex_;
    ssl_session_st* session_ = nullptr;
};

}  // namespace prefix_router::net
