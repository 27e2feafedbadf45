#include "prompt/request_fields.hpp"

#include <algorithm>
#include <charconv>

namespace prefix_router::prompt {
namespace {

struct Name {
    std::string_view text;
    Field field;
};

// Sorted by length, so that a key is compared with the few names as long as it.
constexpr std::array kNames = {
    Name{"n", Field::N},
    Name{"text", Field::Text},
    Name{"input", Field::Input},
    Name{"model", Field::Model},
    Name{"tools", Field::Tools},
    Name{"images", Field::Images},
    Name{"inputs", Field::Inputs},
    Name{"prompt", Field::Prompt},
    Name{"stream", Field::Stream},
    Name{"system", Field::System},
    Name{"best_of", Field::BestOf},
    Name{"context", Field::Context},
    Name{"messages", Field::Messages},
    Name{"documents", Field::Documents},
    Name{"input_ids", Field::InputIds},
    Name{"lora_name", Field::LoraName},
    Name{"lora_path", Field::LoraPath},
    Name{"reasoning", Field::Reasoning},
    Name{"adapter_id", Field::AdapterId},
    Name{"cache_salt", Field::CacheSalt},
    Name{"parameters", Field::Parameters},
    Name{"cache_prompt", Field::CachePrompt},
    Name{"instructions", Field::Instructions},
    Name{"chat_template", Field::ChatTemplate},
    Name{"sampling_params", Field::SamplingParams},
    Name{"prompt_cache_key", Field::PromptCacheKey},
    Name{"reasoning_effort", Field::ReasoningEffort},
    Name{"chat_template_kwargs", Field::ChatTemplateKwargs},
    Name{"previous_response_id", Field::PreviousResponseId},
};
static_assert(kNames.size() == static_cast<std::size_t>(Field::Unknown));

constexpr std::size_t kLongestName = kNames.back().text.size();

/// kFirstOfLength[n]: index of the first name of at least n characters.
constexpr auto kFirstOfLength = [] {
    std::array<std::uint8_t, kLongestName + 2> first{};
    for (std::size_t length = 0; length < first.size(); ++length) {
        std::uint8_t index = 0;
        while (index < kNames.size() && kNames[index].text.size() < length) ++index;
        first[length] = index;
    }
    return first;
}();

Field field_of(std::string_view key) {
    if (key.size() > kLongestName) return Field::Unknown;
    for (std::size_t i = kFirstOfLength[key.size()]; i < kFirstOfLength[key.size() + 1]; ++i)
        if (kNames[i].text == key) return kNames[i].field;
    return Field::Unknown;
}

bool is_model_in_any_case(std::string_view key) {
    constexpr std::string_view kModel = "model";
    constexpr char kLowerCase = 0x20;
    return key.size() == kModel.size() &&
           std::equal(key.begin(), key.end(), kModel.begin(),
                      [](char c, char lower) { return (c | kLowerCase) == lower; });
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

bool RequestFields::read(std::string_view body, StringTape& tape) {
    for (JsonValue& value : values_) value.forget();
    messages_.forget();
    model_keys_ = 0;
    tape.start(body.data() + body.size());
    if (body.size() > JsonCursor::kMaxText) return false;
    if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
    JsonCursor cursor(body, tape);
    if (!cursor.enter_object()) return false;
    while (cursor.next_field()) {
        const Field field = field_of(cursor.key());
        model_keys_ += is_model_in_any_case(cursor.key()) ? 1U : 0U;
        values_[static_cast<std::size_t>(field)] =
            field == Field::Messages ? messages_.take(cursor, tape) : cursor.take();
    }
    return !cursor.failed();
}

std::uint32_t count_of(const JsonValue& value, std::uint32_t otherwise) {
    if (value.kind != JsonKind::Scalar) return otherwise;
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(value.begin, value.end(), count);
    return error == std::errc{} && end == value.end() ? count : otherwise;
}

}  // namespace prefix_router::prompt
