#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "prefix_router/base/error.hpp"

namespace prefix_router::proxy {

/// What is known after one attempt to have a request answered.
struct AttemptFacts {
    std::optional<ErrorKind> failure;  ///< nullopt: an answer's head has come
    unsigned status = 0;               ///< of that head
    bool used_pooled_connection = false;
    bool gave_bytes = false;          ///< the backend sent anything at all in this attempt
    bool was_replaced = false;        ///< a stale connection was replaced already for this request
    unsigned killed_connections = 0;  ///< connections that ended on this request, this one included
};

/// The client closed its connection, or reads no more.
bool has_client_left(ErrorKind kind);
/// The client left or the router stops: no backend's doing, and no answer is wanted.
bool is_our_own_end(ErrorKind kind);
/// Of a request that was sent: its backend failed, and not the client, the router, or the time that
/// the configuration gives a request.
bool is_backends_fault(ErrorKind kind);

enum class RetryAction : std::uint8_t {
    Relay,            ///< pass the answer on
    FreshConnection,  ///< the same backend, over a new connection
    NextBackend,      ///< the next candidate, if the budget allows
    GiveUp,           ///< tell the client
};

/// 429 and 503: the backend is fine and wants nothing more now.
bool is_refusal(unsigned status);

/// The one place that decides on retries (never called once an answer byte was relayed).
RetryAction retry_action(const AttemptFacts& facts);

/// Bounds retries on other backends to a share of the requests, so that a sick fleet is not asked
/// many times over. A bucket of tokens: each request adds `share`, each retry takes 1; it starts
/// with and holds at most kBurst, so that a few failures in a quiet hour are covered. Thread-safe.
class RetryBudget {
  public:
    explicit RetryBudget(double share);
    /// What was saved up is kept, unless nothing may be retried any more.
    void set_share(double share);
    void request_came();
    bool try_take();
    void give_back();  ///< what was taken for a retry that found no backend

  private:
    static constexpr std::int64_t kUnit = 1000;
    static constexpr std::int64_t kBurst = 50 * kUnit;
    std::atomic<std::int64_t> per_request_{0};
    std::atomic<std::int64_t> tokens_{0};
};

}  // namespace prefix_router::proxy
