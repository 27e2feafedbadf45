// The request's span, with tracing on.
#include "proxy/exchange.hpp"
#include "proxy/request_trace.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {

void Exchange::begin_trace() {
    trace_ = std::make_unique<RequestTrace>(*context_.services.tracer, head_, context_.random);
}

/// A request that was refused before its body was read has a span, too.
void Exchange::end_trace() {
    tracing::Tracer* const tracer = context_.services.tracer;
    if (tracer == nullptr || head_.request_id().empty()) {
        return;
    }
    if (!trace_) {
        begin_trace();
    }
    if (trace_->is_sampled()) {
        tracer->end(trace_->span(head_, request_facts()));
    }
}

RequestFacts Exchange::request_facts() const {
    const bool has_left = failure_ && has_client_left(failure_->kind());
    RequestFacts facts;
    facts.peer = client_->peer;
    facts.scheme = client_->stream.is_secured() ? "https" : "http";
    facts.api_key = key_ != nullptr ? std::string_view(key_->spec.name) : std::string_view();
    facts.dialect = dialect_;
    facts.status = has_left ? answer_.status() : status();
    facts.was_cut = failure_ && stage_ == Stage::Relaying && !has_left;
    if (failure_) {
        facts.error = failure_->kind();
    }
    facts.bytes_in = bytes_in_;
    facts.bytes_out = bytes_out_;
    facts.duration = now() - started_;
    facts.first_token = first_token_;
    facts.attempts = attempts_;
    facts.reason = reason_;
    if (ticket_) {
        facts.placement = &placement_;
        facts.held = ticket_->held();
    }
    return facts;
}

}  // namespace prefix_router::proxy
