#include <utility>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/answer_json.hpp"

namespace prefix_router::engine_sim {
namespace {

/// OpenAI's completions.
class CompletionsFormat final : public AnswerFormat {
  public:
    CompletionsFormat(AnswerName name, bool include_usage)
        : name_(std::move(name)), include_usage_(include_usage) {}

    std::string whole(const std::vector<std::string>& choices, const Usage& usage) const override {
        Json body = envelope();
        for (std::size_t i = 0; i < choices.size(); ++i)
            body["choices"].push_back(choice_json(i, choices[i], "stop"));
        body["usage"] = openai_usage(usage);
        return body.dump();
    }

    std::string opening(const Usage&) const override { return {}; }
    std::string start(std::size_t) const override { return {}; }

    std::string delta(std::size_t choice, std::string_view text) const override {
        return event(choice_json(choice, text, nullptr));
    }

    std::string close(std::size_t choice, std::string_view) const override {
        return event(choice_json(choice, "", "stop"));
    }

    std::string ending(const std::vector<std::string>&, const Usage& usage) const override {
        if (!include_usage_) return "data: [DONE]\n\n";
        Json body = envelope();
        body["usage"] = openai_usage(usage);
        return data_event(body) + "data: [DONE]\n\n";
    }

  private:
    Json envelope() const {
        return {{"id", name_.id},
                {"object", "text_completion"},
                {"created", name_.created},
                {"model", name_.model},
                {"system_fingerprint", "engine-sim"},
                {"choices", Json::array()}};
    }

    static Json choice_json(std::size_t index, std::string_view text, const Json& reason) {
        return {{"index", index},
                {"text", std::string(text)},
                {"logprobs", nullptr},
                {"finish_reason", reason}};
    }

    std::string event(Json choice) const {
        Json body = envelope();
        body["choices"].push_back(std::move(choice));
        return data_event(body);
    }

    AnswerName name_;
    bool include_usage_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_completions_format(AnswerName name, bool include_usage) {
    return std::make_unique<CompletionsFormat>(std::move(name), include_usage);
}

}  // namespace prefix_router::engine_sim
