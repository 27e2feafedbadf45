#include "prefix_router/proxy/roster.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/metrics/metrics.hpp"

namespace prefix_router::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class SetClock final : public Clock {
  public:
    TimePoint now() const override { return time; }
    TimePoint time{std::chrono::seconds(1000)};
};

class Sleeper final : public TicketOwner {
  public:
    void ticket_released() noexcept override { ++woken; }
    int woken = 0;
};

class RosterTest : public ::testing::Test {
  protected:
    static config::Backend backend(const std::string& id, const std::string& host = "127.0.0.1:1") {
        config::Backend made = *config::backend_from_url("http://" + host);
        made.id = id;
        return made;
    }

    /// What the source now says; the change must be possible.
    Roster::Change say(const std::string& source, std::vector<config::Backend> backends) {
        const auto change = roster_.replace(source, std::move(backends));
        EXPECT_TRUE(change.has_value()) << change.error().message();
        return change ? *change : Roster::Change();
    }
    std::string complaint(const std::string& source, std::vector<config::Backend> backends) {
        const auto change = roster_.replace(source, std::move(backends));
        EXPECT_FALSE(change.has_value());
        return change ? "" : change.error().message();
    }
    std::vector<std::string> ids() const {
        std::vector<std::string> found;
        for (const BackendState& state : desk_.states()) {
            found.push_back(state.id + (state.is_leaving ? " leaves" : ""));
        }
        return found;
    }
    BackendState state(const std::string& id) const {
        for (const BackendState& state : desk_.states()) {
            if (state.id == id) {
                return state;
            }
        }
        ADD_FAILURE() << "no backend " << id;
        return {};
    }
    RoutingDesk::Placement send(std::optional<routing::Ticket>& ticket) {
        return desk_.admit(ticket, routing::Ask(), "", owner_);
    }
    /// Each takes one request at a time. The number stands in the URL as well.
    static std::vector<config::Backend> fleet(const std::string& name, std::size_t size) {
        std::vector<config::Backend> backends;
        for (std::size_t i = 0; i < size; ++i) {
            backends.push_back(
                backend(name + std::to_string(i), "127.0.0.1:" + std::to_string(i + 1)));
            backends.back().max_in_flight = 1;
        }
        return backends;
    }
    /// Each backend has one of as many requests.
    void occupy(std::vector<std::optional<routing::Ticket>>& tickets) {
        for (auto& ticket : tickets) {
            ASSERT_EQ(send(ticket).decision.action, routing::Action::Send);
        }
    }
    void end(std::vector<std::optional<routing::Ticket>>& tickets, std::size_t from,
             std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            desk_.end(*tickets[i], {}, Verdict::Good);
        }
        desk_.tick();
    }
    /// How many there are of a fleet; by what they do.
    struct Seen {
        std::size_t serving = 0;
        std::size_t waiting = 0;
        std::size_t leaving = 0;
        friend bool operator==(const Seen&, const Seen&) = default;
    };
    Seen seen(const std::string& name) const {
        Seen counts;
        for (const BackendState& state : desk_.states()) {
            if (state.id.starts_with(name)) {
                ++(state.is_leaving   ? counts.leaving
                   : state.is_waiting ? counts.waiting
                                      : counts.serving);
            }
        }
        return counts;
    }

    config::Config config_;
    SetClock clock_;
    metrics::Registry registry_;
    Metrics metrics_{registry_};
    RoutingDesk desk_{config_, metrics_, clock_, Random(1)};
    Roster roster_{desk_, metrics_, AskedForKeys::No, std::chrono::minutes(1)};
    Sleeper owner_;
};

