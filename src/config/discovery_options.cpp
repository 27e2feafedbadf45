#include <algorithm>
#include <string>

#include "config/make_option.hpp"

namespace prefix_router::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;

ChoiceCodec<AddressFamily> families() {
    return {{{"auto", AddressFamily::Auto},
             {"ipv4", AddressFamily::Ipv4},
             {"ipv6", AddressFamily::Ipv6},
             {"both", AddressFamily::Both}}};
}

/// What a row does to a Backend, done to the one inside a source.
template <class Source>
Option<Source> of_its_backend(const Option<Backend>& inner) {
    Option<Source> option;
    option.name = inner.name;
    option.reload = Reload::Restart;
    option.help = inner.help;
    option.accepts = inner.accepts;
    option.read = [inner](Source& source, const RawNode& node) {
        return inner.read(source.backend, node);
    };
    option.show = [inner](const Source& source) { return inner.show(source.backend); };
    return option;
}

Option<Backend> scheme() {
    const ChoiceCodec<bool> codec{{{"http", false}, {"https", true}}};
    Option<Backend> option;
    option.name = "scheme";
    option.help = "How they are spoken to.";
    option.accepts = codec.accepts();
    option.read = [codec](Backend& backend, const RawNode& node) -> Result<void> {
        const auto is_tls = codec.parse(node);
        if (is_tls.has_error()) {
            return is_tls.error();
        }
        backend.url.is_tls = *is_tls;
        return {};
    };
    option.show = [codec](const Backend& backend) { return codec.show(backend.url.is_tls); };
    return option;
}

/// What all backends of one source have in common: the fields of backends[] but for url and id.
template <class Source>
void add_backend_fields(OptionTable<Source>& table) {
    table.push_back(of_its_backend<Source>(scheme()));
    for (const auto& option : backend_options()) {
        if (option.name != "url" && option.name != "id") {
            table.push_back(of_its_backend<Source>(option));
        }
    }
}

}  // namespace

const OptionTable<Discovery>& discovery_options() {
    static const OptionTable<Discovery> table{
        option("allow_empty", Reload::Restart, &Discovery::allow_empty, FlagCodec{},
               "Whether an answer that names no backend removes all that its source named before. "
               "false keeps them and says so: an empty answer is more often a mistake than the "
               "end of a fleet, and each backend's health is probed anyway."),
        option("file", Reload::Restart, &Discovery::file, OrNoneCodec<FileCodec>{"off", {}},
               "YAML or JSON file with a list of backends, each with the fields of backends[]. It "
               "is watched; replace it in one step, by renaming. A file with a mistake changes "
               "nothing."),
    };
    return table;
}

const OptionTable<DnsSource>& dns_source_options() {
    static const OptionTable<DnsSource> table = [] {
        OptionTable<DnsSource> made{
            option("name", Reload::Restart, &DnsSource::name, host_names(),
                   "The name to look up. The system's search domains apply, its file of hosts does "
                   "not. Required."),
            option("port", Reload::Restart, &DnsSource::port,
                   OrNoneCodec<IntegerCodec<std::uint16_t>>{"srv", {1, 65'535}},
                   "Where the inference servers listen. srv: the name is one of SRV records, such "
                   "as _http._tcp.engines.internal, which say the ports; those of the lowest "
                   "priority are used, and their weights multiply the weight below."),
            option("family", Reload::Restart, &DnsSource::family, families(),
                   "Which addresses are backends. auto: the IPv4 addresses, where there are none "
                   "the IPv6 ones, so that a server that has both counts once."),
            option("nameserver", Reload::Restart, &DnsSource::nameserver,
                   OrNoneCodec<NameserverCodec>{"system", {}},
                   "Whom to ask; system is what /etc/resolv.conf says."),
            option("min_interval", Reload::Restart, &DnsSource::min_interval,
                   DurationCodec{10ms, hours{1}},
                   "The name is asked for again when its record's time to live is over, but not "
                   "sooner than this."),
            option("max_interval", Reload::Restart, &DnsSource::max_interval,
                   DurationCodec{10ms, hours{24}},
                   "Nor later than this. After failures the pause grows from the one to the "
                   "other."),
        };
        add_backend_fields(made);
        return made;
    }();
    return table;
}

const OptionTable<KubernetesSource>& kubernetes_source_options() {
    static const OptionTable<KubernetesSource> table = [] {
        OptionTable<KubernetesSource> made{
            option("service", Reload::Restart, &KubernetesSource::service, cluster_names(),
                   "The Service whose EndpointSlices name the backends: those that are ready and "
                   "not terminating. Required."),
            option("namespace", Reload::Restart, &KubernetesSource::name_space,
                   OrNoneCodec<NameCodec>{"auto", cluster_names()},
                   "Where the Service is; auto is the router's own namespace, or that of the "
                   "kubeconfig's context."),
            option("port", Reload::Restart, &KubernetesSource::port,
                   OrNoneCodec<NameCodec>{"auto", cluster_names()},
                   "Name or number of the port that the pods listen on (the Service's targetPort). "
                   "auto takes the only one there is."),
            option("kubeconfig", Reload::Restart, &KubernetesSource::kubeconfig,
                   OrNoneCodec<FileCodec>{"in-cluster", {}},
                   "File that says where the API server is and how to log in, by token or client "
                   "certificate; its current context is used. in-cluster is the pod's service "
                   "account. Both are read again at each request: what rotates is followed."),
            option("watch", Reload::Restart, &KubernetesSource::watch, DurationCodec{1s, hours{1}},
                   "How long one watch lasts before the next goes on where it ended. A server that "
                   "fell silent without a word is noticed after that at the latest."),
        };
        add_backend_fields(made);
        return made;
    }();
    return table;
}

std::string source_name(const DnsSource& source) {
    return "dns:" + source.name + (source.port ? ":" + std::to_string(*source.port) : "");
}

std::string source_name(const KubernetesSource& source) {
    return "kubernetes:" + (source.name_space ? *source.name_space + "/" : "") + source.service +
           (source.port ? ":" + *source.port : "");
}

}  // namespace prefix_router::config
