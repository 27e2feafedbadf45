#include "micro/sample_bodies.hpp"

#include <algorithm>
#include <vector>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::bench {
namespace {

std::string tool_list() {
    std::string list = "[";
    for (int i = 0; i < 12; ++i) {
        list += i == 0 ? "" : ",";
        list += R"({"type":"function","function":{"name":"tool_)" + std::to_string(i) +
                R"(","description":")" + prose(static_cast<std::uint64_t>(i), 300) +
                R"(","parameters":{"type":"object","properties":{"path":{"type":"string",)"
                R"("description":"Absolute path"},"limit":{"type":"integer","minimum":1}},)"
                R"("required":["path"]}}})";
    }
    return list + "]";
}

/// A tool's result: JSON in a JSON string.
std::string listing(std::uint64_t seed, std::size_t bytes) {
    std::string text = "[";
    for (std::uint64_t i = 0; text.size() < bytes; ++i)
        text += R"({\"path\": \"src/module_)" + std::to_string(mix(seed, i) % 90) +
                R"(.py\", \"line\": )" + std::to_string(i) +
                R"(, \"text\": \"return \\\"caf\u00e9\\\"\"}, )";
    return text + "]";
}

}  // namespace

std::string prose(std::uint64_t seed, std::size_t bytes) {
    static const std::vector<std::string> kSentences = {
        "The scheduler keeps a queue of requests for every backend and serves it in order. ",
        "Measured on two machines, the second run took about a third of the time. ",
        "Caf\u00e9 and na\u00efve are words with accents, \u4f60\u597d are none of ours. ",
        "for (int i = 0; i < n; ++i) {\\n    total += values[i];\\n}\\n",
        "She said: \\\"It depends on the cache.\\\" Nobody disagreed with that remark. ",
        "A paragraph ends here.\\n\\n",
    };
    std::string text;
    for (std::uint64_t i = 0; text.size() < bytes; ++i)
        text += kSentences[mix(seed, i) % kSentences.size()];
    return text;
}

std::string chat_body(std::size_t bytes, Tools tools) {
    std::string body =
        R"({"messages":[{"role":"system","content":")" + prose(1, bytes / 4) + R"("})";
    for (std::uint64_t turn = 2; body.size() + 400 < bytes; ++turn) {
        const std::size_t size = std::min<std::size_t>(1500, bytes - body.size());
        body += turn % 2 == 0 ? R"(,{"role":"user","content":")"
                              : R"(,{"role":"assistant","content":")";
        body += prose(turn, size) + R"("})";
    }
    body += R"(],"model":"meta-llama/Llama-3.1-8B-Instruct","temperature":0.7,"max_tokens":512,)"
            R"("stream":true,"stream_options":{"include_usage":true})";
    if (tools == Tools::Dozen) body += R"(,"tools":)" + tool_list();
    return body + "}";
}

std::string agent_body(std::size_t bytes) {
    std::string body = R"({"model": "qwen", "messages": [{"role": "system", "content": ")" +
                       prose(1, bytes / 8) +
                       R"("}, {"role": "user", "content": [{"type": "text", )"
                       R"("text": "Wo ist das Caf\u00e9? \ud83d\ude00"}]})";
    for (std::uint64_t turn = 1; body.size() + 400 < bytes; ++turn) {
        const std::string id = "call_" + std::to_string(turn);
        body += R"(, {"role": "assistant", "content": null, "tool_calls": [{"id": ")" + id +
                R"(", "type": "function", "function": {"name": "search", )"
                R"("arguments": "{\"query\": \"caf\\u00e9\", \"limit\": 20}"}}]})";
        body += R"(, {"role": "tool", "tool_call_id": ")" + id + R"(", "content": ")" +
                listing(turn, std::min<std::size_t>(1200, bytes - body.size())) + R"("})";
    }
    return body + R"(], "tools": )" + tool_list() + R"(, "temperature": 0.0, "stream": true})";
}

std::string chat_answer(std::size_t bytes) {
    const std::string before =
        R"({"id":"chatcmpl-7d1f","object":"chat.completion","created":1700000000,"model":"llama",)"
        R"("choices":[{"index":0,"message":{"role":"assistant","content":")";
    const std::string behind =
        R"("},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":320,)"
        R"("completion_tokens":170,"total_tokens":490,"prompt_tokens_details":{"cached_tokens":288}}})";
    return before + prose(3, bytes - before.size() - behind.size()) + behind;
}

std::string chat_event(const std::string& text) {
    return R"(data: {"id":"chatcmpl-7d1f","object":"chat.completion.chunk","created":1700000000,)"
           R"("model":"llama","choices":[{"index":0,"delta":{"content":")" +
           text + R"("},"logprobs":null,"finish_reason":null}]})" + "\n\n";
}

}  // namespace prefix_router::bench