TEST_F(RosterTest, MakesWhatASourceSaysItsWholeSetAndLeavesTheOthers) {
    const auto first = say("file:a", {backend("a"), backend("b")});
    EXPECT_THAT(first.added, ElementsAre("a", "b"));
    say("dns:x", {backend("c")});
    const auto second = say("file:a", {backend("b"), backend("d")});
    EXPECT_THAT(second.added, ElementsAre("d"));
    EXPECT_THAT(second.removed, ElementsAre("a"));
    EXPECT_THAT(second.changed, IsEmpty());
    EXPECT_THAT(ids(), UnorderedElementsAre("b", "c", "d"));
    EXPECT_EQ(roster_.members().at("c").source, "dns:x");
    EXPECT_TRUE(say("file:a", {backend("b"), backend("d")}).is_empty());
}

TEST_F(RosterTest, ChangesFieldsInPlace) {
    say("file:a", {backend("a")});
    const BackendRef before = desk_.backends().front();
    desk_.probed(before, true);
    config::Backend other = backend("a");
    other.capacity_tokens = 5000;
    other.max_in_flight = 3;
    other.lanes = 2;
    other.models = {"m"};
    EXPECT_THAT(say("file:a", {other}).changed, ElementsAre("a"));
    const BackendState now = state("a");
    EXPECT_EQ(now.health, pool::Health::State::Healthy);
    EXPECT_EQ(now.belief.capacity, 5000);
    EXPECT_EQ(now.belief.max_in_flight, 3U);
    EXPECT_EQ(now.belief.lanes, 2);
    EXPECT_THAT(now.models, ElementsAre("m"));
    EXPECT_EQ(desk_.backends().front(), before) << "its connections are kept";
    EXPECT_THAT(say("file:a", {backend("a")}).changed, ElementsAre("a"));
    EXPECT_EQ(state("a").belief.capacity, 1'000'000);
    EXPECT_EQ(state("a").belief.max_in_flight, std::nullopt);
}

TEST_F(RosterTest, BelievesNothingOfANewcomerThatItsPredecessorWasAsked) {
    say("file:a", {backend("a", "127.0.0.1:1")});
    const BackendRef former = desk_.backends().front();
    say("file:a", {backend("a", "127.0.0.1:2")});
    EXPECT_EQ(desk_.backends().front()->slot, former->slot);
    desk_.probed(former, true);
    pool::ScrapedLoad load;
    load.capacity = 4321;
    desk_.scraped(former, load);
    desk_.report_models(former, std::vector<std::string>{"m"});
    EXPECT_EQ(state("a").health, pool::Health::State::Unknown);
    EXPECT_EQ(state("a").scraped.capacity, std::nullopt);
    EXPECT_THAT(state("a").models, IsEmpty());
    desk_.probed(desk_.backends().front(), true);
    EXPECT_EQ(state("a").health, pool::Health::State::Healthy);
}

TEST_F(RosterTest, LetsRunningRequestsEndBeforeABackendIsGone) {
    say("file:a", {backend("a")});
    std::optional<routing::Ticket> ticket;
    EXPECT_EQ(send(ticket).backend->id, "a");
    say("file:a", {backend("b")});
    EXPECT_THAT(ids(), UnorderedElementsAre("a leaves", "b"));
    EXPECT_THAT(desk_.backends(),
                ElementsAre(::testing::Pointee(::testing::Field(&BackendEntry::id, "b"))));
    std::optional<routing::Ticket> next;
    EXPECT_EQ(send(next).backend->id, "b");
    desk_.end(*next, {}, Verdict::Good);
    desk_.tick();
    EXPECT_THAT(ids(), UnorderedElementsAre("a leaves", "b"));
    desk_.end(*ticket, {}, Verdict::Good);
    desk_.tick();
    EXPECT_THAT(ids(), ElementsAre("b"));
    EXPECT_THAT(registry_.exposition(), Not(HasSubstr("backend=\"a\"")));
}

