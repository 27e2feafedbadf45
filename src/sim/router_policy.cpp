#include "sim/router_policy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/pool/pool.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/routing/router.hpp"

namespace prefix_router::sim {
namespace {

constexpr Tokens kLearnedCapacityStart = 1'000'000;
constexpr Tokens kHomeTokens = 1'024;  // 4 KB of prompt
constexpr std::size_t kMapBytes = std::size_t{4} << 30;
// Virtual time starts here, so that no time point equals the default one.
constexpr Duration kEpoch = std::chrono::hours(1);

TimePoint time_point(Seconds seconds) {
    return TimePoint(kEpoch + from_seconds(seconds));
}

class RouterPolicy final : public Policy {
  public:
    RouterPolicy(config::Strategy strategy, const ReplayOptions& options, const Trace& trace)
        : trace_(trace),
          seed_(options.seed),
          fixed_prefix_tokens_(options.routing.prefix_length / 4),
          pool_(config::Health{}),
          map_({.memory_bytes = kMapBytes}),
          router_(router_options(strategy, options), pool_, map_, Random(options.seed)),
          tickets_(trace.requests.size()) {
        for (std::size_t k = 0; k < options.backends; ++k) add_backend(options, k);
    }

    std::optional<std::size_t> arrive(std::size_t request, Seconds now) override {
        auto& ticket = tickets_[request];
        ticket = std::make_unique<routing::Ticket>(ask(request));
        ticket->owner = &ticket;
        const routing::Decision& decision = router_.admit(*ticket, time_point(now));
        if (decision.action != routing::Action::Send) return std::nullopt;
        return decision.backend.index();
    }

    void first_token(std::size_t request, Seconds now) override {
        router_.first_byte(*tickets_[request], time_point(now));
    }

    void finish(std::size_t request, Tokens cached_tokens, Seconds now) override {
        const TraceRequest& traced = trace_.requests[request];
        routing::Outcome outcome;
        outcome.reported_prompt = traced.prompt_tokens;
        outcome.reported_cached = cached_tokens;
        outcome.reported_output = traced.output_tokens;
        const Blocks answer = blocks(trace_.answer_blocks(traced), traced.block_count);
        outcome.answer_hashes = answer.hashes;
        outcome.answer_ends = answer.ends;
        router_.end(*tickets_[request], outcome, time_point(now));
        tickets_[request].reset();
    }

    std::optional<Tokens> expected_cached(std::size_t request) const override {
        return tickets_[request]->decision().expected_cached;
    }

    std::vector<Release> take_released() override {
        std::vector<Release> result;
        for (const routing::Ticket* ticket : router_.take_released()) {
            const auto* place = static_cast<std::unique_ptr<routing::Ticket>*>(ticket->owner);
            const auto request = static_cast<std::size_t>(place - tickets_.data());
            result.push_back({request, ticket->decision().backend.index()});
        }
        return result;
    }

    std::size_t held() const override { return router_.held(); }
    void tick(Seconds now) override { router_.tick(time_point(now)); }

  private:
    struct Blocks {
        std::vector<std::uint64_t> hashes;
        std::vector<std::uint32_t> ends;
    };

    static routing::Router::Options router_options(config::Strategy strategy,
                                                   const ReplayOptions& options) {
        routing::Router::Options result;
        result.routing = options.routing;
        result.routing.strategy = strategy;
        result.queue.max_wait = std::chrono::milliseconds(0);  // whoever waits in a trace stays
        result.learn_capacity = options.capacity.kind != CapacityBelief::Kind::Known;
        result.initial_capacity = kLearnedCapacityStart;
        // All are served, however late.
        result.queue.max_requests = std::numeric_limits<std::uint32_t>::max();
        result.queue.max_wait = std::chrono::milliseconds(0);
        if (options.capacity.kind == CapacityBelief::Kind::Factor) {
            const auto truth = static_cast<double>(options.engine.kv_tokens);
            result.initial_capacity = static_cast<Tokens>(truth * options.capacity.factor);
        }
        return result;
    }

    void add_backend(const ReplayOptions& options, std::size_t number) {
        config::Backend spec;
        spec.id = "backend-" + std::to_string(number);
        if (options.capacity.kind == CapacityBelief::Kind::Known) {
            spec.capacity_tokens = options.engine.kv_tokens;
        }
        const BackendSlot slot = pool_.add(spec).value();
        if (options.capacity.kind == CapacityBelief::Kind::Told) {
            pool_.find(slot)->scraped.capacity = options.engine.kv_tokens;
        }
        pool_.find(slot)->health.probe_succeeded(time_point(0));
        router_.backend_added(slot, time_point(0));
    }

    Blocks blocks(std::span<const std::uint64_t> ids, std::size_t before) const {
        Blocks result;
        for (const std::uint64_t id : ids) {
            ++before;
            result.hashes.push_back(mix(seed_, id));
            result.ends.push_back(
                static_cast<std::uint32_t>(static_cast<Tokens>(before) * trace_.block_tokens));
        }
        return result;
    }

    routing::Ask ask(std::size_t request) const {
        const TraceRequest& traced = trace_.requests[request];
        const auto ids = trace_.prompt_blocks(traced);
        Blocks prompt = blocks(ids, 0);
        routing::Ask result;
        result.key.hashes = std::move(prompt.hashes);
        result.key.ends = std::move(prompt.ends);
        result.key.total = static_cast<std::uint64_t>(traced.prompt_tokens);
        result.key.is_tokens = true;
        result.key.home = start_hash(ids, kHomeTokens);
        result.key.fixed_prefix = start_hash(ids, fixed_prefix_tokens_);
        result.streams = true;
        result.id = request;
        return result;
    }

    /// A hash of the prompt's first `tokens`, at least one block; 0 when it has none.
    std::uint64_t start_hash(std::span<const std::uint64_t> ids, Tokens tokens) const {
        if (ids.empty()) return 0;
        const auto whole = static_cast<std::size_t>(tokens / trace_.block_tokens);
        const std::size_t count = std::clamp<std::size_t>(whole, 1, ids.size());
        return mix(~seed_, ids[count - 1]);
    }

    const Trace& trace_;
    std::uint64_t seed_;
    Tokens fixed_prefix_tokens_;
    pool::Pool pool_;
    prefix::PrefixMap map_;
    routing::Router router_;
    std::vector<std::unique_ptr<routing::Ticket>> tickets_;  // by request number
};

}  // namespace

std::unique_ptr<Policy> make_router_policy(config::Strategy strategy, const ReplayOptions& options,
                                           const Trace& trace) {
    return std::make_unique<RouterPolicy>(strategy, options, trace);
}

}  // namespace prefix_router::sim
