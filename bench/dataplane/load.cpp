#include "dataplane/load.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::dataplane {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::size_t kMostBodies = 64;
constexpr std::size_t kBodyMemory = std::size_t{32} << 20;
constexpr std::uint64_t kStartedAtOnce = 64;
constexpr std::int64_t kLongestWait = 20'000'000;
constexpr std::uint64_t kPatience = 10'000'000'000;  // for answers after the end

std::uint64_t nanoseconds(double seconds) {
    return static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

Load::Load(const LoadOptions& options)
    : options_(options), room_(std::make_unique<char[]>(kReadBytes)) {
    const std::size_t bodies = std::clamp<std::size_t>(kBodyMemory / options.body_bytes, 1,
                                                       std::min(kMostBodies, options.connections));
    for (std::size_t i = 0; i < bodies; ++i) {
        requests_.push_back(make_request(options.first_seed + i));
    }
    for (std::size_t i = 0; i < options.connections; ++i) {
        connections_.push_back(std::make_unique<Connection>());
        idle_.push_back(connections_.back().get());
    }
}

Load::Request Load::make_request(std::uint64_t seed) const {
    Request request;
    const std::string model =
        options_.models == 0 ? "bench" : "bench-" + std::to_string(seed % options_.models);
    request.body = request_body(seed, options_.body_bytes, options_.wish, model);
    request.hash = hash_of(request.body);
    request.head =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nUser-Agent: "
        "dataplane-load\r\nAccept: */*\r\nContent-Type: application/json\r\n" +
        std::string(options_.closes ? "Connection: close\r\n" : "") +
        "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n";
    return request;
}

LoadReport Load::run() {
    begun_ = now();
    end_ = begun_ + nanoseconds(options_.seconds);
    while (!has_ended()) {
        begin_what_is_due();
        std::int64_t wait = kLongestWait;
        if (options_.rate > 0) {
            const auto next = begun_ + nanoseconds(static_cast<double>(scheduled_) / options_.rate);
            wait = std::clamp<std::int64_t>(static_cast<std::int64_t>(next - now()), 0, wait);
        }
        readiness_.wait(wait, [this](void* owner) {
            auto& connection = *static_cast<Connection*>(owner);
            if (connection.socket.is_open()) {
                send(connection);
                receive(connection);
            }
        });
        say_when_ready();
    }
    report_.errors += busy_ + waiting_.size();
    if (busy_ + waiting_.size() > 0) {
        report_.first_error = "no answer in time";
    }
    report_.seconds = static_cast<double>(std::min(now(), end_) - begun_) / 1e9;
    return std::move(report_);
}

bool Load::has_ended() const {
    const std::uint64_t time = now();
    const bool is_over = options_.is_single ? started_ == connections_.size() : time >= end_;
    return is_over && ((busy_ == 0 && waiting_.empty()) || time > end_ + kPatience);
}

void Load::begin_what_is_due() {
    const std::uint64_t time = now();
    if (options_.rate > 0) {
        for (std::uint64_t due = 0; time < end_; waiting_.push_back(due)) {
            due = begun_ + nanoseconds(static_cast<double>(scheduled_) / options_.rate);
            if (due > time) {
                break;
            }
            report_.lags.push_back(time - due);
            ++scheduled_;
        }
        while (!waiting_.empty() && !idle_.empty()) {
            begin(take_idle(), waiting_.front());
            waiting_.pop_front();
        }
    } else if (options_.is_single) {
        while (started_ < connections_.size() && without_answer_ < kStartedAtOnce) {
            begin(*connections_[started_], time);
        }
    } else if (time < end_) {
        while (!idle_.empty()) {
            begin(take_idle(), time);
        }
    }
}

Load::Connection& Load::take_idle() {
    Connection* const connection = idle_.back();
    idle_.pop_back();
    return *connection;
}

void Load::begin(Connection& connection, std::uint64_t due) {
    if (!connection.socket.is_open()) {
        connection.socket = connect_to(options_.port);
        readiness_.add(connection.socket, &connection);
    }
    if (options_.is_fresh) {
        connection.fresh = make_request(options_.first_seed + started_);
    }
    const Request& request =
        options_.is_fresh ? connection.fresh : requests_[started_ % requests_.size()];
    ++started_;
    connection.check.begin(options_.wish, request.hash);
    connection.unsent_head = request.head;
    connection.unsent_body = request.body;
    connection.due = due;
    connection.is_busy = true;
    connection.had_answer = false;
    ++busy_;
    ++without_answer_;
    send(connection);
}

void Load::send(Connection& connection) {
    for (std::string_view* part : {&connection.unsent_head, &connection.unsent_body}) {
        while (!part->empty()) {
            const auto count = connection.socket.write(*part);
            if (count <= 0) {
                return;  // a broken connection shows when it is read
            }
            part->remove_prefix(static_cast<std::size_t>(count));
        }
    }
}

void Load::receive(Connection& connection) {
    while (connection.socket.is_open()) {
        const auto count = connection.socket.read(room_.get(), kReadBytes);
        if (count < 0 && !is_broken()) {
            return;
        }
        if (count <= 0) {
            connection.socket.close();
            if (connection.is_busy) {
                settle(connection, connection.check.end());
            }
            return;
        }
        if (!connection.is_busy) {
            return;
        }
        const std::string_view bytes(room_.get(), static_cast<std::size_t>(count));
        const auto state = connection.check.feed(bytes, now(), report_.delays);
        if (!connection.had_answer && (connection.check.has_events() || !options_.wish.streams)) {
            connection.had_answer = true;
            --without_answer_;
        }
        if (state != AnswerCheck::State::Open) {
            settle(connection, state);
        }
        if (bytes.size() < kReadBytes) {
            return;
        }
    }
}

void Load::settle(Connection& connection, AnswerCheck::State state) {
    connection.is_busy = false;
    --busy_;
    if (!connection.had_answer) {
        --without_answer_;
    }
    if (state == AnswerCheck::State::Complete) {
        ++report_.requests;
        report_.latencies.push_back(now() - connection.due);
    } else {
        ++report_.errors;
        if (report_.first_error.empty()) {
            report_.first_error = connection.check.complaint().empty()
                                      ? "the connection was closed early"
                                      : connection.check.complaint();
        }
        connection.socket.close();
    }
    if (options_.closes || connection.check.closes()) {
        connection.socket.close();
    }
    if (!options_.is_single) {
        idle_.push_back(&connection);
    }
}

/// All connections of a single round are idle behind their answer, or in the middle of a stream.
void Load::say_when_ready() {
    if (options_.is_single && !is_ready_ && started_ == connections_.size() &&
        without_answer_ == 0) {
        is_ready_ = true;
        std::puts("ready");
        std::fflush(stdout);
    }
}

}  // namespace prefix_router::dataplane
