#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/random.hpp"
#include "prefix_router/http/request_head.hpp"
#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/proxy/request_record.hpp"
#include "prefix_router/tracing/tracer.hpp"

namespace prefix_router::proxy {

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
    tracing::Span span(const RequestRecord& record) const;

  private:
    std::optional<tracing::TraceContext> parent_;
    tracing::TraceContext context_;
    std::string trace_state_;
    std::string model_;
    prompt::Usage usage_;
};

}  // namespace prefix_router::proxy
