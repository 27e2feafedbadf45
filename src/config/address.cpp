#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/config/options.hpp"

#include "config/report.hpp"

namespace prefix_router::config {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

Error invalid(std::string message) {
    return Error(ErrorKind::InvalidConfiguration, std::move(message));
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, port);
    return code == std::errc{} && rest == end ? std::optional(port) : std::nullopt;
}

/// The canonical text of an IPv6 address, so that [::1] and [0:0::1] are the same backend.
std::optional<std::string> normal_ipv6(const std::string& text) {
    in6_addr address{};
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    if (inet_pton(AF_INET6, text.c_str(), &address) != 1 ||
        inet_ntop(AF_INET6, &address, buffer.data(), buffer.size()) == nullptr) {
        return std::nullopt;
    }
    return std::string(buffer.data());
}

bool is_ipv4(const std::string& text) {
    in_addr address{};
    return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

/// A DNS name (underscores allowed: container names have them). A name whose last label is a number
/// would be read as an odd IPv4 address by the resolver: refused.
bool is_host_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.';
    };
    if (name.empty() || name.size() > 253 || name.front() == '.' || name.front() == '-' ||
        name.find("..") != name.npos || !std::all_of(name.begin(), name.end(), allowed)) {
        return false;
    }
    const std::string_view last = name.substr(name.rfind('.') + 1);
    return last.empty() || !std::all_of(last.begin(), last.end(), is_digit);
}

struct HostPort {
    std::string host;  ///< lower case; IPv6 canonical and without brackets; may be empty
    std::string_view port;
    bool has_port = false;
};

/// Splits "host", "host:port", "[v6]:port". Nothing but the host's form is checked.
Result<HostPort> split_host_port(std::string_view text) {
    HostPort result;
    std::string_view host = text;
    const bool bracketed = text.starts_with('[');
    const auto colon =
        bracketed ? text.find(':', std::min(text.find(']'), text.size())) : text.rfind(':');
    if (colon != text.npos) {
        host = text.substr(0, colon);
        result.port = text.substr(colon + 1);
        result.has_port = true;
    }
    result.host.resize(host.size());
    std::transform(host.begin(), host.end(), result.host.begin(), lower);
    if (bracketed) {
        const bool closed = result.host.size() > 2 && result.host.back() == ']';
        const auto address =
            closed ? normal_ipv6(result.host.substr(1, result.host.size() - 2)) : std::nullopt;
        if (!address) {
            return invalid("the brackets must hold an IPv6 address, such as [::1]:8000");
        }
        result.host = *address;
    } else if (result.host.find(':') != std::string::npos) {
        return invalid("put an IPv6 address in brackets, such as [::1]:8000");
    } else if (!result.host.empty() && !is_ipv4(result.host) && !is_host_name(result.host)) {
        return invalid(in_quotes(result.host) + " is neither a host name nor an IP address");
    }
    return result;
}

