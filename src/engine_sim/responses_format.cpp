#include <utility>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/answer_json.hpp"

namespace prefix_router::engine_sim {
namespace {

/// OpenAI's responses. One choice: the API has no more.
class ResponsesFormat final : public AnswerFormat {
  public:
    explicit ResponsesFormat(AnswerName name) : name_(std::move(name)) {}

    std::string whole(const std::vector<std::string>& choices, const Usage& usage) const override {
        return finished(choices, usage).dump();
    }

    std::string opening(const Usage&) const override {
        return typed("response.created", {{"response", response("in_progress")}});
    }

    std::string start(std::size_t choice) const override {
        return typed("response.output_item.added",
                     {{"output_index", choice}, {"item", item("in_progress", Json::array())}}) +
               typed("response.content_part.added", place(choice, {{"part", part("")}}));
    }

    std::string delta(std::size_t choice, std::string_view text) const override {
        return typed("response.output_text.delta",
                     place(choice, {{"delta", std::string(text)}, {"logprobs", Json::array()}}));
    }

    std::string close(std::size_t choice, std::string_view text) const override {
        return typed("response.output_text.done",
                     place(choice, {{"text", std::string(text)}, {"logprobs", Json::array()}})) +
               typed("response.content_part.done", place(choice, {{"part", part(text)}})) +
               typed("response.output_item.done",
                     {{"output_index", choice},
                      {"item", item("completed", Json::array({part(text)}))}});
    }

    std::string ending(const std::vector<std::string>& choices, const Usage& usage) const override {
        return typed("response.completed", {{"response", finished(choices, usage)}});
    }

  private:
    // Sequence numbers are left to the order of the events: all 0, as the clients ignore them.
    static std::string typed(const std::string& type, const Json& data) {
        Json event = {{"type", type}, {"sequence_number", 0}};
        event.update(data);
        return named_event(type, event);
    }

    Json place(std::size_t choice, const Json& data) const {
        Json event = {{"item_id", item_id()}, {"output_index", choice}, {"content_index", 0}};
        event.update(data);
        return event;
    }

    std::string item_id() const { return "msg_" + name_.id; }

    static Json part(std::string_view text) {
        return {
            {"type", "output_text"}, {"text", std::string(text)}, {"annotations", Json::array()}};
    }

    Json item(const char* status, Json content) const {
        return {{"id", item_id()},
                {"type", "message"},
                {"role", "assistant"},
                {"status", status},
                {"content", std::move(content)}};
    }

    Json response(const char* status) const {
        return {{"id", name_.id},
                {"object", "response"},
                {"created_at", name_.created},
                {"status", status},
                {"error", nullptr},
                {"incomplete_details", nullptr},
                {"instructions", nullptr},
                {"metadata", Json::object()},
                {"model", name_.model},
                {"output", Json::array()},
                {"parallel_tool_calls", true},
                {"temperature", 1.0},
                {"tool_choice", "auto"},
                {"tools", Json::array()},
                {"top_p", 1.0}};
    }

    Json finished(const std::vector<std::string>& choices, const Usage& usage) const {
        Json body = response("completed");
        for (const std::string& text : choices)
            body["output"].push_back(item("completed", Json::array({part(text)})));
        body["usage"] = {{"input_tokens", usage.prompt_tokens},
                         {"input_tokens_details", Json{{"cached_tokens", usage.cached_tokens}}},
                         {"output_tokens", usage.completion_tokens},
                         {"output_tokens_details", Json{{"reasoning_tokens", 0}}},
                         {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
        return body;
    }

    AnswerName name_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_responses_format(AnswerName name) {
    return std::make_unique<ResponsesFormat>(std::move(name));
}

}  // namespace prefix_router::engine_sim
