#include "prefix_router/http/credentials.hpp"

#include <algorithm>

#include "http/ascii.hpp"

namespace prefix_router::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kBearer = "bearer ";

bool begins_with(std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() &&
           std::equal(lower.begin(), lower.end(), text.begin(),
                      [](char l, char c) { return to_lower(c) == l; });
}

bool is_credential(std::string_view line) {
    return begins_with(line, "authorization:") || begins_with(line, "x-api-key:");
}

}  // namespace

std::string_view presented_key(const RequestHead& head) {
    std::string_view value = head.field("authorization");
    if (!begins_with(value, kBearer)) {
        return head.field("x-api-key");
    }
    value.remove_prefix(kBearer.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return value;
}

bool is_preflight(const RequestHead& head) {
    return head.method() == "OPTIONS" && head.framing() == Framing::None &&
           !head.field("origin").empty() && !head.field("access-control-request-method").empty();
}

void replace_credentials(std::span<const std::string_view> pieces, std::string_view authorization,
                         std::string& out) {
    std::string head;
    for (const std::string_view piece : pieces) {
        head += piece;
    }
    out.clear();
    std::string_view rest = head;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(kLineEnd), rest.size() - kLineEnd.size());
        const std::string_view line = rest.substr(0, end + kLineEnd.size());
        rest.remove_prefix(line.size());
        if (rest.empty() && !authorization.empty()) {  // before the empty line
            out.append("Authorization: ").append(authorization).append(kLineEnd);
        }
        if (!is_credential(line)) {
            out += line;
        }
    }
}

}  // namespace prefix_router::http
