#include "config/read_discovery.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/read_section.hpp"

namespace prefix_router::config {
namespace {

constexpr std::size_t kMostSources = 64;
constexpr std::string_view kTls = "tls";

template <class Source>
void read_options(const RawNode& node, const std::string& where, const OptionTable<Source>& table,
                  Source& source, Report& report) {
    Names known = names_of(table);
    known.push_back(kTls);
    for (const RawNode& child : node.children) {
        if (child.key == kTls) {
            read_section(child, where + ".tls.", where + ".tls", backend_tls_options(),
                         source.backend.tls, report);
        } else if (!read_option(child, where + ".", table, source, report)) {
            report_unknown(child, where, known, report);
        }
    }
}

void check(const RawNode& node, const std::string& where, const Backend& backend, Report& report) {
    if (!backend.url.is_tls && backend.tls != BackendTls()) {
        report.add(node.line,
                   where + ".tls: the scheme is http; write 'scheme: https' or delete tls");
    }
    if (backend.tls.client_certificate.has_value() != backend.tls.client_key.has_value()) {
        report.add(node.line,
                   where + ".tls: client_certificate and client_key go together; write both");
    }
}

void check(const RawNode& node, const std::string& where, const DnsSource& source, Report& report) {
    if (source.min_interval > source.max_interval) {
        report.add(node.line, where + ": min_interval is above max_interval; swap them");
    }
    if (!source.port && !source.name.empty() && source.name.find('.') == std::string::npos) {
        report.add(node.line, where +
                                  ": a port is missing; write 'port: 8000', or a name of SRV "
                                  "records such as _http._tcp.engines.internal");
    }
    check(node, where, source.backend, report);
}

void check(const RawNode& node, const std::string& where, const KubernetesSource& source,
           Report& report) {
    check(node, where, source.backend, report);
}

/// `required` is the option that says what the source is about.
template <class Source>
void read_sources(const RawNode& list, std::string_view required, const OptionTable<Source>& table,
                  std::vector<Source>& sources, Report& report) {
    const std::string name = "discovery." + list.key;
    if (list.kind == RawNode::Kind::Null) {
        return;
    }
    if (list.kind != RawNode::Kind::List || list.children.size() > kMostSources) {
        report.add(list.line, name + ": must be a list of at most " + std::to_string(kMostSources) +
                                  " '- " + std::string(required) + ": NAME'");
        return;
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < list.children.size(); ++i) {
        const RawNode& node = list.children[i];
        const std::string where = name + "[" + std::to_string(i) + "]";
        if (node.kind != RawNode::Kind::Map || !has_child(node, required)) {
            report.add(node.line, where + ": the " + std::string(required) +
                                      " is missing; write '" + std::string(required) + ": NAME'");
        }
        Source& source = sources.emplace_back();
        read_options(node, where, table, source, report);
        check(node, where, source, report);
        if (!names.insert(source_name(source)).second) {
            report.add(node.line, where + ": another entry asks for the same; delete one of them");
        }
    }
}

}  // namespace

void read_discovery(const RawNode& node, Config& config, Report& report) {
    if (node.kind == RawNode::Kind::Null) {
        return;
    }
    if (node.kind != RawNode::Kind::Map) {
        report.add(node.line, "discovery must be a map: one 'name: value' per line, indented");
        return;
    }
    Names known = names_of(discovery_options());
    known.insert(known.end(), {"dns", "kubernetes"});
    Discovery& discovery = config.discovery;
    for (const RawNode& child : node.children) {
        if (child.key == "dns") {
            read_sources(child, "name", dns_source_options(), discovery.dns, report);
        } else if (child.key == "kubernetes") {
            read_sources(child, "service", kubernetes_source_options(), discovery.kubernetes,
                         report);
        } else if (!read_option(child, "discovery.", discovery_options(), discovery, report)) {
            report_unknown(child, "discovery", known, report);
        }
    }
}

}  // namespace prefix_router::config
