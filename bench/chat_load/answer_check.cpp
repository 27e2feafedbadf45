#include "chat_load/answer_check.hpp"

#include <cstdio>

#include "engine_sim/block_chain.hpp"

namespace prefix_router::chat_load {
namespace {

constexpr std::size_t kBytesPerToken = 4;

std::uint64_t number(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::Good:
            return "good";
        case Verdict::ConnectFailed:
            return "connect_failed";
        case Verdict::TimedOut:
            return "timed_out";
        case Verdict::Status:
            return "status";
        case Verdict::Truncated:
            return "truncated";
        case Verdict::ErrorEvent:
            return "error_event";
        case Verdict::Malformed:
            return "malformed";
        case Verdict::WrongText:
            return "wrong_text";
    }
    return "unknown";
}

AnswerCheck::AnswerCheck(bool stream, std::string_view question, std::size_t answer_tokens)
    : stream_(stream), answer_bytes_(answer_tokens * kBytesPerToken) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", engine_sim::fnv1a_32(question));
    marker_ = std::string_view(digits).substr(0, answer_bytes_);
}

bool AnswerCheck::feed(std::string_view piece) {
    if (!stream_) {
        pending_ += piece;
        return !piece.empty();
    }
    bool counts = false;
    while (!piece.empty()) {
        const std::size_t end = piece.find('\n');
        if (end == std::string_view::npos) {
            pending_ += piece;
            break;
        }
        pending_ += piece.substr(0, end);
        piece.remove_prefix(end + 1);
        if (pending_.ends_with('\r')) pending_.pop_back();
        counts |= take_line(pending_);
        pending_.clear();
    }
    return counts;
}

bool AnswerCheck::take_line(std::string_view line) {
    constexpr std::string_view kData = "data: ";
    constexpr std::string_view kEvent = "event: ";
    if (line.empty()) event_.clear();
    if (line.starts_with(kEvent)) event_ = line.substr(kEvent.size());
    if (!line.starts_with(kData) || event_ == "ping") return false;
    const std::string_view data = line.substr(kData.size());
    if (data == "[DONE]")
        is_done_ = true;
    else
        take_json(data);
    return true;
}

void AnswerCheck::take_json(std::string_view text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) {
        is_malformed_ = true;
        return;
    }
    if (json.contains("error")) has_error_ = true;
    if (json.value("system_fingerprint", nlohmann::json()) == "engine-sim") is_simulated_ = true;
    if (const auto usage = json.find("usage"); usage != json.end() && usage->is_object())
        take_usage(*usage);
    const auto choices = json.find("choices");
    if (choices == json.end() || !choices->is_array() || choices->empty()) return;
    const nlohmann::json& choice = choices->front();
    const char* const key = stream_ ? "delta" : "message";
    if (!choice.is_object() || !choice.contains(key)) {
        is_malformed_ = true;
        return;
    }
    const auto content = choice[key].value("content", nlohmann::json());
    if (content.is_string()) text_ += content.get_ref<const std::string&>();
    if (choice.value("finish_reason", nlohmann::json()).is_string()) has_finished_ = true;
}

void AnswerCheck::take_usage(const nlohmann::json& usage) {
    prompt_tokens_ = number(usage, "prompt_tokens");
    const auto details = usage.find("prompt_tokens_details");
    if (details != usage.end() && details->is_object())
        cached_tokens_ = number(*details, "cached_tokens");
}

Verdict AnswerCheck::finish() {
    if (!stream_) take_json(pending_);
    if (has_error_) return Verdict::ErrorEvent;
    if (is_malformed_) return Verdict::Malformed;
    if (stream_ && (!is_done_ || !pending_.empty())) return Verdict::Truncated;
    if (!has_finished_) return stream_ ? Verdict::Truncated : Verdict::Malformed;
    if (is_simulated_ && !is_expected_text()) return Verdict::WrongText;
    return Verdict::Good;
}

bool AnswerCheck::is_expected_text() const {
    return text_.size() == answer_bytes_ && text_.starts_with(marker_);
}

}  // namespace prefix_router::chat_load