std::string bracketed(const std::string& host) {
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

/// "/", "/v1/" and "" to "", "/v1", ""; nullopt when it cannot stand before a request's target.
std::optional<std::string> parse_base_path(std::string_view path) {
    while (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    const auto allowed = [](char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#'; };
    if (!std::all_of(path.begin(), path.end(), allowed)) {
        return std::nullopt;
    }
    return std::string(path);
}

Result<BackendUrl> parse_unix_url(std::string_view path) {
    while (path.starts_with("//")) {
        path.remove_prefix(1);
    }
    constexpr std::size_t kLongest = 107;  // sun_path less its NUL
    if (!path.starts_with('/') || path.size() < 2) {
        return invalid("write an absolute path after unix:, such as unix:/run/backend.sock");
    }
    if (path.size() > kLongest || path.find('\0') != path.npos) {
        return invalid("the path of a Unix socket has at most 107 bytes");
    }
    BackendUrl url;
    url.unix_path = path;
    url.text = "unix:" + url.unix_path;
    url.authority = "localhost";
    return url;
}

/// "http://user:secret@host" as "http://...@host": what is shown ends in logs.
std::string without_credentials(std::string_view url) {
    const auto scheme_end = url.find("://");
    const auto begin = scheme_end == url.npos ? 0 : scheme_end + 3;
    const auto authority = url.substr(begin, url.substr(begin).find_first_of("/?#"));
    const auto at = authority.rfind('@');
    return at == authority.npos
               ? std::string(url)
               : std::string(url.substr(0, begin)) + "..." + std::string(url.substr(begin + at));
}

struct Parts {
    std::string_view authority;
    std::string_view path;
    bool has_scheme = false;
    bool is_tls = false;
};

Result<Parts> split_url(std::string_view text) {
    Parts parts;
    const auto scheme_end = text.find("://");
    if (scheme_end != text.npos) {
        std::string scheme(text.substr(0, scheme_end));
        std::transform(scheme.begin(), scheme.end(), scheme.begin(), lower);
        parts.is_tls = scheme == "https";
        if (!parts.is_tls && scheme != "http") {
            return invalid("the scheme must be http://, https:// or unix:");
        }
        parts.has_scheme = true;
        text.remove_prefix(scheme_end + 3);
    }
    parts.authority = text.substr(0, text.find_first_of("/?#"));
    parts.path = text.substr(parts.authority.size());
    if (parts.authority.find('@') != parts.authority.npos) {
        return invalid("user names and passwords in a URL are not supported; delete them");
    }
    return parts;
}

std::uint16_t default_port(const Parts& parts) {
    return parts.is_tls ? kHttpsPort : kHttpPort;
}

Result<std::uint16_t> backend_port(const HostPort& where, const Parts& parts) {
    if (!where.has_port && parts.has_scheme) {
        return default_port(parts);
    }
    if (!where.has_port) {
        return invalid("the port is missing; write host:port, such as localhost:8000");
    }
    const auto port = parse_port(where.port);
    if (!port || *port == 0) {
        return invalid("the port must be a number from 1 to 65535");
    }
    return *port;
}

}  // namespace

Result<ListenAddress> parse_listen(std::string_view text) {
    if (!text.empty() && parse_port(text)) {
        const std::string port(text);
        return invalid(in_quotes(text) + " is a port alone; write \":" + port +
                       "\" or \"0.0.0.0:" + port + "\" for all addresses, \"127.0.0.1:" + port +
                       "\" for this machine alone");
    }
    const auto where = split_host_port(text);
    if (where.has_error()) {
        return where.error();
    }
    const auto port = parse_port(where->port);
    if (!where->has_port || !port) {
        return invalid(in_quotes(text) +
                       " is no address to listen on; write host:port with a port from 0 to 65535, "
                       "such as 0.0.0.0:8080, [::1]:8080 or :8080");
    }
    return ListenAddress{where->host.empty() ? "0.0.0.0" : where->host, *port};
}

std::string to_string(const ListenAddress& address) {
    return bracketed(address.host) + ":" + std::to_string(address.port);
}

Result<BackendUrl> parse_backend_url(std::string_view text) {
    const auto complain = [&](const std::string& message) {
        return invalid("backend URL " + in_quotes(without_credentials(text)) + ": " + message);
    };
    if (!text.empty() && parse_port(text)) {
        return complain("the host is missing; write http://localhost:" + std::string(text));
    }
    if (text.starts_with("unix:")) {
        const auto url = parse_unix_url(text.substr(5));
        return url.has_error() ? complain(url.error().message()) : url;
    }
    const auto parts = split_url(text);
    if (parts.has_error()) {
        return complain(parts.error().message());
    }
    const auto where = split_host_port(parts->authority);
    if (where.has_error()) {
        return complain(where.error().message());
    }
    const auto base_path = parse_base_path(parts->path);
    if (where->host.empty() || !base_path) {
        return complain("write http://host:port, http://host:port/base, https://... or unix:/path");
    }
    const auto port = backend_port(*where, *parts);
    if (port.has_error()) {
        return complain(port.error().message());
    }
    BackendUrl url;
    url.host = where->host;
    url.port = *port;
    url.base_path = *base_path;
    url.authority = bracketed(url.host);
    url.is_tls = parts->is_tls;
    if (url.port != default_port(*parts)) {
        url.authority += ":" + std::to_string(url.port);
    }
    url.text = (url.is_tls ? "https://" : "http://") + url.authority + url.base_path;
    return url;
}

std::string default_backend_id(const BackendUrl& url) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const std::uint64_t hash = hash_bytes(url.text, 0);
    std::string id;
    for (int shift = 60; shift >= 32; shift -= 4) {
        id += kHex[(hash >> shift) & 15];
    }
    return id;
}

Result<Backend> backend_from_url(std::string_view url) {
    auto parsed = parse_backend_url(url);
    if (parsed.has_error()) {
        return parsed.error();
    }
    Backend backend;
    backend.id = default_backend_id(*parsed);
    backend.url = std::move(*parsed);
    return backend;
}

}  // namespace prefix_router::config
