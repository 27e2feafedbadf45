#include <limits>

#include "config/codecs.hpp"
#include "config/make_option.hpp"

namespace prefix_router::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::minutes;

template <class T>
using OrAuto = OrZeroCodec<IntegerCodec<T>, T>;

ChoiceCodec<Strategy> strategies() {
    ChoiceCodec<Strategy> codec;
    for (const auto strategy :
         {Strategy::Adaptive, Strategy::PrefixAware, Strategy::LeastOutstandingRequests,
          Strategy::RoundRobin, Strategy::Random}) {
        codec.words.emplace_back(to_string(strategy), strategy);
    }
    return codec;
}

ChoiceCodec<std::string> levels() {
    ChoiceCodec<std::string> codec;
    for (const auto* level : {"trace", "debug", "info", "warn", "error", "off"}) {
        codec.words.emplace_back(level, level);
    }
    return codec;
}

OrNoneCodec<OrZeroCodec<DurationCodec, milliseconds>> hold() {
    return {"off", {"auto", {1ms, minutes{1}}}};
}

}  // namespace

const OptionTable<Config>& top_level_options() {
    static const OptionTable<Config> table{
        option("listen", Reload::Restart, &Config::listen, ListenCodec{},
               "Where clients connect. The default serves this machine only; a sidecar wants that, "
               "a load balancer wants 0.0.0.0:8080."),
        option("admin", Reload::Restart, &Config::admin, OrNoneCodec<ListenCodec>{"off", {}},
               "Where /metrics, /healthz, /readyz, /backends, /decisions and /config are served. "
               "Whoever reaches it sees backend addresses: keep it off public networks."),
        option("admin_token_sha256", Reload::Restart, &Config::admin_token_sha256,
               OrNoneCodec<Sha256Codec>{"off", {}},
               "Hash of the token that admin asks for as 'Authorization: Bearer TOKEN', made by "
               "'prefix-router hash-key'. /healthz and /readyz stay open: probes have no token. "
               "Without "
               "one, changes are taken from this machine only."),
        option("threads", Reload::Restart, &Config::threads,
               OrAuto<std::uint32_t>{"auto", {1, 1024}},
               "Threads that serve connections; auto is one per core. Fewer leave cores to an "
               "inference server on the same machine."),
    };
    return table;
}

const OptionTable<Routing>& routing_options() {
    static const OptionTable<Routing> table{
        option("strategy", Reload::Restart, &Routing::strategy, strategies(),
               "adaptive sends a request where it is answered soonest, weighing cached prefix "
               "against wait. prefix_aware keeps a prefix at one backend until its requests in "
               "flight reach concurrency_threshold. The others do not look at prompts."),
        option("prefix_length", Reload::Restart, &Routing::prefix_length,
               IntegerCodec<std::uint32_t>{1024, 65536},
               "prefix_aware: characters of the prompt that make its prefix. Short ones lump "
               "different prompts together, long ones part what shares a system prompt."),
        option("concurrency_threshold", Reload::Restart, &Routing::concurrency_threshold,
               IntegerCodec<std::uint32_t>{1, 1024},
               "prefix_aware: requests in flight at which a prefix leaves its backend. Low spreads "
               "load early, high keeps caches warm longer."),
        option("expose_decision", Reload::Live, &Routing::expose_decision, FlagCodec{},
               "Adds X-Prefix-Router-Decision (backend id, reason, expected cached tokens) to "
               "answers. Tells clients how the fleet is made up: for debugging."),
        option("hash_seed", Reload::Restart, &Routing::hash_seed,
               OrNoneCodec<IntegerCodec<std::uint64_t>>{
                   "random", {0, std::numeric_limits<std::uint64_t>::max()}},
               "Seed of the prefix map's keys. random keeps clients from aiming at collisions; a "
               "number makes keys the same on every start."),
        option("isolate_tenants", Reload::Restart, &Routing::isolate_tenants, FlagCodec{},
               "Whether what one API key sent is never believed cached for another: nobody can "
               "tell from a quick answer what others asked. A body's cache_salt does so "
               "already."),
        option("hold", Reload::Live, &Routing::hold, hold(),
               "adaptive: prefill work before a backend, in time, from which requests wait in the "
               "router, where the shortest goes first. auto is 300ms, or one engine step where "
               "that is longer; off sends everything at once."),
        option("hold_small", Reload::Live, &Routing::hold_small, DurationCodec{0ms, minutes{1}},
               "adaptive: a request whose own prefill takes at most this is never held. 0 holds "
               "all alike."),
        option("hold_age", Reload::Restart, &Routing::hold_age, RealCodec{0, 10},
               "adaptive: how fast a held request gains rank as it waits. 0 lets short ones pass "
               "it for ever, high values come near first come, first served."),
    };
    return table;
}

