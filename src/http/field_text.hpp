#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prefix_router/http/slice.hpp"

namespace prefix_router::http {

/// Where in a head's text the next byte goes. Heads are bounded far below 4 GiB.
inline std::uint32_t position(const std::string& text) {
    return static_cast<std::uint32_t>(text.size());
}

/// Writes one field; returns where its value is.
inline Slice append_field(std::string& text, std::string_view name, std::string_view value) {
    text.append(name).append(": ");
    const Slice slice{position(text), static_cast<std::uint32_t>(value.size())};
    text.append(value).append("\r\n");
    return slice;
}

}  // namespace prefix_router::http
