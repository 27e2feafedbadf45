// How an exchange is told: its line in the access log and, with tracing on, its span.
#include "proxy/exchange.hpp"
#include "proxy/request_trace.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {

void Exchange::begin_trace() {
    trace_ = std::make_unique<RequestTrace>(*context_.services.tracer, head_, context_.random);
}

void Exchange::tell() {
    const bool is_logged = context_.services.access_log.is_enabled() && !head_.method().empty();
    const bool is_traced = context_.services.tracer != nullptr && !head_.request_id().empty();
    if (!is_logged && !is_traced) {
        return;
    }
    const RequestRecord told = record();
    if (is_logged) {
        context_.log(told);
    }
    if (is_traced) {
        end_trace(told);
    }
}

/// A request that was refused before its body was read has a span, too.
void Exchange::end_trace(const RequestRecord& told) {
    if (!trace_) {
        begin_trace();
    }
    if (trace_->is_sampled()) {
        context_.services.tracer->end(trace_->span(told));
    }
}

RequestRecord Exchange::record() const {
    RequestRecord record;
    record.request_id = head_.request_id();
    record.peer = client_->peer;
    record.scheme = client_->stream.is_secured() ? "https" : "http";
    record.method = head_.method();
    record.path = head_.path();
    record.api_key = key_ != nullptr ? std::string_view(key_->spec.name) : std::string_view();
    record.dialect = dialect_;
    record.status = status();
    record.answered = record.status;
    if (failure_) {
        const bool has_left = has_client_left(failure_->kind());
        record.answered = has_left ? answer_.status() : record.status;
        record.was_cut = stage_ == Stage::Relaying && !has_left;
        record.error = failure_->kind();
    }
    record.bytes_in = bytes_in_;
    record.bytes_out = bytes_out_;
    record.attempts = attempts_;
    record.duration = duration_;
    record.first_token = first_token_;
    record.reported_cached = reported_cached_;
    if (ticket_) {
        record.held = ticket_->held();
        record.prompt_tokens = placement_.decision.prompt_tokens;
        record.expected_cached = placement_.decision.expected_cached;
    }
    if (placement_.backend) {
        record.backend = placement_.backend->id;
        record.reason = reason_;
        const Seconds wait = placement_.decision.expected_wait;
        if (wait > 0) {
            record.expected_first_token =
                record.held.value_or(Duration::zero()) + from_seconds(wait);
        }
    }
    return record;
}

}  // namespace prefix_router::proxy
