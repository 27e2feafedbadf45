#pragma once

#include <cstdint>
#include <string_view>

namespace prefix_router::http {

/// The HTTP version of a message's sender. Anything but 1.0 and 1.1 is refused while parsing.
enum class Version : std::uint8_t { Http10, Http11 };

/// How the end of a message's body is told (RFC 9112 section 6.3).
enum class Framing : std::uint8_t {
    None,        ///< no body follows the head
    Length,      ///< Content-Length bytes, at least 1
    Chunked,     ///< chunked transfer coding
    UntilClose,  ///< answers only: the body ends with the connection
};

/// The interim answer to `Expect: 100-continue`, sent once, before the body is read.
inline constexpr std::string_view kContinueAnswer = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace prefix_router::http
