#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::config {

/// "250ms", "5s", "2m", "1h", "0". A number without unit is an error unless it is 0.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
/// In the largest unit that divides it; "0" for zero.
std::string format_duration(std::chrono::milliseconds duration);

/// "64KiB", "1GiB", or bytes: "1048576". KB and MB are errors: they mean two things.
Result<std::uint64_t> parse_size(std::string_view text);
std::string format_size(std::uint64_t bytes);

/// The shortest text that reads back as the same number.
std::string format_real(double value);

}  // namespace prefix_router::config
