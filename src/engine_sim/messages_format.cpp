#include <utility>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/answer_json.hpp"

namespace prefix_router::engine_sim {
namespace {

/// Anthropic's messages. `input_tokens` excludes what came from the cache.
class MessagesFormat final : public AnswerFormat {
  public:
    explicit MessagesFormat(AnswerName name) : name_(std::move(name)) {}

    std::string whole(const std::vector<std::string>& choices, const Usage& usage) const override {
        Json body = message(usage, usage.completion_tokens);
        for (const std::string& text : choices) body["content"].push_back(block(text));
        body["stop_reason"] = "end_turn";
        return body.dump();
    }

    std::string opening(const Usage& usage) const override {
        return typed("message_start", {{"message", message(usage, 1)}});
    }

    std::string start(std::size_t choice) const override {
        return typed("content_block_start", {{"index", choice}, {"content_block", block("")}});
    }

    std::string delta(std::size_t choice, std::string_view text) const override {
        return typed("content_block_delta",
                     {{"index", choice},
                      {"delta", Json{{"type", "text_delta"}, {"text", std::string(text)}}}});
    }

    std::string close(std::size_t choice, std::string_view) const override {
        return typed("content_block_stop", {{"index", choice}});
    }

    std::string ending(const std::vector<std::string>&, const Usage& usage) const override {
        const Json stop = {{"stop_reason", "end_turn"}, {"stop_sequence", nullptr}};
        return typed("message_delta",
                     {{"delta", stop}, {"usage", usage_json(usage, usage.completion_tokens)}}) +
               typed("message_stop", Json::object());
    }

  private:
    static std::string typed(const std::string& type, const Json& data) {
        Json event = {{"type", type}};
        event.update(data);
        return named_event(type, event);
    }

    static Json block(std::string_view text) {
        return {{"type", "text"}, {"text", std::string(text)}};
    }

    static Json usage_json(const Usage& usage, Tokens output) {
        return {{"input_tokens", usage.prompt_tokens - usage.cached_tokens},
                {"output_tokens", output},
                {"cache_creation_input_tokens", 0},
                {"cache_read_input_tokens", usage.cached_tokens}};
    }

    Json message(const Usage& usage, Tokens output) const {
        return {{"id", name_.id},           {"type", "message"},
                {"role", "assistant"},      {"content", Json::array()},
                {"model", name_.model},     {"stop_reason", nullptr},
                {"stop_sequence", nullptr}, {"usage", usage_json(usage, output)}};
    }

    AnswerName name_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_messages_format(AnswerName name) {
    return std::make_unique<MessagesFormat>(std::move(name));
}

}  // namespace prefix_router::engine_sim
