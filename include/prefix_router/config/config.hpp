#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/base/logging.hpp"

namespace prefix_router::config {

using std::chrono::milliseconds;

enum class Strategy : std::uint8_t {
    Adaptive,
    PrefixAware,
    LeastOutstandingRequests,
    RoundRobin,
    Random,
};

/// Who goes first where requests wait.
enum class Priority : std::uint8_t { High, Normal, Low };
inline constexpr std::size_t kPriorities = 3;

/// What a bare number in a deadline's header counts.
enum class DeadlineUnit : std::uint8_t { Seconds, Milliseconds };

/// A TCP address to listen on: "0.0.0.0:8080", "[::1]:8080". Port 0 picks a free one.
struct ListenAddress {
    std::string host = "127.0.0.1";
    std::uint16_t port = 8080;

    friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// Where a backend is: http://host:port[/base], https://host:port[/base] or unix:/path.
struct BackendUrl {
    std::string text;  ///< as configured, normalised
    std::string host;  ///< name or address, IPv6 without brackets; "" for a Unix socket
    std::uint16_t port = 0;
    std::string base_path;  ///< "" or "/base", put before every target
    std::string unix_path;  ///< set for unix:
    std::string authority;  ///< Host field to send: host[:port], brackets around IPv6
    bool is_tls = false;    ///< https://

    friend bool operator==(const BackendUrl&, const BackendUrl&) = default;
};

enum class TlsVersion : std::uint8_t { Tls12, Tls13 };

/// TLS towards clients; off without a certificate. Files are PEM.
struct Tls {
    std::optional<std::string> certificate;  ///< with its chain
    std::optional<std::string> key;          ///< present when the certificate is
    TlsVersion min_version = TlsVersion::Tls12;
    std::optional<std::string> client_ca;  ///< clients must show a certificate that it signed

    friend bool operator==(const Tls&, const Tls&) = default;
};

/// TLS to an https:// backend. Files are PEM.
struct BackendTls {
    bool verify = true;
    std::optional<std::string> ca;           ///< nullopt: the system's
    std::optional<std::string> server_name;  ///< asked for and verified; nullopt: the URL's host
    std::optional<std::string> client_certificate;
    std::optional<std::string> client_key;  ///< present when the certificate is

    friend bool operator==(const BackendTls&, const BackendTls&) = default;
};

/// What a backend gets as Authorization. A secret's place, never the secret: /config shows it.
struct BackendAuthorization {
    enum class Kind : std::uint8_t {
        Auto,         ///< Pass without api_keys, Remove with them
        Pass,         ///< what the client sent
        Remove,       ///< nothing of what the client sent as a key
        Environment,  ///< the value of a variable, instead of the client's
        File,         ///< the first line of a file, instead of the client's
    };
    Kind kind = Kind::Auto;
    std::string source;  ///< of the variable or the file

    friend bool operator==(const BackendAuthorization&, const BackendAuthorization&) = default;
};

/// One client's key, known by its hash alone.
struct ApiKey {
    std::string name;    ///< [a-z0-9-]+, unique: what logs and metrics show
    std::string sha256;  ///< 64 lower-case hex digits, unique
    Priority priority = Priority::Normal;
    std::vector<std::string> models;            ///< empty: all
    std::optional<double> requests_per_second;  ///< nullopt: no limit
    std::uint32_t burst = 10;                   ///< requests at once, where there is a limit

    friend bool operator==(const ApiKey&, const ApiKey&) = default;
};

/// Who may ask and change what on the admin listener, known by the token's hash alone.
struct AdminToken {
    std::string name;    ///< [a-z0-9-]+, unique: who the log says it was
    std::string sha256;  ///< 64 lower-case hex digits, unique

    friend bool operator==(const AdminToken&, const AdminToken&) = default;
};

struct Backend {
    std::string id;  ///< [a-z0-9-]+, unique; default 8 hex digits of a hash of the URL
    BackendUrl url;
    std::vector<std::string> models;  ///< empty: ask /v1/models
    double weight = 1.0;  ///< share under round_robin, random, least_outstanding_requests
    std::optional<Tokens> capacity_tokens;
    std::optional<double> lanes;
    std::optional<std::uint32_t> max_in_flight;  ///< requests; default: that of the limits
    BackendTls tls;                              ///< of an https:// URL
    BackendAuthorization authorization;

