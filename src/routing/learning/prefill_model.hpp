#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"

#include "routing/learning/median_window.hpp"

namespace prefix_router::routing {

/// How long a prefill takes, learned from first-byte times of one model over its whole fleet:
///
///     x = o + f_i * (a * uncached + b * uncached * z),   z = prompt - uncached / 2
///
/// z is the mean position of the uncached tokens: a token's attention grows with its position.
/// o is the median of requests with under 512 uncached tokens (at most 0.5 s); a and b are fitted
/// by least absolute deviations to the fleet's last 256 samples of at least 1,024; where they
/// cannot tell a from b, b is 0 unless it explains them clearly better. The factor f_i
/// of a backend is 1 unless its own median of measured over expected, over 16 samples or more, is
/// outside 0.71-1.4: fits per backend made one backend look fast by noise and drew all cold work
/// there. Example: 8,000 tokens/s without positions is a = 0.000125, b = 0.
class PrefillModel {
  public:
    struct Sample {
        Tokens uncached = 0;
        Tokens prompt = 0;
        Seconds measured = 0;
    };

    Seconds estimate(BackendSlot backend, Tokens uncached, Tokens prompt) const;
    /// A request that was alone in prefill on its backend from dispatch to first byte.
    void learn(BackendSlot backend, const Sample& sample);
    /// One that was not: what it took is an upper bound. On a fleet that is busy from the start,
    /// so that no request is ever alone, the lower tenth of the bounds stands in for a.
    void learn_bound(const Sample& sample);
    void forget(BackendSlot backend);

    Seconds overhead() const { return overhead_; }
    Seconds per_token() const { return line_.a / 1e3; }
    Seconds per_token_and_position() const { return line_.b / 1e6; }
    double factor(BackendSlot backend) const {
        return backend.index() < factors_.size() ? factors_[backend.index()] : 1.0;
    }
    /// Enough samples that estimates say how fast this fleet is.
    bool is_calibrated() const { return learned_ >= kFewestForFit || bounds_ >= kBounds / 2; }

  private:
    static constexpr std::size_t kFewestForFit = 8;
    static constexpr std::size_t kBounds = 64;

    struct Point {
        double tokens;   // thousands, uncached
        double product;  // thousands squared, uncached times mean position
        double seconds;  // without the overhead
    };

    struct Line {
        double a;  // seconds per thousand tokens
        double b;  // seconds per thousand tokens and thousand positions
    };
    enum class Shape : bool { Linear, ByPosition };

    static Point point(Tokens uncached, Tokens prompt);
    static double expected(const Line& line, const Point& point) {
        return line.a * point.tokens + line.b * point.product;
    }
    void learn_large(BackendSlot backend, const Point& point);
    void fit();
    Line fitted(Shape shape) const;
    Line refined(const Line& line, Shape shape) const;
    double deviation(const Line& line) const;
    bool is_telling() const;
    void refresh_factor(BackendSlot backend);

    Seconds overhead_ = 0.02;
    Line line_{0.2, 0};
    std::size_t learned_ = 0;  // clean samples of large requests
    std::size_t bounds_ = 0;
    MedianWindow bound_costs_{kBounds};  // seconds per thousand tokens
    MedianWindow small_{129};
    std::vector<Point> points_;  // a ring of the last 256
    std::size_t next_point_ = 0;
    std::vector<double> factors_;                                      // by slot
    std::vector<std::unique_ptr<std::vector<Point>>> backend_points_;  // by slot, rings of 32
    std::vector<std::size_t> backend_counts_;
};

}  // namespace prefix_router::routing
