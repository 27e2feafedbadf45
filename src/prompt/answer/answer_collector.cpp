#include "prompt/answer/answer_collector.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "prompt/canonical.hpp"

namespace prefix_router::prompt {
namespace {

/// Ends after which the engine keeps the answer's tokens, in the words of all dialects.
constexpr std::array<std::string_view, 14> kCleanEnds = {
    "stop",       "length",   "tool_calls",    "function_call", "end_turn",
    "max_tokens", "tool_use", "stop_sequence", "completed",     "incomplete",
    "eos_token",  "eos",      "limit",         "word",
};

/// More tokens than any request has: what is beyond is no count, and sums of counts stay in range.
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 40;

bool is_clean_end(std::string_view word) {
    return std::find(kCleanEnds.begin(), kCleanEnds.end(), word) != kCleanEnds.end();
}

std::optional<std::uint64_t> either(std::optional<std::uint64_t> first,
                                    std::optional<std::uint64_t> second) {
    return first ? first : second;
}

}  // namespace

void AnswerCollector::begin_object(Node node) {
    switch (node) {
        case Node::Error:
            has_error_ = true;
            break;
        case Node::Response:
            if (writer_ != nullptr) writer_->restart();
            break;
        case Node::Item:
        case Node::Block:
        case Node::BlockStart:
        case Node::ToolCall:
            if (writer_ != nullptr) writer_->end_tool_call();
            break;
        default:
            return;
    }
    trace_.has_effect = true;
}

void AnswerCollector::keep(std::string_view raw) {
    const std::size_t count = std::min(raw.size(), word_.size() - word_size_);
    std::memcpy(word_.data() + word_size_, raw.data(), count);
    word_size_ = static_cast<std::uint8_t>(word_size_ + count);
}

void AnswerCollector::trace_string(Node node, std::string_view raw) {
    trace_.has_effect |= node == Node::ToolName;
    trace_.text = raw;
    trace_.node = node;
    ++trace_.strings;
}

void AnswerCollector::string_piece(Node node, std::string_view raw) {
    switch (node) {
        case Node::Error:
            has_error_ = trace_.has_effect = true;
            break;
        case Node::FinishReason:
        case Node::PartType:
        case Node::EventType:
            keep(raw);
            break;
        default:
            trace_string(node, raw);
            if (writer_ != nullptr) write_piece(node, raw);
            break;
    }
}

void AnswerCollector::write_piece(Node node, std::string_view raw) {
    switch (node) {
        case Node::Text:
            writer_->text(raw);
            break;
        case Node::Reasoning:
            writer_->reasoning();
            break;
        case Node::ToolName:
            if (!in_name_ && writer_->has_tool_name()) writer_->end_tool_call();
            in_name_ = true;
            writer_->tool_name(raw);
            break;
        case Node::ToolArguments:
            writer_->tool_arguments(raw);
            break;
        default:
            break;
    }
}

void AnswerCollector::string_end(Node node) {
    switch (node) {
        case Node::FinishReason:
        case Node::PartType:
        case Node::EventType:
            word_ended(node);
            break;
        default:
            if (writer_ != nullptr) write_end(node);
            break;
    }
}

void AnswerCollector::write_end(Node node) {
    switch (node) {
        case Node::Text:
            writer_->text_end();
            break;
        case Node::ToolName:
            in_name_ = false;
            writer_->tool_name_end();
            break;
        case Node::ToolArguments:
            writer_->tool_arguments_end();
            break;
        default:
            break;
    }
}

void AnswerCollector::word_ended(Node node) {
    const std::string_view word{word_.data(), word_size_};
    word_size_ = 0;
    if (node == Node::FinishReason) {
        ended_cleanly_ = is_clean_end(word);
        trace_.has_effect = true;
    } else if (node == Node::PartType) {
        if (!canonical::is_reasoning(word)) return;
        if (writer_ != nullptr) writer_->reasoning();
        trace_.has_effect = true;
    } else if (word == "error" || word == "response.failed") {
        has_error_ = trace_.has_effect = true;
    }
}

void AnswerCollector::scalar(Node node, std::string_view text) {
    if (is_counter(node)) {
        std::uint64_t count = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        if (error != std::errc{} || end != text.data() + text.size()) return;
        if (count > kMostTokens) return;
        counters_[counter_index(node)] = count;
    } else if (node == Node::Error) {
        if (text == "null" || text == "false") return;
        has_error_ = true;
    } else if (node == Node::Done) {
        if (text != "true") return;
        ended_cleanly_ = true;
    } else {
        return;
    }
    trace_.has_effect = true;
}

void AnswerCollector::json_piece(std::string_view raw) {
    trace_.has_effect = true;
    if (writer_ != nullptr) writer_->tool_arguments_json(raw);
}

std::optional<std::uint64_t> AnswerCollector::counter(Node node) const {
    const std::uint64_t count = counters_[counter_index(node)];
    return count == kUnknown ? std::nullopt : std::optional(count);
}

Usage AnswerCollector::usage() const {
    Usage usage;
    usage.prompt_tokens = counter(Node::PromptTokens);
    if (const auto uncached = counter(Node::UncachedTokens); !usage.prompt_tokens && uncached)
        usage.prompt_tokens = *uncached + counter(Node::CacheReadTokens).value_or(0) +
                              counter(Node::CacheWriteTokens).value_or(0);
    const auto from_timings = counter(Node::TimingsCached);
    if (const auto computed = counter(Node::TimingsPrompt); !usage.prompt_tokens && computed)
        usage.prompt_tokens = *computed + from_timings.value_or(0);
    usage.cached_tokens =
        either(either(counter(Node::CachedTokens), counter(Node::CacheReadTokens)), from_timings);
    usage.completion_tokens =
        either(counter(Node::CompletionTokens), counter(Node::TimingsPredicted));
    return usage;
}

}  // namespace prefix_router::prompt
