#include "proxy/request_trace.hpp"

#include <chrono>
#include <utility>

#include "prefix_router/prompt/dialect.hpp"

namespace prefix_router::proxy {
namespace {

constexpr std::string_view kTraceparent = "traceparent";
constexpr std::string_view kTracestate = "tracestate";
constexpr std::size_t kLongestText = 256;
constexpr unsigned kServerError = 500;

/// Values of gen_ai.operation.name; "": the request asks for no answer of a model.
std::string_view operation_of(prompt::Dialect dialect) {
    using prompt::Dialect;
    switch (dialect) {
        case Dialect::None:
            return {};
        case Dialect::OpenAiChat:
        case Dialect::OpenAiResponses:
        case Dialect::AnthropicMessages:
        case Dialect::OllamaChat:
            return "chat";
        case Dialect::OpenAiCompletions:
        case Dialect::SageMakerInvocations:
        case Dialect::Generate:
        case Dialect::GenerateStream:
        case Dialect::LlamaCppCompletion:
        case Dialect::OllamaGenerate:
            return "text_completion";
    }
    return {};
}

/// Attributes in the order of the semantic conventions: HTTP, GenAI, the router's own.
class Attributes {
  public:
    explicit Attributes(tracing::Span& span) : list_(span.attributes) {}

    void text(std::string_view name, std::string_view value) {
        if (!value.empty()) {
            list_.emplace_back(name, std::string(value.substr(0, kLongestText)));
        }
    }
    void number(std::string_view name, std::uint64_t value) {
        list_.emplace_back(name, static_cast<std::int64_t>(value));
    }
    void number(std::string_view name, const std::optional<std::uint64_t>& value) {
        if (value) {
            number(name, *value);
        }
    }
    void seconds(std::string_view name, Duration value) {
        list_.emplace_back(name, to_seconds(value));
    }

  private:
    std::vector<std::pair<std::string_view, tracing::AttributeValue>>& list_;
};

void add_http(Attributes& attributes, const http::RequestHead& head, const RequestFacts& facts) {
    attributes.text("http.request.method", head.method());
    attributes.text("url.path", head.path());
    attributes.text("url.scheme", facts.scheme);
    attributes.text("client.address", facts.peer);
    if (facts.status != 0) {
        attributes.number("http.response.status_code", facts.status);
    }
    attributes.number("http.request.size", facts.bytes_in);
    attributes.number("http.response.size", facts.bytes_out);
    if (facts.error) {
        attributes.text("error.type", to_string(*facts.error));
    } else if (facts.status >= kServerError) {
        attributes.text("error.type", std::to_string(facts.status));
    }
}

void add_model(Attributes& attributes, prompt::Dialect dialect, std::string_view model,
               const prompt::Usage& usage) {
    attributes.text("gen_ai.operation.name", operation_of(dialect));
    attributes.text("gen_ai.request.model", model);
    attributes.number("gen_ai.usage.input_tokens", usage.prompt_tokens);
    attributes.number("gen_ai.usage.output_tokens", usage.completion_tokens);
    attributes.number("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
}

void add_decision(Attributes& attributes, const RequestFacts& facts) {
    attributes.text("prefix_router.api_key", facts.api_key);
    if (facts.first_token) {
        attributes.seconds("prefix_router.first_token_s", *facts.first_token);
    }
    if (facts.placement == nullptr) {
        return;
    }
    attributes.seconds("prefix_router.held_s", facts.held);
    const auto& decision = facts.placement->decision;
    attributes.number("prefix_router.prompt_tokens",
                      static_cast<std::uint64_t>(decision.prompt_tokens));
    if (facts.attempts == 0 || !facts.placement->backend) {
        return;
    }
    attributes.text("prefix_router.backend", facts.placement->backend->id);
    attributes.text("prefix_router.reason", routing::to_string(facts.reason));
    attributes.number("prefix_router.expected_cached_tokens",
                      static_cast<std::uint64_t>(decision.expected_cached));
    attributes.number("prefix_router.retries", facts.attempts - 1);
}

std::string name_of(const http::RequestHead& head, prompt::Dialect dialect) {
    std::string name(head.method());
    if (dialect != prompt::Dialect::None) {  // else any text of a client's
        name += ' ';
        name += head.path();
    }
    return name;
}

}  // namespace

RequestTrace::RequestTrace(const tracing::Tracer& tracer, const http::RequestHead& head,
                           Random& random)
    : parent_(tracing::parse_traceparent(head.field(kTraceparent))),
      context_(tracer.begin(parent_, random)) {
    if (parent_) {
        trace_state_ = head.field(kTracestate).substr(0, 2 * kLongestText);
    }
}

void RequestTrace::pass_on(http::RequestHead& head) const {
    if (parent_ && !is_sampled()) {
        return;
    }
    head.replace_field(kTraceparent, tracing::to_traceparent(context_));
    if (!parent_) {
        head.replace_field(kTracestate, {});  // of another trace, if of any
    }
}

void RequestTrace::set_model(std::string_view model) {
    if (is_sampled()) {
        model_ = model.substr(0, kLongestText);
    }
}

tracing::Span RequestTrace::span(const http::RequestHead& head, const RequestFacts& facts) const {
    tracing::Span span;
    span.context = context_;
    if (parent_) {
        span.parent = parent_->span;
    }
    span.trace_state = trace_state_;
    span.name = name_of(head, facts.dialect);
    span.end = std::chrono::system_clock::now().time_since_epoch();
    span.start = span.end - facts.duration;
    span.has_failed = facts.status >= kServerError || facts.was_cut;
    Attributes attributes(span);
    add_http(attributes, head, facts);
    add_model(attributes, facts.dialect, model_, usage_);
    add_decision(attributes, facts);
    attributes.text("prefix_router.request_id", head.request_id());
    return span;
}

}  // namespace prefix_router::proxy
