#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/routing/router.hpp"

namespace prefix_router::routing {

/// A pool, a map and a Router over them, in virtual time, with healthy backends "b0", "b1", ...
class RouterTest : public ::testing::Test {
  protected:
    void start(std::size_t backends, Router::Options options = {}) {
        router_ = std::make_unique<Router>(std::move(options), pool_, map_, Random(7));
        for (std::size_t i = 0; i < backends; ++i) {
            add_backend("b" + std::to_string(i));
        }
    }

    BackendSlot add_backend(const std::string& id) {
        config::Backend spec;
        spec.id = id;
        return add_backend(spec);
    }
    BackendSlot add_backend(const config::Backend& spec) {
        const BackendSlot slot = pool_.add(spec).value();
        pool_.find(slot)->health.probe_succeeded(now());
        router_->backend_added(slot, now());
        return slot;
    }

    static Router::Options options(config::Strategy strategy) {
        Router::Options options;
        options.routing.strategy = strategy;
        options.routing.hold = std::nullopt;
        return options;
    }
    static Router::Options sent_at_once() { return options(config::Strategy::Adaptive); }

    /// A token key of `blocks` blocks of 512 tokens; equal seeds share their whole chain.
    static prompt::PromptKey key(std::uint64_t seed, std::size_t blocks) {
        prompt::PromptKey key;
        key.is_tokens = true;
        extend(key, seed, blocks);
        return key;
    }
    /// Another turn: `blocks` more blocks that depend on `seed`.
    static void extend(prompt::PromptKey& key, std::uint64_t seed, std::size_t blocks) {
        for (std::size_t k = 0; k < blocks; ++k) {
            const std::uint64_t before = key.hashes.empty() ? 1 : key.hashes.back();
            key.hashes.push_back(mix(before, seed));
            key.ends.push_back(static_cast<std::uint32_t>(key.hashes.size() * 512));
        }
        key.total = key.hashes.size() * 512;
        key.home = key.hashes.front();
        key.fixed_prefix = key.hashes.front();
    }

    Ticket& ask(prompt::PromptKey key, bool streams = true) {
        Ask ask;
        ask.key = std::move(key);
        ask.streams = streams;
        tickets_.push_back(std::make_unique<Ticket>(std::move(ask)));
        return *tickets_.back();
    }
    Ticket& admit(prompt::PromptKey key, bool streams = true) {
        Ticket& ticket = ask(std::move(key), streams);
        router_->admit(ticket, now());
        return ticket;
    }
    void first_byte(Ticket& ticket) { router_->first_byte(ticket, now()); }
    void end(Ticket& ticket, Outcome::Kind kind = Outcome::Kind::Success) {
        Outcome outcome;
        outcome.kind = kind;
        router_->end(ticket, outcome, now());
    }
    void end_with_report(Ticket& ticket, Tokens cached) {
        Outcome outcome;
        outcome.reported_prompt = ticket.decision().prompt_tokens;
        outcome.reported_cached = cached;
        router_->end(ticket, outcome, now());
    }
    /// A whole request: first byte `prefill` seconds after dispatch, end a second later.
    Ticket& serve(prompt::PromptKey key, double prefill) {
        Ticket& ticket = admit(std::move(key));
        advance(prefill);
        first_byte(ticket);
        advance(1);
        end(ticket);
        return ticket;
    }

    TimePoint now() const { return TimePoint(from_seconds(seconds_)); }
    void advance(double seconds) { seconds_ += seconds; }
    std::uint32_t in_flight(BackendSlot slot) { return pool_.find(slot)->in_flight; }
    void scrape(BackendSlot slot, double running, double waiting) {
        pool_.find(slot)->scraped.running = running;
        pool_.find(slot)->scraped.waiting = waiting;
        router_->backend_scraped(slot, now());
    }
    void eject(BackendSlot slot) {
        for (int i = 0; i < 3; ++i) {
            pool_.find(slot)->health.request_failed(now());
        }
    }

    double seconds_ = 1000;
    pool::Pool pool_{config::Health{}};
    prefix::PrefixMap map_{prefix::PrefixMap::Options{}};
    std::vector<std::unique_ptr<Ticket>> tickets_;
    std::unique_ptr<Router> router_;  // goes first: some tickets are still held
};

}  // namespace prefix_router::routing