    friend bool operator==(const Backend&, const Backend&) = default;
};

/// Which of a name's addresses are backends.
enum class AddressFamily : std::uint8_t {
    Auto,  ///< IPv4 where there is any, else IPv6: a name with both is one engine, not two
    Ipv4,
    Ipv6,
    Both,
};

/// Backends by DNS: one for each address of a name, or for each target of its SRV records.
struct DnsSource {
    std::string name;
    std::optional<std::uint16_t> port;  ///< nullopt: SRV records say it
    AddressFamily family = AddressFamily::Auto;
    std::optional<ListenAddress> nameserver;  ///< an IP address; nullopt: the system's
    milliseconds min_interval{5'000};         ///< between two questions, whatever the TTL
    milliseconds max_interval{60'000};
    Backend backend;  ///< what all have in common; no id, of the URL only is_tls

    friend bool operator==(const DnsSource&, const DnsSource&) = default;
};

/// Backends by the EndpointSlices of a Service.
struct KubernetesSource {
    std::string service;
    std::optional<std::string> name_space;  ///< nullopt: the pod's or the kubeconfig's own
    std::optional<std::string> port;        ///< name or number; nullopt: the only one
    std::optional<std::string> kubeconfig;  ///< a file; nullopt: the pod's service account
    milliseconds watch{120'000};            ///< how long one watch lasts
    Backend backend;                        ///< as of a DnsSource

    friend bool operator==(const KubernetesSource&, const KubernetesSource&) = default;
};

/// Backends beside those of the configuration.
struct Discovery {
    bool allow_empty = false;         ///< an answer without backends removes those that are known
    std::optional<std::string> file;  ///< a list of backends, watched
    std::vector<DnsSource> dns;
    std::vector<KubernetesSource> kubernetes;

    bool is_on() const { return file || !dns.empty() || !kubernetes.empty(); }
    friend bool operator==(const Discovery&, const Discovery&) = default;
};

struct Routing {
    Strategy strategy = Strategy::Adaptive;
    std::uint32_t prefix_length = 16384;
    std::uint32_t concurrency_threshold = 16;
    bool expose_decision = false;
    std::optional<std::uint64_t> hash_seed;  ///< default random per start
    bool isolate_tenants = false;            ///< no prefix is believed cached for another API key
    /// nullopt: off. 0 ms: auto = max(0.3 s, one engine step where known).
    std::optional<milliseconds> hold = milliseconds{0};
    milliseconds hold_small{800};
    double hold_age = 0.1;

    friend bool operator==(const Routing&, const Routing&) = default;
};

struct Health {
    std::string path = "/health";
    milliseconds interval{2000};
    milliseconds timeout{1000};
    std::uint32_t failures = 3;          ///< consecutive failed probes before ejection
    std::uint32_t successes = 1;         ///< consecutive good probes before return
    std::uint32_t passive_failures = 3;  ///< consecutive connect failures or resets before ejection
    milliseconds ejection{
        5000};  ///< open time of the breaker before one half-open probe; doubles up to 60 s
    milliseconds scrape_interval{1000};  ///< /metrics and /v1/models; 0 = never

    friend bool operator==(const Health&, const Health&) = default;
};

struct Timeouts {
    milliseconds request_header{10'000};
    milliseconds request_body{60'000};  ///< silence inside the request body
    milliseconds client_idle{75'000};   ///< keep-alive between requests
    milliseconds tls_handshake{5'000};  ///< with a client or a backend
    milliseconds connect{2'000};
    milliseconds first_byte{600'000};
    milliseconds idle{120'000};  ///< silence between two pieces of an answer, either side
    milliseconds total{0};       ///< whole request; 0 = no limit
    milliseconds backend_idle{
        4'000};                    ///< pooled backend connections; engines close theirs after 5 s
    milliseconds drain_settle{0};  ///< not ready, still accepting
    milliseconds drain_grace{30'000};

    friend bool operator==(const Timeouts&, const Timeouts&) = default;
};

struct Retry {
    double budget = 0.2;  ///< share of requests that may be retried elsewhere

    friend bool operator==(const Retry&, const Retry&) = default;
};

struct Limits {
    std::size_t body_bytes = std::size_t{64} << 20;
    std::size_t header_bytes = std::size_t{64} << 10;
    std::size_t buffered_bytes = std::size_t{1} << 30;
    std::size_t prefix_map_bytes = std::size_t{256} << 20;
    std::uint32_t connections = 65'536;
    std::optional<std::uint32_t> connections_per_address;  ///< nullopt: no limit
    std::optional<std::uint32_t> max_in_flight_per_backend;

    friend bool operator==(const Limits&, const Limits&) = default;
};

/// Requests that wait in the router.
struct Queue {
    std::uint32_t max_requests = 16'384;
    std::size_t max_bytes = 0;       ///< of their bodies; 0 = half of limits.buffered_bytes
    milliseconds max_wait{600'000};  ///< 0 = no limit
    std::optional<milliseconds> max_wait_high;  ///< default: as max_wait
    std::optional<milliseconds> max_wait_low;
    std::optional<std::string> priority_header;
    std::optional<std::string> tenant_header;
    std::optional<std::string> deadline_header;
    DeadlineUnit deadline_unit = DeadlineUnit::Seconds;

    friend bool operator==(const Queue&, const Queue&) = default;
};

struct Log {
    std::string level = "info";
    LogFormat format = LogFormat::Text;
    std::string access = "stdout";  ///< "off", "stdout", "stderr" or a file path
    std::string trace = "off";      ///< "off" or a file path: a trace for the replay

    friend bool operator==(const Log&, const Log&) = default;
};

/// How a changed file comes into force besides SIGHUP and the admin listener.
struct Reloading {
    bool watch = false;

    friend bool operator==(const Reloading&, const Reloading&) = default;
};

/// Where a secret is, never the secret: /config shows it.
struct SecretSource {
    enum class Kind : std::uint8_t { Environment, File };
    Kind kind = Kind::Environment;
    std::string source;  ///< name of the variable, path of the file

    friend bool operator==(const SecretSource&, const SecretSource&) = default;
};

/// Spans for a collector (OTLP); off without an endpoint.
struct Tracing {
    std::optional<std::string> endpoint;  ///< "http://collector:4318"
    std::optional<SecretSource> headers;  ///< of requests to it
    double sample_ratio = 1.0;            ///< of the traces that begin here
    std::string service_name = "prefix-router";

    friend bool operator==(const Tracing&, const Tracing&) = default;
};

/// A whole, validated configuration: it cannot hold a bad value. Each section's option table
/// (config/options.cpp) drives parsing, unknown-key detection, bounds and documentation.
struct Config {
    ListenAddress listen;
    std::optional<ListenAddress> admin = ListenAddress{"127.0.0.1", 9191};
    bool admin_is_optional = false;  ///< quick start: an admin port in use is a warning
    std::uint32_t threads = 0;       ///< 0 = one per core
    std::optional<std::string> admin_token_sha256;  ///< of the token named "admin"
    std::vector<AdminToken> admin_tokens;           ///< more of them, with names of their own
    Tls tls;
    std::vector<ApiKey> api_keys;  ///< empty: everybody is served
    std::vector<Backend> backends;
    Discovery discovery;
    Routing routing;
    Health health;
    Timeouts timeouts;
    Retry retry;
    Limits limits;
    Queue queue;
    Log log;
    Reloading reload;
    Tracing tracing;

    friend bool operator==(const Config&, const Config&) = default;
};

/// One complaint about a file: "config.yaml:12: unknown key 'rooting' in the top level; did you
/// mean 'routing'?".
struct Problem {
    std::string file;
    int line = 0;  ///< from 1; 0 when there is none
    std::string message;
};
std::string to_string(const Problem& problem);

/// Either a configuration or every problem found, never only the first.
struct Loaded {
    std::optional<Config> config;
    std::vector<Problem> problems;
};
Loaded load_file(const std::string& path);
Loaded load_text(const std::string& yaml, const std::string& name_for_messages);

/// The same for a file that holds backends alone: a list, or a map with nothing but 'backends:'. An
/// empty list is one.
struct LoadedBackends {
    std::optional<std::vector<Backend>> backends;
    std::vector<Problem> problems;
};
LoadedBackends load_backends(const std::string& text, const std::string& name_for_messages);

/// The text of a file of at most 1 MiB. Error: Io.
Result<std::string> read_file(const std::string& path);

Result<ListenAddress> parse_listen(std::string_view text);
Result<BackendUrl> parse_backend_url(std::string_view text);
/// A backend as an entry of the file, without its dash: a map in YAML or JSON. Error:
/// InvalidConfiguration, with every problem.
Result<Backend> parse_backend(const std::string& yaml);
/// A backend as quick start makes it from a URL alone.
Result<Backend> backend_from_url(std::string_view url);

/// What a source is called in metrics and logs: "dns:engines.internal:8000",
/// "kubernetes:default/engines". Unique in one configuration.
std::string source_name(const DnsSource& source);
std::string source_name(const KubernetesSource& source);

std::string_view to_string(Strategy strategy);
std::string_view to_string(Priority priority);
/// By its word, in any case; nullopt: there is none such.
std::optional<Priority> parse_priority(std::string_view word);

}  // namespace prefix_router::config
