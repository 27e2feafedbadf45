#pragma once

#include <cstdint>

#include "prompt/order_free_hash.hpp"
#include "prompt/request_fields.hpp"

namespace prefix_router::prompt {

enum class Family : std::uint8_t { Text, Chat };

struct RootContext {
    Family family = Family::Text;
    std::uint64_t tenant = 0;
    std::uint64_t hash_seed = 0;
    const KeyedHash& keyed;
};

struct PromptRoot {
    std::uint64_t home;  ///< unseeded
    std::uint64_t key;
};

/// Hashes of all that separates prompts of equal text: family, tenant, model, LoRA adapter,
/// cache_salt, a chat template of the request's own, and a history that the engine holds
/// (previous_response_id).
PromptRoot prompt_root(const RequestFields& fields, const StringTape& tape,
                       const RootContext& context);

}  // namespace prefix_router::prompt
