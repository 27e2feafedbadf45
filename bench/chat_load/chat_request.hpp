#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prefix_router::chat_load {

/// One request to chat/completions and what its answer must be.
struct ChatRequest {
    std::string body;
    std::string question;  ///< the last user text: engine-sim's answer begins with its hash
    std::size_t answer_tokens = 0;
};

/// {"role":ROLE,"content":TEXT}, escaped.
std::string message_json(std::string_view role, std::string_view text);

/// A whole body. `messages` is JSON without its brackets; a stream is asked to end with its usage.
std::string chat_body(std::string_view model, std::string_view messages, std::size_t answer_tokens,
                      bool stream);

}  // namespace prefix_router::chat_load
