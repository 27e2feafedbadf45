#include "prefix_router/admin/server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <list>
#include <map>
#include <thread>
#include <utility>
#include <variant>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <spdlog/spdlog.h>

#include "prefix_router/base/contain.hpp"
#include "prefix_router/net/listener.hpp"

#include "admin/answers.hpp"
#include "admin/event_streams.hpp"
#include "admin/responder.hpp"
#include "admin/slow_answers.hpp"

namespace prefix_router::admin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kRequestTime{10};
constexpr std::size_t kBodyLimit = std::size_t{8} << 20;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
/// For one more, the one that was used least lately is closed: the process's descriptors are the
/// data plane's, and a crowd that asks for nothing must not keep a health probe out.
constexpr std::ptrdiff_t kMostConnections = 256;
/// That are read at a time, each of kBodyLimit at most.
constexpr std::size_t kMostBodies = 8;
/// How long what a client still sends is thrown away, so that it gets to read its answer.
constexpr std::chrono::seconds kLinger{2};

/// Where a request was not read to its end.
Answer unread_answer(const beast::error_code& error) {
    return error == http::error::body_limit
               ? refusal(413, "the body is larger than " + std::to_string(kBodyLimit) + " bytes")
               : refusal(400, "this is no request of HTTP/1.1");
}

Answer full(const std::string& why) {
    Answer answer = refusal(503, why + "; try again");
    answer.fields.emplace_back("Retry-After", "1");
    return answer;
}

void tell_failure(const std::exception_ptr& failure) {
    if (failure) {
        contain("a connection to the admin listener", [&] { std::rethrow_exception(failure); });
    }
}

/// Whether something came that is no request, or more than may come.
bool is_clients_fault(const beast::error_code& error) {
    return error.category() == beast::error_code(http::error::bad_method).category() &&
           error != http::error::end_of_stream && error != http::error::partial_message;
}

/// One of a bounded number, for as long as it lives.
class Place {
  public:
    explicit Place(std::size_t& taken) : taken_(taken) { ++taken_; }
    ~Place() { --taken_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

  private:
    std::size_t& taken_;
};

/// A connection among those that may be closed for another's sake, for as long as it is one.
class Guest {
  public:
    struct Entry {
        beast::tcp_stream* stream;
        bool is_closing = false;
    };

    Guest(std::list<Entry>& all, beast::tcp_stream& stream)
        : all_(all), place_(all.insert(all.end(), Entry{&stream})) {}
    ~Guest() { leave(); }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    void renew() { all_.splice(all_.end(), all_, place_); }
    void leave() {
        if (place_ != all_.end()) {
            all_.erase(std::exchange(place_, all_.end()));
        }
    }

  private:
    std::list<Entry>& all_;
    std::list<Entry>::iterator place_;
};

bool is_local(const tcp::socket& socket) {
    beast::error_code error;
    const auto address = socket.remote_endpoint(error).address();
    if (error) {
        return false;
    }
    return address.is_loopback() ||
           (address.is_v6() && address.to_v6().is_v4_mapped() &&
            asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback());
}

Result<tcp::endpoint> endpoint_of(const config::ListenAddress& address) {
    const auto found = net::listen_endpoint(address);
    if (!found) {
        return Error(found.error().kind(), "admin: " + found.error().message());
    }
    return tcp::endpoint(asio::ip::make_address(found->host()), address.port);
}

Result<tcp::endpoint> endpoint_of(const net::Descriptor& inherited) {
    const auto bound = net::bound_endpoint(inherited);
    if (!bound) {
        return bound.error();
    }
    if (bound->family() != AF_INET && bound->family() != AF_INET6) {
        return Error(ErrorKind::InvalidConfiguration,
                     "admin: the inherited socket is no TCP socket; use ListenStream=HOST:PORT");
    }
    return tcp::endpoint(bound->family() == AF_INET ? tcp::v4() : tcp::v6(), bound->port());
}

}  // namespace

