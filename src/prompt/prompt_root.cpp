#include "prompt/prompt_root.hpp"

#include "prefix_router/base/hash.hpp"

#include "prompt/order_free_hash.hpp"

namespace prefix_router::prompt {
namespace {

/// TGI names the adapter inside "parameters".
StandIn inner_adapter(const JsonValue& parameters, const StringTape& tape, const KeyedHash& keyed) {
    StandIn found;
    if (!parameters.is_object()) return found;
    JsonCursor cursor(parameters, tape);
    cursor.enter_object();
    while (cursor.next_field()) {
        const bool is_adapter = cursor.key() == "adapter_id";
        const JsonValue value = cursor.take();
        if (is_adapter && value) found = order_free_hash(value, tape, keyed);
    }
    return found;
}

/// Unseeded in both: an engine serves few models, and no other name gets an answer from it.
std::uint64_t hash_model(const JsonValue& model, const StringTape& tape, const KeyedHash& keyed) {
    if (!model) return 0;
    return model.is_string() ? mix(0, hash_string(model))
                             : order_free_hash(model, tape, keyed).plain;
}

}  // namespace

PromptRoot prompt_root(const RequestFields& fields, const StringTape& tape,
                       const RootContext& context) {
    const KeyedHash& keyed = context.keyed;
    std::uint64_t home = mix(static_cast<std::uint64_t>(context.family), context.tenant);
    home = mix(home, hash_model(fields[Field::Model], tape, keyed));
    std::uint64_t separate = 0;
    const auto add = [&](std::uint64_t place, const StandIn& found) {
        home = mix(home, found.plain);
        if (found) separate += mix(place, found.keyed);
    };
    std::uint64_t place = 0;
    for (const Field field : {Field::LoraName, Field::LoraPath, Field::AdapterId, Field::CacheSalt,
                              Field::ChatTemplate, Field::PreviousResponseId}) {
        const JsonValue& value = fields[field];
        add(++place, value ? order_free_hash(value, tape, keyed) : StandIn{});
    }
    add(++place, inner_adapter(fields[Field::Parameters], tape, keyed));
    const std::uint64_t key = mix(context.hash_seed, home);
    return {home, separate == 0 ? key : mix(key, separate)};
}

}  // namespace prefix_router::prompt
