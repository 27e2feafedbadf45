#pragma once

#include <string>

#include "engine_sim/conversation.hpp"

namespace prefix_router::engine_sim {

/// The engine's chat template: tools, then the messages in order, then the header of the answer.
/// An answer sent back in the next turn continues the same bytes: the rendering of a conversation,
/// plus the answer, is a prefix of the rendering of the next turn.
///
///     <|begin|><|tools|>{"type":...}\n<|end|>\n<|system|>\nYou ...<|end|>\n<|user|>\nHi<|end|>\n
///     <|assistant|>\n
std::string render(const Conversation& conversation);

}  // namespace prefix_router::engine_sim
