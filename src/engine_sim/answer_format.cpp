#include "engine_sim/answer_format.hpp"

#include <utility>

#include "engine_sim/answer_json.hpp"

namespace prefix_router::engine_sim {

std::unique_ptr<AnswerFormat> make_answer_format(const ApiRequest& request, AnswerName name) {
    switch (request.api) {
        case Api::ChatCompletions:
            return make_chat_format(std::move(name), request.include_usage);
        case Api::Completions:
            return make_completions_format(std::move(name), request.include_usage);
        case Api::Responses:
            return make_responses_format(std::move(name));
        case Api::Messages:
            break;
    }
    return make_messages_format(std::move(name));
}

std::string data_event(const Json& data) {
    return "data: " + data.dump() + "\n\n";
}

std::string named_event(const std::string& name, const Json& data) {
    return "event: " + name + "\n" + data_event(data);
}

Json openai_usage(const Usage& usage) {
    return {{"prompt_tokens", usage.prompt_tokens},
            {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
            {"completion_tokens", usage.completion_tokens},
            {"prompt_tokens_details", Json{{"cached_tokens", usage.cached_tokens}}}};
}

}  // namespace prefix_router::engine_sim
