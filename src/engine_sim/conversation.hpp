#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "prefix_router/base/error.hpp"

namespace prefix_router::engine_sim {

using Json = nlohmann::ordered_json;

/// One message as the chat template sees it: text parts joined, images by a fixed-length stand-in
/// of their hash, tool calls as JSON.
struct Message {
    std::string role;
    std::string text;
};

/// What chat/completions, responses and messages have in common. All three are read into this and
/// rendered by one template, as engines do: so they share the cache.
struct Conversation {
    std::vector<Json> tools;
    std::vector<Message> messages;
    std::string effort;  ///< reasoning effort; "" when not asked for

    /// Text of the last message of role "user"; "" when there is none.
    const std::string& last_user_text() const;
};

/// Readers of the three request bodies. The error is a sentence for the client.
Result<Conversation> read_chat(const Json& body);
Result<Conversation> read_responses(const Json& body);
Result<Conversation> read_messages(const Json& body);

}  // namespace prefix_router::engine_sim
