#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

namespace prefix_router::routing {

/// The cache of an engine with slots (llama.cpp), where the prefix map's one LRU of blocks would be
/// wrong: every slot keeps the last prompt that it computed, with its answer, and nothing else; a
/// slot that is busy lends its prompt to nobody; requests beyond the slots wait, first come, first
/// served, for the first that is free. A request that goes on from the whole prompt of another in a
/// slot shows that that one is answered, and finds its slot free: a client may be quicker than the
/// end of its last request is told here. Follows the engine's choice of a slot: among the free ones
/// the longest common prefix of more than a tenth of the prompt, else the least recently used.
/// Example, two slots, both free, holding "A B C" and "D": the request "A B X" takes the first,
/// which finds two blocks and then holds "A B X"; a second "A B Y" beside it takes the other one
/// and finds nothing.
/// Owned by the backend's state, guarded by the routing lock.
class SlotCache {
  public:
    using User = const void*;  ///< names a request from sent() to ended()

    explicit SlotCache(std::size_t slots);

    /// What a request would meet if it were sent now.
    struct Outlook {
        prefix::Match match;
        /// Slots worth keeping that it does not take up: each of the others that was used in the
        /// last 120 s, and the one whose prompt it pushes out by how lately that was used, 0-1.
        double kept_slots = 0;
        std::size_t ahead = 0;  ///< ends of others to wait for; 0: a slot is free
    };
    Outlook outlook(const prefix::Chain& chain, Seconds now) const;

    std::size_t slots() const { return slots_.size(); }
    bool has_free() const { return busy_ < slots_.size(); }

    /// The request takes its slot, or waits for one. An empty chain (a prompt without a key)
    /// matches nothing and leaves nothing.
    void sent(User user, const prefix::Chain& chain, Seconds now);
    /// Its slot, if it had one, keeps `content` (the prompt and what followed; empty: nothing is
    /// known of it) and goes to the first that waits.
    void ended(User user, const prefix::Chain& content, Seconds now);
    /// It ends without the engine having taken it: its slot has what it had before.
    void withdrawn(User user, Seconds now);
    /// The cache was flushed: nothing is kept, who is where stays.
    void clear();

  private:
    struct Content {
        std::vector<std::uint64_t> hashes;
        std::vector<std::uint32_t> tokens;
        void assign(const prefix::Chain& chain);
        prefix::Match common(const prefix::Chain& chain) const;
    };
    struct Slot {
        Content content;
        Content before;  ///< its content until its present user came
        User user = nullptr;
        Seconds used = -1e9;  ///< begin of its request, while it has one, else its end
    };
    struct Waiting {
        User user;
        Content content;
    };

    std::size_t continued(const prefix::Chain& chain) const;
    std::size_t pick(const prefix::Chain& chain) const;
    prefix::Match match_after(std::size_t ends, const prefix::Chain& chain) const;
    void take(Slot& slot, User user, Content content, Seconds now);
    Slot* leave(User user);
    void set_free(Slot& slot, Seconds now);

    std::vector<Slot> slots_;
    std::vector<Waiting> waiting_;  // in order of arrival; short: the router's queue holds the rest
    std::size_t busy_ = 0;
};

}  // namespace prefix_router::routing
