#pragma once

#include <cstdint>
#include <string_view>

namespace prefix_router::http {

/// A part of a head's text by position, since the text may move while it grows.
struct Slice {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;

    std::string_view in(std::string_view text) const { return text.substr(offset, size); }
};

}  // namespace prefix_router::http
