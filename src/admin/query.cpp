#include "admin/query.hpp"

#include <optional>

namespace prefix_router::admin {
namespace {

std::optional<int> hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    if (lower >= 'a' && lower <= 'f') {
        return lower - 'a' + 10;
    }
    return std::nullopt;
}

std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            const auto high = hex_digit(text[i + 1]);
            const auto low = hex_digit(text[i + 2]);
            if (high && low) {
                out += static_cast<char>(*high * 16 + *low);
                i += 2;
                continue;
            }
        }
        out += text[i] == '+' ? ' ' : text[i];
    }
    return out;
}

}  // namespace

void split_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query) {
    const auto mark = target.find('?');
    path = std::string(target.substr(0, mark));
    query.clear();
    if (mark == std::string_view::npos) {
        return;
    }
    std::string_view rest = target.substr(mark + 1);
    while (!rest.empty()) {
        const auto end = rest.find('&');
        const auto pair = rest.substr(0, end);
        const auto equals = pair.find('=');
        if (!pair.empty()) {
            query[decode(pair.substr(0, equals))] =
                equals == std::string_view::npos ? "" : decode(pair.substr(equals + 1));
        }
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
}

}  // namespace prefix_router::admin
