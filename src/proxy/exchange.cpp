#include "proxy/exchange.hpp"

#include <exception>
#include <new>
#include <utility>

#include "prefix_router/base/contain.hpp"

#include "proxy/events.hpp"
#include "proxy/request_trace.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

// A string that grew beyond this (a huge head) is not worth keeping.
constexpr std::size_t kKeptString = std::size_t{16} << 10;

void reset_string(std::string& text) {
    text.clear();
    if (text.capacity() > kKeptString) {
        text.shrink_to_fit();
    }
}

}  // namespace

Exchange::Exchange(WorkerContext& context)
    : context_(context),
      memory_(context.services.memory),
      answer_parser_(http::HeadLimits{.bytes = context.config().limits.header_bytes}) {}

Exchange::~Exchange() {
    if (ticket_) {  // an exception has ended it: the routing must not keep what is gone
        contain("the end of a request", [this] {
            routing::Outcome outcome;
            outcome.kind = routing::Outcome::Kind::Failed;
            context_.services.desk.end(*ticket_, outcome, Verdict::None);
        });
    }
}

net::Task<Ending> Exchange::run(ClientConnection& client, std::string_view input) {
    client_ = &client;
    started_ = now();
    try {
        co_await work(input);
    } catch (const std::bad_alloc&) {
        give_up("out of memory");
    } catch (const std::exception& failure) {
        tell_contained("a request", failure);
        give_up({});
    }
    try {
        if (failure_ && stage_ != Stage::Relaying) {
            co_await answer_error();
        }
    } catch (...) {  // without an answer its connection ends
        settle();
        throw;
    }
    client.end_watch();
    settle();
    co_return ending();
}

/// Wherever it was.
void Exchange::give_up(std::string message) {
    fail(ErrorKind::Overloaded, std::move(message));
    context_.unhold(number_);
}

net::Task<void> Exchange::work(std::string_view input) {
    if (!take_head(input)) {
        co_await read_head();
    }
    if (!failure_ && !has_whole_body()) {
        co_await read_body();
    }
    if (!failure_) {
        body_read_at_ = now();
        stage_ = Stage::Routing;
        if (context_.services.tracer != nullptr) {
            begin_trace();
            trace_->pass_on(head_);
        }
        head_.seal(body_size_);
        client_->begin_watch();
        co_await route();
    }
}

void Exchange::recycle() {
    client_ = nullptr;
    stage_ = Stage::Reading;
    failure_.reset();
    head_.clear();
    request_chunks_.reset();
    body_ = net::Buffer();
    body_size_ = 0;
    memory_.release();
    dialect_ = prompt::Dialect::None;
    answer_extends_key_ = false;
    number_ = 0;
    key_.reset();
    retry_after_ = std::chrono::seconds(1);
    ticket_.reset();
    placement_ = RoutingDesk::Placement();
    attempts_ = 0;
    killed_connections_ = 0;
    was_replaced_ = false;
    connection_.reset();
    outgoing_.clear();
    reset_string(outgoing_head_);
    is_request_sent_ = false;
    gave_bytes_ = false;
    answer_parser_.reset();
    answer_.clear();
    reset_string(answer_received_);
    answer_rest_ = {};
    decision_text_.clear();
    refusal_.reset();
    hidden_failure_.reset();
    answer_chunks_.reset();
    answer_left_ = 0;
    answer_reader_.reset();
    to_client_.clear();
    stalled_ = net::Buffer();
    reset_string(unchunked_);
    is_answer_done_ = false;
    has_surplus_ = false;
    first_byte_ = FirstByte::Apart;
    read_filled_room_ = false;
    trace_.reset();
    first_token_.reset();
    reported_cached_.reset();
    bytes_in_ = 0;
    bytes_out_ = 0;
}

void Exchange::ticket_released() noexcept {
    context_.wake_held(number_);
}

bool Exchange::is_interrupted(net::Events events) {
    if ((events & kClientGone) != 0) {
        fail(ErrorKind::ClientGone);
    } else if ((events & kStopped) != 0) {
        fail(ErrorKind::Draining);
    } else if ((events & kExpired) != 0) {
        fail(client_->missed());
    } else {
        return false;
    }
    return true;
}

void Exchange::fail(ErrorKind kind, std::string message) {
    failure_ = Error(kind, std::move(message));
}

TimePoint Exchange::now() const {
    return context_.services.clock.now();
}

}  // namespace prefix_router::proxy
