#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace prefix_router {

/// A SHA-256: how secrets of clients are kept. Good for keys that are long and random; a password
/// would be guessed.
using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);
std::string to_hex(const Sha256& hash);
/// 64 hex digits of either case.
std::optional<Sha256> parse_sha256(std::string_view hex);
/// Takes the same time wherever the two differ.
bool are_equal_secrets(const Sha256& one, const Sha256& other);

}  // namespace prefix_router
