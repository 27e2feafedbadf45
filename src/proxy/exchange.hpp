#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/http/chunk_encoder.hpp"
#include "prefix_router/http/chunk_follower.hpp"
#include "prefix_router/http/request_head.hpp"
#include "prefix_router/http/response_head.hpp"
#include "prefix_router/net/buffer_pool.hpp"
#include "prefix_router/net/connect.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/task.hpp"
#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/prompt/request_reader.hpp"
#include "prefix_router/proxy/access_log.hpp"
#include "prefix_router/proxy/routing_desk.hpp"

#include "proxy/api_keys.hpp"
#include "proxy/backend_connections.hpp"
#include "proxy/client_connection.hpp"
#include "proxy/conduit.hpp"
#include "proxy/retry_policy.hpp"

namespace prometheus {
class Gauge;
}

namespace prefix_router::proxy {

class RequestTrace;

/// Counts a request in a gauge from begin() to end(), or to its own end.
class InFlightCount {
  public:
    InFlightCount() = default;
    InFlightCount(const InFlightCount&) = delete;
    InFlightCount& operator=(const InFlightCount&) = delete;
    ~InFlightCount() { end(); }

    void begin(prometheus::Gauge& gauge);
    void end();

  private:
    prometheus::Gauge* gauge_ = nullptr;
};

/// One request and its answer, from the first byte of the one to the last of the other:
///
///     run -> read head -> read body      exchange_read.cpp
///         -> key -> admit [-> held]      exchange_route.cpp
///         -> connect or reuse        exchange_connect.cpp
///         -> send -> read the answer's head   exchange_attempt.cpp
///         -> relay [or tunnel]           exchange_relay.cpp, exchange_tunnel.cpp
///         -> settle                      exchange_settle.cpp
///
/// Belongs to one client connection while it runs, then rests in the worker's context. A phase
/// that cannot go on sets `failure_`; run() looks at it between phases.
class Exchange final : public TicketOwner {
  public:
    explicit Exchange(WorkerContext& context);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    /// `input`: the first bytes of the request, valid until the first suspension.
    net::Task<Ending> run(ClientConnection& client, std::string_view input);

    /// Forgets the request; keeps what is worth keeping for the next.
    void recycle();

    void ticket_released() noexcept override;
    void wake() { client_->parker.signal(kReleased); }

  private:
    net::Task<void> work(std::string_view input);
    void give_up(std::string message);

    // exchange_read.cpp
    bool take_head(std::string_view input);
    net::Task<void> read_head();
    void begin_body(std::string_view rest);
    bool has_whole_body() const;
    bool reserve_body_memory(std::size_t bytes);
    void accept_body(std::string_view bytes);
    void append_to_body(std::string_view piece);
    net::Task<void> read_body();
    bool receive_body();
    net::Task<void> wait_for_memory();
    net::Task<void> send_continue();

    // exchange_access.cpp
    bool knows_client();
    bool is_strangers() const;
    bool is_within_rate();
    bool may_use_model(const prompt::RequestFacts& facts);
    bool has_json_body() const;
    std::uint64_t isolated_tenant() const;

    // exchange_route.cpp
    net::Task<void> route();
    void admit();
    net::Task<void> hold();
    net::Task<void> dispatch();
    AttemptFacts attempt_facts() const;
    bool retry_elsewhere();
    void keep_refusal();
    void fall_back_to_refusal();
    void name_failure();
    void fail_unplaced();

    // exchange_attempt.cpp
    net::Task<void> attempt();
    void begin_attempt();
    void lay_out_request();
    void send_now();
    net::Task<void> read_answer_head();
    bool receive_answer_bytes();
    enum class HeadProgress : std::uint8_t { NeedsMore, Interim, Final, Broken };
    HeadProgress parse_answer_head();
    void keep_answer_rest();
    net::Task<void> forward_interim();

    // exchange_connect.cpp
    net::Task<void> connect();
    net::Task<void> connect_to(const net::Endpoint& endpoint, std::chrono::milliseconds timeout);
    net::Task<net::Dial> dial(const net::Endpoint& endpoint);
    net::Task<void> handshake(BackendConnection& connection);

