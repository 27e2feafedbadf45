#pragma once

#include <cstddef>

#include "prefix_router/base/ids.hpp"

#include "routing/learning/distance_profile.hpp"

namespace prefix_router::routing {

/// What one backend's KV cache holds, in tokens, corrected by reports of cached tokens. A block
/// that is gone although it was touched d tokens ago says the capacity is below d; one that is
/// still there says it is above. Believing too small a capacity is the dear mistake (0.3x costs
/// 2-13x in time to first token, 3x at most a tenth), so it moves up four times faster than down.
/// Example: believed 1,000,000; a block touched 600,000 tokens ago is gone: 980,000.
class CapacityLearner {
  public:
    /// `floor`: never below it (half of a configured value).
    void start(Tokens believed, Tokens floor);

    struct Report {
        std::size_t expected_blocks = 0;  ///< believed cached at dispatch
        std::size_t actual_blocks = 0;    ///< reported
        std::size_t most_blocks = 0;      ///< an engine never reports the whole prompt
    };
    /// True when the belief changed.
    bool learn(const Report& report, const DistanceProfile& distances);

    /// Back after a short outage: half until a report shows that the cache survived.
    void doubt();
    bool confirm();  ///< true when a doubt was lifted

    Tokens believed() const;
    bool is_learned() const { return is_learned_; }

  private:
    double believed_ = 1'000'000;
    double floor_ = 0;
    bool is_learned_ = false;
    bool is_doubted_ = false;
};

}  // namespace prefix_router::routing