class Server::Listener {
  public:
    Listener(const tcp::endpoint& endpoint, std::vector<Route> routes, net::Descriptor inherited,
             Permissions permissions)
        : responder_(std::move(routes), std::move(permissions)), acceptor_(io_) {
        if (inherited.is_open()) {
            acceptor_.assign(endpoint.protocol(), inherited.release());
        } else {
            acceptor_ = tcp::acceptor(io_, endpoint);
        }
        for (const Route& route : responder_.routes()) {
            if (route.feed) {
                streams_.emplace(route.path, std::make_unique<EventStreams>(io_, route.feed));
            }
        }
        port_ = acceptor_.local_endpoint().port();
        descriptor_ = acceptor_.native_handle();
    }

    ~Listener() { stop(); }

    void run() {
        asio::co_spawn(io_, accept_connections(), tell_failure);
        for (auto& [path, streams] : streams_) {
            streams->begin();
        }
        thread_ = std::thread([this] {
            while (!contain("an event of the admin listener", [this] { io_.run(); })) {
            }
        });
    }

    void stop() {
        if (thread_.joinable()) {
            io_.stop();
            thread_.join();
        }
        slow_answers_.stop();
    }

    void retire() {
        asio::post(io_, [this] {
            is_retired_ = true;
            // Closing alone would leave the socket, which the successor has, in this epoll.
            beast::error_code ignored;
            const net::Descriptor closing(acceptor_.release(ignored));
            for (auto& [path, streams] : streams_) {
                streams->end();
            }
        });
    }

    std::uint16_t port() const { return port_; }
    /// Until retire().
    int descriptor() const { return descriptor_; }

  private:
    using Parser = http::request_parser<http::string_body>;
    using Response = http::response<http::string_body>;

    asio::awaitable<void> accept_connections() {
        asio::steady_timer pause(io_);
        for (;;) {
            auto [error, socket] = co_await acceptor_.async_accept(kToken);
            tcp::socket& peer = socket;
            const bool is_served = !error && contain("a connection to the admin listener", [&] {
                make_room();
                asio::co_spawn(io_, serve(std::move(peer)), tell_failure);
            });
            if (is_served) {
                continue;
            }
            if (error == asio::error::operation_aborted || is_retired_) {
                co_return;
            }
            pause.expires_after(kAcceptPause);  // out of descriptors, of memory: do not spin
            co_await pause.async_wait(kToken);
        }
    }

    asio::awaitable<void> serve(tcp::socket socket) {
        const bool is_peer_local = is_local(socket);
        beast::tcp_stream stream(std::move(socket));
        Guest guest(guests_, stream);
        beast::flat_buffer buffer;
        for (bool keep_alive = true; keep_alive;) {
            guest.renew();
            Parser parser;
            parser.body_limit(kBodyLimit);
            stream.expires_after(kRequestTime);
            const beast::error_code error = co_await read(stream, buffer, parser, is_peer_local);
            if (error && !is_clients_fault(error)) {
                co_return;
            }
            EventStreams* const streams =
                error ? nullptr : streams_for(parser.get(), is_peer_local);
            if (streams != nullptr) {
                guest.leave();  // these are counted by themselves
                co_await streams->serve(stream);
                break;
            }
            Answer answer = co_await answer_to(parser, error, is_peer_local);
            Response response = response_of(parser, std::move(answer));
            stream.expires_after(kRequestTime);
            const auto [write_error, written] =
                co_await http::async_write(stream, response, kToken);
            if (write_error) {
                co_return;
            }
            keep_alive = response.keep_alive();
            if (!parser.is_done()) {
                co_await throw_rest_away(stream);
            }
        }
        beast::error_code ignored;
        stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    }

    void make_room() {
        const auto is_open = [](const Guest::Entry& entry) { return !entry.is_closing; };
        if (std::ranges::count_if(guests_, is_open) >= kMostConnections) {
            Guest::Entry& oldest = *std::ranges::find_if(guests_, is_open);
            oldest.is_closing = true;
            oldest.stream->close();
        }
    }

    /// A whole request. Of one that is not allowed, and where enough bodies are read already, the
    /// head alone.
    asio::awaitable<beast::error_code> read(beast::tcp_stream& stream, beast::flat_buffer& buffer,
                                            Parser& parser, bool is_peer_local) {
        const auto [head_error, head] =
            co_await http::async_read_header(stream, buffer, parser, kToken);
        const bool is_over = head_error || parser.is_done();
        const bool has_room = bodies_ < kMostBodies;
        if (is_over || !has_room || !responder_.is_allowed(parser.get(), is_peer_local)) {
            co_return head_error;
        }
        const Place place(bodies_);
        const auto [error, body] = co_await http::async_read(stream, buffer, parser, kToken);
        co_return error;
    }

