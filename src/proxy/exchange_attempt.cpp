// One attempt at one backend: connect or reuse, send the request, read the answer's head.
#include <string>
#include <utility>

#include <prometheus/counter.h>

#include "prefix_router/http/credentials.hpp"

#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

/// "backend=a1b2c3d4; reason=warm; expected_cached_tokens=512".
void describe(const RoutingDesk::Placement& placement, routing::Reason reason, std::string& out) {
    out.assign("backend=");
    out += placement.backend->id;
    out += "; reason=";
    out += routing::to_string(reason);
    out += "; expected_cached_tokens=";
    out += std::to_string(placement.decision.expected_cached);
}

}  // namespace

net::Task<void> Exchange::attempt() {
    co_await context_.worker.turn_end();  // before a pooled connection is looked at
    begin_attempt();
    if (!connection_) {
        co_await connect();
        if (failure_) {
            co_return;
        }
    }
    connection_->lend_to(&client_->parker);
    client_->parker.clear(kBackendReadable | kBackendWritable);
    lay_out_request();
    send_now();
    co_await read_answer_head();
    if (failure_ && failure_->kind() == ErrorKind::ResetBeforeResponse) {
        ++killed_connections_;
    }
}

void Exchange::begin_attempt() {
    ++attempts_;
    is_request_sent_ = false;
    gave_bytes_ = false;
    answer_parser_.reset();
    answer_.clear();
    answer_received_.clear();
    answer_rest_ = {};
    placement_.backend->metrics->requests.Increment();
    if (context_.config().routing.expose_decision) {
        describe(placement_, reason_, decision_text_);
    }
    connection_.reset();
    if (!std::exchange(needs_fresh_connection_, false)) {
        connection_ = context_.connections.take(placement_.backend);
    }
}

void Exchange::lay_out_request() {
    outgoing_.clear();
    const auto& url = placement_.backend->url;
    const auto pieces = head_.pieces(url.base_path, url.authority);
    const auto& authorization = placement_.backend->access.authorization;
    if (authorization) {
        http::replace_credentials(pieces, is_strangers() ? std::string_view() : *authorization,
                                  outgoing_head_);
        outgoing_.add(outgoing_head_);
    } else {
        for (const std::string_view piece : pieces) {
            outgoing_.add(piece);
        }
    }
    outgoing_.add(std::string_view(body_.data(), body_size_));
}

/// Writes once. What cannot be sent now waits in `outgoing_`; a broken connection is left to who
/// reads the answer, which may be waiting even so.
void Exchange::send_now() {
    const net::IoResult sent = connection_->stream.write_some(outgoing_);
    if (sent.status == net::IoStatus::Failed) {
        outgoing_.clear();
        return;
    }
    is_request_sent_ = outgoing_.empty();
    if (!is_request_sent_) {
        connection_->stream.watch_write();
    } else if (stage_ == Stage::Relaying) {
        release_body();
    }
}

/// Waits for the head of the final answer, and meanwhile sends what is left of the request: an
/// answer may come early (413), interim ones may come any time.
net::Task<void> Exchange::read_answer_head() {
    const auto timeout = context_.config().timeouts.first_byte;
    client_->arm(timeout, ErrorKind::FirstByteTimeout);
    while (true) {
        connection_->stream.watch_read();
        const net::Events events =
            co_await client_->parker.park(kBackendReadable | kBackendWritable | kInterrupts);
        if (is_interrupted(events)) {
            break;
        }
        if ((events & kBackendWritable) != 0 && !outgoing_.empty()) {
            send_now();
            client_->arm(timeout, ErrorKind::FirstByteTimeout);
        }
        if ((events & kBackendReadable) == 0) {
            continue;
        }
        if (!receive_answer_bytes()) {
            if (failure_) {
                break;
            }
            continue;
        }
        HeadProgress progress = parse_answer_head();
        while (progress == HeadProgress::Interim) {
            co_await forward_interim();
            client_->arm(timeout, ErrorKind::FirstByteTimeout);
            progress = failure_ ? HeadProgress::Broken : parse_answer_head();
        }
        if (progress != HeadProgress::NeedsMore) {
            break;
        }
    }
}

/// Reads once into `answer_rest_`; false when nothing came or, with `failure_`, never will.
bool Exchange::receive_answer_bytes() {
    const auto scratch = context_.worker.scratch();
    const net::IoResult got = connection_->stream.read_some(scratch);
    if (got.status == net::IoStatus::WouldBlock) {
        return false;
    }
    if (got.status != net::IoStatus::Done) {
        fail(ErrorKind::ResetBeforeResponse);
        return false;
    }
    if (connection_->was_pooled && !gave_bytes_ && !is_request_sent_) {
        fail(ErrorKind::ResetBeforeResponse);  // nobody can answer what has not arrived
        return false;
    }
    gave_bytes_ = true;
    read_filled_room_ = got.bytes == scratch.size();
    if (answer_received_.empty()) {
        answer_rest_ = std::string_view(scratch.data(), got.bytes);
    } else {
        answer_received_.append(scratch.data(), got.bytes);
        answer_rest_ = answer_received_;
    }
    return true;
}

Exchange::HeadProgress Exchange::parse_answer_head() {
    http::Asker asker;
    asker.is_head = head_.is_head();
    asker.version = head_.version();
    asker.keeps_alive = head_.keeps_alive() && !context_.services.is_draining.load();
    asker.wants_upgrade = head_.wants_upgrade();
    asker.request_id = head_.request_id();
    asker.decision = decision_text_;
    asker.backend_authority = placement_.backend->url.authority;
    asker.backend_base_path = placement_.backend->url.base_path;
    const auto size = answer_parser_.parse(answer_rest_, asker, answer_);
    if (!size) {
        failure_ = size.error();
        return HeadProgress::Broken;
    }
    if (*size == 0) {
        keep_answer_rest();
        return HeadProgress::NeedsMore;
    }
    answer_rest_.remove_prefix(*size);
    answer_parser_.reset();
    return answer_.is_interim() ? HeadProgress::Interim : HeadProgress::Final;
}

/// Before a suspension: the scratch space is everybody's.
void Exchange::keep_answer_rest() {
    const char* const begin = answer_received_.data();
    if (answer_rest_.data() >= begin && answer_rest_.data() <= begin + answer_received_.size()) {
        answer_received_.erase(0, answer_received_.size() - answer_rest_.size());
    } else {
        answer_received_.assign(answer_rest_);
    }
    answer_rest_ = answer_received_;
}

net::Task<void> Exchange::forward_interim() {
    keep_answer_rest();
    if (answer_.should_forward_interim()) {
        to_client_.add(answer_.text());
        if (!flush_now()) {
            co_await flush();
        }
    }
}

}  // namespace prefix_router::proxy
