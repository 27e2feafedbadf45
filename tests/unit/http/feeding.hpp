#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/random.hpp"
#include "prefix_router/http/request_head.hpp"
#include "prefix_router/http/response_head.hpp"

/// Feeds heads to the parsers as a socket would: whole, or cut at a given byte.
namespace prefix_router::http {

inline constexpr std::string_view kPeer = "203.0.113.9";

struct ParsedRequest {
    RequestHead head;
    std::size_t size = 0;  // 0: more bytes needed
    std::optional<ErrorKind> error;
};

/// With `cut` > 0 the parser first sees only `cut` bytes.
inline ParsedRequest parse_request(std::string_view bytes, std::size_t cut = 0,
                                   const HeadLimits& limits = {}) {
    ParsedRequest parsed;
    Random random(7);
    const Arrival arrival{kPeer, "http", random};
    RequestHeadParser parser(limits);
    for (const std::size_t size : {cut, bytes.size()}) {
        const auto result = parser.parse(bytes.substr(0, size), arrival, parsed.head);
        if (!result) {
            parsed.error = result.error().kind();
            return parsed;
        }
        parsed.size = *result;
        if (parsed.size > 0) {
            return parsed;
        }
    }
    return parsed;
}

struct ParsedResponse {
    ResponseHead head;
    std::size_t size = 0;
    std::optional<ErrorKind> error;
};

inline ParsedResponse parse_response(std::string_view bytes, const Asker& asker = {},
                                     std::size_t cut = 0) {
    ParsedResponse parsed;
    const HeadLimits limits;
    ResponseHeadParser parser(limits);
    for (const std::size_t size : {cut, bytes.size()}) {
        const auto result = parser.parse(bytes.substr(0, size), asker, parsed.head);
        if (!result) {
            parsed.error = result.error().kind();
            return parsed;
        }
        parsed.size = *result;
        if (parsed.size > 0) {
            return parsed;
        }
    }
    return parsed;
}

/// What goes to a backend: all pieces together.
inline std::string text_for(RequestHead& head, std::uint64_t body_bytes = 0,
                            std::string_view base_path = {},
                            std::string_view authority = "backend:8000") {
    head.seal(body_bytes);
    std::string text;
    for (const std::string_view piece : head.pieces(base_path, authority)) {
        text += piece;
    }
    return text;
}

}  // namespace prefix_router::http