TEST_F(RosterTest, TakesAnotherUrlUnderAnIdForAnotherBackend) {
    say("file:a", {backend("a", "127.0.0.1:1")});
    std::optional<routing::Ticket> ticket;
    const BackendRef former = send(ticket).backend;
    const auto change = say("file:a", {backend("a", "127.0.0.1:2")});
    EXPECT_THAT(change.added, ElementsAre("a"));
    EXPECT_THAT(change.removed, ElementsAre("a"));
    EXPECT_THAT(ids(), UnorderedElementsAre("a leaves", "a"));
    EXPECT_TRUE(former->is_leaving.load());
    EXPECT_THAT(registry_.exposition(), HasSubstr("url=\"http://127.0.0.1:2\""));
    EXPECT_THAT(registry_.exposition(), Not(HasSubstr("url=\"http://127.0.0.1:1\"")));
    desk_.end(*ticket, {}, Verdict::Good);
    desk_.tick();
    EXPECT_THAT(ids(), ElementsAre("a"));
    EXPECT_THAT(registry_.exposition(), HasSubstr("backend_requests_total{backend=\"a\"}"));
}

TEST_F(RosterTest, RefusesAnIdOfAnotherSourceAndChangesNothing) {
    say("file:a", {backend("a")});
    EXPECT_THAT(complaint("dns:x", {backend("b"), backend("a")}),
                HasSubstr("its id is taken by one from file:a"));
    EXPECT_THAT(complaint("dns:x", {backend("b"), backend("b")}), HasSubstr("names it twice"));
    EXPECT_THAT(ids(), ElementsAre("a"));
    EXPECT_THAT(registry_.exposition(), Not(HasSubstr("backend=\"b\"")));
}

TEST_F(RosterTest, RefusesTooManyAndUnreadableFiles) {
    std::vector<config::Backend> many;
    for (std::size_t i = 0; i <= kMaxBackends; ++i) {
        many.push_back(backend("b" + std::to_string(i)));
    }
    EXPECT_THAT(complaint("file:a", many), HasSubstr("make it 1025 backends"));
    say("file:a", {backend("a")});
    config::Backend secret = backend("a");
    secret.authorization = {config::BackendAuthorization::Kind::File, "/nowhere"};
    EXPECT_THAT(complaint("file:a", {secret, backend("b")}), HasSubstr("/nowhere"));
    EXPECT_THAT(ids(), ElementsAre("a"));
}

TEST_F(RosterTest, ReplacesAFleetByAnotherForWhichThereAreTooFewPlacesBesideIt) {
    say("file:a", fleet("old", 600));
    const std::string told = complaint("dns:x", fleet("more", 425));
    EXPECT_THAT(told, HasSubstr("dns:x would make it 1025 backends"));
    EXPECT_THAT(told, HasSubstr("name fewer, or divide them among several routers"));
    say("file:a", fleet("new", 600));
    EXPECT_EQ(seen("old"), Seen());
    EXPECT_EQ(seen("new"), (Seen{600, 0, 0}));
}

TEST_F(RosterTest, LetsAFleetInAsTheAnswersOfTheFormerOneEnd) {
    say("file:a", fleet("old", 600));
    std::vector<std::optional<routing::Ticket>> running(600);
    occupy(running);
    EXPECT_EQ(say("file:a", fleet("new", 600)).added.size(), 600U);
    EXPECT_EQ(seen("old"), (Seen{0, 0, 600}));
    EXPECT_EQ(seen("new"), (Seen{424, 176, 0}));
    EXPECT_EQ(desk_.backends().size(), 424U);
    end(running, 0, 100);
    EXPECT_EQ(seen("old"), (Seen{0, 0, 500}));
    EXPECT_EQ(seen("new"), (Seen{524, 76, 0}));
    end(running, 100, 600);
    EXPECT_EQ(seen("old"), Seen());
    EXPECT_EQ(seen("new"), (Seen{600, 0, 0}));
    occupy(running);
    end(running, 0, 600);
}

