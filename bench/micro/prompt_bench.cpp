/// What reading prompts and answers costs. Bodies look like real ones: prose and code with escaped
/// quotes and newlines, non-ASCII text, a dozen tools, a conversation of many turns.

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/prompt/request_reader.hpp"

namespace prefix_router::prompt {
namespace {

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

std::string tools() {
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

/// A conversation of about `bytes`: a system prompt, turns of 1.5 KB, parameters behind.
std::string chat_body(std::size_t bytes, bool with_tools) {
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
    if (with_tools) body += R"(,"tools":)" + tools();
    return body + "}";
}

void read_chat(benchmark::State& state, const std::string& body, std::uint32_t prefix_length) {
    RequestReader reader({.hash_seed = 1, .fixed_prefix_length = prefix_length});
    for (auto _ : state)
        benchmark::DoNotOptimize(reader.read(Dialect::OpenAiChat, body).key.hashes.data());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

void ChatBody(benchmark::State& state) {
    read_chat(state, chat_body(static_cast<std::size_t>(state.range(0)), false), 0);
}
BENCHMARK(ChatBody)->Arg(2 << 10)->Arg(64 << 10)->Arg(1 << 20);

void ChatBodyWithTools(benchmark::State& state) {
    read_chat(state, chat_body(static_cast<std::size_t>(state.range(0)), true), 0);
}
BENCHMARK(ChatBodyWithTools)->Arg(2 << 10)->Arg(64 << 10);

void ChatBodyWithFixedPrefix(benchmark::State& state) {
    read_chat(state, chat_body(static_cast<std::size_t>(state.range(0)), false), 16384);
}
BENCHMARK(ChatBodyWithFixedPrefix)->Arg(2 << 10)->Arg(64 << 10);

/// One long message without an escape: the best case.
void PlainBody(benchmark::State& state) {
    const std::string body = R"({"model":"m","messages":[{"role":"user","content":")" +
                             std::string(static_cast<std::size_t>(state.range(0)), 'x') + R"("}]})";
    read_chat(state, body, 0);
}
BENCHMARK(PlainBody)->Arg(2 << 10)->Arg(64 << 10)->Arg(1 << 20);

/// Every other character is written \uXXXX.
void EscapedBody(benchmark::State& state) {
    std::string text;
    while (text.size() < static_cast<std::size_t>(state.range(0))) text += "\\u4f60\\u597d, ";
    read_chat(state, R"({"messages":[{"role":"user","content":")" + text + R"("}]})", 0);
}
BENCHMARK(EscapedBody)->Arg(64 << 10);

void TokenIds(benchmark::State& state) {
    std::string body = R"({"prompt":[1)";
    while (body.size() < static_cast<std::size_t>(state.range(0)))
        body += "," + std::to_string(mix(body.size(), 1) % 128'000);
    body += "]}";
    RequestReader reader({.hash_seed = 1});
    for (auto _ : state)
        benchmark::DoNotOptimize(reader.read(Dialect::OpenAiCompletions, body).key.hashes.data());
}
BENCHMARK(TokenIds)->Arg(64 << 10);

void PictureBody(benchmark::State& state) {
    const std::string body =
        R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,)" +
        std::string(8 << 20, 'A') + R"("}},{"type":"text","text":"What is it?"}]}]})";
    read_chat(state, body, 0);
}
BENCHMARK(PictureBody);

/// One event of a chat stream, about 200 bytes, text hashed.
void StreamedEvent(benchmark::State& state) {
    RequestReader requests({.hash_seed = 1});
    const RequestFacts facts =
        requests.read(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"x"}]})");
    const std::string event =
        R"(data: {"id":"chatcmpl-7d1f","object":"chat.completion.chunk","created":1700000000,"model":"llama","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}]})"
        "\n\n";
    AnswerReader reader(Dialect::OpenAiChat, AnswerReader::Format::ServerSentEvents, facts.key,
                        state.range(0) != 0);
    for (auto _ : state) benchmark::DoNotOptimize(reader.feed(event));
}
BENCHMARK(StreamedEvent)->ArgName("credit")->Arg(0)->Arg(1);

void PlainAnswer(benchmark::State& state) {
    RequestReader requests({.hash_seed = 1});
    const RequestFacts facts =
        requests.read(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"x"}]})");
    const std::string answer =
        R"({"id":"chatcmpl-7d1f","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":")" +
        prose(3, 700) +
        R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":320,"completion_tokens":170,"prompt_tokens_details":{"cached_tokens":288}}})";
    for (auto _ : state) {
        AnswerReader reader(Dialect::OpenAiChat, AnswerReader::Format::Json, facts.key, true);
        reader.feed(answer);
        benchmark::DoNotOptimize(reader.finish(true).usage);
    }
}
BENCHMARK(PlainAnswer);

}  // namespace
}  // namespace prefix_router::prompt
