#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "prefix_router/prompt/dialect.hpp"
#include "prefix_router/prompt/prompt_key.hpp"

namespace prefix_router::prompt {

/// Token counts as the engine reports them. Null or absent is not zero.
struct Usage {
    std::optional<std::uint64_t>
        prompt_tokens;  ///< the whole prompt, cached part included, in every dialect
    std::optional<std::uint64_t> cached_tokens;
    std::optional<std::uint64_t> completion_tokens;
};

/// What an answer's body says. Valid after finish().
struct AnswerFacts {
    Usage usage;
    /// The body carried an error (an SSE `data: {"error"...}` event, or Anthropic's `event:
    /// error`), although it may be whole in HTTP: credit nothing, count it against the backend.
    bool has_error_event = false;
    /// Finished for a reason after which the engine keeps the answer's tokens: stop, length,
    /// tool_calls.
    bool ended_cleanly = false;
    /// Blocks that the answer appends to the request's key in the form in which clients send it
    /// back; empty when the answer earns no credit (reasoning apart, n > 1, errors, compressed).
    /// Same units as the key.
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> ends;  ///< continues PromptKey::ends
};

/// Follows one answer's payload (chunk framing already removed) piece by piece, without holding it
/// back. Bounded memory: a non-streamed JSON body is scanned incrementally, never collected; answer
/// text is hashed as it comes. One per request in flight, so it is small, and allocates only what
/// it needs.
class AnswerReader {
  public:
    enum class Format : std::uint8_t { Skip, Json, ServerSentEvents, JsonLines };

    /// The format follows from the answer's Content-Type; a Content-Encoding other than identity
    /// gives Skip.
    static Format format_of(std::string_view content_type, std::string_view content_encoding);

    /// `key`: the request's key, read only here (its last hash and end are copied).
    AnswerReader(Dialect dialect, Format format, const PromptKey& key, bool answer_extends_key);
    ~AnswerReader();
    AnswerReader(AnswerReader&&) noexcept;
    AnswerReader& operator=(AnswerReader&&) noexcept;

    /// Returns true once what counts for TTFT was seen: anything but an SSE comment, a `ping`
    /// event, blank lines, or an error. Of a stream that is the end of its first line of data,
    /// since only then it is known to be no error.
    bool feed(std::string_view piece);

    /// Call once, at the end of the body. `is_complete`: the HTTP message ended as its framing
    /// says.
    AnswerFacts finish(bool is_complete);

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace prefix_router::prompt