TEST_F(RosterTest, ChangesAndRemovesBackendsThatWaitForAPlace) {
    const std::string path = ::testing::TempDir() + "roster_test_waiting_secret";
    std::ofstream(path) << "Bearer one\n";
    config::Backend guarded = backend("b");
    guarded.authorization = {config::BackendAuthorization::Kind::File, path};
    say("file:a", fleet("old", kMaxBackends));
    std::vector<std::optional<routing::Ticket>> running(kMaxBackends);
    occupy(running);
    say("file:a", {backend("a"), guarded, backend("c"), backend("d")});
    Roster::Wishes wishes;
    wishes.models = {"m"};
    EXPECT_THAT(state("c").last_error, HasSubstr("waits for the place of a removed backend"));
    ASSERT_TRUE(roster_.set("c", wishes).has_value());
    ASSERT_TRUE(roster_.set_draining("c", true).has_value());
    std::ofstream(path) << "Bearer two\n";
    config::Backend other = backend("d");
    other.capacity_tokens = 5000;
    const auto change = say("file:a", {guarded, backend("c"), other});
    EXPECT_THAT(change.removed, ElementsAre("a"));
    EXPECT_THAT(change.changed, ElementsAre("b", "d"));
    end(running, 0, kMaxBackends);
    EXPECT_THAT(ids(), UnorderedElementsAre("b", "c", "d"));
    EXPECT_THAT(state("c").models, ElementsAre("m"));
    EXPECT_TRUE(state("c").is_draining);
    EXPECT_THAT(state("c").last_error, IsEmpty());
    EXPECT_EQ(state("d").belief.capacity, 5000);
    EXPECT_THAT(registry_.exposition(), Not(HasSubstr("backend=\"a\"")));
    std::optional<routing::Ticket> ticket;
    for (const BackendRef& present : desk_.backends()) {
        EXPECT_EQ(present->access.authorization.value_or(""),
                  present->id == "b" ? "Bearer two" : "");
        desk_.probed(present, present->id == "b");
    }
    EXPECT_EQ(send(ticket).backend->id, "b");
    desk_.end(*ticket, {}, Verdict::Good);
}

TEST_F(RosterTest, DialsAnewWithOtherCredentialsAndKeepsWhatIsKnown) {
    const std::string path = ::testing::TempDir() + "roster_test_secret";
    std::ofstream(path) << "Bearer one\n";
    config::Backend guarded = backend("a");
    guarded.authorization = {config::BackendAuthorization::Kind::File, path};
    say("file:a", {guarded});
    const BackendRef before = desk_.backends().front();
    EXPECT_TRUE(say("file:a", {guarded}).is_empty());
    std::ofstream(path) << "Bearer two\n";
    EXPECT_THAT(say("file:a", {guarded}).changed, ElementsAre("a"));
    const BackendRef after = desk_.backends().front();
    EXPECT_NE(after, before);
    EXPECT_EQ(after->slot, before->slot);
    EXPECT_EQ(after->metrics, before->metrics);
    EXPECT_EQ(after->access.authorization, "Bearer two");
    EXPECT_TRUE(before->is_leaving.load());
    EXPECT_FALSE(after->is_leaving.load());
}

TEST_F(RosterTest, RemovesClientsKeysEverywhereOnceKeysAreConfigured) {
    say("dns:x", {backend("a")});
    EXPECT_EQ(desk_.backends().front()->access.authorization, std::nullopt);
    ASSERT_TRUE(roster_.replace_configured({backend("c")}, AskedForKeys::Yes).has_value());
    for (const BackendRef& each : desk_.backends()) {
        EXPECT_EQ(each->access.authorization, "") << each->id;
    }
}

TEST_F(RosterTest, KeepsAWishUntilItsSourceSaysSomethingElse) {
    say("file:a", {backend("a")});
    Roster::Wishes wishes;
    wishes.capacity_tokens = 7000;
    wishes.weight = 3;
    ASSERT_TRUE(roster_.set("a", wishes).has_value());
    ASSERT_TRUE(roster_.set_draining("a", true).has_value());
    EXPECT_EQ(state("a").belief.capacity, 7000);
    EXPECT_TRUE(say("file:a", {backend("a")}).is_empty());
    EXPECT_EQ(state("a").belief.capacity, 7000);
    config::Backend other = backend("a");
    other.capacity_tokens = 9000;
    say("file:a", {other});
    EXPECT_EQ(state("a").belief.capacity, 9000);
    EXPECT_TRUE(state("a").is_draining);
    EXPECT_EQ(in_force(roster_.members().at("a")).weight, 3);
    ASSERT_TRUE(roster_.set_draining("a", false).has_value());
    EXPECT_FALSE(state("a").is_draining);
    EXPECT_EQ(roster_.set("b", wishes).error().kind(), ErrorKind::NoBackend);
}

