#pragma once

#include <cstddef>
#include <string_view>

namespace prefix_router {

/// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if it is empty or starts with
/// none (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_sequence_length(std::string_view text);

}  // namespace prefix_router
