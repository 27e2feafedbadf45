#pragma once

// One table per section of the configuration: the only place that names an option, its bounds, its
// help text and whether a reload brings it into force. Reading, "did you mean", the documentation,
// the written file and the comparison at reload all walk these tables.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prefix_router/config/options.hpp"

#include "config/raw_yaml.hpp"

namespace prefix_router::config {

template <class Section>
struct Option {
    std::string_view name;
    Reload reload;
    std::string_view help;  ///< sentences; lines are broken when written
    std::string accepts;
    std::function<Result<void>(Section&, const RawNode&)> read;
    std::function<std::string(const Section&)> show;
};

template <class Section>
using OptionTable = std::vector<Option<Section>>;

const OptionTable<Config>& top_level_options();
const OptionTable<Tls>& tls_options();
const OptionTable<AdminToken>& admin_token_options();
const OptionTable<ApiKey>& api_key_options();
const OptionTable<Backend>& backend_options();
const OptionTable<BackendTls>& backend_tls_options();
const OptionTable<Discovery>& discovery_options();
const OptionTable<DnsSource>& dns_source_options();
const OptionTable<KubernetesSource>& kubernetes_source_options();
const OptionTable<Routing>& routing_options();
const OptionTable<Health>& health_options();
const OptionTable<Timeouts>& timeouts_options();
const OptionTable<Retry>& retry_options();
const OptionTable<Limits>& limits_options();
const OptionTable<Queue>& queue_options();
const OptionTable<Log>& log_options();
const OptionTable<Reloading>& reload_options();
const OptionTable<Tracing>& tracing_options();

inline constexpr std::string_view kAdminTokensHelp =
    "Tokens that admin asks for, one for each operator or program, so that the log can say who "
    "changed what; admin_token_sha256 is one more, named admin.";
inline constexpr std::string_view kApiKeysHelp =
    "Keys that clients must show, as 'Authorization: Bearer KEY' or 'X-Api-Key: KEY'. Without any "
    "everybody is served.";
inline constexpr std::string_view kBackendTlsHelp = "TLS, where the URL is https://.";
inline constexpr std::string_view kBackendsHelp =
    "The inference servers, at least one where discovery names none. Those that a reload leaves in "
    "keep what is known of them; another URL under the same id is another backend.";
inline constexpr std::string_view kDnsHelp =
    "Backends by DNS: one for each address of a name, or for each target of its SRV records. The "
    "fields from scheme on are what they have in common.";
inline constexpr std::string_view kKubernetesHelp =
    "Backends by the EndpointSlices of a Service, which the router watches: its account may get, "
    "list and watch them. A backend's id is the pod's name and the port.";

/// Calls visit(name, help, member, table) for each section, in the order of the file.
template <class Visitor>
void for_each_section(Visitor&& visit) {
    visit("discovery",
          "Backends beside those above, that come and go by themselves. A source that fails keeps "
          "those that it named last, and says so.",
          &Config::discovery, discovery_options());
    visit("tls", "TLS towards clients: TLS 1.2 and later, HTTP/1.1.", &Config::tls, tls_options());
    visit("routing", "How a backend is chosen.", &Config::routing, routing_options());
    visit("health", "When a backend counts as usable.", &Config::health, health_options());
    visit("timeouts",
          "How long to wait for what. Time is looked at every 250 ms: a timeout comes up to half a "
          "second late, never early.",
          &Config::timeouts, timeouts_options());
    visit("retry", "Second attempts.", &Config::retry, retry_options());
    visit("limits", "Upper bounds of memory and connections.", &Config::limits, limits_options());
    visit("queue", "Requests that wait in the router: who goes first, and how many may.",
          &Config::queue, queue_options());
    visit("log", "What is written where.", &Config::log, log_options());
    visit("reload", "When this file is read again.", &Config::reload, reload_options());
    visit("tracing", "One span per request for a collector of OpenTelemetry, by OTLP over HTTP.",
          &Config::tracing, tracing_options());
}

}  // namespace prefix_router::config
