#include "http/connection_options.hpp"

#include <algorithm>
#include <cstdint>

#include "http/ascii.hpp"

namespace prefix_router::http {

void ConnectionOptions::add(std::string_view value) {
    while (!value.empty()) {
        const std::size_t comma = std::min(value.find(','), value.size());
        add_option(trim(value.substr(0, comma)));
        value.remove_prefix(std::min(comma + 1, value.size()));
    }
}

void ConnectionOptions::add_option(std::string_view option) {
    if (option.empty()) {
        return;
    }
    if (equals_ignoring_case(option, "close")) {
        close_ = true;
    } else if (equals_ignoring_case(option, "keep-alive")) {
        keep_alive_ = true;
    } else if (equals_ignoring_case(option, "upgrade")) {
        upgrade_ = true;
    } else if (!equals_ignoring_case(option, "te")) {
        if (nominated_.empty()) {
            nominated_ = ",";
        }
        std::transform(option.begin(), option.end(), std::back_inserter(nominated_), to_lower);
        nominated_ += ',';
    }
}

bool ConnectionOptions::nominates(std::string_view name) const {
    std::string entry(1, ',');
    std::transform(name.begin(), name.end(), std::back_inserter(entry), to_lower);
    entry += ',';
    return nominated_.find(entry) != std::string::npos;
}

void ConnectionOptions::strip_nominated(std::string& text, std::size_t from,
                                        std::span<Slice* const> slices) const {
    if (nominated_.empty()) {
        return;
    }
    std::size_t write = from;
    for (std::size_t line = from; line < text.size();) {
        const std::size_t end = text.find('\n', line) + 1;
        const bool is_kept =
            !nominates(std::string_view(text).substr(line, text.find(':', line) - line));
        for (Slice* slice : slices) {
            if (slice->size > 0 && slice->offset >= line && slice->offset < end) {
                slice->offset -= static_cast<std::uint32_t>(line - write);
                slice->size = is_kept ? slice->size : 0;
            }
        }
        if (is_kept) {
            text.replace(write, end - line, text, line, end - line);
            write += end - line;
        }
        line = end;
    }
    text.resize(write);
}

}  // namespace prefix_router::http
