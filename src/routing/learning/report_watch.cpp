#include "routing/learning/report_watch.hpp"

#include <numeric>

namespace prefix_router::routing {
namespace {

constexpr Tokens kSureBelief = 1'000;
constexpr std::uint32_t kDenialsToDrop = 3;
constexpr Tokens kLargestBlock = 1'024;
constexpr std::uint32_t kReportsToBelieve = 4;
constexpr std::uint32_t kReportsToRefute = 8;

}  // namespace

FlushDetector::Verdict FlushDetector::learn(const Report& report) {
    const bool was_recent = report.distance < report.capacity / 4;
    if (report.reported > 0) {
        denied_ = 0;
    } else if (report.believed > kSureBelief && was_recent) {
        ++denied_;
    }
    if (denied_ < kDenialsToDrop) {
        return denied_ == 0 ? Verdict::Fine : Verdict::Suspected;
    }
    denied_ = 0;
    return Verdict::Flushed;
}

bool SlotsWatch::learn(Tokens prompt, Tokens believed, Tokens reported) {
    const Tokens slack = prompt / 10;
    if (reported + slack < believed) {
        found_more_ = 0;
    } else if (reported > believed + slack) {
        ++found_more_;
    }
    return found_more_ >= kReportsToRefute;
}

void EngineBlock::learn(Tokens reported) {
    if (reported > 0) {
        divisor_ = std::gcd(divisor_, reported);
        ++reports_;
    }
}

Tokens EngineBlock::size() const {
    const bool is_believed = reports_ >= kReportsToBelieve && divisor_ <= kLargestBlock;
    return is_believed ? divisor_ : 1;
}

}  // namespace prefix_router::routing
