// dataplane-backend PORTS SECONDS: answers POSTs on 127.0.0.1 as fast as one thread can. PORTS is
// how many ports to listen on, which are printed; it ends by itself after SECONDS.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prefix_router/base/clock.hpp"

#include "dataplane/exchange_texts.hpp"
#include "dataplane/socket.hpp"

namespace prefix_router::dataplane {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::int64_t kIdleWait = 100'000'000;
constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(std::string_view text) {
    char size[32];
    const int digits = std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return std::string(size, static_cast<std::size_t>(digits)).append(text).append("\r\n");
}

struct Connection;
using Due = std::multimap<std::int64_t, Connection*>;  // when whose next event is sent

struct Connection {
    Socket socket;
    bool listens = false;
    bool is_gone = false;
    std::optional<Due::iterator> due;
    std::string received;
    std::string unsent;
    std::string event;  // of the stream under way
    std::uint64_t sent_events = 0;
    Wish wish;
};

class Backend {
  public:
    bool open(int ports);
    void run(Duration length);

  private:
    void ready(Connection& connection);
    void accept(Connection& listener);
    void read(Connection& connection);
    bool answer(Connection& connection, std::string_view bytes, std::size_t& used);
    void begin_stream(Connection& connection, std::uint64_t hash);
    void send_later(Connection& connection, std::int64_t time);
    void send_due_events(std::int64_t now);
    void lose(Connection& connection);
    void put_lost_aside();
    void send(Connection& connection, std::string_view bytes);
    void flush(Connection& connection);
    std::int64_t now() const { return clock_.now().time_since_epoch().count(); }

