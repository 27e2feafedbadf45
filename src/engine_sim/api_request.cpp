#include "engine_sim/api_request.hpp"

#include <algorithm>
#include <utility>

#include "engine_sim/block_chain.hpp"
#include "engine_sim/chat_template.hpp"
#include "engine_sim/conversation.hpp"

namespace prefix_router::engine_sim {
namespace {

constexpr std::size_t kMostPrompts = 256;
constexpr Tokens kMostTokens = Tokens{1} << 24;

// Copying and printing JSON recurses: a body of 100,000 brackets must not take the process down.
constexpr int kDeepestNesting = 500;

bool is_too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') in_string = !in_string;
        if (in_string) {
            i += c == '\\';
            continue;
        }
        if ((c == '[' || c == '{') && ++depth > kDeepestNesting) return true;
        depth -= c == ']' || c == '}';
    }
    return false;
}

Error bad(std::string message) {
    return Error(ErrorKind::BadRequest, std::move(message));
}

std::string string_field(const Json& body, const char* key) {
    const auto found = body.find(key);
    return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool bool_field(const Json& body, const char* key) {
    const auto found = body.find(key);
    return found != body.end() && found->is_boolean() && found->get<bool>();
}

Result<Tokens> max_tokens(const Json& body, Tokens default_tokens) {
    for (const char* key : {"max_completion_tokens", "max_output_tokens", "max_tokens"}) {
        const auto found = body.find(key);
        if (found == body.end() || found->is_null()) continue;
        const Tokens tokens = found->is_number_integer() ? found->get<Tokens>() : 0;
        if (tokens < 1 || tokens > kMostTokens)
            return bad("'" + std::string(key) + "' must be an integer from 1 to " +
                       std::to_string(kMostTokens));
        return tokens;
    }
    return default_tokens;
}

Prompt plain_prompt(std::string text) {
    const std::uint32_t marker = fnv1a_32(text);
    return Prompt{std::move(text), marker};
}

// One token id is one token: four bytes, least significant first.
Result<Prompt> token_prompt(const Json& ids) {
    std::string text;
    for (const Json& id : ids) {
        if (!id.is_number_integer()) return bad("'prompt' mixes token ids with something else");
        const auto value = static_cast<std::uint32_t>(id.get<std::int64_t>());
        for (unsigned shift = 0; shift < 32; shift += 8)
            text += static_cast<char>((value >> shift) & 0xff);
    }
    return plain_prompt(std::move(text));
}

// A string, a list of strings, a list of token ids, or a list of such lists.
Result<std::vector<Prompt>> completion_prompts(const Json& body) {
    const auto prompt = body.find("prompt");
    std::vector<Prompt> prompts;
    if (prompt != body.end() && prompt->is_string()) {
        prompts.push_back(plain_prompt(prompt->get<std::string>()));
        return prompts;
    }
    if (prompt == body.end() || !prompt->is_array() || prompt->empty())
        return bad("'prompt' must be a string or a list that is not empty");
    if (prompt->front().is_number()) {
        Result<Prompt> tokens = token_prompt(*prompt);
        if (!tokens) return tokens.error();
        prompts.push_back(std::move(*tokens));
        return prompts;
    }
    for (const Json& item : *prompt) {
        if (item.is_string()) {
            prompts.push_back(plain_prompt(item.get<std::string>()));
            continue;
        }
        if (!item.is_array()) return bad("'prompt' holds neither text nor token ids");
        Result<Prompt> tokens = token_prompt(item);
        if (!tokens) return tokens.error();
        prompts.push_back(std::move(*tokens));
    }
    return prompts;
}

Result<std::vector<Prompt>> conversation_prompts(Api api, const Json& body) {
    const Result<Conversation> conversation = api == Api::ChatCompletions ? read_chat(body)
                                              : api == Api::Responses     ? read_responses(body)
                                                                          : read_messages(body);
    if (!conversation) return conversation.error();
    return std::vector<Prompt>{
        Prompt{render(*conversation), fnv1a_32(conversation->last_user_text())}};
}

Result<std::vector<Prompt>> read_prompts(Api api, const Json& body) {
    Result<std::vector<Prompt>> prompts =
        api == Api::Completions ? completion_prompts(body) : conversation_prompts(api, body);
    if (!prompts) return prompts;
    const auto n = body.find("n");
    const std::size_t copies =
        n != body.end() && n->is_number_unsigned() ? n->get<std::size_t>() : 1;
    if (copies == 0 || copies > kMostPrompts || copies * prompts->size() > kMostPrompts)
        return bad("too many prompts or choices");
    std::vector<Prompt> all;
    for (const Prompt& prompt : *prompts) {
        if (prompt.text.empty()) return bad("the prompt is empty");
        all.insert(all.end(), copies, prompt);
    }
    return all;
}

}  // namespace

std::optional<Api> api_of_path(std::string_view path) {
    if (path == "/v1/chat/completions") return Api::ChatCompletions;
    if (path == "/v1/completions") return Api::Completions;
    if (path == "/v1/responses") return Api::Responses;
    if (path == "/v1/messages") return Api::Messages;
    return std::nullopt;
}

Result<ApiRequest> read_request(Api api, std::string_view text, Tokens default_tokens) {
    if (is_too_deep(text)) return bad("the body is nested too deeply");
    const Json body = Json::parse(text, nullptr, false);
    if (!body.is_object()) return bad("the body is not a JSON object");
    ApiRequest request;
    request.api = api;
    request.model = string_field(body, "model");
    request.cache_salt = string_field(body, "cache_salt");
    request.stream = bool_field(body, "stream");
    if (const auto options = body.find("stream_options");
        options != body.end() && options->is_object())
        request.include_usage = bool_field(*options, "include_usage");
    const Result<Tokens> limit = max_tokens(body, default_tokens);
    if (!limit) return limit.error();
    request.max_tokens = *limit;
    Result<std::vector<Prompt>> prompts = read_prompts(api, body);
    if (!prompts) return prompts.error();
    request.prompts = std::move(*prompts);
    return request;
}

}  // namespace prefix_router::engine_sim
