/// The operations that every request pays for, each run a few times under callgrind, which writes
/// one file of counts for each: tests/performance/count_instructions.py reads them. Run alone it
/// does nothing that can be seen.
///
///     key_operations --environment    prints what the counts depend on

#include <gnu/libc-version.h>
#include <valgrind/callgrind.h>

#include <array>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/http/chunk_follower.hpp"
#include "prefix_router/http/request_head.hpp"
#include "prefix_router/http/response_head.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/prompt/answer_reader.hpp"
#include "prefix_router/prompt/request_reader.hpp"
#include "prefix_router/routing/router.hpp"

#include "micro/sample_bodies.hpp"

namespace prefix_router::bench {
namespace {

constexpr int kRounds = 10;

template <class T>
void keep(const T& value) {
    __asm__ volatile("" : : "r"(&value) : "memory");
}

/// Counts what `operation` takes once memory and tables are warm.
template <class Operation>
void count(const char* name, Operation&& operation) {
    for (int i = 0; i < kRounds; ++i) operation();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_TOGGLE_COLLECT;
    for (int i = 0; i < kRounds; ++i) operation();
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_STOP_INSTRUMENTATION;
    const std::string label = std::string(name) + "*" + std::to_string(kRounds);
    CALLGRIND_DUMP_STATS_AT(label.c_str());
}

void count_prompts() {
    using prompt::Dialect;
    prompt::RequestReader reader({.hash_seed = 1, .fixed_prefix_length = 0});
    const auto count_body = [&](const char* name, const std::string& body) {
        count(name, [&] { keep(reader.read(Dialect::OpenAiChat, body)); });
    };
    count_body("read_chat_2k", chat_body(2 << 10, Tools::None));
    count_body("read_chat_64k", chat_body(64 << 10, Tools::None));
    count_body("read_chat_with_tools_64k", chat_body(64 << 10, Tools::Dozen));
    count_body("read_agent_64k", agent_body(64 << 10));
}

void count_answers() {
    using prompt::AnswerReader;
    prompt::RequestReader requests({.hash_seed = 1});
    const prompt::RequestFacts facts =
        requests.read(prompt::Dialect::OpenAiChat, chat_body(2048, Tools::None));
    for (const bool has_credit : {false, true}) {
        AnswerReader reader(facts.dialect, AnswerReader::Format::ServerSentEvents, facts.key,
                            has_credit);
        const std::string event = chat_event(" hello");
        count(has_credit ? "event_with_credit" : "event", [&] { keep(reader.feed(event)); });
    }
    AnswerReader reader(facts.dialect, AnswerReader::Format::ServerSentEvents, facts.key, true);
    const std::string other = R"(data: {"choices":[{"index":0,"delta":{"content":"a"}}],)"
                              R"("usage":{"prompt_tokens":7,"completion_tokens":2}})"
                              "\n\n";
    count("event_with_usage", [&] { keep(reader.feed(other)); });
    const std::string answer = chat_answer(1024);
    count("read_answer_1k", [&] {
        AnswerReader whole(facts.dialect, AnswerReader::Format::Json, facts.key, true);
        keep(whole.feed(answer));
        keep(whole.finish(true));
    });
}

void count_http() {
    const std::string request =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: router.example:8080\r\n"
        "Accept: application/json\r\nContent-Type: application/json\r\n"
        "User-Agent: OpenAI/Python 1.40.0\r\nAuthorization: Bearer sk-0123456789abcdef\r\n"
        "X-Stainless-Lang: python\r\nAccept-Encoding: gzip, deflate\r\n"
        "Connection: keep-alive\r\nContent-Length: 2048\r\n\r\n";
    Random random(1);
    http::RequestHead request_head;
    http::RequestHeadParser request_parser{http::HeadLimits{}};
    count("request_head", [&] {
        const http::Arrival arrival{"203.0.113.9", "http", random};
        keep(request_parser.parse(request, arrival, request_head));
        request_head.seal(2048);
        keep(request_head.pieces("", "10.0.0.1:8000"));
        request_parser.reset();
    });
    const std::string response =
        "HTTP/1.1 200 OK\r\ndate: Mon, 01 Jan 2024 00:00:00 GMT\r\nserver: uvicorn\r\n"
        "content-type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
    http::ResponseHead response_head;
    http::ResponseHeadParser response_parser{http::HeadLimits{}};
    count("response_head", [&] {
        http::Asker asker;
        asker.request_id = "0123456789abcdef";
        keep(response_parser.parse(response, asker, response_head));
        response_parser.reset();
    });
    const std::string chunk = "be\r\n" + std::string(0xbe, 'x') + "\r\n";
    http::ChunkFollower follower;
    count("chunk", [&] {
        std::string_view rest = chunk;
        while (!follower.next(rest).empty()) {
        }
        keep(rest);
    });
}

/// Block k of chain `seed`.
prompt::PromptKey key_of(std::uint64_t seed, std::size_t blocks) {
    prompt::PromptKey key;
    key.is_tokens = true;
    for (std::size_t k = 0; k < blocks; ++k) {
        key.hashes.push_back(mix(k == 0 ? 1 : key.hashes.back(), seed));
        key.ends.push_back(static_cast<std::uint32_t>((k + 1) * 128));
    }
    key.total = blocks * 128;
    key.home = key.fixed_prefix = key.hashes.front();
    return key;
}

/// A router over `count` healthy backends.
class Fleet {
  public:
    Fleet(std::size_t count, const routing::Router::Options& options)
        : router_(options, pool_, map_, Random(7)) {
        for (std::size_t i = 0; i < count; ++i) {
            config::Backend spec;
            spec.id = "b" + std::to_string(i);
            const BackendSlot slot = pool_.add(spec).value();
            pool_.find(slot)->health.probe_succeeded(now());
            router_.backend_added(slot, now());
        }
    }

