#include <array>

#include "unit/prompt/reference_key.hpp"
#include "unit/prompt/reference_parts.hpp"

namespace prefix_router::prompt::test {
namespace {

struct Unreadable {};  // what the reference cannot tell

std::string told(const std::optional<std::string>& text) {
    return text ? *text : throw Unreadable{};
}

std::string tool_call(const Json& arguments, const Json& name) {
    return "\x03" + told(arguments_of(arguments)) + "\x04" +
           (name.is_string() ? canonical_text(name) : "");
}

std::string message(const std::string& role, const std::string& content) {
    return "\x01" + role + "\x02" + content;
}

std::string role_of(const Json& message) {
    const Json role = message.value("role", Json());
    return role.is_string() ? canonical_text(role) : "";
}

bool is_absent(const Json& value) {
    return value.is_null() || (value.is_structured() && value.empty());
}

void write_plain_tools(const Json& tools, Blocks& blocks) {
    if (!is_absent(tools)) blocks.segment("\x06" + tools.dump());
}

void write_messages_tools(Json tools, Blocks& blocks) {
    if (!tools.is_array() || tools.empty()) return;
    for (Json& tool : tools)
        if (tool.is_object()) tool.erase("cache_control");
    blocks.segment("\x06" + tools.dump());
}

/// One message of Anthropic's API, which becomes several where it brings tool results.
void write_anthropic_message(const Json& source, Blocks& blocks) {
    std::string open;
    bool has_results = false;
    const auto begin = [&] {
        if (open.empty()) open = message(role_of(source), "");
    };
    const auto end = [&] { blocks.segment(std::exchange(open, "")); };
    const Json content = source.value("content", Json());
    if (content.is_string()) {
        begin();
        open += canonical_text(content);
    }
    for (const Json& block : content.is_array() ? content : Json::array()) {
        if (!block.is_object()) continue;
        const Json type = block.value("type", Json());
        if (type == "tool_result") {
            end();
            blocks.segment(message("tool", told(content_of(block.value("content", Json())))));
            has_results = true;
        } else if (type == "tool_use") {
            begin();
            open += tool_call(block.value("input", Json()), block.value("name", Json()));
        } else if (type != "thinking" && type != "redacted_thinking" && type != "reasoning" &&
                   type != "reasoning_text") {
            begin();
            const Json text = block.value("text", Json());
            open += text.is_string() ? canonical_text(text) : throw Unreadable{};
        }
    }
    if (!has_results) begin();
    end();
}

ReferenceKey messages_key(const Json& body) {
    Blocks blocks(root_of(body, 1));
    write_messages_tools(body.value("tools", Json()), blocks);
    const Json system = body.value("system", Json());
    if (!is_absent(system)) blocks.segment(message("system", told(content_of(system))));
    const Json messages = body.value("messages", Json());
    for (const Json& source : messages.is_array() ? messages : Json::array())
        if (source.is_object()) write_anthropic_message(source, blocks);
    return blocks.take();
}

ReferenceKey responses_key(const Json& body) {
    Blocks blocks(root_of(body, 1));
    write_plain_tools(body.value("tools", Json()), blocks);
    const Json instructions = body.value("instructions", Json());
    if (instructions.is_string()) blocks.segment(message("system", canonical_text(instructions)));
    const Json input = body.value("input", Json());
    if (input.is_string()) blocks.segment(message("user", canonical_text(input)));
    std::string assistant;
    const auto end = [&] { blocks.segment(std::exchange(assistant, "")); };
    for (const Json& item : input.is_array() ? input : Json::array()) {
        if (!item.is_object()) continue;
        const Json type = item.value("type", Json());
        const Json role = item.value("role", Json());
        const Json content = item.value("content", Json());
        if (assistant.empty() &&
            (type == "function_call" || (role == "assistant" && type != "function_call_output")))
            assistant = message("assistant", "");
        if (type == "function_call") {
            assistant += tool_call(item.value("arguments", Json()), item.value("name", Json()));
        } else if (type == "function_call_output") {
            end();
            blocks.segment(message("tool", told(content_of(item.value("output", Json())))));
        } else if (role == "assistant") {
            assistant += told(content_of(content));
        } else if (role.is_string()) {
            end();
            blocks.segment(message(canonical_text(role), told(content_of(content))));
        }
    }
    end();
    return blocks.take();
}

std::string ids_of(const Json& list) {
    std::string bytes;
    for (const Json& id : list) {
        if (!id.is_number_unsigned() || id > 0xffffffffU) throw Unreadable{};
        const auto value = id.get<std::uint32_t>();
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
}

ReferenceKey text_key(Dialect dialect, const Json& body) {
    Blocks blocks(root_of(body, 0));
    for (const char* field : {"prompt", "inputs", "text", "input_ids"}) {
        const Json prompt = body.value(field, Json());
        if (prompt.is_string()) {
            blocks.segment(canonical_text(prompt));
            return blocks.take();
        }
        if (!prompt.is_array()) continue;
        const Json first = prompt.empty() ? Json() : prompt.front();
        if (first.is_string() && dialect == Dialect::LlamaCppCompletion) throw Unreadable{};
        if (prompt.empty() || first.is_object()) return blocks.take();
        if (first.is_string()) {
            blocks.segment(canonical_text(first));
            return blocks.take();
        }
        blocks.segment(ids_of(first.is_array() ? first : prompt));
        ReferenceKey key = blocks.take();
        for (std::uint32_t& end : key.ends) end /= 4;
        return key;
    }
    return blocks.take();
}

ReferenceKey ollama_generate_key(const Json& body) {
    Blocks blocks(root_of(body, 0));
    const Json system = body.value("system", Json());
    if (system.is_string()) blocks.segment(canonical_text(system));
    const Json context = body.value("context", Json());
    if (context.is_array()) blocks.segment("\x0f" + ids_of(context));
    if (const Json images = body.value("images", Json()); images.is_array() && !images.empty())
        throw Unreadable{};
    const Json prompt = body.value("prompt", Json());
    if (prompt.is_string()) blocks.segment(canonical_text(prompt));
    return blocks.take();
}

ReferenceKey chat_key(const Json& body) {
    if (!body.value("messages", Json()).is_array()) throw Unreadable{};
    const auto key = reference_chat_key(body);
    return key ? *key : throw Unreadable{};
}

ReferenceKey key_of(Dialect dialect, const Json& body) {
    switch (dialect) {
        case Dialect::OpenAiChat:
        case Dialect::OllamaChat:
            return chat_key(body);
        case Dialect::OpenAiResponses:
            return responses_key(body);
        case Dialect::AnthropicMessages:
            return messages_key(body);
        case Dialect::OllamaGenerate:
            return ollama_generate_key(body);
        case Dialect::SageMakerInvocations:
            return body.value("messages", Json()).is_null() ? text_key(dialect, body)
                                                            : chat_key(body);
        case Dialect::None:
            throw Unreadable{};
        default:
            return text_key(dialect, body);
    }
}

/// Fields besides the model that separate prompts or are rendered after the messages.
bool has_other_separators(const Json& body) {
    constexpr std::array kFields = {"lora_name",
                                    "lora_path",
                                    "adapter_id",
                                    "cache_salt",
                                    "chat_template",
                                    "parameters",
                                    "reasoning",
                                    "documents",
                                    "previous_response_id",
                                    "chat_template_kwargs",
                                    "reasoning_effort"};
    for (const char* field : kFields)
        if (body.contains(field)) return true;
    const Json model = body.value("model", Json());
    return !model.is_string() && !model.is_null();
}

}  // namespace

std::optional<ReferenceKey> reference_key(Dialect dialect, const std::string& body) {
    const auto parsed = parse_plainly(body);
    if (!parsed || !parsed->is_object() || has_other_separators(*parsed)) return std::nullopt;
    try {
        return key_of(dialect, *parsed);
    } catch (const Unreadable&) {
        return std::nullopt;
    }
}

}  // namespace prefix_router::prompt::test
