#include "http/request_target.hpp"

#include <algorithm>

#include "http/ascii.hpp"

namespace prefix_router::http {
namespace {

// Visible ASCII but for "#".
constexpr CharacterSet kTargetCharacters =
    CharacterSet::alphanumeric_and("!\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~");

// reg-name and IPv4 characters of RFC 3986: unreserved, sub-delims and percent-encoding, but for
// the comma, which would make two Hosts out of one in a backend that splits lists.
constexpr CharacterSet kHostCharacters = CharacterSet::alphanumeric_and("-._~!$&'()*+;=%");

constexpr CharacterSet kAddressCharacters = CharacterSet::alphanumeric_and(":.%");

bool is_valid_port(std::string_view port) {
    return port.size() <= 5 &&
           std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t size_of_scheme(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (equals_ignoring_case(target.substr(0, scheme.size()), scheme)) {
            return scheme.size();
        }
    }
    return 0;
}

Error bad_target(const char* message) {
    return Error(ErrorKind::BadRequest, message);
}

Result<RequestTarget> parse_absolute(std::string_view method, std::string_view target) {
    const std::size_t scheme = size_of_scheme(target);
    if (scheme == 0) {
        return bad_target("the request target is neither a path nor an http URL");
    }
    const std::string_view rest = target.substr(scheme);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    RequestTarget result;
    result.is_absolute = true;
    result.authority = rest.substr(0, end);
    result.origin = rest.substr(end);
    result.lacks_path = result.origin.empty() || result.origin.front() == '?';
    if (result.authority.empty() || !is_valid_authority(result.authority)) {
        return bad_target("the request target's authority is not valid");
    }
    if (method == "OPTIONS" && result.origin.empty()) {
        result.origin = "*";  // RFC 9112 section 3.2.4
        result.lacks_path = false;
    }
    return result;
}

}  // namespace

bool is_valid_authority(std::string_view authority) {
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == std::string_view::npos || close == 1) {
            return false;
        }
        const std::string_view address = authority.substr(1, close - 1);
        const std::string_view port = authority.substr(close + 1);
        return kAddressCharacters.has_all(address) &&
               (port.empty() || (port.front() == ':' && is_valid_port(port.substr(1))));
    }
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    const std::string_view host = authority.substr(0, colon);
    return kHostCharacters.has_all(host) &&
           (colon == authority.size() || (colon > 0 && is_valid_port(authority.substr(colon + 1))));
}

Result<RequestTarget> parse_request_target(std::string_view method, std::string_view target) {
    if (method == "CONNECT") {
        return bad_target("this server is not a forward proxy: CONNECT is not served");
    }
    if (!kTargetCharacters.has_all(target)) {
        return bad_target("the request target holds a fragment or bytes that must be escaped");
    }
    if (target.starts_with('/')) {
        RequestTarget result;
        result.origin = target;
        return result;
    }
    if (target == "*" && method == "OPTIONS") {
        RequestTarget result;
        result.origin = target;
        return result;
    }
    return parse_absolute(method, target);
}

}  // namespace prefix_router::http
