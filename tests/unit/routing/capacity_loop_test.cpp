// The whole loop from map to report to belief: a Router in front of an engine whose cache is a
// plain LRU list, with a capacity believed too small or too large.

#include <vector>

#include <gtest/gtest.h>

#include "unit/prefix/lru_model.hpp"
#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

constexpr Tokens kTruth = 100'000;
constexpr std::size_t kSessions = 30;
constexpr std::size_t kLongest = 40;  // blocks; all sessions together are about three caches

class CapacityLoopTest : public RouterTest, public testing::WithParamInterface<double> {
  protected:
    /// A turn of a session: recent sessions are more likely to go on.
    void turn() {
        const double recent = random_.unit() * random_.unit();
        const auto place = static_cast<std::size_t>(recent * static_cast<double>(kSessions));
        prompt::PromptKey session = std::move(sessions_[place]);
        sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(place));
        if (session.hashes.size() >= kLongest) {
            session = {};
        }
        session.is_tokens = true;
        extend(session, random_(), 1 + random_.below(4));
        sessions_.insert(sessions_.begin(), session);
        serve_from_cache(session);
    }

    void serve_from_cache(const prompt::PromptKey& session) {
        prefix::OwnedChain chain;
        for (const std::uint64_t hash : session.hashes) {
            chain.add(hash, 512);
        }
        const Tokens cached = Tokens{engine_.depth(chain)} * 512;
        Ticket& ticket = admit(session);
        engine_.touch(chain, 0);
        engine_.trim(kTruth);
        advance(0.1);
        first_byte(ticket);
        end_with_report(ticket, cached);
    }

    Random random_{6};
    std::vector<prompt::PromptKey> sessions_ = std::vector<prompt::PromptKey>(kSessions);
    prefix::LruModel engine_{kTruth};
};

TEST_P(CapacityLoopTest, TheBeliefComesToTheTruthAndStaysThere) {
    Router::Options options = sent_at_once();
    options.initial_capacity = static_cast<Tokens>(GetParam() * kTruth);
    start(1, options);
    for (int i = 0; i < 800; ++i) {
        turn();
    }
    for (int i = 0; i < 400; ++i) {
        turn();
        const auto believed = static_cast<double>(router_->belief(BackendSlot(0), now()).capacity);
        EXPECT_GT(believed, 0.8 * kTruth) << i;
        EXPECT_LT(believed, 1.4 * kTruth) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Start, CapacityLoopTest, testing::Values(0.3, 1.0, 3.0));

}  // namespace
}  // namespace prefix_router::routing
