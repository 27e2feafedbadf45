#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "prefix_router/base/hash.hpp"

#include "unit/prompt/prompt_samples.hpp"
#include "unit/prompt/reference_key.hpp"

/// What the reference readings of the dialects have in common.
namespace prefix_router::prompt::test {

/// Root of a key that the model alone separates. `family`: 0 text, 1 chat.
std::uint64_t root_of(const Json& body, std::uint64_t family);

/// Segments, each cut into blocks of its own by position.
class Blocks {
  public:
    explicit Blocks(std::uint64_t root) : hash_(root) {}

    void segment(const std::string& bytes);
    ReferenceKey take() { return std::move(key_); }

  private:
    KeyedHash keyed_{kSeed};
    std::uint64_t hash_;
    std::uint64_t position_ = 0;
    ReferenceKey key_;
};

/// JSON text without equal keys in an object, floats and -0, which have more than one reading or
/// spelling; nullopt when it is none.
std::optional<Json> parse_plainly(const std::string& text);

/// Floats have more than one spelling; the canonical text keeps the one that is given.
bool has_float(const Json& value);

/// The text of "content": a string or parts.
std::optional<std::string> content_of(const Json& content);

/// Canonical arguments of a tool call.
std::optional<std::string> arguments_of(const Json& arguments);

}  // namespace prefix_router::prompt::test
