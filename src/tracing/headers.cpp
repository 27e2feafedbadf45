#include "prefix_router/tracing/headers.hpp"

#include <algorithm>
#include <optional>

#include "prefix_router/base/secret.hpp"

namespace prefix_router::tracing {
namespace {

Error no_headers(const std::string& why) {
    return Error(ErrorKind::InvalidConfiguration,
                 "tracing.headers: " + why +
                     "; its first line has to be such as authorization=Bearer%20KEY,x-team=search");
}

std::string_view trimmed(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    });
}

}  // namespace

Result<std::vector<std::string>> parse_headers(std::string_view text) {
    std::vector<std::string> headers;
    while (!text.empty()) {
        const std::string_view entry = text.substr(0, text.find(','));
        text.remove_prefix(std::min(entry.size() + 1, text.size()));
        const auto equals = entry.find('=');
        const std::string_view name = trimmed(entry.substr(0, equals));
        if (equals == std::string_view::npos || !is_name(name)) {
            return no_headers("an entry has no name");
        }
        const auto value = decoded(trimmed(entry.substr(equals + 1)));
        if (!value || !is_field_value(*value)) {
            return no_headers("the value of '" + std::string(name) + "' is none of a header");
        }
        headers.push_back(std::string(name) + ": " + *value);
    }
    if (headers.empty()) {
        return no_headers("there is none");
    }
    return headers;
}

Result<std::vector<std::string>> load_headers(const config::SecretSource& from) {
    const auto text =
        read_secret(from.kind == config::SecretSource::Kind::File ? SecretPlace::File
                                                                  : SecretPlace::Environment,
                    from.source);
    if (!text) {
        return no_headers(text.error().message());
    }
    return parse_headers(*text);
}

}  // namespace prefix_router::tracing
