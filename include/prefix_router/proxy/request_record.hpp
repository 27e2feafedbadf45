#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/prompt/dialect.hpp"
#include "prefix_router/routing/decision.hpp"

namespace prefix_router::proxy {

/// How one request went, for its line in the access log and for its span. Views live during the
/// call only. Nothing here may hold a prompt, a query string or a credential.
struct RequestRecord {
    std::string_view request_id;
    std::string_view peer;
    std::string_view scheme;  ///< of the client's connection
    std::string_view method;
    std::string_view path;     ///< without the query
    std::string_view api_key;  ///< its name; "" where none is asked for
    prompt::Dialect dialect = prompt::Dialect::None;
    unsigned status = 0;    ///< 499: the client left
    unsigned answered = 0;  ///< what the client was told, even if it left; 0: nothing
    bool was_cut = false;   ///< by a fault, when the answer had begun
    std::optional<ErrorKind> error;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    unsigned attempts = 0;
    Duration duration{};
    std::optional<Duration> held;  ///< nullopt: it was never decided
    std::optional<Duration>
        expected_first_token;  ///< as believed at the decision, holding included
    std::optional<Duration> first_token;
    std::string_view backend;               ///< "" until it was sent to one
    std::optional<routing::Reason> reason;  ///< with a backend
    Tokens prompt_tokens = 0;
    Tokens expected_cached = 0;
    std::optional<Tokens> reported_cached;
};

}  // namespace prefix_router::proxy
