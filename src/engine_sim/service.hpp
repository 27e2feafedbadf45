#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prefix_router/base/random.hpp"

#include "engine_sim/client_connection.hpp"
#include "engine_sim/computation.hpp"
#include "engine_sim/live_engine.hpp"
#include "engine_sim/options.hpp"
#include "engine_sim/stream_reply.hpp"

namespace prefix_router::engine_sim {

/// What becomes of the connection after an answer.
enum class Afterwards : std::uint8_t { KeepAlive, Close, Drop };

/// One simulated server: an engine and what it answers on each path. Single-threaded; outlives the
/// connections that it answers.
class Service {
  public:
    Service(net::io_context& io, const Options& options);

    Awaitable<Afterwards> answer(ClientConnection& client, const HttpRequest& request);
    void stop() { engine_.stop(); }
    /// The port, once it is bound: part of every answer's id, so that a client sees who answered.
    void set_port(std::uint16_t port) { port_ = port; }

  private:
    Awaitable<Afterwards> answer_get(ClientConnection& client, const HttpRequest& request);
    Awaitable<Afterwards> generate(ClientConnection& client, const HttpRequest& request, Api api);
    Awaitable<Afterwards> answer_whole(ClientConnection& client, const HttpRequest& request,
                                       Computation& computation, const AnswerFormat& format);
    Awaitable<Afterwards> answer_stream(ClientConnection& client, const HttpRequest& request,
                                        Computation& computation, const AnswerFormat& format);
    Awaitable<Afterwards> refuse(ClientConnection& client, const HttpRequest& request,
                                 const ApiError& error);
    Awaitable<Afterwards> reply(ClientConnection& client, const HttpRequest& request,
                                std::string_view content_type, std::string_view body);

    bool serves(const std::string& model) const;
    AnswerName next_name(const ApiRequest& request);
    StreamFault draw_fault(const Computation& computation);
    void count_answer(const Computation& computation);
    std::string models_json() const;

    const Options& options_;
    LiveEngine engine_;
    Random random_;
    ServerCounters counters_;
    std::uint16_t port_ = 0;
    std::uint64_t answers_named_ = 0;
    std::size_t load_ = 0;  ///< generating requests, as /load reports them
};

}  // namespace prefix_router::engine_sim
