#include "engine_sim/server.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "engine_sim/http_text.hpp"

namespace prefix_router::engine_sim {
namespace {

void report_bug(const std::exception_ptr& failure) {
    if (!failure) return;
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        std::cerr << "engine-sim: " << error.what() << std::endl;
    }
}

/// A client's place among those that a stop ends, also when its coroutine ends by an exception.
class Registration {
  public:
    Registration(std::set<ClientConnection*>& clients, ClientConnection& client)
        : clients_(clients), client_(client) {
        clients_.insert(&client_);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() {
        clients_.erase(&client_);
        client_.stop();
    }

  private:
    std::set<ClientConnection*>& clients_;
    ClientConnection& client_;
};

std::string refusal_text(ClientConnection::ReadStatus status) {
    HttpRequest last;
    last.keep_alive = false;
    const ApiError error = status == ClientConnection::ReadStatus::TooLarge
                               ? body_too_large()
                               : bad_request("malformed HTTP request");
    return whole_answer(last, error.status, "application/json", error.to_json());
}

}  // namespace

Server::Server(net::io_context& io, const Options& options)
    : io_(io), options_(options), service_(io, options), acceptor_(io.get_executor()) {}

Result<std::uint16_t> Server::listen(std::uint16_t port) {
    boost::system::error_code error;
    const auto address = net::ip::make_address(options_.host, error);
    const net::ip::tcp::endpoint endpoint(address, port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
    if (!error) acceptor_.set_option(net::ip::tcp::no_delay(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(4096, error);
    if (error)
        return Error(ErrorKind::Io, "cannot listen on " + options_.host + ":" +
                                        std::to_string(port) + ": " + error.message());
    net::co_spawn(io_, accept_clients(), report_bug);
    const std::uint16_t bound = acceptor_.local_endpoint(error).port();
    service_.set_port(bound);
    return bound;
}

void Server::stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    service_.stop();
    for (ClientConnection* client : clients_) client->stop();
}

Awaitable<void> Server::accept_clients() {
    while (acceptor_.is_open()) {
        auto [error, socket] = co_await acceptor_.async_accept(kAwait);
        if (!error) {
            net::co_spawn(io_, serve(std::move(socket)), report_bug);
            continue;
        }
        if (!acceptor_.is_open()) break;
        // Out of descriptors, most likely: trying again at once would only spin.
        Timer pause(io_.get_executor());
        pause.expires_after(std::chrono::milliseconds(50));
        co_await pause.async_wait(kAwait);
    }
}

Awaitable<void> Server::serve(Socket socket) {
    const auto client =
        std::make_shared<ClientConnection>(std::move(socket), options_.habits.idle_close_seconds);
    const Registration registration(clients_, *client);
    Afterwards afterwards = Afterwards::KeepAlive;
    while (afterwards == Afterwards::KeepAlive) {
        const ClientConnection::Read read = co_await client->read_request();
        if (read.status == ClientConnection::ReadStatus::Closed) {
            afterwards = Afterwards::Drop;
        } else if (read.status != ClientConnection::ReadStatus::Request) {
            const std::string refusal = refusal_text(read.status);
            co_await client->send(refusal);
            afterwards = Afterwards::Close;
        } else {
            afterwards = co_await service_.answer(*client, read.request);
        }
    }
    if (afterwards == Afterwards::Close) co_await client->close_lingering();
}

}  // namespace prefix_router::engine_sim
