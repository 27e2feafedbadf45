#include "sim/rivals/rival.hpp"

#include <array>
#include <utility>

namespace prefix_router::sim {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "rival_cache_aware",  "rival_blend",   "rival_sticky",
    "rival_bounded_hash", "rival_product", "rival_kv_router",
};
using Maker = std::unique_ptr<Rival> (*)(const RivalFleet&);
constexpr std::array<Maker, kNames.size()> kMakers = {
    make_rival_cache_aware,  make_rival_blend,   make_rival_sticky,
    make_rival_bounded_hash, make_rival_product, make_rival_kv_router,
};

class RivalPolicy final : public Policy {
  public:
    RivalPolicy(std::unique_ptr<Rival> rival, const Trace& trace)
        : rival_(std::move(rival)), trace_(trace), backends_(trace.requests.size()) {}

    std::optional<std::size_t> arrive(std::size_t request, Seconds now) override {
        const Prompt prompt = prompt_of(request);
        const std::size_t backend = rival_->choose(prompt, now);
        backends_[request] = backend;
        rival_->sent(prompt, backend, now);
        return backend;
    }
    void first_token(std::size_t request, Seconds) override {
        rival_->first_token(prompt_of(request), backends_[request]);
    }
    void finish(std::size_t request, Tokens, Seconds) override {
        rival_->finished(prompt_of(request), backends_[request]);
    }

  private:
    Prompt prompt_of(std::size_t number) const {
        const TraceRequest& request = trace_.requests[number];
        const auto blocks = trace_.prompt_blocks(request);
        const std::uint64_t key =
            blocks.empty() ? ~std::uint64_t{number} : trace_.recorded_ids[blocks.front()];
        return {number, request.prompt_tokens, blocks, key};
    }

    std::unique_ptr<Rival> rival_;
    const Trace& trace_;
    std::vector<std::size_t> backends_;  // by request number
};

}  // namespace

std::span<const std::string_view> rival_names() {
    return kNames;
}

std::unique_ptr<Policy> make_rival_policy(std::string_view name, const RivalFleet& fleet,
                                          const Trace& trace) {
    for (std::size_t k = 0; k < kNames.size(); ++k) {
        if (name == kNames[k]) return std::make_unique<RivalPolicy>(kMakers[k](fleet), trace);
    }
    return nullptr;
}

}  // namespace prefix_router::sim
