#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/pool/health.hpp"
#include "prefix_router/pool/model_table.hpp"

namespace prefix_router::pool {

/// What a scrape of a backend said; absent values were not reported.
struct ScrapedLoad {
    std::optional<Tokens> capacity;  ///< KV-cache tokens
    std::optional<double> running;
    std::optional<double> waiting;
    std::optional<double> kv_usage;      ///< 0-1, blocks of live requests
    std::optional<std::uint32_t> slots;  ///< llama.cpp: each keeps its last prompt
    std::optional<Tokens> step;          ///< most tokens that one engine step computes
};

/// One backend as the routing sees it. Guarded by the routing lock.
struct Backend {
    BackendSlot slot;
    config::Backend spec;
    Health health;
    bool draining = false;  ///< gets no new request
    bool leaving = false;   ///< removed: draining until its last request has ended
    std::vector<ModelId>
        models;  ///< sorted; empty: serves anything (not configured, not yet reported)
    std::uint32_t in_flight = 0;  ///< sequences sent and not ended; only routing::Router changes it
    ScrapedLoad scraped;
    std::uint64_t home_weight = 0;  ///< stable hash of the id: rendezvous agrees between routers

    bool serves(ModelId model) const;
};

/// The set of backends, by slot. Not thread-safe: the routing lock guards it. Slots are dense and
/// small.
class Pool {
  public:
    explicit Pool(config::Health policy);
    void set_policy(const config::Health& policy);

    /// Adds a backend; fails with InvalidConfiguration on an id that one has which does not leave,
    /// or a full pool.
    Result<BackendSlot> add(const config::Backend& spec);
    /// Nothing may be in flight there.
    void remove(BackendSlot slot);

    Backend* find(BackendSlot slot);
    const Backend* find(BackendSlot slot) const;
    /// Of those that do not leave.
    std::optional<BackendSlot> find(std::string_view id) const;
    std::span<const BackendSlot> slots() const { return slots_; }  ///< all present, ascending

    /// The same backend under another specification: id and URL are the same.
    void change(BackendSlot slot, const config::Backend& spec);

    /// Replaces a backend's models with those that /v1/models reported (configured ones win and
    /// stay).
    void report_models(BackendSlot slot, std::span<const std::string> names);

    /// Who may get a request for `model` now, in slot order: usable and not draining and serving
    /// the model. A model that no backend serves is served by all. Backends that want a trial are
    /// listed in `trials` apart. While none is Healthy, those of which nothing is known yet are
    /// usable. When nobody is usable all not draining ones are listed, least bad first, and
    /// `is_panic` is set; empty when all that could serve it drain.
    struct Candidates {
        std::vector<BackendSlot> usable;
        std::vector<BackendSlot> trials;
        bool is_panic = false;
    };
    void candidates(ModelId model, TimePoint now, Candidates& out) const;

    bool has_usable(TimePoint now) const;

    ModelTable& models() { return models_; }
    const ModelTable& models() const { return models_; }

  private:
    bool is_served(ModelId model) const;

    config::Health policy_;
    ModelTable models_;
    std::vector<std::unique_ptr<Backend>> by_slot_;
    std::vector<BackendSlot> slots_;
};

}  // namespace prefix_router::pool
