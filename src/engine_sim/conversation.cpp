#include "engine_sim/conversation.hpp"

#include <cstdio>
#include <utility>

#include "engine_sim/block_chain.hpp"

namespace prefix_router::engine_sim {
namespace {

Error bad_request(std::string message) {
    return Error(ErrorKind::BadRequest, std::move(message));
}

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// An image costs 256 bytes (64 tokens) whatever its size; equal images are equal text.
std::string image_text(const std::string& source) {
    char digest[17];
    static_cast<void>(std::snprintf(digest, sizeof digest, "%08x%08x", fnv1a_32(source),
                                    fnv1a_32(source + "image")));
    std::string text;
    for (int i = 0; i < 16; ++i) text += digest;
    return text;
}

std::string part_text(const Json& part) {
    if (part.is_string()) return part.get<std::string>();
    if (!part.is_object()) return part.dump();
    const std::string type = text_of(part, "type");
    if (part.contains("text")) return text_of(part, "text");
    if (type == "image_url" || type == "input_image" || type == "image") {
        Json source = part;
        source.erase("type");
        source.erase("cache_control");
        return image_text(source.dump());
    }
    return part.dump();
}

// A string, null, or a list of parts.
std::string content_text(const Json& message, const char* key = "content") {
    const auto content = message.find(key);
    if (content == message.end() || content->is_null()) return {};
    if (!content->is_array()) return part_text(*content);
    std::string text;
    for (const Json& part : *content) text += part_text(part);
    return text;
}

std::string tool_call_text(const std::string& name, const std::string& arguments) {
    return "<|call|>" + name + " " + arguments;
}

Json tool(const Json& from, const char* parameters) {
    Json function = {{"name", text_of(from, "name")},
                     {"description", text_of(from, "description")}};
    if (from.contains(parameters)) function["parameters"] = from[parameters];
    return Json{{"type", "function"}, {"function", std::move(function)}};
}

// An Anthropic message may hold tool results beside text: each becomes a message of role "tool".
void append_anthropic(const Json& from, Conversation& into) {
    Message message{text_of(from, "role"), {}};
    const auto content = from.find("content");
    if (content == from.end() || !content->is_array()) {
        message.text = content_text(from);
        into.messages.push_back(std::move(message));
        return;
    }
    bool has_own_text = false;
    for (const Json& part : *content) {
        const std::string type = part.is_object() ? text_of(part, "type") : std::string();
        if (type == "tool_result") {
            into.messages.push_back(Message{"tool", content_text(part)});
            continue;
        }
        has_own_text = true;
        if (type == "tool_use")
            message.text +=
                tool_call_text(text_of(part, "name"), part.value("input", Json()).dump());
        else
            message.text += part_text(part);
    }
    if (has_own_text) into.messages.push_back(std::move(message));
}

Result<void> append_response_item(const Json& item, Conversation& into) {
    if (!item.is_object()) return bad_request("every item of 'input' must be an object");
    const std::string type = text_of(item, "type");
    if (type == "function_call")
        into.messages.push_back(Message{
            "assistant", tool_call_text(text_of(item, "name"), text_of(item, "arguments"))});
    else if (type == "function_call_output")
        into.messages.push_back(Message{"tool", content_text(item, "output")});
    else if (item.contains("role"))
        into.messages.push_back(Message{text_of(item, "role"), content_text(item)});
    return {};
}

}  // namespace

const std::string& Conversation::last_user_text() const {
    static const std::string none;
    for (auto message = messages.rbegin(); message != messages.rend(); ++message)
        if (message->role == "user") return message->text;
    return none;
}

Result<Conversation> read_chat(const Json& body) {
    const auto messages = body.find("messages");
    if (messages == body.end() || !messages->is_array() || messages->empty())
        return bad_request("'messages' must be a list that is not empty");
    Conversation conversation;
    if (const auto tools = body.find("tools"); tools != body.end() && tools->is_array())
        conversation.tools.assign(tools->begin(), tools->end());
    conversation.effort = text_of(body, "reasoning_effort");
    for (const Json& from : *messages) {
        if (!from.is_object()) return bad_request("every message must be an object");
        Message message{text_of(from, "role"), content_text(from)};
        if (message.role.empty()) return bad_request("every message needs a 'role'");
        if (const auto calls = from.find("tool_calls"); calls != from.end() && calls->is_array())
            for (const Json& call : *calls) {
                const Json function = call.is_object() ? call.value("function", Json()) : Json();
                if (function.is_object())
                    message.text +=
                        tool_call_text(text_of(function, "name"), text_of(function, "arguments"));
            }
        conversation.messages.push_back(std::move(message));
    }
    return conversation;
}

Result<Conversation> read_responses(const Json& body) {
    Conversation conversation;
    if (const auto tools = body.find("tools"); tools != body.end() && tools->is_array())
        for (const Json& from : *tools)
            if (from.is_object()) conversation.tools.push_back(tool(from, "parameters"));
    if (const std::string text = text_of(body, "instructions"); !text.empty())
        conversation.messages.push_back(Message{"system", text});
    const auto input = body.find("input");
    if (input == body.end()) return bad_request("'input' is missing");
    if (input->is_string()) {
        conversation.messages.push_back(Message{"user", input->get<std::string>()});
        return conversation;
    }
    if (!input->is_array()) return bad_request("'input' must be a string or a list");
    for (const Json& item : *input)
        if (const auto appended = append_response_item(item, conversation); appended.has_error())
            return appended.error();
    return conversation;
}

Result<Conversation> read_messages(const Json& body) {
    const auto messages = body.find("messages");
    if (messages == body.end() || !messages->is_array() || messages->empty())
        return bad_request("'messages' must be a list that is not empty");
    Conversation conversation;
    if (const auto tools = body.find("tools"); tools != body.end() && tools->is_array())
        for (const Json& from : *tools)
            if (from.is_object()) conversation.tools.push_back(tool(from, "input_schema"));
    if (std::string text = content_text(body, "system"); !text.empty())
        conversation.messages.push_back(Message{"system", std::move(text)});
    for (const Json& from : *messages) {
        if (!from.is_object()) return bad_request("every message must be an object");
        append_anthropic(from, conversation);
    }
    return conversation;
}

}  // namespace prefix_router::engine_sim
