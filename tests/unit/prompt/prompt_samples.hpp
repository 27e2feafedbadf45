#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/prompt/request_reader.hpp"

/// What the tests of the prompt module share.
namespace prefix_router::prompt::test {

inline constexpr std::uint64_t kSeed = 42;

/// Facts of one body, read by a reader of its own.
RequestFacts read(Dialect dialect, std::string_view body, std::string_view prefix_id = {},
                  std::uint64_t tenant = 0);

PromptKey key_of(Dialect dialect, std::string_view body);

/// Whether all blocks of `prefix` lead `key`.
bool begins_with(const PromptKey& key, const std::vector<std::uint64_t>& prefix);

/// `count` words that differ from those of any other `seed`.
std::string words(std::uint64_t seed, std::size_t count);

/// An answer read in pieces of `piece` bytes (0: at once).
AnswerFacts read_answer(const RequestFacts& request, AnswerReader::Format format,
                        std::string_view body, std::size_t piece = 0);

/// `events` as server-sent events: "data: ...\n\n" each.
std::string as_events(const std::vector<std::string>& events);

}  // namespace prefix_router::prompt::test
