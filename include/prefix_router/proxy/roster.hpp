#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/backend_entry.hpp"
#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::proxy {

/// Which backends there are and who says so; the one writer of the desk's set of backends. Every
/// call does all that it is asked or, with an error, nothing. What changes something reads files
/// and may wait for names, one call after the other, and holds up no reader; no call belongs on a
/// data loop. Thread-safe.
///
/// What an operator sets on a backend (Wishes) holds over what its source says until the source
/// itself says something else about that field, or the backend leaves.
class Roster {
  public:
    static constexpr std::string_view kConfiguration = "configuration";
    static constexpr std::string_view kAdmin = "admin";

    /// Ids, in the order in which they were named.
    struct Change {
        std::vector<std::string> added;
        std::vector<std::string> removed;
        std::vector<std::string> changed;
        std::vector<std::string> unresolved;  ///< of those added: they wait for their names
        bool is_empty() const { return added.empty() && removed.empty() && changed.empty(); }
    };

    /// What an operator set; nullopt: nothing.
    struct Wishes {
        std::optional<double> weight;
        std::optional<std::optional<Tokens>> capacity_tokens;  ///< of nullopt: auto
        std::optional<std::vector<std::string>> models;        ///< empty: ask the backend
        bool drains = false;
    };

    struct Member {
        std::string source;
        config::Backend told;  ///< as the source says
        Wishes wishes;
    };

    /// Where there are backends already, newcomers whose names are not looked up yet are waited for
    /// as long as `patience`: requests go on meanwhile.
    Roster(RoutingDesk& desk, Metrics& metrics, AskedForKeys keys,
           std::chrono::milliseconds patience = std::chrono::seconds(1))
        : desk_(desk), metrics_(metrics), patience_(patience), keys_(keys) {}
    Roster(const Roster&) = delete;
    Roster& operator=(const Roster&) = delete;

    /// Makes `backends` the whole set of what `source` names ("configuration", "admin", "dns:NAME",
    /// "file:PATH", "kubernetes:NS/SERVICE"). Backends that stay keep their map, counts, rates and
    /// connections; changed fields are applied in place, new credentials and TLS files with new
    /// connections; a changed URL under the same id is a removal and an addition. Removed ones
    /// drain: they get no new request, their running answers end, then they vanish (map, metrics,
    /// pooled connections). Where they and the newcomers together are more than kMaxBackends, the
    /// last newcomers wait for their places. A source takes over what an operator had added with
    /// the same id and URL. Error: InvalidConfiguration (an id that another source has, more than
    /// kMaxBackends that stay or come, an unreadable file).
    Result<Change> replace(const std::string& source, std::vector<config::Backend> backends);
    /// The same for the configuration, whose API keys decide on "authorization: auto" everywhere,
    /// and with which the others' credentials and TLS files are read again.
    Result<Change> replace_configured(std::vector<config::Backend> backends, AskedForKeys keys);

    /// An operator's one, source "admin". Error: InvalidConfiguration.
    Result<Change> add(config::Backend backend);
    /// Errors: NoBackend (no such id), InvalidConfiguration (its source would bring it back).
    Result<Change> remove(const std::string& id);
    /// What is set in `wishes` is set there, the rest stays. Error: NoBackend.
    Result<void> set(const std::string& id, const Wishes& wishes);
    Result<void> set_draining(const std::string& id, bool drains);

    /// By id.
    std::map<std::string, Member> members() const;

  private:
    struct Place {
        Member member;
        BackendRef backend;
    };
    struct Newcomer {
        config::Backend spec;
        BackendAccess access;
    };
    struct Plan {
        RosterStep step;
        std::vector<Newcomer> newcomers;
        Change change;
        std::map<std::string, Place> places;
    };

    Result<Change> replace_locked(const std::string& source, std::vector<config::Backend> backends,
                                  AskedForKeys keys);
    Result<void> plan_one(const std::string& source, config::Backend backend, AskedForKeys keys,
                          Plan& plan) const;
    Result<void> plan_stay(const Place& present, Member next, AskedForKeys keys, Plan& plan) const;
    Result<void> plan_others(const std::string& source, AskedForKeys keys, Plan& plan) const;
    void make_newcomers(Plan& plan) const;
    void wait_for_addresses(Plan& plan) const;
    std::vector<config::Backend> told_by(std::string_view source) const;

    RoutingDesk& desk_;
    Metrics& metrics_;
    const std::chrono::milliseconds patience_;
    std::mutex writing_;  // held by who changes something, from the first look on
    AskedForKeys keys_;
    mutable std::mutex mutex_;  // for places_ while it is changed, or read without the other
    std::map<std::string, Place> places_;  // by id
};

/// What is in force: as told, but for what an operator wishes.
config::Backend in_force(const Roster::Member& member);

}  // namespace prefix_router::proxy
