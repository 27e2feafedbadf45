#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace prefix_router::chat_load {

/// What is wrong with an answer, in the order in which it shows.
enum class Verdict : std::uint8_t {
    Good,
    ConnectFailed,
    TimedOut,
    Status,      ///< not 200
    Truncated,   ///< the framing or the stream's [DONE] is missing
    ErrorEvent,  ///< an error inside a stream that was 200
    Malformed,   ///< not JSON, or no answer in it
    WrongText,   ///< the answer to another question, or not as long as asked for
};
inline constexpr std::size_t kVerdicts = 8;
std::string_view to_string(Verdict verdict);

/// Reads an answer of chat/completions piece by piece and judges it at the end. Engine-sim's
/// answers begin with the hash of their question, so that a mix-up shows; of other engines only the
/// form is checked.
class AnswerCheck {
  public:
    AnswerCheck(bool stream, std::string_view question, std::size_t answer_tokens);

    /// Returns true when the piece holds something that counts as the first byte of the answer:
    /// not an SSE comment or ping.
    bool feed(std::string_view piece);
    /// Call after the last piece of a complete answer.
    Verdict finish();

    const std::string& text() const { return text_; }
    std::uint64_t prompt_tokens() const { return prompt_tokens_; }
    std::uint64_t cached_tokens() const { return cached_tokens_; }

  private:
    bool take_line(std::string_view line);
    void take_json(std::string_view json);
    void take_usage(const nlohmann::json& usage);
    bool is_expected_text() const;

    bool stream_;
    std::string marker_;
    std::size_t answer_bytes_;
    std::string pending_;  ///< the unfinished line, or the whole body when not streaming
    std::string event_;    ///< name of the event being read
    std::string text_;
    bool is_simulated_ = false;
    bool has_error_ = false;
    bool is_malformed_ = false;
    bool has_finished_ = false;
    bool is_done_ = false;
    std::uint64_t prompt_tokens_ = 0;
    std::uint64_t cached_tokens_ = 0;
};

}  // namespace prefix_router::chat_load
