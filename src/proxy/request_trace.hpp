#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/http/request_head.hpp"
#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/prompt/dialect.hpp"
#include "prefix_router/proxy/routing_desk.hpp"
#include "prefix_router/tracing/tracer.hpp"

namespace prefix_router::proxy {

/// How a request ended, for its span. No prompt, query or credential is in it.
struct RequestFacts {
    std::string_view peer;
    std::string_view scheme;
    std::string_view api_key;  ///< its name
    prompt::Dialect dialect = prompt::Dialect::None;
    unsigned status = 0;   ///< 0: no answer was given
    bool was_cut = false;  ///< by a fault, when the answer had begun
    std::optional<ErrorKind> error;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    Duration duration{};
    std::optional<Duration> first_token;
    unsigned attempts = 0;
    const RoutingDesk::Placement* placement = nullptr;  ///< null: it was never decided
    routing::Reason reason = routing::Reason::Cold;
    Duration held{};
};

/// One request's part in a trace: takes the client's traceparent, gives the backend the router's
/// own span as its parent, and makes that span at the end. Exists only with tracing on.
class RequestTrace {
  public:
    RequestTrace(const tracing::Tracer& tracer, const http::RequestHead& head, Random& random);

    /// Puts the context into what the backend gets; before the head is sealed. The context of a
    /// client that does not record passes as it came.
    void pass_on(http::RequestHead& head) const;

    void set_model(std::string_view model);
    void set_usage(const prompt::Usage& usage) { usage_ = usage; }
    bool is_sampled() const { return context_.is_sampled(); }
    tracing::Span span(const http::RequestHead& head, const RequestFacts& facts) const;

  private:
    std::optional<tracing::TraceContext> parent_;
    tracing::TraceContext context_;
    std::string trace_state_;
    std::string model_;
    prompt::Usage usage_;
};

}  // namespace prefix_router::proxy
