#include "config/read_backends.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/read_section.hpp"
#include "config/text_check.hpp"

namespace prefix_router::config {
namespace {

constexpr std::string_view kTls = "tls";

/// Backends with the line of each, so that complaints about two of them can name both.
struct ReadBackend {
    Backend backend;
    int line = 0;
};

std::string name_of(const ReadBackend& read) {
    return "line " + std::to_string(read.line) + " (" + read.backend.url.text + ")";
}

void read_options(const RawNode& node, const std::string& where, Backend& backend, Report& report) {
    Names known = names_of(backend_options());
    known.push_back(kTls);
    for (const RawNode& child : node.children) {
        if (child.key == kTls) {
            read_section(child, where + ".tls.", where + ".tls", backend_tls_options(), backend.tls,
                         report);
        } else if (!read_option(child, where + ".", backend_options(), backend, report)) {
            report_unknown(child, where, known, report);
        }
    }
}

/// What is set for TLS must not be left unused without a word.
void check_tls(const RawNode& node, const std::string& where, const Backend& backend,
               Report& report) {
    if (!backend.url.is_tls && backend.tls != BackendTls()) {
        report.add(node.line, where + ".tls: the URL " + in_quotes(backend.url.text) +
                                  " is not https://; write https:// or delete tls");
    }
    if (backend.tls.client_certificate.has_value() != backend.tls.client_key.has_value()) {
        report.add(node.line,
                   where + ".tls: client_certificate and client_key go together; write both");
    }
}

void report_duplicates(const std::vector<ReadBackend>& backends, Report& report) {
    std::map<std::string_view, const ReadBackend*> by_url;
    std::map<std::string_view, const ReadBackend*> by_id;
    for (const ReadBackend& read : backends) {
        const auto [url, is_new_url] = by_url.emplace(read.backend.url.text, &read);
        if (!is_new_url) {
            report.add(read.line, "backend URL " + in_quotes(read.backend.url.text) +
                                      " is already in " + name_of(*url->second) +
                                      "; delete one of the entries");
            continue;
        }
        const auto [id, is_new_id] = by_id.emplace(read.backend.id, &read);
        if (!is_new_id) {
            report.add(read.line, "backend id " + in_quotes(read.backend.id) + " is already in " +
                                      name_of(*id->second) + "; give one of them another id");
        }
    }
}

}  // namespace

std::optional<Backend> read_backend(const RawNode& node, const std::string& where, Report& report) {
    if (node.kind == RawNode::Kind::Scalar) {
        report.add(node.line, where + ": write 'url: " + node.text + "'");
        return std::nullopt;
    }
    if (node.kind != RawNode::Kind::Map || !has_child(node, "url")) {
        report.add(node.line, where + ": the url is missing; write 'url: http://host:port'");
    }
    Backend backend;
    read_options(node, where, backend, report);
    if (backend.url.text.empty()) {
        return std::nullopt;  // reported above or by its codec
    }
    check_tls(node, where, backend, report);
    if (backend.id.empty()) {
        backend.id = default_backend_id(backend.url);
    }
    return backend;
}

void read_backends(const RawNode& node, Config& config, Report& report) {
    if (node.kind == RawNode::Kind::Null) {
        return;
    }
    if (node.kind != RawNode::Kind::List) {
        report.add(node.line,
                   "backends: must be a list with at least one '- url: http://host:port'");
        return;
    }
    if (node.children.size() > kMaxBackends) {
        report.add(node.line, "backends: holds " + std::to_string(node.children.size()) +
                                  " entries; at most " + std::to_string(kMaxBackends));
        return;
    }
    std::vector<ReadBackend> backends;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        const RawNode& child = node.children[i];
        if (auto read = read_backend(child, "backends[" + std::to_string(i) + "]", report)) {
            backends.push_back({std::move(*read), child.line});
        }
    }
    report_duplicates(backends, report);
    for (ReadBackend& read : backends) {
        config.backends.push_back(std::move(read.backend));
    }
}

void read_only_backends(const RawNode& root, Config& config, Report& report) {
    const bool is_map = root.kind == RawNode::Kind::Map && root.children.size() == 1 &&
                        root.children.front().key == "backends";
    if (!is_map && root.kind != RawNode::Kind::List) {
        report.add(root.line,
                   "must be a list of '- url: http://host:port', or a map with nothing but "
                   "'backends:' in it; an empty list is []");
        return;
    }
    const RawNode& list = is_map ? root.children.front() : root;
    if (list.kind == RawNode::Kind::Null) {
        report.add(list.line, "backends: is empty; write 'backends: []' if there are none");
        return;
    }
    read_backends(list, config, report);
}

}  // namespace prefix_router::config
