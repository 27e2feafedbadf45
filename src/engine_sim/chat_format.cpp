#include <utility>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/answer_json.hpp"

namespace prefix_router::engine_sim {
namespace {

/// OpenAI's chat/completions.
class ChatFormat final : public AnswerFormat {
  public:
    ChatFormat(AnswerName name, bool include_usage)
        : name_(std::move(name)), include_usage_(include_usage) {
        // A token's event is three strings put together: 1,000 streams cannot pay for a JSON
        // document each time.
        event_head_ =
            "data: {\"id\":" + Json(name_.id).dump() +
            ",\"object\":\"chat.completion.chunk\",\"created\":" + std::to_string(name_.created) +
            ",\"model\":" + Json(name_.model).dump() +
            ",\"system_fingerprint\":\"engine-sim\",\"choices\":[{\"index\":";
    }

    std::string whole(const std::vector<std::string>& choices, const Usage& usage) const override {
        Json list = Json::array();
        for (const std::string& text : choices)
            list.push_back({{"index", list.size()},
                            {"message", Json{{"role", "assistant"}, {"content", text}}},
                            {"logprobs", nullptr},
                            {"finish_reason", "stop"}});
        Json body = envelope("chat.completion");
        body["choices"] = std::move(list);
        body["usage"] = openai_usage(usage);
        return body.dump();
    }

    std::string opening(const Usage&) const override { return {}; }

    std::string start(std::size_t choice) const override {
        return event(choice, R"({"role":"assistant","content":""})", "null");
    }

    std::string delta(std::size_t choice, std::string_view text) const override {
        return event(choice, "{\"content\":\"" + std::string(text) + "\"}", "null");
    }

    std::string close(std::size_t choice, std::string_view) const override {
        return event(choice, "{}", "\"stop\"");
    }

    std::string ending(const std::vector<std::string>&, const Usage& usage) const override {
        if (!include_usage_) return "data: [DONE]\n\n";
        Json body = envelope("chat.completion.chunk");
        body["choices"] = Json::array();
        body["usage"] = openai_usage(usage);
        return data_event(body) + "data: [DONE]\n\n";
    }

  private:
    Json envelope(const char* object) const {
        return {{"id", name_.id},
                {"object", object},
                {"created", name_.created},
                {"model", name_.model},
                {"system_fingerprint", "engine-sim"}};
    }

    std::string event(std::size_t choice, std::string_view delta, std::string_view reason) const {
        std::string text = event_head_ + std::to_string(choice) + ",\"delta\":";
        text += delta;
        text += ",\"logprobs\":null,\"finish_reason\":";
        text += reason;
        return text + "}]}\n\n";
    }

    AnswerName name_;
    bool include_usage_;
    std::string event_head_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_chat_format(AnswerName name, bool include_usage) {
    return std::make_unique<ChatFormat>(std::move(name), include_usage);
}

}  // namespace prefix_router::engine_sim
