#include "prompt/prompt_root.hpp"

#include "prefix_router/base/hash.hpp"

#include "prompt/order_free_hash.hpp"

namespace prefix_router::prompt {
namespace {

/// TGI names the adapter inside "parameters".
std::uint64_t inner_adapter(const JsonValue& parameters, const StringTape& tape) {
    std::uint64_t hash = 0;
    if (!parameters.is_object()) return hash;
    JsonCursor cursor(parameters, tape);
    cursor.enter_object();
    while (cursor.next_field()) {
        const bool is_adapter = cursor.key() == "adapter_id";
        const JsonValue value = cursor.take();
        if (is_adapter && value) hash = order_free_hash(value, tape);
    }
    return hash;
}

}  // namespace

std::uint64_t prompt_root(const RequestFields& fields, const StringTape& tape, Family family,
                          std::uint64_t tenant) {
    std::uint64_t root = mix(static_cast<std::uint64_t>(family), tenant);
    for (const Field field : {Field::Model, Field::LoraName, Field::LoraPath, Field::AdapterId,
                              Field::CacheSalt, Field::ChatTemplate, Field::PreviousResponseId}) {
        const JsonValue& value = fields[field];
        root = mix(root, value ? order_free_hash(value, tape) : 0);
    }
    return mix(root, inner_adapter(fields[Field::Parameters], tape));
}

std::uint64_t seeded_root(std::uint64_t root, std::uint64_t hash_seed) {
    return mix(hash_seed, root);
}

}  // namespace prefix_router::prompt
