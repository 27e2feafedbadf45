#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"

namespace prefix_router::sim {

/// What decides where the requests of a replay go. Requests are named by their number in the trace,
/// backends by 0..N-1. Calls come in order of virtual time. Implemented by the real Router
/// (router_policy.hpp) and by the rivals (rivals/rival.hpp).
class Policy {
  public:
    /// A request that was held and may now go.
    struct Release {
        std::size_t request = 0;
        std::size_t backend = 0;
    };

    virtual ~Policy() = default;

    /// The request has come. Its backend, decided and reserved; nullopt: held.
    virtual std::optional<std::size_t> arrive(std::size_t request, Seconds now) = 0;
    virtual void first_token(std::size_t request, Seconds now) = 0;
    /// The last token is there; the engine found `cached_tokens` of the prompt in its cache.
    virtual void finish(std::size_t request, Tokens cached_tokens, Seconds now) = 0;

    /// What it expected to be cached, of a request that was sent; nullopt: it has no expectation.
    virtual std::optional<Tokens> expected_cached(std::size_t) const { return std::nullopt; }

    /// Requests released since the last call.
    virtual std::vector<Release> take_released() { return {}; }
    virtual std::size_t held() const { return 0; }
    virtual void tick(Seconds) {}
};

}  // namespace prefix_router::sim
