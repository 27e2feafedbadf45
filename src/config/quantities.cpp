#include "config/quantities.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "config/report.hpp"

namespace prefix_router::config {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};
// From the largest, so that formatting takes the first that divides.
constexpr std::array<Unit, 4> kDurations{
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizes{
    {{"TiB", 1ULL << 40}, {"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}}};

struct Quantity {
    std::uint64_t number = 0;
    std::string_view unit;
};

/// Splits "250ms" into 250 and "ms"; nullopt when there is no whole number that fits in 63 bits.
std::optional<Quantity> split(std::string_view text) {
    Quantity quantity;
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, quantity.number);
    if (code != std::errc{} ||
        quantity.number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        return std::nullopt;
    }
    quantity.unit = std::string_view(rest, static_cast<std::size_t>(end - rest));
    return quantity;
}

std::optional<std::uint64_t> scale(const Quantity& quantity, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (unit.name == quantity.unit) {
            constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
            return quantity.number > kMost / unit.factor ? kMost : quantity.number * unit.factor;
        }
    }
    return std::nullopt;
}

std::string format(std::uint64_t value, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (value != 0 && value % unit.factor == 0) {
            return std::to_string(value / unit.factor) + std::string(unit.name);
        }
    }
    return std::to_string(value);
}

Error invalid(std::string message) {
    return Error(ErrorKind::InvalidConfiguration, std::move(message));
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
    const auto quantity = split(text);
    if (!quantity) {
        return invalid(in_quotes(text) +
                       " is no duration; write a whole number and a unit, such as 250ms, 5s or 2m");
    }
    if (quantity->unit.empty() && quantity->number == 0) {
        return std::chrono::milliseconds{0};
    }
    const auto scaled = scale(*quantity, kDurations);
    if (!scaled) {
        return invalid(in_quotes(text) +
                       (quantity->unit.empty() ? " has no unit" : " is no duration") +
                       "; write ms, s, m or h after a whole number, such as 250ms, 5s or 2m");
    }
    return std::chrono::milliseconds{static_cast<std::int64_t>(*scaled)};
}

std::string format_duration(std::chrono::milliseconds duration) {
    return format(static_cast<std::uint64_t>(duration.count()), kDurations);
}

Result<std::uint64_t> parse_size(std::string_view text) {
    const auto quantity = split(text);
    if (quantity && quantity->unit.empty()) {
        return quantity->number;
    }
    const auto scaled = quantity ? scale(*quantity, kSizes) : std::nullopt;
    if (!scaled) {
        return invalid(in_quotes(text) +
                       " is no size; write a whole number and KiB, MiB, GiB or TiB, such as 64KiB, "
                       "or a number of bytes");
    }
    return *scaled;
}

std::string format_size(std::uint64_t bytes) {
    return format(bytes, kSizes);
}

std::string format_real(double value) {
    std::array<char, 40> buffer{};
    const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return code == std::errc{} ? std::string(buffer.data(), end) : "nan";
}

}  // namespace prefix_router::config
