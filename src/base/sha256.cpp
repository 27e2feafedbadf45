#include "prefix_router/base/sha256.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace prefix_router {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

std::optional<std::uint8_t> digit(char c) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const auto value = kHex.find(lower);
    return value == kHex.npos ? std::nullopt : std::optional(static_cast<std::uint8_t>(value));
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
    Sha256 hash;
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
    return hash;
}

std::string to_hex(const Sha256& hash) {
    std::string text;
    for (const std::uint8_t byte : hash) {
        text += kHex[byte >> 4];
        text += kHex[byte & 15];
    }
    return text;
}

std::optional<Sha256> parse_sha256(std::string_view hex) {
    Sha256 hash;
    if (hex.size() != 2 * hash.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < hash.size(); ++i) {
        const auto high = digit(hex[2 * i]);
        const auto low = digit(hex[2 * i + 1]);
        if (!high || !low) {
            return std::nullopt;
        }
        hash[i] = static_cast<std::uint8_t>(*high << 4 | *low);
    }
    return hash;
}

bool are_equal_secrets(const Sha256& one, const Sha256& other) {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace prefix_router