const OptionTable<Health>& health_options() {
    static const OptionTable<Health> table{
        option(
            "path", Reload::Live, &Health::path, RequestPathCodec{},
            "Asked for with GET; any 2xx is healthy. Where /health is not known (404, 405 or 501), "
            "/ping is asked for, as SageMaker containers have it, and a server that knows neither "
            "is healthy as long as it answers. Another path must give a 2xx."),
        option("interval", Reload::Live, &Health::interval, DurationCodec{100ms, hours{1}},
               "Time between two probes of a backend."),
        option("timeout", Reload::Live, &Health::timeout, DurationCodec{10ms, minutes{5}},
               "A probe without an answer by then has failed. Engines busy with a long prefill may "
               "answer late."),
        option("failures", Reload::Live, &Health::failures, IntegerCodec<std::uint32_t>{1, 1000},
               "Failed probes in a row before a backend is taken out."),
        option("successes", Reload::Live, &Health::successes, IntegerCodec<std::uint32_t>{1, 1000},
               "Good probes in a row before it comes back."),
        option("passive_failures", Reload::Live, &Health::passive_failures,
               IntegerCodec<std::uint32_t>{1, 1000},
               "Failed connects or resets of real requests in a row before it is taken out. "
               "Answers such as 429 and 503 do not count."),
        option("ejection", Reload::Live, &Health::ejection, DurationCodec{100ms, hours{1}},
               "How long it stays out before one request tries it again; doubles up to 60s."),
        option("scrape_interval", Reload::Live, &Health::scrape_interval,
               DurationCodec{100ms, hours{1}, Zero::Allowed},
               "Time between two reads of a backend's /metrics and /v1/models. 0 never reads them: "
               "capacity, lanes and models are then configured or learned."),
    };
    return table;
}

const OptionTable<Timeouts>& timeouts_options() {
    static const OptionTable<Timeouts> table{
        option("request_header", Reload::Live, &Timeouts::request_header,
               DurationCodec{100ms, hours{1}},
               "From a request's first byte to the end of its header."),
        option("request_body", Reload::Live, &Timeouts::request_body,
               DurationCodec{100ms, hours{1}}, "Silence inside a request's body."),
        option("client_idle", Reload::Live, &Timeouts::client_idle, DurationCodec{100ms, hours{24}},
               "How long an idle client connection is kept."),
        option("tls_handshake", Reload::Live, &Timeouts::tls_handshake,
               DurationCodec{100ms, minutes{5}},
               "For a TLS handshake, with a client or with a backend."),
        option("connect", Reload::Live, &Timeouts::connect, DurationCodec{10ms, minutes{5}},
               "For a connection to a backend; then the next candidate is tried."),
        option("first_byte", Reload::Live, &Timeouts::first_byte, DurationCodec{100ms, hours{24}},
               "From sending a request to the first byte of its answer. An answer that is not "
               "streamed comes whole: allow for its longest generation."),
        option("idle", Reload::Live, &Timeouts::idle, DurationCodec{100ms, hours{24}},
               "Silence between two pieces of an answer, on either side."),
        option("total", Reload::Live, &Timeouts::total,
               DurationCodec{100ms, hours{24}, Zero::Allowed},
               "From a request's last byte to its answer's last. 0 sets no limit."),
        option("backend_idle", Reload::Live, &Timeouts::backend_idle,
               DurationCodec{100ms, hours{24}},
               "How long an idle backend connection is kept for the next request. Stay below the "
               "backend's own keep-alive (uvicorn: 5s), or requests meet closed connections."),
        option("drain_settle", Reload::Live, &Timeouts::drain_settle,
               DurationCodec{0ms, minutes{10}},
               "On SIGTERM: how long /readyz says no before connections are refused, so that a "
               "load balancer has seen it. 0 stops accepting at once."),
        option("drain_grace", Reload::Live, &Timeouts::drain_grace, DurationCodec{0ms, hours{24}},
               "On SIGTERM: how long running answers may take. 0 cuts them."),
    };
    return table;
}

const OptionTable<Retry>& retry_options() {
    static const OptionTable<Retry> table{
        option("budget", Reload::Live, &Retry::budget, RealCodec{0, 1},
               "Retries as a share of all requests. Bounds the load that a failing fleet gets on "
               "top. 0 never retries elsewhere."),
    };
    return table;
}