TEST_F(RosterTest, TakesAndRemovesOnlyAnOperatorsOwnOne) {
    say("configuration", {backend("a")});
    ASSERT_TRUE(roster_.add(backend("b", "127.0.0.1:2")).has_value());
    EXPECT_THAT(roster_.add(backend("b")).error().message(), HasSubstr("is there already"));
    EXPECT_THAT(roster_.remove("a").error().message(), HasSubstr("comes from configuration"));
    EXPECT_EQ(roster_.remove("x").error().kind(), ErrorKind::NoBackend);
    EXPECT_THAT(complaint("configuration", {backend("a"), backend("b", "127.0.0.1:3")}),
                HasSubstr("taken by one from admin"));
    EXPECT_TRUE(say("configuration", {backend("a"), backend("b", "127.0.0.1:2")}).is_empty());
    EXPECT_EQ(roster_.members().at("b").source, "configuration");
    ASSERT_TRUE(roster_.add(backend("c")).has_value());
    ASSERT_TRUE(roster_.remove("c").has_value());
    EXPECT_THAT(ids(), UnorderedElementsAre("a", "b"));
}

TEST_F(RosterTest, LetsEverySourceTakeOverWhatAnOperatorHadAdded) {
    ASSERT_TRUE(roster_.add(backend("a")).has_value());
    const BackendRef before = desk_.backends().front();
    EXPECT_THAT(complaint("dns:x", {backend("a", "127.0.0.1:2"), backend("b")}),
                HasSubstr("taken by one from admin"));
    EXPECT_THAT(say("dns:x", {backend("a"), backend("b")}).added, ElementsAre("b"));
    EXPECT_EQ(desk_.backends().front(), before) << "all that is known of it is kept";
    EXPECT_EQ(roster_.members().at("a").source, "dns:x");
    EXPECT_THAT(say("dns:x", {backend("b")}).removed, ElementsAre("a"));
}

TEST_F(RosterTest, WakesWhatWaitedForABackendThatLeaves) {
    config::Backend narrow = backend("a");
    narrow.max_in_flight = 1;
    say("file:a", {narrow});
    std::optional<routing::Ticket> first;
    std::optional<routing::Ticket> second;
    send(first);
    EXPECT_EQ(send(second).decision.action, routing::Action::Wait);
    clock_.time += std::chrono::seconds(1);
    say("file:a", {backend("b")});
    ASSERT_EQ(owner_.woken, 1);
    EXPECT_EQ(desk_.placement(*second).backend->id, "b");
    desk_.end(*first, {}, Verdict::Good);
    desk_.end(*second, {}, Verdict::Good);
}

TEST_F(RosterTest, KnowsWhereANewcomerIsBeforeItGetsRequests) {
    say("file:a", {backend("a")});
    say("file:a", {backend("b", "localhost:1")});
    EXPECT_FALSE(desk_.backends().front()->address.endpoints()->empty());
}

TEST_F(RosterTest, DoesNotGrowOverManyChanges) {
    const auto size_after = [&](int rounds) {
        for (int i = 0; i < rounds; ++i) {
            say("file:a", {backend(i % 2 == 0 ? "a" : "b"), backend("c")});
        }
        return registry_.exposition().size();
    };
    const std::size_t first = size_after(2);
    EXPECT_EQ(size_after(1000), first);
    EXPECT_THAT(ids(), UnorderedElementsAre("b", "c"));
}

}  // namespace
}  // namespace prefix_router::proxy
