// How an exchange ends: the error answer, the outcome for the routing, the counts.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include "prefix_router/http/error_answer.hpp"
#include "prefix_router/sim/trace_writer.hpp"

#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/request_trace.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

constexpr unsigned kClientLeftStatus = 499;

}  // namespace

using routing::Outcome;

void InFlightCount::begin(prometheus::Gauge& gauge) {
    gauge.Increment();
    gauge_ = &gauge;
}

void InFlightCount::end() {
    if (gauge_ != nullptr) {
        std::exchange(gauge_, nullptr)->Decrement();
    }
}

/// The router's own answer to a request that failed before any answer byte was passed on.
net::Task<void> Exchange::answer_error() {
    if (is_our_own_end(failure_->kind())) {
        co_return;
    }
    connection_.reset();
    client_->disarm();
    http::ErrorAnswerOptions options;
    options.request_id = head_.request_id();
    options.is_head = head_.is_head();
    options.keeps_alive = ending() == Ending::KeepAlive;
    options.retry_after = std::max(
        retry_after_,
        std::chrono::ceil<std::chrono::seconds>(from_seconds(placement_.decision.retry_after)));
    options.shape = http::error_shape_of(head_.path());
    answer_received_ = http::error_answer(*failure_, options);
    to_client_.clear();
    to_client_.add(answer_received_);
    const Error cause = *failure_;
    failure_.reset();  // a client that is gone shows in it
    if (!flush_now()) {
        co_await flush();
    }
    if (!failure_) {
        failure_ = cause;
    }
}

void Exchange::settle() {
    if (ticket_) {
        settle_ticket();
    }
    duration_ = now() - started_;
    count(status());
    tell();
    in_flight_.end();
    give_back_connection();
    refusal_.reset();
}

void Exchange::settle_ticket() {
    prompt::AnswerFacts facts;
    if (answer_reader_) {
        facts = answer_reader_->finish(is_answer_done_ && !failure_);
    }
    if (trace_) {
        trace_->set_usage(facts.usage);
    }
    Outcome outcome;
    outcome.kind = outcome_kind(facts.has_error_event);
    Metrics& metrics = context_.services.metrics;
    if (facts.has_error_event) {
        metrics.error_events.Increment();
    }
    if (facts.usage.prompt_tokens) {
        outcome.reported_prompt = static_cast<Tokens>(*facts.usage.prompt_tokens);
    }
    if (facts.usage.completion_tokens) {
        outcome.reported_output = static_cast<Tokens>(*facts.usage.completion_tokens);
    }
    if (facts.usage.cached_tokens) {
        outcome.reported_cached = static_cast<Tokens>(*facts.usage.cached_tokens);
        reported_cached_ = outcome.reported_cached;
        count_report(outcome.reported_prompt.value_or(0), *outcome.reported_cached);
    }
    if (outcome.kind == Outcome::Kind::Success) {
        outcome.answer_hashes = facts.hashes;
        outcome.answer_ends = facts.ends;
        record_trace(facts.usage);
    }
    context_.services.desk.end(*ticket_, outcome, verdict(facts.has_error_event), first_byte_);
}

/// Belief and truth about one prompt.
void Exchange::count_report(Tokens prompt, Tokens cached) {
    Metrics& metrics = context_.services.metrics;
    const auto prompt_tokens = static_cast<double>(prompt);
    const auto cached_tokens = static_cast<double>(cached);
    const auto expected = static_cast<double>(placement_.decision.expected_cached);
    metrics.reported_prompt_tokens.Increment(prompt_tokens);
    metrics.reported_cached_tokens.Increment(cached_tokens);
    metrics.cached_tokens_error.Observe(std::abs(expected - cached_tokens));
    if (!placement_.backend) {
        return;
    }
    BackendMetrics& backend = *placement_.backend->metrics;
    backend.reported_prompt_tokens.Increment(prompt_tokens);
    backend.reported_cached_tokens.Increment(cached_tokens);
    if (expected > cached_tokens) {
        backend.missing_cached_tokens.Increment(expected - cached_tokens);
    } else if (expected < cached_tokens) {
        backend.unexpected_cached_tokens.Increment(cached_tokens - expected);
    }
}

/// A request with a whole answer, for the replay (log.trace). A disk that fails is told by the
/// control thread's flush.
void Exchange::record_trace(const prompt::Usage& usage) {
    sim::TraceWriter* const trace = context_.services.trace;
    if (trace == nullptr || dialect_ == prompt::Dialect::None) {
        return;
    }
    const auto ended =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const prompt::PromptKey& key = ticket_->ask().key;
    const auto estimated = static_cast<double>(placement_.decision.prompt_tokens);
    sim::TraceWriter::Entry entry;
    entry.ended = ended.time_since_epoch();
    entry.arrived =
        entry.ended - std::chrono::duration_cast<std::chrono::milliseconds>(now() - body_read_at_);
    entry.prompt_tokens =
        static_cast<Tokens>(usage.prompt_tokens.value_or(static_cast<std::uint64_t>(estimated)));
    entry.output_tokens = static_cast<Tokens>(usage.completion_tokens.value_or(0));
    if (!key.is_tokens && entry.prompt_tokens > 0) {
        entry.units_per_token =
            static_cast<double>(key.total) / static_cast<double>(entry.prompt_tokens);
    }
    static_cast<void>(trace->record(key, entry));
}

