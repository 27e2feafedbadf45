#include "prefix_router/sim/engine.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::sim {
namespace {

using Kind = Engine::Event::Kind;
using Ids = std::vector<std::uint64_t>;

/// 100-token blocks, 1,000 tokens/s, no overhead, 10 tokens/s of decode: easy sums.
EngineOptions plain() {
    EngineOptions options;
    options.kv_tokens = 10'000;
    options.block_tokens = 100;
    options.overhead = 0;
    options.prefill_rate = 1'000;
    options.decode_rate = 10;
    return options;
}

Ids chain(std::uint64_t first, std::size_t count) {
    Ids ids(count);
    std::iota(ids.begin(), ids.end(), first);
    return ids;
}

Engine::RequestId submit(Engine& engine, const Ids& ids, Seconds now, Tokens output = 10) {
    const auto prompt = static_cast<Tokens>(ids.size()) * engine.options().block_tokens;
    return engine.submit({ids, prompt, output, {}}, now).id;
}

/// Runs the engine dry; the times of one kind of event by request.
std::vector<Engine::Event> run_dry(Engine& engine, Kind kind) {
    std::vector<Engine::Event> result;
    const auto keep = [&](std::span<const Engine::Event> events) {
        for (const Engine::Event& event : events) {
            if (event.kind == kind) result.push_back(event);
        }
    };
    keep(engine.advance(0));
    while (const auto next = engine.next_event_time()) keep(engine.advance(*next));
    return result;
}

TEST(Engine, ComputesSlowerWhenItsRateFalls) {
    Engine engine(plain());
    submit(engine, chain(1, 5), 0);
    engine.set_prefill_rate(500);
    submit(engine, chain(11, 5), 0);
    const auto done = run_dry(engine, Kind::PrefillDone);
    ASSERT_EQ(done.size(), 2U);
    EXPECT_DOUBLE_EQ(done[0].at, 0.5) << "planned before";
    EXPECT_DOUBLE_EQ(done[1].at, 1.5);
}

TEST(Engine, RefusesWhatNoLongerFitsWhenItsMemoryShrinks) {
    Engine engine(plain());
    engine.set_kv_tokens(1'000);
    EXPECT_EQ(engine.total_blocks(), 10U);
    const Ids ids = chain(1, 20);
    EXPECT_EQ(engine.submit({ids, 2'000, 10, {}}, 0).status, Engine::Submitted::TooLarge);
}

TEST(Engine, DropsAWaitingRequestThatNoLongerFitsAndServesThoseBehindIt) {
    EngineOptions options = plain();
    options.kv_tokens = 1'000;
    Engine engine(options);
    submit(engine, chain(1, 5), 0);
    const auto large = submit(engine, chain(11, 7), 0);
    const auto small = submit(engine, chain(21, 2), 0);
    engine.set_kv_tokens(500);
    std::vector<Engine::Event> ended;
    const auto keep = [&](std::span<const Engine::Event> events) {
        for (const Engine::Event& event : events)
            if (event.kind == Kind::Dropped || event.kind == Kind::Finished) ended.push_back(event);
    };
    keep(engine.advance(0));
    while (const auto next = engine.next_event_time()) keep(engine.advance(*next));
    ASSERT_EQ(ended.size(), 3U);
    EXPECT_EQ(ended[0].kind, Kind::Dropped);
    EXPECT_EQ(ended[0].id, large);
    EXPECT_EQ(ended[2].id, small);
    EXPECT_EQ(engine.waiting(), 0U);
    EXPECT_FALSE(engine.cancel(large, 100));
}

TEST(Engine, APromptWithoutIdsTakesItsRoom) {
    Engine engine(plain());
    const auto half = [] { return Engine::Request{{}, 4'950, 10, {}}; };
    engine.submit(half(), 0);
    EXPECT_DOUBLE_EQ(engine.kv_usage(), 0.51);
    EXPECT_EQ(engine.submit({{}, 10'000, 10, {}}, 0).status, Engine::Submitted::TooLarge);
    engine.submit(half(), 0);
    EXPECT_EQ(engine.running(), 1U) << "there is no room for both";
}

TEST(Engine, ComputesPromptThenAnswer) {
    Engine engine(plain());
    submit(engine, chain(1, 5), 1.0);
    EXPECT_EQ(engine.next_event_time(), 1.5);
    const auto first = engine.advance(1.5);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].kind, Kind::Scheduled);
    EXPECT_EQ(first[1].kind, Kind::PrefillDone);
    EXPECT_EQ(engine.next_event_time(), 2.5);
    EXPECT_EQ(engine.advance(9).back().kind, Kind::Finished);
    EXPECT_EQ(engine.counters().finished, 1U);
}

TEST(Engine, AlwaysComputesAtLeastOneToken) {
    Engine engine(plain());
    submit(engine, chain(1, 5), 0);
    run_dry(engine, Kind::Finished);
    submit(engine, chain(1, 5), 10);
    EXPECT_EQ(engine.advance(10).front().cached_tokens, 400);
    EXPECT_EQ(engine.counters().cached_tokens, 400U);
    EXPECT_EQ(engine.counters().prompt_tokens, 1'000U);
}

TEST(Engine, HandsOutEventsAtTheirOwnTimeHoweverLateItIsAsked) {
    Engine engine(plain());
    submit(engine, chain(1, 5), 0);
    submit(engine, chain(101, 5), 0);
    const auto events = engine.advance(100);
    ASSERT_EQ(events.size(), 6U);
    EXPECT_EQ(events[1].at, 0.5);
    EXPECT_EQ(events[2].kind, Kind::Scheduled);
    EXPECT_EQ(events[2].at, 0.5);
    EXPECT_EQ(events[5].at, 2.0);
    EXPECT_TRUE(engine.advance(100).empty());
}

TEST(Engine, ServesPrefillsFirstComeFirstServed) {
    Engine engine(plain());
    submit(engine, chain(1, 10), 0);
    submit(engine, chain(101, 1), 0);
    const auto done = run_dry(engine, Kind::PrefillDone);
    EXPECT_DOUBLE_EQ(done[0].at, 1.0);
    EXPECT_DOUBLE_EQ(done[1].at, 1.1);
}

TEST(Engine, InterleavedPrefillsShareOneServer) {
    EngineOptions options = plain();
    options.interleave = 2;
    Engine engine(options);
    submit(engine, chain(1, 10), 0);
    submit(engine, chain(101, 1), 0);
    const auto done = run_dry(engine, Kind::PrefillDone);
    EXPECT_DOUBLE_EQ(done[0].at, 0.2);
    EXPECT_DOUBLE_EQ(done[1].at, 1.1);
}

TEST(Engine, LanesServePrefillsSideBySide) {
    EngineOptions options = plain();
    options.lanes = 2;
    Engine engine(options);
    for (std::uint64_t k = 0; k < 3; ++k) submit(engine, chain(100 * k, 10), 0);
    const auto done = run_dry(engine, Kind::PrefillDone);
    EXPECT_DOUBLE_EQ(done[0].at, 1.0);
    EXPECT_DOUBLE_EQ(done[1].at, 1.0);
    EXPECT_DOUBLE_EQ(done[2].at, 2.0);
}

TEST(Engine, PrefillGrowsWithPosition) {
    EngineOptions options = plain();
    options.attention_length = 500;
    Engine engine(options);
    submit(engine, chain(1, 10), 0);
    EXPECT_DOUBLE_EQ(*engine.next_event_time(), 2.0);  // (1000 + 1000^2 / 1000) / 1000
}

TEST(Engine, WaitsForASlot) {
    EngineOptions options = plain();
    options.slots = 1;
    Engine engine(options);
    submit(engine, chain(1, 1), 0, 100);
    submit(engine, chain(101, 1), 0);
    EXPECT_EQ(engine.waiting(), 1U);
    const auto done = run_dry(engine, Kind::PrefillDone);
    EXPECT_DOUBLE_EQ(done[1].at, 10.2);
}

TEST(Engine, TheHeadWaitsForMemoryAndNobodyOvertakesIt) {
    EngineOptions options = plain();
    options.kv_tokens = 1'000;
    Engine engine(options);
    submit(engine, chain(1, 6), 0, 20);
    submit(engine, chain(101, 6), 0);
    submit(engine, chain(201, 1), 0);
    engine.advance(1);
    EXPECT_EQ(engine.waiting(), 2U);
    EXPECT_DOUBLE_EQ(engine.kv_usage(), 0.7);
    const auto done = run_dry(engine, Kind::PrefillDone);
    EXPECT_DOUBLE_EQ(done[0].at, 3.2) << "2.6 s: the first ends; 0.6 s of its own";
}

TEST(Engine, RefusesWhatCanNeverFit) {
    EngineOptions options = plain();
    options.kv_tokens = 1'000;
    Engine engine(options);
    const Ids big = chain(1, 10);
    EXPECT_EQ(engine.submit({big, 1'000, 1, {}}, 0).status, Engine::Submitted::TooLarge);
    EXPECT_EQ(engine.submit({chain(1, 9), 900, 1, {}}, 0).status, Engine::Submitted::Accepted);
}

TEST(Engine, RefusesOverTheLongestQueue) {
    EngineOptions options = plain();
    options.max_waiting = 1;
    Engine engine(options);
    for (std::uint64_t k = 0; k < 2; ++k) submit(engine, chain(100 * k, 1), 0);
    EXPECT_EQ(engine.submit({chain(300, 1), 100, 1, {}}, 0).status, Engine::Submitted::QueueFull);
    EXPECT_EQ(engine.waiting(), 1U);
    EXPECT_EQ(engine.counters().refused, 1U);
    EXPECT_EQ(run_dry(engine, Kind::Finished).size(), 2U);
}

TEST(Engine, AMaximumOfZeroStillLetsAnIdleEngineWork) {
    EngineOptions options = plain();
    options.max_waiting = 0;
    Engine engine(options);
    EXPECT_EQ(engine.submit({chain(1, 1), 100, 1, {}}, 0).status, Engine::Submitted::Accepted);
    EXPECT_EQ(engine.submit({chain(9, 1), 100, 1, {}}, 0).status, Engine::Submitted::QueueFull);
}

TEST(EngineCancel, AWaitingRequestLeavesNoTrace) {
    Engine engine(plain());
    submit(engine, chain(1, 10), 0);
    const auto waiting = submit(engine, chain(101, 10), 0);
    EXPECT_TRUE(engine.cancel(waiting, 0.5));
    EXPECT_FALSE(engine.cancel(waiting, 0.5));
    EXPECT_EQ(engine.waiting(), 0U);
    EXPECT_EQ(engine.match(chain(101, 10)), 0U);
    EXPECT_EQ(engine.counters().cancelled, 1U);
}

TEST(EngineCancel, KeepsWhatThePrefillHasComputed) {
    Engine engine(plain());
    const auto id = submit(engine, chain(1, 10), 0);
    EXPECT_TRUE(engine.cancel(id, 0.45));
    EXPECT_EQ(engine.match(chain(1, 10)), 4U);
    EXPECT_EQ(engine.running(), 0U);
    EXPECT_EQ(engine.kv_usage(), 0.0);
    EXPECT_EQ(engine.next_event_time(), std::nullopt);
}

TEST(EngineCancel, KeepsWhatAPositionDependentPrefillHasComputed) {
    EngineOptions options = plain();
    options.attention_length = 500;
    Engine engine(options);
    const auto id = submit(engine, chain(1, 10), 0);  // 2 s; 500 tokens take 0.5 + 0.25 s
    EXPECT_TRUE(engine.cancel(id, 0.7501));
    EXPECT_EQ(engine.match(chain(1, 10)), 5U);
}

TEST(EngineCancel, LetsTheNextRequestStartAtOnce) {
    Engine engine(plain());
    const auto id = submit(engine, chain(1, 10), 0);
    submit(engine, chain(101, 10), 0);
    EXPECT_TRUE(engine.cancel(id, 0.25));
    EXPECT_DOUBLE_EQ(*engine.next_event_time(), 1.25);
}

TEST(EngineCancel, ADecodingRequestKeepsItsPromptAndTheAnswerSoFar) {
    Engine engine(plain());
    const Ids prompt = chain(1, 2);
    const Ids answer = {50, 51};
    const auto id = engine.submit({prompt, 200, 200, answer}, 0).id;
    engine.advance(0.2);
    EXPECT_TRUE(engine.cancel(id, 12.0));  // 118 answer tokens: one whole block
    EXPECT_EQ(engine.match(Ids{1, 2, 50, 51}), 3U);
    EXPECT_EQ(engine.next_event_time(), std::nullopt);
    EXPECT_EQ(engine.kv_usage(), 0.0);
}

TEST(EngineCancel, OfAnUnknownOrFinishedRequestIsRefused) {
    Engine engine(plain());
    const auto id = submit(engine, chain(1, 1), 0);
    engine.advance(100);
    EXPECT_FALSE(engine.cancel(id, 100));
    EXPECT_FALSE(engine.cancel(12'345, 100));
    const auto next = submit(engine, chain(1, 1), 100);
    EXPECT_NE(id, next) << "ids are not reused";
}

TEST(Engine, CachesAnswersWhenTheyAreNamed) {
    Engine engine(plain());
    const Ids prompt = chain(1, 2);
    const Ids answer = {50};
    engine.submit({prompt, 250, 60, answer}, 0);
    run_dry(engine, Kind::Finished);
    EXPECT_EQ(engine.match(Ids{1, 2, 50}), 3U);
}

TEST(Engine, FlushForgetsTheCache) {
    Engine engine(plain());
    submit(engine, chain(1, 3), 0);
    run_dry(engine, Kind::Finished);
    engine.flush();
    EXPECT_EQ(engine.match(chain(1, 3)), 0U);
}

}  // namespace
}  // namespace prefix_router::sim
