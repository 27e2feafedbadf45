#include "proxy/request_class.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::proxy {
namespace {

constexpr Seconds kLongestDeadline = 86'400;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A number of seconds or milliseconds without sign or exponent: "30", "2.5".
std::optional<Duration> parse_deadline(std::string_view text, config::DeadlineUnit unit) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || rest != end || !is_digit(text.front())) {
        return std::nullopt;  // "-0", "inf" and "nan" are numbers to from_chars
    }
    const double seconds = unit == config::DeadlineUnit::Seconds ? value : value / 1000;
    return from_seconds(std::min(seconds, kLongestDeadline));
}

}  // namespace

RequestClass classify(const http::RequestHead& head, const config::Queue& queue, TimePoint arrived,
                      const Client* client) {
    RequestClass kind;
    if (client != nullptr) {
        kind.priority = client->spec.priority;
        kind.tenant = client->tenant;
    }
    if (queue.priority_header) {
        const auto asked = config::parse_priority(head.field(*queue.priority_header));
        const auto most = client != nullptr ? kind.priority : config::Priority::High;
        kind.priority = asked ? std::max(*asked, most) : kind.priority;
    }
    if (queue.tenant_header && client == nullptr) {
        const std::string_view tenant = head.field(*queue.tenant_header);
        kind.tenant = tenant.empty() ? 0 : std::max<std::uint64_t>(1, hash_bytes(tenant, 0));
    }
    if (queue.deadline_header) {
        if (const auto left =
                parse_deadline(head.field(*queue.deadline_header), queue.deadline_unit)) {
            kind.deadline = arrived + *left;
        }
    }
    return kind;
}

}  // namespace prefix_router::proxy
