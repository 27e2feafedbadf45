#pragma once

#include <cstdint>

#include "prompt/json_cursor.hpp"

namespace prefix_router::prompt {

/// One 64-bit stand-in for a small structure or a large medium (a picture's URL or data): the sum
/// over its leaves of hash(key, value). The order of keys, white space and the spelling of strings
/// do not matter. `cache_control` and ids do not count. Linear in the value's bytes, and text is
/// hashed where it stands.
std::uint64_t order_free_hash(const JsonValue& value, const StringTape& tape);

/// Hash of one string's canonical form.
std::uint64_t hash_string(const JsonValue& string);
/// The same of a text without escapes.
std::uint64_t hash_text(std::string_view text);

}  // namespace prefix_router::prompt
