#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "prompt/json_cursor.hpp"
#include "prompt/message_list.hpp"

namespace prefix_router::prompt {

/// The top-level keys that any dialect looks at. A key that is none of them is Unknown: its value
/// is skipped, not kept. A new one is added here and, by its length, to the names in
/// request_fields.cpp.
enum class Field : std::uint8_t {
    AdapterId,
    BestOf,
    CachePrompt,
    CacheSalt,
    ChatTemplate,
    ChatTemplateKwargs,
    Context,
    Documents,
    Images,
    Input,
    InputIds,
    Inputs,
    Instructions,
    LoraName,
    LoraPath,
    Messages,
    Model,
    N,
    Parameters,
    PreviousResponseId,
    Prompt,
    PromptCacheKey,
    Reasoning,
    ReasoningEffort,
    SamplingParams,
    Stream,
    System,
    Text,
    Tools,
    Unknown,
};

/// The top-level object of a body: where each known field's value stands. The last of equal keys
/// counts, as in the engines (Python), also when an escape hides that they are equal.
class RequestFields {
  public:
    /// False when the body is no JSON object that can be followed to its end.
    bool read(std::string_view body, StringTape& tape);

    /// Keys that are "model", in any case.
    std::uint32_t model_keys() const { return model_keys_; }

    const JsonValue& operator[](Field field) const {
        return values_[static_cast<std::size_t>(field)];
    }

    /// Of Field::Messages.
    const MessageList& messages() const { return messages_; }

  private:
    std::array<JsonValue, static_cast<std::size_t>(Field::Unknown) + 1> values_;
    MessageList messages_;
    std::uint32_t model_keys_ = 0;
};

/// An unsigned integer, or `otherwise`.
std::uint32_t count_of(const JsonValue& value, std::uint32_t otherwise);

}  // namespace prefix_router::prompt
