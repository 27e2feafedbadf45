#include "proxy/retry_policy.hpp"

#include <cmath>

namespace prefix_router::proxy {
namespace {

constexpr unsigned kTooManyRequests = 429;
constexpr unsigned kServiceUnavailable = 503;
// A request that ended two connections is likely what ends them.
constexpr unsigned kKillsAllowed = 1;

}  // namespace

bool has_client_left(ErrorKind kind) {
    return kind == ErrorKind::ClientGone || kind == ErrorKind::ClientStalled;
}

bool is_our_own_end(ErrorKind kind) {
    return has_client_left(kind) || kind == ErrorKind::Draining;
}

bool is_backends_fault(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::OutOfDescriptors:
        case ErrorKind::TotalTimeout:
        case ErrorKind::Overloaded:
        case ErrorKind::QueueFull:
        case ErrorKind::QueueDisplaced:
        case ErrorKind::QueueTimeout:
        case ErrorKind::DeadlineExceeded:
            return false;
        default:
            return !is_our_own_end(kind);
    }
}

bool is_refusal(unsigned status) {
    return status == kTooManyRequests || status == kServiceUnavailable;
}

RetryAction retry_action(const AttemptFacts& facts) {
    if (!facts.failure) {
        return is_refusal(facts.status) ? RetryAction::NextBackend : RetryAction::Relay;
    }
    switch (*facts.failure) {
        case ErrorKind::ConnectRefused:
        case ErrorKind::ConnectTimeout:
        case ErrorKind::ConnectFailed:
        case ErrorKind::BackendTlsFailed:
        case ErrorKind::BackendTlsTimeout:
        case ErrorKind::BackendCertificate:
            return facts.killed_connections > kKillsAllowed ? RetryAction::GiveUp
                                                            : RetryAction::NextBackend;
        case ErrorKind::ResetBeforeResponse:
            return facts.used_pooled_connection && !facts.gave_bytes && !facts.was_replaced &&
                           facts.killed_connections <= kKillsAllowed
                       ? RetryAction::FreshConnection
                       : RetryAction::GiveUp;
        default:
            return RetryAction::GiveUp;
    }
}

RetryBudget::RetryBudget(double share) {
    set_share(share);
}

void RetryBudget::set_share(double share) {
    const auto per_request = static_cast<std::int64_t>(std::llround(share * kUnit));
    const bool was_off = per_request_.exchange(per_request) == 0;
    if (per_request == 0) {
        tokens_.store(0);
    } else if (was_off) {
        tokens_.store(kBurst);
    }
}

void RetryBudget::request_came() {
    // Two threads may both add at the brim: the bound is exceeded by a request's share, no more.
    if (tokens_.load(std::memory_order_relaxed) < kBurst) {
        tokens_.fetch_add(per_request_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

bool RetryBudget::try_take() {
    std::int64_t tokens = tokens_.load(std::memory_order_relaxed);
    do {
        if (tokens < kUnit) {
            return false;
        }
    } while (!tokens_.compare_exchange_weak(tokens, tokens - kUnit, std::memory_order_relaxed));
    return true;
}

void RetryBudget::give_back() {
    tokens_.fetch_add(kUnit, std::memory_order_relaxed);
}

}  // namespace prefix_router::proxy