const OptionTable<Limits>& limits_options() {
    static const OptionTable<Limits> table{
        option("body_bytes", Reload::Live, &Limits::body_bytes,
               SizeCodec{std::size_t{1} << 10, std::size_t{16} << 30},
               "Largest request body; above it the answer is 413. At most buffered_bytes."),
        option("header_bytes", Reload::Restart, &Limits::header_bytes,
               SizeCodec{std::size_t{4} << 10, std::size_t{1} << 20},
               "Largest header of a request or an answer; above it the answer is 431 or 502. At "
               "most 256 fields; a request line beyond 16 KiB is 414."),
        option("buffered_bytes", Reload::Restart, &Limits::buffered_bytes,
               SizeCodec{std::size_t{1} << 20, std::size_t{1} << 40},
               "All request bodies in memory together; over it reading pauses, then 503. Buffers "
               "kept for the next bodies may take as much again."),
        option("prefix_map_bytes", Reload::Restart, &Limits::prefix_map_bytes,
               SizeCodec{std::size_t{1} << 20, std::size_t{1} << 40},
               "Memory of the prefix map. Too small and it forgets prefixes that backends still "
               "hold."),
        option("connections", Reload::Live, &Limits::connections,
               IntegerCodec<std::uint32_t>{1, 10'000'000},
               "Client connections at a time; more wait to be accepted."),
        option("connections_per_address", Reload::Restart, &Limits::connections_per_address,
               OrNoneCodec<IntegerCodec<std::uint32_t>>{"off", {1, 10'000'000}},
               "Of these, from one IPv4 address or one IPv6 /64; more are closed at once. Leave "
               "it off behind a load balancer: all clients share its address."),
        option("max_in_flight_per_backend", Reload::Live, &Limits::max_in_flight_per_backend,
               OrNoneCodec<IntegerCodec<std::uint32_t>>{"none", {1, 1'000'000}},
               "Requests that a backend gets at a time unless its entry says otherwise. When all "
               "have as many, requests wait in the queue."),
    };
    return table;
}

const OptionTable<Queue>& queue_options() {
    const OrNoneCodec<HeaderNameCodec> header_or_off{"off", {}};
    const OrNoneCodec<DurationCodec> wait_or_same{"same", {1ms, hours{24}, Zero::Allowed}};
    static const OptionTable<Queue> table{
        option("max_requests", Reload::Live, &Queue::max_requests,
               IntegerCodec<std::uint32_t>{0, 1'000'000},
               "Requests that may wait at a time; beyond it the answer is 503. 0 lets none wait."),
        option("max_bytes", Reload::Live, &Queue::max_bytes,
               OrZeroCodec<SizeCodec, std::size_t>{"auto",
                                                   {std::size_t{1} << 10, std::size_t{1} << 40}},
               "Bodies of waiting requests in memory together; beyond it the answer is 503. auto "
               "is half of limits.buffered_bytes, so that the other half can still be read. A "
               "request that finds the queue full takes the place of the youngest of the lowest "
               "priority below its own."),
        option("max_wait", Reload::Live, &Queue::max_wait,
               DurationCodec{1ms, hours{24}, Zero::Allowed},
               "Longest wait; then the answer is 503, at once when it is plain that the wait would "
               "be twice as long. 0 sets no limit."),
        option("max_wait_high", Reload::Live, &Queue::max_wait_high, wait_or_same,
               "The same for requests of high priority, which are often in a hurry."),
        option("max_wait_low", Reload::Live, &Queue::max_wait_low, wait_or_same,
               "The same for requests of low priority, which often are not. They get one turn in "
               "sixteen however many others wait."),
        option(
            "priority_header", Reload::Live, &Queue::priority_header, header_or_off,
            "Request header that says high, normal or low; without it a request is normal. off, "
            "because any client could raise itself: switch it on behind a gateway that sets it."),
        option("tenant_header", Reload::Live, &Queue::tenant_header, header_or_off,
               "Request header that names the tenant; waiting tenants of one priority get equal "
               "shares. off makes all requests one tenant's. As trusted as priority_header."),
        option("deadline_header", Reload::Live, &Queue::deadline_header, header_or_off,
               "Request header with the time, from the request's arrival, in which its answer must "
               "begin: a number such as 30 or 2.5. OpenAI's and Anthropic's clients send "
               "X-Stainless-Read-Timeout (Python) or X-Stainless-Timeout (JavaScript), in seconds. "
               "What comes too late for it is refused with 504 and not sent."),
        option("deadline_unit", Reload::Live, &Queue::deadline_unit,
               ChoiceCodec<DeadlineUnit>{
                   {{"s", DeadlineUnit::Seconds}, {"ms", DeadlineUnit::Milliseconds}}},
               "What the number in deadline_header counts."),
    };
    return table;
}

const OptionTable<Log>& log_options() {
    static const OptionTable<Log> table{
        option("level", Reload::Live, &Log::level, levels(),
               "Least severe line of the operational log, which goes to standard error."),
        option("format", Reload::Restart, &Log::format,
               ChoiceCodec<LogFormat>{{{"text", LogFormat::Text}, {"json", LogFormat::Json}}},
               "Of both logs."),
        option("access", Reload::Restart, &Log::access, SinkCodec{},
               "Where the line per request goes. It holds no prompts."),
        option(
            "trace", Reload::Restart, &Log::trace, SinkCodec{SinkCodec::Streams::Refused},
            "Records every served request (time, token counts, salted block hashes, no text) for "
            "prefix-router replay. Rotated at 256 MiB, four old files are kept."),
    };
    return table;
}

std::string_view to_string(Strategy strategy) {
    switch (strategy) {
        case Strategy::Adaptive:
            return "adaptive";
        case Strategy::PrefixAware:
            return "prefix_aware";
        case Strategy::LeastOutstandingRequests:
            return "least_outstanding_requests";
        case Strategy::RoundRobin:
            return "round_robin";
        case Strategy::Random:
            return "random";
    }
    return "unknown";
}

}  // namespace prefix_router::config