Outcome::Kind Exchange::outcome_kind(bool has_error_event) const {
    if (hidden_failure_) {
        return Outcome::Kind::Failed;
    }
    if (failure_) {
        // An engine keeps what it has computed for a request that is cancelled.
        const ErrorKind kind = failure_->kind();
        const bool is_cancelled = is_our_own_end(kind) || kind == ErrorKind::TotalTimeout;
        return is_cancelled && is_request_sent_ ? Outcome::Kind::ClientLeft : Outcome::Kind::Failed;
    }
    if (has_error_event) {
        return Outcome::Kind::Failed;
    }
    const unsigned status = answer_.status();
    if (status < 400) {
        return Outcome::Kind::Success;
    }
    return status < 500 || is_refusal(status) ? Outcome::Kind::Refused : Outcome::Kind::Failed;
}

Verdict Exchange::verdict(bool has_error_event) const {
    if (const auto& failure = hidden_failure_ ? hidden_failure_ : failure_) {
        return is_backends_fault(failure->kind()) ? Verdict::Bad : Verdict::None;
    }
    if (has_error_event) {
        return Verdict::Bad;
    }
    const bool says_nothing = answer_.status() >= 500 || is_refusal(answer_.status());
    return says_nothing ? Verdict::None : Verdict::Good;
}

unsigned Exchange::status() const {
    if (failure_ && has_client_left(failure_->kind())) {
        return kClientLeftStatus;
    }
    if (failure_ && stage_ != Stage::Relaying) {
        return http::status_of(failure_->kind());
    }
    return answer_.status();
}

void Exchange::count(unsigned status) {
    Metrics& metrics = context_.services.metrics;
    metrics.answers(status).Increment();
    metrics.duration_seconds.Observe(to_seconds(duration_));
    if (failure_) {
        metrics.errors(failure_->kind()).Increment();
        if (has_client_left(failure_->kind())) {
            metrics.client_aborts.Increment();
        } else if (placement_.backend && is_backends_fault(failure_->kind())) {
            placement_.backend->metrics->failures.Increment();
        }
    } else if (!hidden_failure_ && is_refusal(status)) {
        placement_.backend->metrics->refusals.Increment();
    }
    if (first_token_) {
        metrics.first_token_seconds.Observe(to_seconds(*first_token_));
    }
    if (ticket_ && ticket_->held() > Duration::zero()) {
        metrics.held_seconds(ticket_->ask().priority).Observe(to_seconds(ticket_->held()));
    }
    if (attempts_ == 0) {
        return;
    }
    const routing::Decision& decision = placement_.decision;
    metrics.decisions(reason_).Increment();
    metrics.prompt_tokens.Increment(static_cast<double>(decision.prompt_tokens));
    metrics.expected_cached_tokens.Increment(static_cast<double>(decision.expected_cached));
}

Ending Exchange::ending() const {
    if (stage_ == Stage::Relaying) {
        if (failure_) {
            // What a stalled client has not taken would stay in the kernel for long.
            const bool is_stalled = failure_->kind() == ErrorKind::ClientStalled;
            return shows_truncation() && !is_stalled ? Ending::Linger : Ending::Reset;
        }
        if (answer_.client_keeps_alive()) {
            return Ending::KeepAlive;
        }
        // Closing with unread bytes resets the connection, and the answer may be lost.
        const bool is_clients_wish = !head_.keeps_alive() && !answer_.is_switch();
        const bool is_silent = client_->received.empty() && client_->stream.is_quiet();
        return is_clients_wish && is_silent ? Ending::Close : Ending::Linger;
    }
    if (is_our_own_end(failure_->kind())) {
        return failure_->kind() == ErrorKind::ClientGone ? Ending::Close : Ending::Reset;
    }
    if (http::ends_connection(failure_->kind())) {
        return Ending::Linger;
    }
    const bool keeps_alive =
        stage_ == Stage::Routing && head_.keeps_alive() && !context_.services.is_draining.load();
    return keeps_alive ? Ending::KeepAlive : Ending::Linger;
}

/// Whether a client that sees the connection end knows that the answer is incomplete. Then what was
/// passed on is left to arrive; else only a reset tells.
bool Exchange::shows_truncation() const {
    return answer_.relay() == http::Relay::AddChunks ||
           (answer_.relay() == http::Relay::AsReceived &&
            answer_.framing() != http::Framing::UntilClose);
}

void Exchange::give_back_connection() {
    if (!connection_) {
        return;
    }
    const bool is_reusable = !failure_ && is_answer_done_ && is_request_sent_ && !has_surplus_ &&
                             answer_.backend_keeps_alive() &&
                             answer_.framing() != http::Framing::UntilClose;
    if (is_reusable) {
        context_.connections.put(std::move(connection_), context_.worker.ticks().now());
    }
    connection_.reset();
}

}  // namespace prefix_router::proxy
