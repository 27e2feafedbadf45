#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "prefix_router/prompt/answer_reader.hpp"

#include "prompt/answer/answer_writer.hpp"
#include "prompt/answer/json_follower.hpp"

namespace prefix_router::prompt {

/// Collects an answer's facts from what a JsonFollower meets in it, whatever the dialect.
class AnswerCollector final : public JsonEvents {
  public:
    /// `writer`: receives the answer's text; nullptr when it earns no credit.
    AnswerCollector(ChildOf child_of, std::unique_ptr<AnswerWriter> writer)
        : child_(child_of), writer_(std::move(writer)) {}

    /// What happened since start_trace(): whether it was one string alone and nothing that another
    /// event of the same bytes would not repeat.
    struct Trace {
        std::string_view text;  ///< raw; where it was read
        Node node = Node::Ignore;
        std::uint32_t strings = 0;
        bool has_effect = false;
        bool is_one_string() const { return strings == 1 && !has_effect; }
    };
    void start_trace() { trace_ = {}; }
    const Trace& trace() const { return trace_; }
    /// Nothing is left over from a string that broken text cut short.
    bool rests() const { return word_size_ == 0 && (writer_ == nullptr || writer_->rests()); }

    Usage usage() const;
    bool has_error() const { return has_error_; }
    bool ended_cleanly() const { return ended_cleanly_ && !has_error_; }
    AnswerWriter* writer() { return writer_.get(); }

    Node child(Node parent, std::string_view key) override { return child_(parent, key); }
    void begin_object(Node node) override;
    void string_piece(Node node, std::string_view raw) override;
    void string_end(Node node) override;
    void scalar(Node node, std::string_view text) override;
    void json_piece(std::string_view raw) override;

  private:
    static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

    void trace_string(Node node, std::string_view raw);
    void write_piece(Node node, std::string_view raw);
    void write_end(Node node);
    void word_ended(Node node);
    void keep(std::string_view raw);
    std::optional<std::uint64_t> counter(Node node) const;

    ChildOf child_;
    std::unique_ptr<AnswerWriter> writer_;
    Trace trace_;
    bool has_error_ = false;
    bool ended_cleanly_ = false;
    bool in_name_ = false;
    std::uint8_t word_size_ = 0;
    std::array<char, 24> word_;  ///< a short string value, such as a finish reason
    std::array<std::uint64_t, kCounters> counters_ = filled();

    static constexpr std::array<std::uint64_t, kCounters> filled() {
        std::array<std::uint64_t, kCounters> counters{};
        counters.fill(kUnknown);
        return counters;
    }
};

}  // namespace prefix_router::prompt
