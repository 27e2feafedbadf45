#include "prefix_router/admin/server.hpp"

#include <chrono>
#include <map>
#include <thread>
#include <utility>

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

#include "prefix_router/net/listener.hpp"

#include "admin/access.hpp"
#include "admin/answers.hpp"
#include "admin/event_streams.hpp"
#include "admin/query.hpp"
#include "admin/route_path.hpp"

namespace prefix_router::admin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kRequestTime{10};
constexpr std::size_t kBodyLimit = std::size_t{8} << 20;
constexpr const char* kNobody = "local";
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

std::string known_paths(const std::vector<Route>& routes) {
    std::string list;
    for (const auto& route : routes) {
        if (!route.is_part_of_a_page) {
            list += (list.empty() ? "" : ", ") + route.method + " " + route.path;
        }
    }
    return list;
}

/// What answers to the request, whose path parameters are then set; null: 404, or 405 when
/// `is_known_path`.
const Route* find_route(const std::vector<Route>& routes, Request& request, bool& is_known_path) {
    for (const auto& route : routes) {
        if (!matches(route.path, request.path, request.parameters)) {
            continue;
        }
        is_known_path = true;
        const bool is_head = request.method == "HEAD" && route.method == "GET";
        if (route.method == request.method || is_head) {
            return &route;
        }
    }
    return nullptr;
}

Answer handle(const Route& route, const Request& request) {
    try {
        return route.handle(request);
    } catch (const std::exception& failure) {
        spdlog::error("admin: {} {} failed: {}", route.method, route.path, failure.what());
        return refusal(500, "the request failed; the log says why");
    }
}

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

std::optional<std::string_view> field(const http::request<http::string_body>& message,
                                      http::field name) {
    const auto found = message.find(name);
    return found != message.end() ? std::optional<std::string_view>(found->value()) : std::nullopt;
}

Caller caller_of(const http::request<http::string_body>& message, bool is_local) {
    Caller caller;
    caller.authorization = field(message, http::field::authorization).value_or("");
    caller.host = field(message, http::field::host);
    caller.origin = field(message, http::field::origin);
    caller.is_local = is_local;
    return caller;
}

Request read_request(const http::request<http::string_body>& message) {
    Request request;
    request.method = std::string(message.method_string());
    split_target(std::string_view(message.target()), request.path, request.query);
    request.body = message.body();
    return request;
}

}  // namespace

class Server::Listener {
  public:
    Listener(const tcp::endpoint& endpoint, std::vector<Route> routes, net::Descriptor inherited,
             Permissions permissions)
        : routes_(std::move(routes)), access_(std::move(permissions)), acceptor_(io_) {
        if (inherited.is_open()) {
            acceptor_.assign(endpoint.protocol(), inherited.release());
        } else {
            acceptor_ = tcp::acceptor(io_, endpoint);
        }
        for (const Route& route : routes_) {
            if (route.feed) {
                streams_.emplace(route.path, std::make_unique<EventStreams>(io_, route.feed));
            }
        }
        port_ = acceptor_.local_endpoint().port();
        descriptor_ = acceptor_.native_handle();
    }

    ~Listener() { stop(); }

    void run() {
        asio::co_spawn(io_, accept_connections(), [](const std::exception_ptr&) {});
        for (auto& [path, streams] : streams_) {
            streams->begin();
        }
        thread_ = std::thread([this] { io_.run(); });
    }

    void stop() {
        if (thread_.joinable()) {
            io_.stop();
            thread_.join();
        }
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
    asio::awaitable<void> accept_connections() {
        asio::steady_timer pause(io_);
        for (;;) {
            auto [error, socket] = co_await acceptor_.async_accept(kToken);
            if (!error) {
                asio::co_spawn(io_, serve(std::move(socket)), [](const std::exception_ptr&) {});
                continue;
            }
            if (error == asio::error::operation_aborted || is_retired_) {
                co_return;
            }
            pause.expires_after(kAcceptPause);  // out of descriptors: try again, do not spin
            co_await pause.async_wait(kToken);
        }
    }

    asio::awaitable<void> serve(tcp::socket socket) {
        const bool is_peer_local = is_local(socket);
        beast::tcp_stream stream(std::move(socket));
        beast::flat_buffer buffer;
        for (bool keep_alive = true; keep_alive;) {
            http::request_parser<http::string_body> parser;
            parser.body_limit(kBodyLimit);
            stream.expires_after(kRequestTime);
            const auto [read_error, read] =
                co_await http::async_read(stream, buffer, parser, kToken);
            if (read_error) {
                co_return;
            }
            if (EventStreams* const streams = streams_for(parser.get(), is_peer_local)) {
                co_await streams->serve(stream);
                break;
            }
            http::response<http::string_body> response = respond(parser.get(), is_peer_local);
            keep_alive = response.keep_alive();
            const auto [write_error, written] =
                co_await http::async_write(stream, response, kToken);
            if (write_error) {
                co_return;
            }
        }
        beast::error_code ignored;
        stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    }

    /// The streams that answer the request; null: respond() does.
    EventStreams* streams_for(const http::request<http::string_body>& message, bool is_peer_local) {
        Request request = read_request(message);
        const auto found = streams_.find(request.path);
        if (found == streams_.end() || request.method != "GET" || is_retired_) {
            return nullptr;
        }
        bool is_known_path = false;
        const Route* const route = find_route(routes_, request, is_known_path);
        const Caller caller = caller_of(message, is_peer_local);
        const bool is_served =
            !access_.refusal(route, request.method, caller) && !found->second->is_full();
        return is_served ? found->second.get() : nullptr;
    }

    Answer answer_to(const http::request<http::string_body>& message, bool is_peer_local) {
        Request request = read_request(message);
        bool is_known_path = false;
        const Route* const route = find_route(routes_, request, is_known_path);
        const Caller caller = caller_of(message, is_peer_local);
        if (auto refused = access_.refusal(route, request.method, caller)) {
            return std::move(*refused);
        }
        if (route == nullptr) {
            return is_known_path ? refusal(405, "method not allowed here")
                                 : refusal(404, "no such endpoint; known: " + known_paths(routes_));
        }
        if (request.method == "GET" && streams_.contains(request.path)) {
            Answer full = refusal(503, "as many event streams are open as may be; try again");
            full.fields.emplace_back("Retry-After", "5");
            return full;
        }
        const Token* const token = access_.token_of(caller);
        request.who = token != nullptr ? token->name : kNobody;
        return handle(*route, request);
    }

    http::response<http::string_body> respond(const http::request<http::string_body>& message,
                                              bool is_peer_local) {
        Answer answer = answer_to(message, is_peer_local);
        http::response<http::string_body> response(static_cast<http::status>(answer.status),
                                                   message.version());
        response.set(http::field::content_type, answer.content_type);
        response.set(http::field::cache_control, "no-store");
        for (const auto& [name, value] : answer.fields) {
            response.set(name, value);
        }
        response.keep_alive(message.keep_alive() && !is_retired_);
        const auto size = answer.body.size();
        if (message.method() != http::verb::head) {
            response.body() = std::move(answer.body);
        }
        response.content_length(size);
        return response;
    }

    asio::io_context io_{1};
    std::vector<Route> routes_;
    const Access access_;
    std::map<std::string, std::unique_ptr<EventStreams>> streams_;  // by path
    tcp::acceptor acceptor_;
    std::uint16_t port_ = 0;
    int descriptor_ = -1;
    bool is_retired_ = false;  // on the thread
    std::thread thread_;
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
