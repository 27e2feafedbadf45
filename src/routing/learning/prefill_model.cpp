#include "routing/learning/prefill_model.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::routing {
namespace {

constexpr Tokens kSmallBelow = 512;
constexpr Tokens kLargeFrom = 1024;
constexpr Seconds kMostOverhead = 0.5;
constexpr Seconds kLeast = 0.001;
constexpr std::size_t kPoints = 256;
constexpr std::size_t kBackendPoints = 32;
constexpr std::size_t kFewestForFactor = 16;
constexpr double kBoundQuantile = 0.1;
constexpr std::size_t kFitEveryUntil = 60;
constexpr std::size_t kFitEvery = 10;
constexpr int kRounds = 8;
constexpr double kLeastPerThousand = 1e-3;
constexpr double kClearlyBetter = 1.1;  // times less deviation
constexpr double kNegligible = 0.01;    // deviation, of the time measured
constexpr double kOneProportion = 0.98;

}  // namespace

PrefillModel::Point PrefillModel::point(Tokens uncached, Tokens prompt) {
    const double tokens = static_cast<double>(std::max<Tokens>(1, uncached)) / 1e3;
    return {tokens, tokens * (static_cast<double>(prompt) / 1e3 - tokens / 2), 0.0};
}

Seconds PrefillModel::estimate(BackendSlot backend, Tokens uncached, Tokens prompt) const {
    return std::max(kLeast, overhead_ + factor(backend) * expected(line_, point(uncached, prompt)));
}

void PrefillModel::learn(BackendSlot backend, const Sample& sample) {
    if (sample.uncached < kSmallBelow) {
        small_.add(sample.measured);
        overhead_ = std::min(kMostOverhead, small_.median(overhead_));
    } else if (sample.uncached >= kLargeFrom) {
        Point large = point(sample.uncached, sample.prompt);
        large.seconds = std::max(1e-4, sample.measured - overhead_);
        learn_large(backend, large);
    }
}

void PrefillModel::learn_large(BackendSlot backend, const Point& large) {
    if (points_.size() < kPoints) {
        points_.push_back(large);
    } else {
        points_[next_point_] = large;
    }
    next_point_ = (next_point_ + 1) % kPoints;
    ++learned_;

    if (backend.index() >= backend_points_.size()) {
        factors_.resize(backend.index() + 1, 1.0);
        backend_counts_.resize(backend.index() + 1);
        backend_points_.resize(backend.index() + 1);  // last, as it says that all are there
    }
    auto& own = backend_points_[backend.index()];
    if (!own) {
        own = std::make_unique<std::vector<Point>>();
    }
    std::size_t& count = backend_counts_[backend.index()];
    if (own->size() < kBackendPoints) {
        own->push_back(large);
    } else {
        (*own)[count % kBackendPoints] = large;
    }
    ++count;

    if (points_.size() >= kFewestForFit &&
        (learned_ <= kFitEveryUntil || learned_ % kFitEvery == 0)) {
        fit();
    }
    if (count >= kFewestForFactor && count % 4 == 0) {
        refresh_factor(backend);
    }
}

void PrefillModel::learn_bound(const Sample& sample) {
    if (learned_ >= kFewestForFit || sample.uncached < kLargeFrom) {
        return;
    }
    const double thousands = static_cast<double>(sample.uncached) / 1e3;
    bound_costs_.add(std::max(1e-4, sample.measured - overhead_) / thousands);
    if (++bounds_ % 8 == 0) {
        line_ = {std::max(kLeastPerThousand, bound_costs_.quantile(kBoundQuantile, line_.a)), 0};
    }
}

// A spurious b makes a much longer prompt look many times too dear. So where samples cannot tell a
// from b, or b seems to be all, it is 0 unless it explains them clearly better.
void PrefillModel::fit() {
    const Line by_position = fitted(Shape::ByPosition);
    if (by_position.a > kLeastPerThousand && is_telling()) {
        line_ = by_position;
        return;
    }
    const Line linear = fitted(Shape::Linear);
    const double limit = kClearlyBetter * deviation(by_position) + kNegligible * deviation({0, 0});
    line_ = deviation(linear) <= limit ? linear : by_position;
}

PrefillModel::Line PrefillModel::fitted(Shape shape) const {
    Line line = line_;
    for (int round = 0; round < kRounds; ++round) {
        line = refined(line, shape);
    }
    return line;
}

// Prompts of like length, equally cached, fit any mixture of a and b: tokens and products of all
// samples are then in one proportion.
bool PrefillModel::is_telling() const {
    double s11 = 0, s12 = 0, s22 = 0;
    for (const Point& p : points_) {
        s11 += p.tokens * p.tokens;
        s12 += p.tokens * p.product;
        s22 += p.product * p.product;
    }
    return s12 * s12 < kOneProportion * s11 * s22;
}

// What the fit makes small.
double PrefillModel::deviation(const Line& line) const {
    double sum = 0;
    for (const Point& p : points_) {
        sum += std::abs(p.seconds - expected(line, p)) / std::sqrt(p.tokens + p.product);
    }
    return sum;
}

// One round of iteratively reweighted least squares: weights 1/|residual| turn squares into
// absolute deviations (Schlossmacher 1973); the division by sqrt(tokens + product) keeps the few
// longest prompts from deciding alone.
PrefillModel::Line PrefillModel::refined(const Line& line, Shape shape) const {
    double s11 = 0, s12 = 0, s22 = 0, t1 = 0, t2 = 0;
    for (const Point& p : points_) {
        const double residual = std::abs(p.seconds - expected(line, p));
        const double weight = 1.0 / std::max(0.02, residual) / std::sqrt(p.tokens + p.product);
        s11 += weight * p.tokens * p.tokens;
        s12 += weight * p.tokens * p.product;
        s22 += weight * p.product * p.product;
        t1 += weight * p.tokens * p.seconds;
        t2 += weight * p.product * p.seconds;
    }
    Line better = line;
    const double determinant = s11 * s22 - s12 * s12;
    if (shape == Shape::ByPosition && determinant > 1e-9 * s11 * s22) {
        better = {(t1 * s22 - t2 * s12) / determinant, (t2 * s11 - t1 * s12) / determinant};
    }
    if (shape == Shape::Linear || better.b < 0) {
        better = {t1 / s11, 0};
    } else if (better.a < kLeastPerThousand) {
        better = {kLeastPerThousand, t2 / s22};
    }
    return better;
}

void PrefillModel::refresh_factor(BackendSlot backend) {
    MedianWindow ratios(kBackendPoints);
    for (const Point& p : *backend_points_[backend.index()]) {
        ratios.add(p.seconds / expected(line_, p));
    }
    const double ratio = ratios.median(1.0);
    const bool is_like_fleet = ratio > 0.71 && ratio < 1.4;
    factors_[backend.index()] = is_like_fleet ? 1.0 : std::clamp(ratio, 0.125, 8.0);
}

void PrefillModel::forget(BackendSlot backend) {
    if (backend.index() < backend_points_.size()) {
        backend_points_[backend.index()].reset();
        backend_counts_[backend.index()] = 0;
        factors_[backend.index()] = 1.0;
    }
}

}  // namespace prefix_router::routing
