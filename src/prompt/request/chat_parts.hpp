#pragma once

#include "prompt/request/prompt_source.hpp"

/// What the chat dialects have in common: contents in parts, tool calls, tools and the fields that
/// a template renders. Each function writes one of them into the prompt in canonical form
/// (canonical.hpp); what has another shape than it should is left out.
namespace prefix_router::prompt {

/// A string, or parts: text is concatenated, anything else stands for itself by its hash. Reasoning
/// parts are left out, as templates leave them out of the history.
void write_content(const JsonValue& content, PromptWriter& writer);

/// [{"function": {"name", "arguments"}}, ...]
void write_tool_calls(const JsonValue& tool_calls, PromptWriter& writer);

/// {"name", "arguments"}
void write_function(const JsonValue& function, PromptWriter& writer);

void write_tools(const PromptSource& source);

/// Fields that a template renders besides: chat_template_kwargs, reasoning effort, documents.
void write_rendered_fields(const PromptSource& source);

}  // namespace prefix_router::prompt
