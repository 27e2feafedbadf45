#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine_sim/api_request.hpp"

namespace prefix_router::engine_sim {

/// Figures of a whole answer. `cached_tokens` is the last prompt's alone, as vLLM reports a list.
struct Usage {
    Tokens prompt_tokens = 0;
    Tokens completion_tokens = 0;
    Tokens cached_tokens = 0;
};

/// Which answer this is: repeated in every piece of it.
struct AnswerName {
    std::string id;  ///< unique over the engines of a machine
    std::string model;
    std::int64_t created = 0;  ///< Unix seconds
};

/// The bytes of an answer in one API's shape: the whole body, or the events of a stream in the
/// order opening, (start, delta..., close per choice), ending. Texts are those of answer_text():
/// they need no escaping. Immutable after construction.
class AnswerFormat {
  public:
    virtual ~AnswerFormat() = default;

    virtual std::string whole(const std::vector<std::string>& choices,
                              const Usage& usage) const = 0;

    /// Once, with the first token of the answer.
    virtual std::string opening(const Usage& usage) const = 0;
    virtual std::string start(std::size_t choice) const = 0;
    virtual std::string delta(std::size_t choice, std::string_view text) const = 0;
    virtual std::string close(std::size_t choice, std::string_view text) const = 0;
    /// Once, after the last choice is closed: usage (if asked for) and the end marker.
    virtual std::string ending(const std::vector<std::string>& choices,
                               const Usage& usage) const = 0;
};

std::unique_ptr<AnswerFormat> make_answer_format(const ApiRequest& request, AnswerName name);

// One per API, each in its own file.
std::unique_ptr<AnswerFormat> make_chat_format(AnswerName name, bool include_usage);
std::unique_ptr<AnswerFormat> make_completions_format(AnswerName name, bool include_usage);
std::unique_ptr<AnswerFormat> make_responses_format(AnswerName name);
std::unique_ptr<AnswerFormat> make_messages_format(AnswerName name);

}  // namespace prefix_router::engine_sim
