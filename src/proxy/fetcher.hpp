#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"
#include "prefix_router/http/chunk_follower.hpp"
#include "prefix_router/http/response_head.hpp"
#include "prefix_router/net/parker.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/task.hpp"
#include "prefix_router/net/ticker.hpp"
#include "prefix_router/net/worker.hpp"
#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::proxy {

/// A whole answer to a GET.
struct Fetched {
    unsigned status = 0;
    std::string body;
};

/// Small GET requests to one backend, one at a time, each over a connection of its own, so that
/// probes never queue behind requests. For health and scraping; bodies are bounded. Used on one
/// worker's thread; stop() ends what is under way.
class Fetcher final : public net::StreamListener, public net::Ticked {
  public:
    Fetcher(net::Worker& worker, BackendRef backend);

    net::Task<Result<Fetched>> get(std::string_view path, std::chrono::milliseconds timeout);
    /// False when it was ended by stop().
    net::Task<bool> sleep(std::chrono::milliseconds time);
    void stop();
    bool is_stopped() const;

    const BackendRef& backend() const { return backend_; }

    void on_readable() override;
    void on_writable() override;
    void on_tick(net::Tick now) override;

  private:
    net::Task<void> connect(std::chrono::milliseconds timeout);
    net::Task<void> connect_to(const net::Endpoint& endpoint);
    net::Task<void> handshake();
    net::Task<void> exchange(std::string_view path);
    net::Task<void> wait_for_bytes();
    bool receive();
    void parse();
    void take_body(std::string_view bytes);
    bool is_interrupted(net::Events events);
    void fail(ErrorKind kind);

    net::Worker& worker_;
    BackendRef backend_;
    net::Parker parker_;
    net::Deadline deadline_;          // of the whole answer
    net::Deadline address_deadline_;  // of a connection to the address that is tried
    ErrorKind missed_ = ErrorKind::FirstByteTimeout;
    net::Stream stream_;
    std::string request_;
    std::string received_;
    http::ResponseHeadParser parser_;
    http::ResponseHead head_;
    http::ChunkFollower chunks_;
    std::string body_;
    std::optional<Error> failure_;
    bool has_head_ = false;
    bool is_done_ = false;
};

}  // namespace prefix_router::proxy
