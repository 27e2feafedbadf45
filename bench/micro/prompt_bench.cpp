/// What reading prompts and answers costs. Bodies look like real ones: prose and code with escaped
/// quotes and newlines, non-ASCII text, a dozen tools, a conversation of many turns.

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/prompt/request_reader.hpp"

#include "micro/sample_bodies.hpp"

namespace prefix_router::prompt {
namespace {

using bench::chat_body;
using bench::prose;
using bench::Tools;

void read_chat(benchmark::State& state, const std::string& body, std::uint32_t prefix_length) {
    RequestReader reader({.hash_seed = 1, .fixed_prefix_length = prefix_length});
    for (auto _ : state)
        benchmark::DoNotOptimize(reader.read(Dialect::OpenAiChat, body).key.hashes.data());
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

void ChatBody(benchmark::State& state) {
    read_chat(state, chat_body(static_cast<std::size_t>(state.range(0)), Tools::None), 0);
}
BENCHMARK(ChatBody)->Arg(2 << 10)->Arg(64 << 10)->Arg(1 << 20);

void ChatBodyWithTools(benchmark::State& state) {
    read_chat(state, chat_body(static_cast<std::size_t>(state.range(0)), Tools::Dozen), 0);
}
BENCHMARK(ChatBodyWithTools)->Arg(2 << 10)->Arg(64 << 10);

void ChatBodyWithFixedPrefix(benchmark::State& state) {
    read_chat(state, chat_body(static_cast<std::size_t>(state.range(0)), Tools::None), 16384);
}
BENCHMARK(ChatBodyWithFixedPrefix)->Arg(2 << 10)->Arg(64 << 10);

void AgentBody(benchmark::State& state) {
    read_chat(state, bench::agent_body(static_cast<std::size_t>(state.range(0))), 0);
}
BENCHMARK(AgentBody)->Arg(64 << 10)->Arg(1 << 20);

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
    const std::string event = bench::chat_event(" hello");
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
