#pragma once

#include <string_view>

/// The marks between the parts of a canonical prompt. Control characters: valid JSON text cannot
/// hold them unescaped, so no text can pose as structure.
///
///     message   = kMessage role kContent { text } { tool call } [kName name]
///     tool call = kToolCall arguments kToolName name
///     text      = decoded text with canonical escapes (text_escapes.hpp)
///     arguments = canonical JSON text (json_minifier.hpp), "{}" when empty
///     tools     = kTools canonical JSON text
///     an id amid text = kIds digits kIds
///
/// A message has no closing mark: its end closes a block. Tool calls carry their arguments first
/// because some engines send them so; then only the short name is ever held back. Ids of tool calls
/// are left out: templates do not render them.
namespace prefix_router::prompt::canonical {

inline constexpr std::string_view kMessage = "\x01";
inline constexpr std::string_view kContent = "\x02";
inline constexpr std::string_view kToolCall = "\x03";
inline constexpr std::string_view kToolName = "\x04";
inline constexpr std::string_view kName = "\x05";
inline constexpr std::string_view kTools = "\x06";
inline constexpr std::string_view kDocuments = "\x07";
inline constexpr std::string_view kIds = "\x0f";  // token ids inside a text prompt
inline constexpr std::string_view kAssistant = "assistant";
inline constexpr std::string_view kNoArguments = "{}";

/// Types of parts that hold reasoning, which templates leave out of the history.
constexpr bool is_reasoning(std::string_view type) {
    return type == "thinking" || type == "redacted_thinking" || type == "reasoning" ||
           type == "reasoning_text";
}

}  // namespace prefix_router::prompt::canonical
