// Codecs of places that the rest of the system gives a meaning: files, name servers, sinks.
#include <arpa/inet.h>

#include <array>

#include "prefix_router/config/options.hpp"

#include "config/codecs.hpp"

namespace prefix_router::config {

Result<std::string> FileCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    if (!text->starts_with('/') || text->ends_with('/') || text->find('\0') != text->npos) {
        return refused(*text, "is no absolute path", accepts());
    }
    return std::string(*text);
}

std::string FileCodec::show(const std::string& value) const {
    return yaml_text(value);
}
std::string FileCodec::accepts() const {
    return "the absolute path of a file";
}

Result<ListenAddress> NameserverCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    std::array<unsigned char, sizeof(in6_addr)> ignored{};
    const auto address = parse_listen(*text);
    const bool is_ip =
        address && (::inet_pton(AF_INET, address->host.c_str(), ignored.data()) == 1 ||
                    ::inet_pton(AF_INET6, address->host.c_str(), ignored.data()) == 1);
    if (!is_ip || text->starts_with(':') || address->port == 0) {
        return refused(*text, "is no address of a name server", accepts());
    }
    return *address;
}

std::string NameserverCodec::show(const ListenAddress& value) const {
    return yaml_text(to_string(value));
}
std::string NameserverCodec::accepts() const {
    return "the IP address and port of a name server, such as 10.0.0.10:53";
}

Result<std::string> SinkCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    const bool is_stream = *text == "stdout" || *text == "stderr";
    const bool is_file = text->starts_with('/') && !text->ends_with('/');
    if (*text != "off" && !is_file && !(is_stream && streams == Streams::Accepted)) {
        return refused(*text, "is no place to log to", accepts());
    }
    return std::string(*text);
}

std::string SinkCodec::show(const std::string& value) const {
    return yaml_text(value);
}
std::string SinkCodec::accepts() const {
    return streams == Streams::Accepted ? "off, stdout, stderr or the absolute path of a file"
                                        : "off or the absolute path of a file";
}
}  // namespace prefix_router::config
