#pragma once

#include <string>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/conversation.hpp"

namespace prefix_router::engine_sim {

/// An SSE event without a name: "data: {...}\n\n".
std::string data_event(const Json& data);

/// An SSE event with a name, as responses and messages have them.
std::string named_event(const std::string& name, const Json& data);

/// `usage` as chat and completions report it.
Json openai_usage(const Usage& usage);

}  // namespace prefix_router::engine_sim
