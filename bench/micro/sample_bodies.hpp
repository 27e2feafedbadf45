#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Bodies as clients send them: prose and code with escaped quotes and line ends, non-ASCII text,
/// tool definitions, conversations of many turns.
namespace prefix_router::bench {

/// About `bytes` of the inside of a JSON string; differs by `seed`.
std::string prose(std::uint64_t seed, std::size_t bytes);

/// A conversation of about `bytes`: a system prompt, turns of 1.5 KB, parameters behind; compact,
/// as the OpenAI client writes it. With tools, a dozen of them come on top.
enum class Tools : std::uint8_t { None, Dozen };
std::string chat_body(std::size_t bytes, Tools tools);

/// An agent's conversation of about `bytes`, as Python's json writes it: spaces, \uXXXX for all
/// that is not ASCII, a tool call and its result (JSON in a string) in each turn.
std::string agent_body(std::size_t bytes);

/// A whole answer of about `bytes`, as vLLM sends it.
std::string chat_answer(std::size_t bytes);

/// One event of a chat stream, 190 bytes.
std::string chat_event(const std::string& text);

}  // namespace prefix_router::bench
