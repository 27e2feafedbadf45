#pragma once

#include <cstdint>

#include "prompt/request_fields.hpp"

namespace prefix_router::prompt {

enum class Family : std::uint8_t { Text, Chat };

/// Hash of all that separates prompts of equal text: family, tenant, model, LoRA adapter,
/// cache_salt, a chat template of the request's own, and a history that the engine holds
/// (previous_response_id). Unseeded: the home's root; the key's root
/// is seeded_root() of it.
std::uint64_t prompt_root(const RequestFields& fields, const StringTape& tape, Family family,
                          std::uint64_t tenant);

std::uint64_t seeded_root(std::uint64_t root, std::uint64_t hash_seed);

}  // namespace prefix_router::prompt
