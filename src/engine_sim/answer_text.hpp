#pragma once

#include <cstdint>
#include <string>

#include "prefix_router/base/ids.hpp"

namespace prefix_router::engine_sim {

/// The text of an answer: `count` tokens of four bytes, a function of the prompt alone, so that
/// every engine gives the same answer. The first two tokens are `marker` in eight hexadecimal
/// digits, by which a client recognises that the answer belongs to its question; then follow
/// pseudo-words, " tok"-like. Only lower-case letters, digits and spaces: nothing to escape in
/// JSON.
std::string answer_text(std::uint64_t prompt_digest, std::uint32_t marker, Tokens count);

}  // namespace prefix_router::engine_sim
