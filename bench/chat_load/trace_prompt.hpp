#pragma once

#include <cstdint>
#include <string>

#include "prefix_router/sim/trace.hpp"

namespace prefix_router::chat_load {

/// The text of a traced prompt at four bytes a token: each full block's text is a function of its
/// recorded id alone, so that prompts share exactly the prefixes that they share in the trace. What
/// follows the last full block belongs to this request alone.
///
///     blocks 46, 47 of 512 tokens, 1,100 tokens in all: text(46) text(47) + 304 bytes of its own
std::string prompt_text(const sim::Trace& trace, std::size_t request);

}  // namespace prefix_router::chat_load
