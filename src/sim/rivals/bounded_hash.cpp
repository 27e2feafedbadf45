#include "sim/rivals/counted_rival.hpp"

namespace prefix_router::sim {
namespace {

/// A 64-bit finaliser (MurmurHash3): the ring's places and keys, as the reference numbers have
/// them.
std::uint64_t ring_hash(std::uint64_t x) {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
    return x ^ (x >> 33);
}

/// KubeAI's PrefixHash: consistent hashing with bounded loads over the prompt's start (the first
/// 100 characters: the first block), 256 places per backend, load factor 1.25.
class BoundedHash final : public CountedRival {
  public:
    explicit BoundedHash(const RivalFleet& fleet) : CountedRival(fleet) {
        for (std::uint64_t k = 0; k < fleet.size(); ++k) {
            for (std::uint64_t place = 0; place < kPlaces; ++place) {
                const std::uint64_t at = ring_hash((k + 1) * 1'000'003 + place * 7'919 + 17);
                ring_.emplace_back(at, static_cast<std::size_t>(k));
            }
        }
        std::sort(ring_.begin(), ring_.end());
    }

    std::size_t choose(const Prompt& prompt, Seconds) override {
        std::int64_t total = 0;
        for (const std::int64_t count : in_flight_) total += count;
        const double limit =
            static_cast<double>(total + 1) / static_cast<double>(fleet_.size()) * kLoadFactor;
        const std::uint64_t key = ring_hash(prompt.first_block_key * 2'654'435'761U);
        const auto start = static_cast<std::size_t>(
            std::lower_bound(ring_.begin(), ring_.end(), std::pair{key, std::size_t{0}}) -
            ring_.begin());
        for (std::size_t step = 0; step < ring_.size(); ++step) {
            const std::size_t backend = ring_[(start + step) % ring_.size()].second;
            if (static_cast<double>(in_flight_[backend]) <= limit) return backend;
        }
        return ring_[start % ring_.size()].second;
    }

  private:
    static constexpr std::uint64_t kPlaces = 256;
    static constexpr double kLoadFactor = 1.25;

    std::vector<std::pair<std::uint64_t, std::size_t>> ring_;
};

}  // namespace

std::unique_ptr<Rival> make_rival_bounded_hash(const RivalFleet& fleet) {
    return std::make_unique<BoundedHash>(fleet);
}

}  // namespace prefix_router::sim
