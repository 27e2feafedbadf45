#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "prefix_router/pool/health.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/routing/router.hpp"

#include "routing/backlog.hpp"
#include "routing/learning/distance_profile.hpp"

namespace prefix_router::routing {

/// Where a held request stands among those of its priority and tenant: smallest first.
struct HoldKey {
    Seconds due = 0;  ///< own prefill + age * arrival: ageing shifts all keys alike, so it is fixed
    std::uint64_t order = 0;  ///< arrival order breaks ties

    friend auto operator<=>(const HoldKey&, const HoldKey&) = default;
};

struct HoldLine;

/// The Router's bookkeeping of one request. Pooled: its vectors keep their memory.
struct Ticket::Record : Backlog::Entry, boost::intrusive::set_base_hook<> {
    enum class Phase : std::uint8_t { Admitted, Held, Prefill, Decode, Ended };

    Ticket* ticket = nullptr;
    Phase phase = Phase::Admitted;
    Seconds arrived = 0;
    std::vector<std::uint32_t> chain_tokens;  ///< tokens up to the end of each block of the key
    Tokens prompt_tokens = 0;
    std::vector<BackendSlot> excluded;  ///< failed or refused this request

    // While held.
    HoldKey key;
    BackendSlot wants;      ///< the backend it chose last
    Seconds wants_own = 0;  ///< its own prefill time there
    HoldLine* line = nullptr;
    std::uint64_t shown_in = 0;  ///< the last pass that came by (HoldPass)
    Seconds held_since = 0;
    Seconds expires = 0;             ///< it is refused then
    bool is_expiry_its_own = false;  ///< by its deadline, not by the queue's limit
    bool is_charged = false;         ///< its tenant has paid for it, once over all retries
    boost::intrusive::set_member_hook<> age_hook;
    boost::intrusive::set_member_hook<> expiry_hook;

    // Since it was sent.
    BackendSlot backend;
    Seconds sent = 0;
    Seconds first = 0;  ///< first byte, when a non-streaming answer's was expected
    prefix::Match match;
    DistanceProfile distances;
    bool is_alone = false;    ///< alone in prefill on its backend since dispatch: a clean sample
    bool found_slot = false;  ///< on an engine with slots: one was free
    pool::Health::Trial trial = pool::Health::kNoTrial;

    bool is_counted = false;   ///< in its model's arrivals and work, once over all retries
    Seconds counted_work = 0;  ///< there
    Seconds counted_at = 0;

    prefix::Chain chain() const { return {ticket->ask().key.hashes, chain_tokens}; }
    Tokens uncached() const { return std::max<Tokens>(1, prompt_tokens - match.tokens); }
    /// Ready for another request, with the memory of its vectors.
    void reset();
    static Record& of(Backlog::Entry& entry) { return static_cast<Record&>(entry); }

    friend bool operator<(const Record& a, const Record& b) { return a.key < b.key; }
};

using Record = Ticket::Record;

}  // namespace prefix_router::routing
