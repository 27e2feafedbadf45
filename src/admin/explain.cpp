#include "admin/explain.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "admin/answers.hpp"
#include "admin/state_json.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;

std::string value_of(const Request& request, const char* name, std::string_view otherwise = {}) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string(otherwise) : found->second;
}

std::string_view to_string(routing::Refusal refusal) {
    switch (refusal) {
        case routing::Refusal::None:
            break;
        case routing::Refusal::NoBackend:
            return "no_backend";
        case routing::Refusal::QueueFull:
            return "queue_full";
        case routing::Refusal::Displaced:
            return "queue_displaced";
        case routing::Refusal::QueueTimeout:
            return "queue_timeout";
        case routing::Refusal::Deadline:
            return "deadline_exceeded";
    }
    return "none";
}

std::string_view to_string(prompt::Dialect dialect) {
    switch (dialect) {
        case prompt::Dialect::None:
            break;
        case prompt::Dialect::OpenAiChat:
            return "openai_chat";
        case prompt::Dialect::OpenAiCompletions:
            return "openai_completions";
        case prompt::Dialect::OpenAiResponses:
            return "openai_responses";
        case prompt::Dialect::AnthropicMessages:
            return "anthropic_messages";
        case prompt::Dialect::SageMakerInvocations:
            return "sagemaker_invocations";
        case prompt::Dialect::Generate:
            return "generate";
        case prompt::Dialect::GenerateStream:
            return "generate_stream";
        case prompt::Dialect::LlamaCppCompletion:
            return "llama_cpp_completion";
        case prompt::Dialect::OllamaChat:
            return "ollama_chat";
        case prompt::Dialect::OllamaGenerate:
            return "ollama_generate";
    }
    return "none";
}

}  // namespace

Answer explain(const Sources& sources, const Request& request) {
    proxy::HypotheticalRequest asked;
    asked.path = value_of(request, "path", asked.path);
    asked.body = request.body;
    asked.api_key = value_of(request, "api_key");
    asked.prefix_id = value_of(request, "prefix_id");
    const auto priority = config::parse_priority(value_of(request, "priority", "normal"));
    if (!priority) {
        return refusal(400, "priority must be high, normal or low");
    }
    asked.priority = *priority;
    const auto explained = sources.server.explain(asked);
    if (!explained) {
        return refusal(explained.error());
    }
    const auto& decision = explained->decision.decision;
    const BackendNames names(sources.desk.states());
    json shown = decision_json(explained->decision, names, sources.clock.now());
    for (const char* past : {"request", "age_s", "held_s"}) {
        shown.erase(past);
    }
    const bool is_refused = decision.action == routing::Action::Refuse;
    shown["refusal"] = is_refused ? json(to_string(decision.refusal)) : json(nullptr);
    shown["strategy"] = config::to_string(sources.levers.effective().routing.strategy);
    shown["dialect"] = to_string(explained->dialect);
    shown["model"] = explained->model;
    shown["model_is_known"] = explained->decision.model != kUnknownModel;
    shown["sequences"] = explained->sequences;
    shown["streams"] = explained->streams;
    shown["prompt_units"] = explained->prompt_units;
    return json_answer(shown);
}

}  // namespace prefix_router::admin
