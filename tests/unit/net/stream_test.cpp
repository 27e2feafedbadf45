#include "prefix_router/net/stream.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/net/descriptor.hpp"
#include "prefix_router/net/worker.hpp"

namespace prefix_router::net {
namespace {

class Listener final : public StreamListener {
  public:
    void on_readable() override { when_readable(); }
    void on_writable() override { when_writable(); }

    std::function<void()> when_readable = [] { FAIL() << "nobody waits to read"; };
    std::function<void()> when_writable = [] { FAIL() << "nobody waits to write"; };
};

/// A stream of a worker, and the plain socket at its other end.
struct Pair {
    explicit Pair(Worker& worker) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()),
                  0);
        stream = Stream(worker, ends[0]);
        stream.listen(&listener);
        peer = Descriptor(ends[1]);
    }

    void say(std::string_view text) const {
        EXPECT_EQ(::write(peer.number(), text.data(), text.size()),
                  static_cast<ssize_t>(text.size()));
    }
    void end() { peer = Descriptor(); }

    Listener listener;
    Stream stream;
    Descriptor peer;
};

class StreamTest : public testing::Test {
  protected:
    /// What a read of at most `most` bytes gives; nullopt unless it is Done.
    std::optional<std::string> read(Stream& stream, std::size_t most = 100) {
        const IoResult got = stream.read_some(std::span(room_).first(most));
        last_ = got.status;
        return got.status == IoStatus::Done ? std::optional(std::string(room_.data(), got.bytes))
                                            : std::nullopt;
    }

    /// Runs the worker for three turns and more: a byte that is never read is told in each.
    void run_some_turns(const std::function<void()>& in_the_first = [] {}) {
        Pair clock(worker_);
        clock.say("tick");
        int turns = 0;
        clock.listener.when_readable = [&] {
            if (turns == 0) {
                in_the_first();
            }
            ++turns < 4 ? clock.stream.watch_read() : worker_.stop();
        };
        clock.stream.watch_read();
        worker_.run();
    }

    Worker worker_;
    IoStatus last_ = IoStatus::Done;

  private:
    std::array<char, 100> room_{};
};

TEST_F(StreamTest, TellsWhatCameBeforeItWasWatched) {
    Pair pair(worker_);
    pair.say("early");
    std::optional<std::string> seen;
    pair.listener.when_readable = [&] {
        seen = read(pair.stream);
        worker_.stop();
    };
    pair.stream.watch_read();
    worker_.run();
    EXPECT_EQ(seen, "early");
}

TEST_F(StreamTest, TellsAnEndThatCameTogetherWithTheLastBytes) {
    Pair pair(worker_);
    pair.say("last words");
    pair.end();
    std::vector<std::optional<std::string>> seen;
    pair.listener.when_readable = [&] {
        seen.push_back(read(pair.stream));
        seen.size() == 1 ? pair.stream.watch_read() : worker_.stop();
    };
    pair.stream.watch_read();
    worker_.run();
    EXPECT_EQ(seen, (std::vector<std::optional<std::string>>{"last words", std::nullopt}));
    EXPECT_EQ(last_, IoStatus::Ended);
    EXPECT_TRUE(pair.stream.has_peer_left());
}

TEST_F(StreamTest, TellsAgainOfBytesThatWereLeft) {
    Pair pair(worker_);
    pair.say("abcdef");
    std::string seen;
    pair.listener.when_readable = [&] {
        seen += read(pair.stream, 2).value_or("nothing");
        seen.size() < 6 ? pair.stream.watch_read() : worker_.stop();
    };
    pair.stream.watch_read();
    worker_.run();
    EXPECT_EQ(seen, "abcdef");
}

TEST_F(StreamTest, IsDrainedOnceAReadFoundTheEndOfWhatCame) {
    Pair pair(worker_);
    pair.say("abc");
    EXPECT_FALSE(pair.stream.is_drained()) << "nobody has looked";
    EXPECT_EQ(read(pair.stream, 2), "ab");
    EXPECT_FALSE(pair.stream.is_drained());
    EXPECT_EQ(read(pair.stream), "c");
    EXPECT_TRUE(pair.stream.is_drained());
}

TEST_F(StreamTest, TellsAnEndThatCameBeforeItsFirstWatchAndAfterItsLastRead) {
    Pair pair(worker_);
    pair.say("all of it");
    pair.end();
    EXPECT_EQ(read(pair.stream), "all of it");
    pair.listener.when_readable = [&] {
        EXPECT_EQ(read(pair.stream), std::nullopt);
        worker_.stop();
    };
    pair.stream.watch_read();
    worker_.run();
    EXPECT_EQ(last_, IoStatus::Ended);
}

TEST_F(StreamTest, TellsNothingThatNobodyWaitsFor) {
    Pair pair(worker_);
    pair.say("unasked");
    run_some_turns();
    EXPECT_FALSE(pair.stream.is_quiet());
}

