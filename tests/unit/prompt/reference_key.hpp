#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "prefix_router/prompt/dialect.hpp"

/// A second, slow and simple reading of request bodies, from a DOM, to hold the scanner against.
namespace prefix_router::prompt::test {

using Json = nlohmann::ordered_json;

struct ReferenceKey {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> ends;
};

/// The key of a chat body; nullopt when it holds a part that the reference cannot read (media).
std::optional<ReferenceKey> reference_chat_key(const Json& body);

/// The key of {"prompt": string or token ids}.
std::optional<ReferenceKey> reference_completion_key(const Json& body);

/// The key of a request's body in any dialect; nullopt when it is no JSON, or holds what the
/// reference cannot tell (media, floats, equal keys, what besides the model separates prompts).
std::optional<ReferenceKey> reference_key(Dialect dialect, const std::string& body);

/// A text as it stands in the canonical prompt.
std::string canonical_text(const std::string& text);

}  // namespace prefix_router::prompt::test
