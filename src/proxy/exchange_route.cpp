// Where a request goes: key, admission, the queue, and what happens when a backend fails it.
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/request_class.hpp"
#include "proxy/request_trace.hpp"
#include "proxy/server_control.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {

using routing::Action;
using routing::Outcome;

net::Task<void> Exchange::route() {
    client_->disarm();  // what is held has no deadline but the whole request's
    client_->arm_total(context_.config().timeouts.total);
    dialect_ = prompt::dialect_of(head_.method(), head_.path());
    if (dialect_ == prompt::Dialect::None && is_server_control(head_.path())) {
        fail(ErrorKind::ServerControl);
        co_return;
    }
    if (!is_within_rate()) {
        co_return;
    }
    admit();
    if (failure_) {
        co_return;
    }
    if (placement_.decision.action == Action::Wait) {
        co_await hold();
    }
    if (!failure_) {
        co_await dispatch();
    }
}

void Exchange::admit() {
    Services& services = context_.services;
    auto& facts = context_.reader.read(dialect_, std::string_view(body_.data(), body_size_),
                                       head_.prefix_id(), isolated_tenant());
    if (trace_) {
        trace_->set_model(facts.model);
    }
    if (!may_use_model(facts)) {
        return;
    }
    answer_extends_key_ = facts.answer_extends_key;
    number_ = services.next_request.fetch_add(1, std::memory_order_relaxed);
    services.retry_budget.request_came();
    in_flight_.begin(services.metrics.in_flight);

    routing::Ask ask;
    ask.key = std::move(facts.key);
    ask.sequences = facts.sequences;
    ask.streams = facts.streams;
    ask.id = number_;
    ask.bytes = body_size_;
    const RequestClass kind = classify(head_, context_.config().queue, started_, key_.get());
    // A preflight must not take the place of who has shown a key.
    ask.priority = is_strangers() ? config::Priority::Low : kind.priority;
    ask.tenant = kind.tenant;
    ask.deadline = kind.deadline;
    const TimePoint before = now();
    placement_ = services.desk.admit(ticket_, std::move(ask), facts.model, *this);
    services.metrics.decision_seconds.Observe(to_seconds(now() - before));
}

net::Task<void> Exchange::hold() {
    context_.hold(number_, *this);
    client_->disarm_phase();
    client_->parker.clear(kReleased);
    while (placement_.decision.action == Action::Wait) {
        const net::Events events = co_await client_->parker.park(kReleased | kInterrupts);
        if (is_interrupted(events)) {
            break;
        }
        placement_ = context_.services.desk.placement(*ticket_);
    }
    context_.unhold(number_);
}

net::Task<void> Exchange::dispatch() {
    if (placement_.decision.action != Action::Send) {
        fail_unplaced();
        co_return;
    }
    reason_ = placement_.decision.reason;
    while (true) {
        co_await attempt();
        const RetryAction action = retry_action(attempt_facts());
        if (action == RetryAction::FreshConnection) {
            was_replaced_ = true;
            needs_fresh_connection_ = true;
            context_.services.metrics.retries_stale.Increment();
        } else if (action != RetryAction::NextBackend || !retry_elsewhere()) {
            break;
        }
        failure_.reset();
        if (placement_.decision.action == Action::Wait) {
            co_await hold();
        }
        if (placement_.decision.action != Action::Send) {
            context_.services.retry_budget.give_back();
            if (!failure_) {
                fail_unplaced();
            }
            break;
        }
    }
    if (failure_ && !is_our_own_end(failure_->kind())) {
        name_failure();
    }
    if (!failure_) {
        co_await relay();
    }
}

AttemptFacts Exchange::attempt_facts() const {
    AttemptFacts facts;
    if (failure_) {
        facts.failure = failure_->kind();
    }
    facts.status = answer_.status();
    facts.used_pooled_connection = connection_ && connection_->was_pooled;
    facts.gave_bytes = gave_bytes_;
    facts.was_replaced = was_replaced_;
    facts.killed_connections = killed_connections_;
    return facts;
}

/// True when `placement_` is another backend to try, or to wait for one. False leaves the attempt
/// as it is: a refusal is then passed on to the client.
bool Exchange::retry_elsewhere() {
    Services& services = context_.services;
    const bool is_refusal = !failure_;
    if (!services.retry_budget.try_take()) {
        services.metrics.retries_exhausted.Increment();
        return false;
    }
    const auto next =
        services.desk.retry(*ticket_, is_refusal ? Outcome::Kind::Refused : Outcome::Kind::Failed,
                            is_refusal ? Verdict::None : Verdict::Bad);
    if (next.decision.action == Action::Refuse) {
        services.retry_budget.give_back();
        return false;
    }
    BackendMetrics& left = *placement_.backend->metrics;
    if (is_refusal) {
        services.metrics.retries_refused.Increment();
        left.refusals.Increment();
        keep_refusal();
    } else {
        services.metrics.retries_failed.Increment();
        left.failures.Increment();
    }
    placement_ = next;
    reason_ = routing::Reason::Retried;
    return true;
}

/// After the last attempt failed: what the client is told.
void Exchange::name_failure() {
    if (refusal_) {
        fall_back_to_refusal();
        return;
    }
    const ErrorKind kind = failure_->kind();
    const bool is_unreachable = kind == ErrorKind::ConnectRefused ||
                                kind == ErrorKind::ConnectTimeout ||
                                kind == ErrorKind::ConnectFailed;
    if (is_unreachable && !context_.services.desk.has_usable_backend()) {
        fail(ErrorKind::NoBackend);
    }
}

/// The engine's own words are better than ours, should nobody else answer.
void Exchange::keep_refusal() {
    connection_->lend_to(nullptr);
    refusal_.emplace();
    refusal_->connection = std::move(connection_);
    refusal_->head = std::move(answer_);
    refusal_->rest = answer_rest_;
}

/// It is counted already; the failure behind it is counted here and judged at the end.
void Exchange::fall_back_to_refusal() {
    if (placement_.backend && is_backends_fault(failure_->kind())) {
        placement_.backend->metrics->failures.Increment();
    }
    hidden_failure_ = std::exchange(failure_, std::nullopt);
    connection_ = std::move(refusal_->connection);
    connection_->lend_to(&client_->parker);
    answer_ = std::move(refusal_->head);
    answer_rest_ = refusal_->rest;
    placement_.backend = connection_->backend;
    outgoing_.clear();         // of the other backend's attempt
    is_request_sent_ = false;  // of no matter any more, but the connection is not used again
}

void Exchange::fail_unplaced() {
    switch (placement_.decision.refusal) {
        case routing::Refusal::QueueFull:
            return fail(ErrorKind::QueueFull);
        case routing::Refusal::Displaced:
            return fail(ErrorKind::QueueDisplaced);
        case routing::Refusal::QueueTimeout:
            return fail(ErrorKind::QueueTimeout);
        case routing::Refusal::Deadline:
            return fail(ErrorKind::DeadlineExceeded);
        case routing::Refusal::NoBackend:
        case routing::Refusal::None:
            return fail(ErrorKind::NoBackend);
    }
}

}  // namespace prefix_router::proxy
