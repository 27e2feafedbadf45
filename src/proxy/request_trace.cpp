#include "proxy/request_trace.hpp"

#include <chrono>
#include <utility>

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

void add_http(Attributes& attributes, const RequestRecord& record) {
    attributes.text("http.request.method", record.method);
    attributes.text("url.path", record.path);
    attributes.text("url.scheme", record.scheme);
    attributes.text("client.address", record.peer);
    if (record.answered != 0) {
        attributes.number("http.response.status_code", record.answered);
    }
    attributes.number("http.request.size", record.bytes_in);
    attributes.number("http.response.size", record.bytes_out);
    if (record.error) {
        attributes.text("error.type", to_string(*record.error));
    } else if (record.answered >= kServerError) {
        attributes.text("error.type", std::to_string(record.answered));
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

void add_decision(Attributes& attributes, const RequestRecord& record) {
    attributes.text("prefix_router.api_key", record.api_key);
    if (record.first_token) {
        attributes.seconds("prefix_router.first_token_s", *record.first_token);
    }
    if (!record.held) {
        return;
    }
    attributes.seconds("prefix_router.held_s", *record.held);
    attributes.number("prefix_router.prompt_tokens",
                      static_cast<std::uint64_t>(record.prompt_tokens));
    if (record.attempts == 0 || !record.reason) {
        return;
    }
    attributes.text("prefix_router.backend", record.backend);
    attributes.text("prefix_router.reason", routing::to_string(*record.reason));
    attributes.number("prefix_router.expected_cached_tokens",
                      static_cast<std::uint64_t>(record.expected_cached));
    attributes.number("prefix_router.retries", record.attempts - 1);
}

std::string name_of(const RequestRecord& record) {
    std::string name(record.method);
    if (record.dialect != prompt::Dialect::None) {  // else any text of a client's
        name += ' ';
        name += record.path;
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

tracing::Span RequestTrace::span(const RequestRecord& record) const {
    tracing::Span span;
    span.context = context_;
    if (parent_) {
        span.parent = parent_->span;
    }
    span.trace_state = trace_state_;
    span.name = name_of(record);
    span.end = std::chrono::system_clock::now().time_since_epoch();
    span.start = span.end - record.duration;
    span.has_failed = record.answered >= kServerError || record.was_cut;
    Attributes attributes(span);
    add_http(attributes, record);
    add_model(attributes, record.dialect, model_, usage_);
    add_decision(attributes, record);
    attributes.text("prefix_router.request_id", record.request_id);
    return span;
}

}  // namespace prefix_router::proxy
