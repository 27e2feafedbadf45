#include "prefix_router/prompt/answer_reader.hpp"

#include <algorithm>
#include <cctype>

#include "prompt/answer/answer_collector.hpp"
#include "prompt/answer/event_stream.hpp"
#include "prompt/answer/json_follower.hpp"

namespace prefix_router::prompt {
namespace {

ChildOf child_of(Dialect dialect) {
    switch (dialect) {
        case Dialect::OpenAiChat:
            return chat_answer_child;
        case Dialect::OpenAiResponses:
            return responses_answer_child;
        case Dialect::AnthropicMessages:
            return messages_answer_child;
        case Dialect::OllamaChat:
        case Dialect::OllamaGenerate:
            return ollama_answer_child;
        case Dialect::SageMakerInvocations:
            return invocation_answer_child;
        default:
            return text_answer_child;
    }
}

/// The type without parameters, without surrounding spaces, compared in lower case.
bool is_type(std::string_view header, std::string_view type) {
    header = header.substr(0, header.find(';'));
    while (header.ends_with(' ')) header.remove_suffix(1);
    while (header.starts_with(' ')) header.remove_prefix(1);
    return std::equal(header.begin(), header.end(), type.begin(), type.end(), [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    });
}

bool has_visible_byte(std::string_view piece) {
    return piece.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

}  // namespace

class AnswerReader::State {
  public:
    State(Dialect dialect, Format format, std::unique_ptr<AnswerWriter> writer)
        : format_(format), collector_(child_of(dialect), std::move(writer)), json_(collector_) {}

    bool feed(std::string_view piece) {
        switch (format_) {
            case Format::Skip:
                has_counted_byte_ |= !piece.empty();
                break;
            case Format::Json:
                if (!has_counted_byte_) has_counted_byte_ = has_visible_byte(piece);
                json_.feed(piece);
                break;
            case Format::JsonLines:
                feed_lines(piece);
                break;
            case Format::ServerSentEvents:
                events_.feed(piece, json_, collector_);
                has_counted_byte_ = events_.has_counted_line();
                break;
        }
        return has_counted_byte_;
    }

    AnswerFacts finish(bool is_complete) {
        AnswerFacts facts;
        if (format_ == Format::Skip) return facts;
        json_.feed("\n");  // ends a number at the very end
        facts.usage = collector_.usage();
        facts.has_error_event =
            events_.has_error_event() || (collector_.has_error() && format_ != Format::Json);
        facts.ended_cleanly = is_complete && collector_.ended_cleanly() && !facts.has_error_event;
        if (AnswerWriter* writer = collector_.writer(); writer != nullptr && facts.ended_cleanly) {
            AnswerChain& chain = writer->finish();
            facts.hashes = std::move(chain.hashes);
            facts.ends = std::move(chain.ends);
        }
        return facts;
    }

  private:
    /// Looks at each line until one counts: it has something in it and no error.
    void feed_lines(std::string_view piece) {
        while (!has_counted_byte_ && !piece.empty()) {
            const std::size_t end = piece.find('\n');
            const bool is_whole = end != std::string_view::npos;
            const std::string_view line = piece.substr(0, is_whole ? end + 1 : end);
            json_.feed(line);
            has_visible_byte_ |= has_visible_byte(line);
            has_counted_byte_ = is_whole && has_visible_byte_ && !collector_.has_error();
            piece.remove_prefix(line.size());
        }
        json_.feed(piece);
    }

    Format format_;
    bool has_counted_byte_ = false;
    bool has_visible_byte_ = false;
    AnswerCollector collector_;
    JsonFollower json_;
    EventStream events_;
};

AnswerReader::Format AnswerReader::format_of(std::string_view content_type,
                                             std::string_view content_encoding) {
    if (!content_encoding.empty() && !is_type(content_encoding, "identity")) return Format::Skip;
    if (is_type(content_type, "text/event-stream")) return Format::ServerSentEvents;
    if (is_type(content_type, "application/json")) return Format::Json;
    for (const std::string_view lines :
         {"application/x-ndjson", "application/ndjson", "application/jsonl",
          "application/x-jsonlines", "application/json-lines"})
        if (is_type(content_type, lines)) return Format::JsonLines;
    return Format::Skip;
}

AnswerReader::AnswerReader(Dialect dialect, Format format, const PromptKey& key,
                           bool answer_extends_key) {
    const bool writes = answer_extends_key && format != Format::Skip && !key.empty();
    state_ = std::make_unique<State>(dialect, format,
                                     writes ? std::make_unique<AnswerWriter>(key) : nullptr);
}

AnswerReader::~AnswerReader() = default;
AnswerReader::AnswerReader(AnswerReader&&) noexcept = default;
AnswerReader& AnswerReader::operator=(AnswerReader&&) noexcept = default;

bool AnswerReader::feed(std::string_view piece) {
    return state_->feed(piece);
}

AnswerFacts AnswerReader::finish(bool is_complete) {
    return state_->finish(is_complete);
}

}  // namespace prefix_router::prompt