    // exchange_relay.cpp
    net::Task<void> relay();
    void begin_relay();
    void pass_on(std::string_view bytes);
    void pass_on_sized(std::string_view bytes);
    void pass_on_chunked(std::string_view bytes);
    void pass_on_until_close(std::string_view bytes);
    void receive_answer_body();
    void end_at_close(net::IoStatus status);
    void show_payload(std::string_view payload);
    void tell_first_byte();
    bool flush_now();
    void keep_to_client();
    net::Task<void> flush();
    void release_body();

    // exchange_tunnel.cpp
    net::Task<void> tunnel();
    void end_tunnel(Conduit::State up, Conduit::State down);

    // exchange_settle.cpp
    net::Task<void> answer_error();
    void settle();
    void settle_ticket();
    void count_report(Tokens prompt, Tokens cached);
    void record_trace(const prompt::Usage& usage);
    routing::Outcome::Kind outcome_kind(bool has_error_event) const;
    Verdict verdict(bool has_error_event) const;
    void count(unsigned status);
    unsigned status() const;
    Ending ending() const;
    bool shows_truncation() const;
    void give_back_connection();

    // exchange_record.cpp
    void begin_trace();
    void tell();
    void end_trace(const RequestRecord& told);
    RequestRecord record() const;

    /// True, with `failure_` set, when one of kInterrupts is among `events`.
    bool is_interrupted(net::Events events);
    void fail(ErrorKind kind, std::string message = {});
    TimePoint now() const;

    enum class Stage : std::uint8_t { Reading, Routing, Relaying };

    WorkerContext& context_;
    ClientConnection* client_ = nullptr;
    Stage stage_ = Stage::Reading;
    std::optional<Error> failure_;

    // The request.
    http::RequestHead head_;
    http::ChunkFollower request_chunks_;
    net::Buffer body_;
    std::size_t body_size_ = 0;
    net::MemoryShare memory_;
    prompt::Dialect dialect_ = prompt::Dialect::None;
    bool answer_extends_key_ = false;
    std::uint64_t number_ = 0;

    std::shared_ptr<Client> key_;  // whose request it is; null where no keys are asked for
    std::chrono::seconds retry_after_{1};

    // Its place.
    InFlightCount in_flight_;
    std::optional<routing::Ticket> ticket_;
    RoutingDesk::Placement placement_;
    routing::Reason reason_ = routing::Reason::Cold;
    unsigned attempts_ = 0;
    unsigned killed_connections_ = 0;
    bool was_replaced_ = false;
    bool needs_fresh_connection_ = false;

    // The attempt under way.
    std::unique_ptr<BackendConnection> connection_;
    net::Pieces outgoing_;
    std::string outgoing_head_;  // where the backend gets other credentials than were sent
    bool is_request_sent_ = false;
    bool gave_bytes_ = false;
    http::ResponseHeadParser answer_parser_;
    http::ResponseHead answer_;
    std::string answer_received_;   // bytes of an incomplete answer head
    std::string_view answer_rest_;  // after the head; valid until the next suspension
    std::string decision_text_;

    // A refusal (429, 503) kept in case nobody else answers.
    struct Refusal {
        std::unique_ptr<BackendConnection> connection;
        http::ResponseHead head;
        std::string rest;
    };
    std::optional<Refusal> refusal_;
    std::optional<Error> hidden_failure_;  // of the ticket's backend, behind such a refusal

    // The relay.
    http::ChunkFollower answer_chunks_;
    std::uint64_t answer_left_ = 0;
    std::optional<prompt::AnswerReader> answer_reader_;
    net::Pieces to_client_;
    net::Buffer stalled_;    // what a slow client has not taken
    std::string unchunked_;  // payload for a client that cannot take chunks
    std::optional<http::ChunkSizeLine> size_line_;
    bool is_answer_done_ = false;
    bool has_surplus_ = false;
    FirstByte first_byte_ = FirstByte::Apart;  // WithEnd: it has come and is not told
    bool read_filled_room_ = false;

    // For the log, the metrics and the trace.
    std::unique_ptr<RequestTrace> trace_;  // null: tracing is off
    TimePoint started_{};
    TimePoint body_read_at_{};
    Duration duration_{};  // set at the end
    std::optional<Duration> first_token_;
    std::optional<Tokens> reported_cached_;
    std::uint64_t bytes_in_ = 0;
    std::uint64_t bytes_out_ = 0;
};

}  // namespace prefix_router::proxy
