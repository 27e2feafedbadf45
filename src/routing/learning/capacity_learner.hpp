#pragma once

#include <cstddef>
#include <optional>

#include "prefix_router/base/ids.hpp"

#include "routing/learning/distance_profile.hpp"

namespace prefix_router::routing {

/// What one backend's KV cache holds, in tokens, corrected by reports of cached tokens. A block
/// that is gone although it was touched d tokens ago says the capacity is below d; one that is
/// still there says it is above. Believing too small a capacity is the dear mistake (0.3x costs
/// 2-13x in time to first token, 3x at most a tenth), so once it has learned it moves up faster
/// than down (0.2 against 0.05 of the way, after some hundred denials), and it also goes up, by 8
/// %, when a hit is confirmed in the farthest fifth of what is believed: beliefs that nothing
/// contradicts are probed, up to 1.25x the truth, where no hit is found in that fifth. Denials
/// count more at first (a start value is a guess). A value that is told is not probed: denials
/// lower it, confirmed hits bring it back to what was told, and only eight reports in a row of more
/// than that, none denied in between, refute it (host memory behind the engine's own); then it is a
/// guess like others. Whether a request will wait for memory is asked of `room` instead, which is
/// not learned: a belief of 0.7x the truth sees busy backends as full, and sends requests away from
/// their prefixes for a wait that does not come (2.4x in time to first token; ADR 0005). Example:
/// believed 1,000,000; a block touched 600,000 tokens ago is gone: 860,000 at the first such
/// report, 963,000 at the hundredth.
class CapacityLearner {
  public:
    enum class Source : bool { Guessed, Told };
    /// Told: configured or scraped. `floor`: never below it (half of what was told).
    void start(Tokens believed, Source source, Tokens floor);

    struct Report {
        std::size_t expected_blocks = 0;  ///< believed cached at dispatch
        std::size_t actual_blocks = 0;    ///< reported
        std::size_t most_blocks = 0;      ///< an engine never reports the whole prompt
    };
    /// True when the belief changed.
    bool learn(const Report& report, const DistanceProfile& distances);

    /// That many distinct tokens are in use there at once. True when the belief changed.
    bool holds_at_least(Tokens tokens);
    /// Tokens that running requests can use together: what was told, until more was seen in use;
    /// nullopt: not known.
    std::optional<Tokens> room() const { return room_; }

    /// The denials that show that a cache was flushed say nothing about its size: acquit() undoes
    /// those since suspect(), true when that changed the belief. A second time only once a hit was
    /// confirmed in between: what is never found does not fit.
    void suspect();
    bool acquit();

    /// Back after a short outage: half until a report shows that the cache survived.
    void doubt();
    bool confirm();  ///< a hit; true when a doubt was lifted

    Tokens believed() const;
    bool is_learned() const { return is_learned_; }

  private:
    /// `seen`: how much the evidence says it holds.
    bool rise_to(double tokens, double seen);
    bool move_to(double tokens);

    struct Learned {
        double believed;
        double denials;
    };
    std::optional<Learned> before_suspicion_;
    bool may_acquit_ = true;
    double denials_ = 0;
    int refutations_ = 0;
    std::optional<Tokens> told_;
    double believed_ = 1'000'000;
    double floor_ = 0;
    std::optional<Tokens> room_;
    bool is_learned_ = false;
    bool is_doubted_ = false;
};

}  // namespace prefix_router::routing