  protected:
    TimePoint now() const { return TimePoint(from_seconds(seconds_)); }

    double seconds_ = 1000;
    pool::Pool pool_{config::Health{}};
    prefix::PrefixMap map_{prefix::PrefixMap::Options{}};
    routing::Router router_;
};

/// It has served some conversations.
class Conversations : public Fleet {
  public:
    explicit Conversations(std::size_t count) : Fleet(count, options()) {
        for (std::uint64_t i = 0; i < 20 * count; ++i) serve(key_of(i, 64));
    }

    void serve(prompt::PromptKey key) {
        routing::Ask ask;
        ask.key = std::move(key);
        ask.streams = true;
        routing::Ticket ticket(std::move(ask));
        router_.admit(ticket, now());
        seconds_ += 0.05;
        router_.first_byte(ticket, now());
        seconds_ += 0.5;
        router_.end(ticket, routing::Outcome{}, now());
    }

  private:
    static routing::Router::Options options() {
        routing::Router::Options options;
        options.routing.hold = std::nullopt;
        return options;
    }
};

/// Requests like W1 of bench/dataplane.sh: 64 under way at two backends, each of two blocks that
/// all share and one of its own, and with an answer, in one piece, of two more.
class ShortRequests : public Fleet {
  public:
    ShortRequests() : Fleet(2, options()) {
        for (std::uint64_t i = 0; i < kUnderWay; ++i) {
            keys_.push_back(key_of(i, 3));
            prompt::PromptKey& key = keys_.back();
            key.is_tokens = false;
            key.hashes = {1, 2, mix(i, 3)};
            key.ends = {256, 512, 1'900};
            key.total = 1'900;
            key.history = {1, key.hashes.back(), key.total, 0, 3};
            answers_.push_back({mix(key.hashes.back(), 1), mix(key.hashes.back(), 2)});
        }
        for (std::size_t i = 0; i < kUnderWay; ++i) begin();
        for (std::size_t i = 0; i < 20 * kUnderWay; ++i) serve();
    }

    /// The oldest one's answer, and a new request.
    void serve() {
        const std::size_t which = ended_++ % kUnderWay;
        routing::Ticket& ticket = *tickets_.front();
        router_.first_byte(ticket, now());
        routing::Outcome outcome;
        outcome.reported_prompt = 512;
        outcome.reported_output = 180;
        outcome.answer_hashes = answers_[which];
        outcome.answer_ends = kAnswerEnds;
        router_.end(ticket, outcome, now());
        tickets_.pop_front();
        begin();
    }

  private:
    static constexpr std::size_t kUnderWay = 64;
    static constexpr std::array<std::uint32_t, 2> kAnswerEnds{2'412, 2'700};

    static routing::Router::Options options() {
        routing::Router::Options options;
        options.kept_decisions = 256;
        return options;
    }

    void begin() {
        seconds_ += 40e-6;
        routing::Ask ask;
        ask.key = keys_[begun_++ % kUnderWay];
        tickets_.push_back(std::make_unique<routing::Ticket>(std::move(ask)));
        router_.admit(*tickets_.back(), now());
    }

    std::vector<prompt::PromptKey> keys_;
    std::vector<std::array<std::uint64_t, 2>> answers_;
    std::deque<std::unique_ptr<routing::Ticket>> tickets_;
    std::size_t begun_ = 0;
    std::size_t ended_ = 0;
};

/// Admission, first byte and end of a short request and of a warm one of 88 blocks; match and
/// touch alone.
void count_routing() {
    ShortRequests requests;
    count("route_short", [&] { requests.serve(); });
    for (const std::size_t backends : {8U, 64U}) {
        Conversations fleet(backends);
        const std::string name = "route_" + std::to_string(backends);
        const prompt::PromptKey key = key_of(3, 88);
        count(name.c_str(), [&] { fleet.serve(key); });
    }
    prefix::PrefixMap map{prefix::PrefixMap::Options{}};
    std::vector<BackendSlot> slots;
    for (std::uint16_t i = 0; i < 8; ++i) {
        slots.push_back(BackendSlot(i));
        map.add_backend(slots.back(), 10'000'000);
    }
    for (std::uint64_t i = 0; i < 400; ++i) {
        const prompt::PromptKey key = key_of(i, 128);
        map.touch({key.hashes, key.ends}, slots[i % slots.size()]);
    }
    prompt::PromptKey turn = key_of(9, 100);
    for (std::uint64_t k = 0; k < 28; ++k) {
        turn.hashes.push_back(mix(turn.hashes.back(), 1000));
        turn.ends.push_back(turn.ends.back() + 128);
    }
    std::vector<prefix::Match> matches(slots.size());
    count("map_match_128", [&] { map.match({turn.hashes, turn.ends}, slots, matches); });
    const prompt::PromptKey held = key_of(9, 128);
    count("map_touch_128", [&] { map.touch({held.hashes, held.ends}, slots[1]); });
}

void print_environment() {
#if defined(__x86_64__)
    const char* level = __builtin_cpu_supports("avx2") != 0 ? "avx2" : "sse2";
#else
    const char* level = "other";
#endif
    std::printf("%s %s, glibc %s, %s\n",
#if defined(__clang__)
                "clang",
#else
                "gcc",
#endif
                __VERSION__, gnu_get_libc_version(), level);
}

}  // namespace
}  // namespace prefix_router::bench

int main(int count, char** arguments) {
    using namespace prefix_router::bench;
    if (count == 2 && std::string_view(arguments[1]) == "--environment") {
        print_environment();
        return 0;
    }
    count_prompts();
    count_answers();
    count_http();
    count_routing();
    return 0;
}