TEST_F(StreamTest, OthersAreToldBetweenTwoTurnsOfAnEndlessReader) {
    Pair greedy(worker_);
    Pair modest(worker_);
    greedy.say(std::string(64, 'x'));
    greedy.listener.when_readable = [&] {
        read(greedy.stream, 1);
        greedy.stream.watch_read();
    };
    std::optional<std::string> left;
    modest.listener.when_readable = [&] {
        left = read(greedy.stream);
        worker_.stop();
    };
    modest.say("me, too");
    greedy.stream.watch_read();
    modest.stream.watch_read();
    worker_.run();
    EXPECT_GT(left.value_or("").size(), 32U);
}

TEST_F(StreamTest, CanBeDestroyedByItsListenerAndByAnothers) {
    auto first = std::make_unique<Pair>(worker_);
    auto second = std::make_unique<Pair>(worker_);
    int told = 0;
    const auto destroy_both = [&] {
        ++told;
        first->stream.close();
        second->stream.close();
        worker_.stop();
    };
    for (Pair* pair : {first.get(), second.get()}) {
        pair->listener.when_readable = destroy_both;
        pair->say("x");
        pair->stream.watch_read();
    }
    worker_.run();
    EXPECT_EQ(told, 1);
}

TEST_F(StreamTest, TellsWhenThereIsRoomAgain) {
    Pair pair(worker_);
    const std::string block(std::size_t{1} << 16, 'x');
    std::size_t written = 0;
    const auto fill = [&] {
        IoResult result{IoStatus::Done, 0};
        while (result.status == IoStatus::Done) {
            Pieces pieces;
            pieces.add(block);
            result = pair.stream.write_some(pieces);
            written += result.bytes;
        }
        EXPECT_EQ(result.status, IoStatus::WouldBlock);
    };
    fill();
    const std::size_t first = written;
    pair.listener.when_writable = [&] {
        fill();
        worker_.stop();
    };
    pair.stream.watch_write();
    worker_.post([&] {
        std::string taken(first, ' ');
        while (::read(pair.peer.number(), taken.data(), taken.size()) > 0) {
        }
    });
    worker_.run();
    EXPECT_GT(written, first);
}

TEST_F(StreamTest, IsNoMoreQuietOnceTheTurnBeganInWhichSomethingCame) {
    Pair pair(worker_);
    bool was_quiet = false;
    run_some_turns([&] {
        was_quiet = pair.stream.is_quiet();
        pair.end();
    });
    EXPECT_TRUE(was_quiet);
    EXPECT_FALSE(pair.stream.is_quiet());
}

TEST_F(StreamTest, IsNoMoreQuietThoughNobodyHasBeenToldYet) {
    Pair pair(worker_);
    EXPECT_TRUE(pair.stream.is_quiet());
    pair.stream.watch_read();
    run_some_turns();
    pair.say("unasked");
    EXPECT_FALSE(pair.stream.is_quiet());
}

TEST_F(StreamTest, IsNotQuietWhenTheEndFollowsWhatWasReadInTheSameTurn) {
    Pair pair(worker_);
    pair.say("the answer");
    bool is_quiet = true;
    pair.listener.when_readable = [&] {
        read(pair.stream);
        pair.end();
        is_quiet = pair.stream.is_quiet();
        worker_.stop();
    };
    pair.stream.watch_read();
    worker_.run();
    EXPECT_FALSE(is_quiet);
}

TEST_F(StreamTest, AReleasedOneIsToldNothingThoughOthersHoldIt) {
    Pair pair(worker_);
    const Descriptor other(::dup(pair.stream.descriptor()));
    const Descriptor released(pair.stream.release());
    pair.say("for somebody else");
    run_some_turns();
}

TEST_F(StreamTest, AnotherThreadEndsAWaitWithoutTimers) {
    Pair pair(worker_);
    pair.listener.when_readable = [&] { worker_.stop(); };
    pair.stream.watch_read();
    std::thread other([&] { worker_.post([&] { pair.say("from there"); }); });
    worker_.run();
    other.join();
}

TEST_F(StreamTest, WhatWasPostedBeforeBytesCameIsDoneBeforeTheyAreTold) {
    Pair pair(worker_);
    std::string order;
    pair.listener.when_readable = [&] {
        order += 'r';
        worker_.stop();
    };
    pair.stream.watch_read();
    std::thread other([&] {
        worker_.post([&] { order += 'p'; });
        pair.say("after it");
    });
    other.join();
    worker_.run();
    EXPECT_EQ(order, "pr");
}

/// Puts two pieces of work off to the end of the turn in which both were begun.
Task<void> put_off(Worker& worker, std::string& order, char before, char after) {
    order += before;
    co_await worker.turn_end();
    order += after;
}

TEST_F(StreamTest, TheEndOfATurnComesAfterAllThatWasReady) {
    Pair first(worker_);
    Pair second(worker_);
    std::string order;
    const auto begin = [&](char before, char after) {
        worker_.spawn(put_off(worker_, order, before, after));
        if (order.size() == 2) {
            worker_.stop();
        }
    };
    first.listener.when_readable = [&] { begin('a', 'A'); };
    second.listener.when_readable = [&] { begin('b', 'B'); };
    for (Pair* pair : {&first, &second}) {
        pair->say("x");
        pair->stream.watch_read();
    }
    worker_.run();
    EXPECT_TRUE(order == "abAB" || order == "baBA") << order;
}

}  // namespace
}  // namespace prefix_router::net
