// The engine against a reference simulator's record: same workload, same cached tokens, same times.
// Each file of oracle/ holds one engine's options, then per request its arrival and what became of
// it.

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/sim/engine.hpp"

namespace prefix_router::sim {
namespace {

struct Recorded {
    Seconds arrival = 0;
    Engine::Request request;
    Tokens cached = 0;
    Seconds first_token = 0;
    Seconds finish = 0;
    std::vector<std::uint64_t> blocks;
    std::vector<std::uint64_t> answer_blocks;
};

Recorded parse_request(const std::string& line) {
    Recorded r;
    std::istringstream in(line);
    in >> r.arrival >> r.request.prompt_tokens >> r.request.output_tokens >> r.cached >>
        r.first_token >> r.finish;
    bool is_answer = false;
    for (std::string word; in >> word;) {
        if (word == "/") {
            is_answer = true;
        } else {
            (is_answer ? r.answer_blocks : r.blocks).push_back(std::stoull(word));
        }
    }
    return r;
}

EngineOptions parse_options(const std::string& line) {
    EngineOptions options;
    std::istringstream in(line);
    double attention_length = 0;
    in >> options.kv_tokens >> options.block_tokens >> options.prefill_rate >> options.overhead >>
        options.decode_rate >> options.slots >> options.interleave >> attention_length;
    if (attention_length > 0) options.attention_length = attention_length;
    return options;
}

struct Record {
    EngineOptions options;
    std::vector<Recorded> requests;
};

Record load(const std::string& name) {
    std::ifstream in(PREFIX_ROUTER_SIM_TEST_DATA "/" + name + ".txt");
    Record record;
    bool has_options = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        if (!has_options) {
            record.options = parse_options(line);
            has_options = true;
        } else {
            record.requests.push_back(parse_request(line));
        }
    }
    return record;
}

class EngineOracle : public testing::TestWithParam<const char*> {};

TEST_P(EngineOracle, GivesTheReferencesNumbers) {
    Record record = load(GetParam());
    ASSERT_EQ(record.requests.size(), 150U);
    Engine engine(record.options);
    std::unordered_map<Engine::RequestId, Recorded*> by_id;
    std::size_t finished = 0;
    const auto check = [&](Seconds until) {
        for (const Engine::Event& event : engine.advance(until)) {
            Recorded& r = *by_id.at(event.id);
            EXPECT_EQ(event.cached_tokens, r.cached) << "arrival " << r.arrival;
            if (event.kind == Engine::Event::Kind::PrefillDone) {
                EXPECT_NEAR(event.at, r.first_token, 1e-6) << "arrival " << r.arrival;
            } else if (event.kind == Engine::Event::Kind::Finished) {
                EXPECT_NEAR(event.at, r.finish, 1e-6) << "arrival " << r.arrival;
                by_id.erase(event.id);
                ++finished;
            }
        }
    };
    for (Recorded& r : record.requests) {
        check(r.arrival);
        r.request.blocks = r.blocks;
        r.request.answer_blocks = r.answer_blocks;
        const Engine::Submission submission = engine.submit(r.request, r.arrival);
        ASSERT_EQ(submission.status, Engine::Submitted::Accepted);
        by_id[submission.id] = &r;
    }
    while (const auto next = engine.next_event_time()) check(*next);
    EXPECT_EQ(finished, record.requests.size());
    EXPECT_EQ(engine.running(), 0U);
    EXPECT_EQ(engine.waiting(), 0U);
    EXPECT_EQ(engine.kv_usage(), 0.0);
}

INSTANTIATE_TEST_SUITE_P(Records, EngineOracle,
                         testing::Values("fifo", "fifo_tight_memory", "fifo_named_answers",
                                         "by_position", "interleaved", "interleaved_by_position"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace prefix_router::sim
