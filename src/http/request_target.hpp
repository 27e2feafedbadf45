#pragma once

#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::http {

/// A request target in the form in which an origin server gets it (RFC 9112 section 3.2).
struct RequestTarget {
    std::string_view origin;  ///< "/path?query", "?query" or "" (see lacks_path), or "*"
    bool lacks_path = false;  ///< an absolute form without a path: "/" goes before `origin`
    bool is_absolute = false;
    std::string_view authority;  ///< of an absolute form
};

/// Accepts origin form, absolute form (http, https) and "*" for OPTIONS. Refused with BadRequest:
/// authority form (CONNECT), other schemes, user information, fragments, and bytes outside
/// visible ASCII. Paths are not normalised: "//", "/../" and "%2e" reach the backend as sent.
Result<RequestTarget> parse_request_target(std::string_view method, std::string_view target);

/// host[:port], an IPv6 address in brackets, or "" (RFC 9110 section 7.2).
bool is_valid_authority(std::string_view authority);

}  // namespace prefix_router::http
