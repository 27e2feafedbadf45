#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>

namespace prefix_router::sim {

/// Finds out which requests are turns of one conversation, from their prompt keys alone: a turn's
/// key extends that of an earlier turn. Remembers ended requests for an hour, and at most so many.
/// Not thread-safe.
class SessionFinder {
  public:
    using UnixTime = std::chrono::milliseconds;

    explicit SessionFinder(std::size_t max_remembered) : max_remembered_(max_remembered) {}

    struct Turn {
        std::uint64_t session = 0;
        std::chrono::milliseconds think{0};  ///< since the session's last end; 0 in a first turn
    };

    /// Notes a request; requests come in the order of their ends. `hashes` is its chained key up to
    /// the end of its last message.
    Turn note(std::span<const std::uint64_t> hashes, UnixTime arrived, UnixTime ended);

    std::size_t remembered() const { return by_last_hash_.size(); }

  private:
    struct Remembered {
        std::uint64_t session = 0;
        UnixTime ended{};
    };
    struct Age {
        UnixTime ended{};
        std::uint64_t last_hash = 0;
    };

    struct Session {
        UnixTime last_end{};
        std::size_t keys = 0;  // of by_last_hash_
    };

    std::optional<std::uint64_t> find(std::span<const std::uint64_t> hashes,
                                      UnixTime arrived) const;
    void remember(std::uint64_t last_hash, std::uint64_t session, UnixTime ended);
    void forget(UnixTime arrived);
    void release(std::uint64_t session);

    std::size_t max_remembered_;
    std::uint64_t next_session_ = 0;
    std::unordered_map<std::uint64_t, Remembered> by_last_hash_;
    std::unordered_map<std::uint64_t, Session> sessions_;
    std::deque<Age> ages_;  // ascending by end
};

}  // namespace prefix_router::sim
