#include "prefix/timeline.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "prefix_router/base/partition.hpp"

namespace prefix_router::prefix {
namespace {

constexpr std::size_t kFewestBuckets = 32;
constexpr Timeline::Sequence kForgotten = 1;
constexpr Timeline::Sequence kFirst = 2;

std::size_t lowest_bit(std::size_t node) {
    return node & (~node + 1);
}

/// Between a Fenwick tree and its plain values, in place and in linear time.
void values_from_tree(std::vector<std::uint32_t>& sums) {
    for (std::size_t node = sums.size(); node > 0; --node) {
        const std::size_t parent = node + lowest_bit(node);
        if (parent <= sums.size()) {
            sums[parent - 1] -= sums[node - 1];
        }
    }
}
void tree_from_values(std::vector<std::uint32_t>& sums) {
    for (std::size_t node = 1; node <= sums.size(); ++node) {
        const std::size_t parent = node + lowest_bit(node);
        if (parent <= sums.size()) {
            sums[parent - 1] += sums[node - 1];
        }
    }
}

}  // namespace

Timeline::Timeline() : starts_{kFirst} {}

void Timeline::shape(Tokens capacity, std::uint32_t resolution) {
    capacity_ = std::clamp<Tokens>(capacity, 0, kMostTokens);
    resolution_ = std::max<std::uint32_t>(1, resolution);
    granule_ = capacity_ / resolution_;
}

void Timeline::take(Sequence sequence, std::uint32_t tokens) {
    if (sequence >= newest()) {
        open_ -= tokens;
        return;
    }
    if (sequence - pending_start_ >= pending_width_) {
        flush();
        pending_bucket_ = locate(sequence);
        pending_start_ = starts_[pending_bucket_];
        pending_width_ = starts_[pending_bucket_ + 1] - pending_start_;
    }
    pending_ += tokens;
}

void Timeline::settle(Tokens retained) {
    flush();
    head_ = std::max(head_, first_within(std::clamp<Tokens>(retained, 0, kMostTokens)));
    if (head_ == starts_.size()) {
        open_bucket();
        head_ = starts_.size() - 1;
    }
    const std::size_t cutoff = std::max(head_, first_within(capacity_));
    cutoff_ = cutoff == starts_.size() ? newest() + 1 : starts_[cutoff];
    resident_ = sum_from(cutoff);
}

void Timeline::clear() {
    const Sequence next = newest() + 1;
    starts_.assign(1, next);
    starts_.shrink_to_fit();
    sums_.clear();
    sums_.shrink_to_fit();
    head_ = hint_ = pending_bucket_ = 0;
    open_ = closed_ = pending_ = 0;
    pending_width_ = 0;
    cutoff_ = first_ = next;
    resident_ = 0;
}

Timeline::Sequence Timeline::mark() {
    flush();
    if (open_ > 0) {
        open_bucket();
    }
    return newest();
}

void Timeline::renumber() {
    flush();
    if (head_ > 0) {
        compact();
    }
    old_starts_ = starts_;
    old_first_ = first_;
    for (std::size_t bucket = 0; bucket < starts_.size(); ++bucket) {
        starts_[bucket] = kFirst + static_cast<Sequence>(bucket);
    }
    first_ = kForgotten;
    cutoff_ = cutoff_ > old_starts_.back() ? newest() + 1 : translate(cutoff_);
    parity_ ^= ~kSequenceMask;
}

void Timeline::forget_old_numbering() {
    old_starts_.clear();
    old_starts_.shrink_to_fit();
}

Timeline::Sequence Timeline::translate(Sequence old) const {
    if (old < old_first_ || old_starts_.empty()) {
        return kCleared;
    }
    const auto above = std::upper_bound(old_starts_.begin(), old_starts_.end(), old);
    if (above == old_starts_.begin()) {
        return kForgotten;
    }
    return kFirst + static_cast<Sequence>(above - old_starts_.begin() - 1);
}

/// The bucket of a sequence number; the first one for older numbers. Those that were opened since
/// the last compact() are numbered one by one. A chain's blocks mostly lie in one bucket or in
/// successive ones.
std::size_t Timeline::locate(Sequence sequence) const {
    const std::size_t last = starts_.size() - 1;
    const Sequence back = newest() - sequence;
    if (back <= last && starts_[last - back] == sequence) {
        return last - back;
    }
    const std::size_t bucket = std::min(hint_, last);
    for (std::size_t next = bucket; next < bucket + 3 && next < starts_.size(); ++next) {
        if (starts_[next] <= sequence &&
            (next + 1 == starts_.size() || sequence < starts_[next + 1])) {
            return hint_ = next;
        }
    }
    const std::size_t above =
        count_leading(std::span<const Sequence>(starts_),
                      [sequence](Sequence start) { return start <= sequence; });
    return hint_ = above == 0 ? 0 : above - 1;
}

Tokens Timeline::sum_from(std::size_t bucket) const {
    if (bucket >= starts_.size()) {
        return 0;
    }
    return Tokens{closed_ - sum_before(std::max(bucket, head_))} + open_;
}

std::uint32_t Timeline::sum_before(std::size_t bucket) const {
    std::uint32_t sum = 0;
    for (std::size_t node = bucket; node > 0; node -= lowest_bit(node)) {
        sum += sums_[node - 1];
    }
    return sum;
}

/// The first bucket from which on at most `tokens` lie; starts_.size() when the newest alone holds
/// more.
std::size_t Timeline::first_within(Tokens tokens) const {
    if (Tokens{open_} > tokens) {
        return starts_.size();
    }
    const Tokens surplus = Tokens{closed_} + open_ - tokens;
    if (surplus <= 0 || sums_.empty()) {
        return 0;
    }
    auto left = static_cast<std::uint32_t>(surplus);
    std::size_t bucket = 0;
    for (std::size_t step = std::bit_floor(sums_.size()); step > 0; step /= 2) {
        if (bucket + step <= sums_.size() && sums_[bucket + step - 1] < left) {
            bucket += step;
            left -= sums_[bucket - 1];
        }
    }
    return std::min(bucket + 1, starts_.size() - 1);
}

void Timeline::add_to_sum(std::size_t bucket, std::uint32_t tokens) {
    closed_ += tokens;
    for (std::size_t node = bucket + 1; node <= sums_.size(); node += lowest_bit(node)) {
        sums_[node - 1] += tokens;
    }
}

void Timeline::flush() {
    if (pending_ > 0) {
        add_to_sum(pending_bucket_, 0U - pending_);
        pending_ = 0;
    }
    pending_width_ = 0;
}

void Timeline::open_bucket() {
    if (starts_.size() > sums_.size()) {
        flush();
        compact();
    }
    add_to_sum(starts_.size() - 1, open_);
    open_ = 0;
    starts_.push_back(newest() + 1);
}

/// Drops forgotten buckets, merges thinned ones and makes room for as many as a third of the rest.
void Timeline::compact() {
    values_from_tree(sums_);
    std::size_t buckets = 0;
    std::uint32_t scale = 1;
    do {
        buckets = merge(scale);
        scale *= 2;
    } while (buckets + buckets / 3 > most_buckets_ && scale < (1U << 30));
    std::size_t room = std::max(sums_.size(), kFewestBuckets);
    while (buckets + buckets / 3 >= room) {
        room += room / 2;
    }
    resize(std::min(room, std::max(kFewestBuckets, most_buckets_)));
    closed_ = 0;
    for (std::size_t bucket = 0; bucket + 1 < buckets; ++bucket) {
        closed_ += sums_[bucket];
    }
    tree_from_values(sums_);
    head_ = hint_ = 0;
}

void Timeline::resize(std::size_t room) {
    if (room < sums_.size()) {
        sums_.resize(room);
        sums_.shrink_to_fit();
        starts_.shrink_to_fit();
    }
    starts_.reserve(room + 1);
    sums_.reserve(room);
    sums_.resize(room, 0);
}

/// One pass from the newest bucket to the oldest over the plain values in sums_. The newest stays
/// as it is. An empty bucket joins its newer neighbour, so that a mark between two buckets keeps
/// its meaning.
std::size_t Timeline::merge(std::uint32_t scale) {
    const std::size_t end = starts_.size() - 1;
    std::size_t write = end;  // buckets [write, end) are final
    Tokens distance = open_;  // tokens newer than the bucket at `write`
    for (std::size_t read = end; read-- > head_;) {
        const Tokens here = sums_[read];
        const Tokens there = write < end ? Tokens{sums_[write]} : 0;
        const bool joins =
            write < end && (here == 0 || here + there <= granule_at(distance, scale));
        if (joins) {
            sums_[write] += static_cast<std::uint32_t>(here);
        } else {
            distance += there;
            --write;
            sums_[write] = static_cast<std::uint32_t>(here);
        }
        starts_[write] = starts_[read];
    }
    const auto offset = static_cast<std::ptrdiff_t>(write);
    starts_.erase(starts_.begin(), starts_.begin() + offset);
    std::copy(sums_.begin() + offset, sums_.begin() + static_cast<std::ptrdiff_t>(end),
              sums_.begin());
    std::fill(sums_.begin() + static_cast<std::ptrdiff_t>(end - write), sums_.end(), 0);
    head_ = 0;
    return starts_.size();
}

Tokens Timeline::granule_at(Tokens distance, std::uint32_t scale) const {
    const bool is_ghost = distance > capacity_ + capacity_ / 4;
    const Tokens granule = is_ghost ? std::max(granule_, 4 * distance / resolution_) : granule_;
    return scale == 1 ? granule : std::max<Tokens>(granule, 1) * scale;
}

std::size_t Timeline::bytes() const {
    return (starts_.capacity() + sums_.capacity() + old_starts_.capacity()) * sizeof(Sequence);
}

}  // namespace prefix_router::prefix
