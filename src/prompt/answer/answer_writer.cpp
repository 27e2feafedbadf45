#include "prompt/answer/answer_writer.hpp"

#include "prompt/canonical.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::size_t kMaxName = 1024;

}  // namespace

AnswerWriter::AnswerWriter(const PromptKey& key) : chain_(key) {
    restart();
}

void AnswerWriter::restart() {
    chain_.restart();
    think_ = {};
    stopped_ = false;
    is_calling_ = false;
    has_arguments_ = false;
    name_.clear();
    text_ = {};
    arguments_ = {};
    minifier_ = {};
    add(canonical::kMessage);
    add(canonical::kAssistant);
    add(canonical::kContent);
}

void AnswerWriter::add(std::string_view canonical) {
    if (!stopped_) chain_.add(canonical);
}

void AnswerWriter::add_text(std::string_view canonical) {
    if (stopped_) return;
    std::string_view rest = canonical;
    switch (think_.feed(rest)) {
        case ThinkWatch::Seen::Nothing:
            add(canonical);
            break;
        case ThinkWatch::Seen::Opening:  // what came before stays in the history
            add(canonical.substr(0, canonical.size() - rest.size() - 1));
            stopped_ = true;
            break;
        case ThinkWatch::Seen::Closing:  // all before was reasoning
            reasoning();
            break;
    }
}

void AnswerWriter::text(std::string_view raw) {
    end_tool_call();
    const char* const end = raw.data() + raw.size();
    if (text_.rests() && find_convertible(raw.data(), end) == end) return add_text(raw);
    text_.feed(raw, [this](std::string_view piece) { add_text(piece); });
}

void AnswerWriter::text_end() {
    text_.finish([this](std::string_view piece) { add_text(piece); });
}

void AnswerWriter::reasoning() {
    chain_.restart();
    stopped_ = true;
}

void AnswerWriter::begin_tool_call() {
    is_calling_ = true;
    has_arguments_ = false;
    add(canonical::kToolCall);
}

void AnswerWriter::tool_name(std::string_view raw) {
    if (!is_calling_) begin_tool_call();
    text_.feed(raw, [this](std::string_view piece) { add_to_name(piece); });
}

void AnswerWriter::tool_name_end() {
    text_.finish([this](std::string_view piece) { add_to_name(piece); });
}

void AnswerWriter::add_to_name(std::string_view canonical) {
    stopped_ |= canonical.size() > kMaxName - name_.size();
    if (!stopped_) name_ += canonical;
}

void AnswerWriter::tool_arguments(std::string_view raw) {
    arguments_.feed(raw, [this](std::string_view piece) { tool_arguments_json(piece); });
}

void AnswerWriter::tool_arguments_end() {
    arguments_.finish([this](std::string_view piece) { tool_arguments_json(piece); });
}

void AnswerWriter::tool_arguments_json(std::string_view json) {
    if (!is_calling_) begin_tool_call();
    minifier_.feed(json, [this](std::string_view piece) {
        has_arguments_ = true;
        add(piece);
    });
}

void AnswerWriter::end_tool_call() {
    if (!is_calling_) return;
    is_calling_ = false;
    minifier_.finish([this](std::string_view piece) { add(piece); });
    if (!has_arguments_) add(canonical::kNoArguments);
    add(canonical::kToolName);
    add(name_);
    name_.clear();
}

AnswerChain& AnswerWriter::finish() {
    end_tool_call();
    if (!stopped_) chain_.close_message();
    return chain_;
}

}  // namespace prefix_router::prompt
