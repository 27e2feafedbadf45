#include "sim/session_finder.hpp"

#include <algorithm>

namespace prefix_router::sim {
namespace {

constexpr std::chrono::hours kWindow{1};

}  // namespace

SessionFinder::Turn SessionFinder::note(std::span<const std::uint64_t> hashes, UnixTime arrived,
                                        UnixTime ended) {
    forget(arrived);
    Turn turn;
    if (const auto session = find(hashes, arrived)) {
        turn.session = *session;
        turn.think = std::max(UnixTime(0), arrived - sessions_.at(*session).last_end);
    } else {
        turn.session = next_session_++;
    }
    if (!hashes.empty()) remember(hashes.back(), turn.session, ended);
    return turn;
}

/// The session of the longest remembered key that this one goes on from. An equal key is no
/// extension: the same prompt again is not the next turn.
std::optional<std::uint64_t> SessionFinder::find(std::span<const std::uint64_t> hashes,
                                                 UnixTime arrived) const {
    for (std::size_t k = hashes.size(); k-- > 1;) {
        const auto found = by_last_hash_.find(hashes[k - 1]);
        if (found == by_last_hash_.end()) continue;
        if (arrived - found->second.ended <= kWindow) return found->second.session;
    }
    return std::nullopt;
}

void SessionFinder::remember(std::uint64_t last_hash, std::uint64_t session, UnixTime ended) {
    Session& known = sessions_[session];
    known.last_end = std::max(known.last_end, ended);
    ++known.keys;
    const auto [place, is_new] = by_last_hash_.try_emplace(last_hash);
    if (!is_new) release(place->second.session);
    place->second = {session, ended};
    ages_.push_back({ended, last_hash});
}

void SessionFinder::forget(UnixTime arrived) {
    while (!ages_.empty() &&
           (arrived - ages_.front().ended > kWindow || ages_.size() > max_remembered_)) {
        const Age oldest = ages_.front();
        ages_.pop_front();
        const auto found = by_last_hash_.find(oldest.last_hash);
        // The same key may have come again since.
        if (found == by_last_hash_.end() || found->second.ended != oldest.ended) continue;
        release(found->second.session);
        by_last_hash_.erase(found);
    }
}

void SessionFinder::release(std::uint64_t session) {
    const auto found = sessions_.find(session);
    if (--found->second.keys == 0) sessions_.erase(found);
}

}  // namespace prefix_router::sim
