#pragma once

#include <algorithm>
#include <chrono>

#include "prefix_router/base/random.hpp"

namespace prefix_router::discovery {

/// How long to wait before the next attempt: from `least`, doubling up to `most`, with up to half
/// taken away by chance, so that routers that failed together do not come back together.
class Pause {
  public:
    Pause(std::chrono::milliseconds least, std::chrono::milliseconds most, Random random)
        : least_(least), most_(most), next_(least), random_(random) {}

    std::chrono::milliseconds next() {
        const auto now = std::chrono::duration<double, std::milli>(next_);
        next_ = std::min(next_ * 2, most_);
        const auto pause = now * (1 - random_.unit() / 2);
        return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(pause),
                        std::chrono::milliseconds(1));
    }
    void reset() { next_ = least_; }

  private:
    std::chrono::milliseconds least_;
    std::chrono::milliseconds most_;
    std::chrono::milliseconds next_;
    Random random_;
};

}  // namespace prefix_router::discovery