    static asio::awaitable<void> throw_rest_away(beast::tcp_stream& stream) {
        beast::error_code error;
        stream.socket().shutdown(tcp::socket::shutdown_send, error);
        std::array<char, 4096> rest{};
        const auto buffer = asio::buffer(rest);
        stream.expires_after(kLinger);
        while (!error) {
            const auto [read_error, size] = co_await stream.async_read_some(buffer, kToken);
            error = read_error;
        }
    }

    /// The streams that answer the request; null: respond() does.
    EventStreams* streams_for(const Message& message, bool is_peer_local) {
        const auto found = streams_.find(path_of(message));
        const bool is_served = found != streams_.end() && message.method() == http::verb::get &&
                               !is_retired_ && responder_.is_allowed(message, is_peer_local) &&
                               !found->second->is_full();
        return is_served ? found->second.get() : nullptr;
    }

    asio::awaitable<Answer> answer_to(const Parser& parser, beast::error_code error,
                                      bool is_peer_local) {
        if (error) {
            co_return unread_answer(error);
        }
        if (!parser.is_done() && responder_.is_allowed(parser.get(), is_peer_local)) {
            co_return full("as many bodies are read as may be");
        }
        auto answer = responder_.answer(parser.get(), is_peer_local);
        auto* const work = std::get_if<Responder::Work>(&answer);
        if (work == nullptr) {
            co_return std::get<Answer>(std::move(answer));
        }
        if (changes_ == kMostChanges) {
            co_return full("as many changes wait for their turn as may");
        }
        const Place place(changes_);
        co_return co_await slow_answers_.answer(std::move(*work));
    }

    Response response_of(const Parser& parser, Answer answer) const {
        const Message& message = parser.get();
        Response response(static_cast<http::status>(answer.status), message.version());
        response.set(http::field::content_type, answer.content_type);
        response.set(http::field::cache_control, "no-store");
        for (const auto& [name, value] : answer.fields) {
            response.set(name, value);
        }
        response.keep_alive(parser.is_done() && message.keep_alive() && !is_retired_);
        const auto size = answer.body.size();
        if (message.method() != http::verb::head) {
            response.body() = std::move(answer.body);
        }
        response.content_length(size);
        return response;
    }

    std::list<Guest::Entry> guests_;  // least lately used first; on the thread, as this:
    std::size_t bodies_ = 0;          // that are read
    std::size_t changes_ = 0;         // that are made or wait
    asio::io_context io_{1};
    Responder responder_;
    std::map<std::string, std::unique_ptr<EventStreams>> streams_;  // by path
    tcp::acceptor acceptor_;
    std::uint16_t port_ = 0;
    int descriptor_ = -1;
    bool is_retired_ = false;  // on the thread
    std::thread thread_;
    SlowAnswers slow_answers_;  // last: connections that wait for one go with it
};

Server::Server(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(const config::ListenAddress& address,
                                              std::vector<Route> routes, net::Descriptor inherited,
                                              Permissions permissions) {
    const auto endpoint = inherited.is_open() ? endpoint_of(inherited) : endpoint_of(address);
    if (!endpoint) {
        return endpoint.error();
    }
    try {
        auto listener = std::make_unique<Listener>(*endpoint, std::move(routes),
                                                   std::move(inherited), std::move(permissions));
        listener->run();
        return std::unique_ptr<Server>(new Server(std::move(listener)));
    } catch (const boost::system::system_error& failure) {
        return Error(ErrorKind::Io, "admin: cannot listen on " + address.host + ":" +
                                        std::to_string(address.port) + ": " +
                                        failure.code().message());
    }
}

std::uint16_t Server::port() const {
    return listener_->port();
}
Result<net::Descriptor> Server::listening_socket() const {
    net::Descriptor borrowed(listener_->descriptor());
    auto copy = borrowed.duplicate();
    borrowed.release();
    return copy;
}
void Server::retire() {
    listener_->retire();
}
void Server::stop() {
    listener_->stop();
}

}  // namespace prefix_router::admin
