#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router {

enum class SecretPlace : std::uint8_t { Environment, File };

/// The value of a variable, or the first line of a file without spaces at its end. Error
/// InvalidConfiguration, which names the place and never the value: it is not there, or it cannot
/// be a header field's.
Result<std::string> read_secret(SecretPlace place, const std::string& source);

/// Not empty, and printable ASCII alone.
bool is_field_value(std::string_view text);

}  // namespace prefix_router