    SteadyClock clock_;
    Readiness readiness_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<std::unique_ptr<Connection>> spare_;
    Due due_;
    bool has_lost_some_ = false;
    std::string json_head_ =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(kJsonBytes) + "\r\n\r\n";
    std::unique_ptr<char[]> room_ = std::make_unique<char[]>(kReadBytes);
};

bool Backend::open(int ports) {
    for (int i = 0; i < ports; ++i) {
        auto listener = std::make_unique<Connection>();
        std::uint16_t port = 0;
        listener->socket = listen_on(port);
        listener->listens = true;
        if (!listener->socket.is_open()) {
            return false;
        }
        std::printf("%u\n", port);
        readiness_.add(listener->socket, listener.get());
        connections_.push_back(std::move(listener));
    }
    std::fflush(stdout);
    return true;
}

void Backend::run(Duration length) {
    const std::int64_t end = now() + length.count();
    for (std::int64_t time = now(); time < end; time = now()) {
        const std::int64_t next = due_.empty() ? time + kIdleWait : due_.begin()->first;
        readiness_.wait(std::max<std::int64_t>(0, next - time),
                        [this](void* owner) { ready(*static_cast<Connection*>(owner)); });
        send_due_events(now());
        if (has_lost_some_) {
            put_lost_aside();
        }
    }
}

void Backend::ready(Connection& connection) {
    if (connection.listens) {
        accept(connection);
    } else if (!connection.is_gone) {
        flush(connection);
        read(connection);
    }
}

void Backend::accept(Connection& listener) {
    for (Socket socket = accept_from(listener.socket); socket.is_open();
         socket = accept_from(listener.socket)) {
        if (spare_.empty()) {
            spare_.push_back(std::make_unique<Connection>());
        }
        auto connection = std::move(spare_.back());
        spare_.pop_back();
        connection->socket = std::move(socket);
        connection->is_gone = false;
        readiness_.add(connection->socket, connection.get());
        connections_.push_back(std::move(connection));
    }
}

void Backend::read(Connection& connection) {
    while (true) {
        const auto count = connection.socket.read(room_.get(), kReadBytes);
        if (count < 0 && !is_broken()) {
            return;
        }
        if (count <= 0) {
            lose(connection);
            return;
        }
        std::string_view bytes(room_.get(), static_cast<std::size_t>(count));
        if (!connection.received.empty()) {
            connection.received.append(bytes);
            bytes = connection.received;
        }
        std::size_t used = 0;
        while (answer(connection, bytes.substr(used), used)) {
        }
        if (bytes.data() == connection.received.data()) {
            connection.received.erase(0, used);
        } else {
            connection.received.assign(bytes.substr(used));
        }
        if (static_cast<std::size_t>(count) < kReadBytes) {
            return;
        }
    }
}

/// Answers the first request of `bytes` when it is whole.
bool Backend::answer(Connection& connection, std::string_view bytes, std::size_t& used) {
    const auto head = bytes.find("\r\n\r\n");
    if (head == std::string_view::npos) {
        return false;
    }
    std::size_t length = 0;
    for (std::size_t line = 0; line < head; line = bytes.find("\r\n", line) + 2) {
        constexpr std::string_view kName = "content-length: ";
        if (::strncasecmp(bytes.data() + line, kName.data(), kName.size()) == 0) {
            std::from_chars(bytes.data() + line + kName.size(), bytes.data() + head, length);
        }
    }
    if (bytes.size() < head + 4 + length) {
        connection.received.reserve(head + 4 + length);
        return false;
    }
    const std::string_view body = bytes.substr(head + 4, length);
    used += head + 4 + length;
    connection.wish = read_wish(body);
    if (connection.wish.streams) {
        begin_stream(connection, hash_of(body));
    } else {
        send(connection, json_head_ + json_answer(hash_of(body)));
    }
    return true;
}

void Backend::begin_stream(Connection& connection, std::uint64_t hash) {
    connection.event = first_event(hash);
    connection.sent_events = 0;
    send(connection, kStreamHead);
    send_later(connection, now());
}

/// The next event, a gap after `time`.
void Backend::send_later(Connection& connection, std::int64_t time) {
    connection.due = due_.emplace(time + std::int64_t{connection.wish.gap_us} * 1000, &connection);
}

void Backend::lose(Connection& connection) {
    connection.is_gone = has_lost_some_ = true;
    connection.socket.close();
    if (connection.due) {
        due_.erase(*connection.due);
        connection.due.reset();
    }
}

/// Kept for the next client: one connection per request would else be measured by the allocator.
void Backend::put_lost_aside() {
    std::erase_if(connections_, [this](std::unique_ptr<Connection>& one) {
        const bool is_lost = one->is_gone;
        if (is_lost) {
            one->received.clear();
            one->unsent.clear();
            spare_.push_back(std::move(one));
        }
        return is_lost;
    });
    has_lost_some_ = false;
}

void Backend::send_due_events(std::int64_t now) {
    while (!due_.empty() && due_.begin()->first <= now) {
        const auto [time, connection] = *due_.begin();
        due_.erase(due_.begin());
        connection->due.reset();
        number_event(connection->event, connection->sent_events);
        stamp_event(connection->event, static_cast<std::uint64_t>(this->now()));
        std::string bytes = chunk(connection->event);
        if (++connection->sent_events == connection->wish.events) {
            bytes += chunk(kStreamEnd) + "0\r\n\r\n";
        } else {
            send_later(*connection, time);
        }
        send(*connection, bytes);
    }
}

void Backend::send(Connection& connection, std::string_view bytes) {
    if (connection.unsent.empty()) {
        const auto count = connection.socket.write(bytes);
        bytes.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
    connection.unsent.append(bytes);
}

void Backend::flush(Connection& connection) {
    if (!connection.unsent.empty()) {
        const auto count = connection.socket.write(connection.unsent);
        connection.unsent.erase(0, count > 0 ? static_cast<std::size_t>(count) : 0);
    }
}

}  // namespace
}  // namespace prefix_router::dataplane

int main(int argc, char** argv) {
    prefix_router::dataplane::Backend backend;
    if (argc != 3 || !backend.open(std::atoi(argv[1]))) {
        std::fputs("usage: dataplane-backend PORTS SECONDS\n", stderr);
        return 2;
    }
    backend.run(prefix_router::from_seconds(std::atof(argv[2])));
    return 0;
}
