#include "prefix_router/routing/router.hpp"

#include <utility>

#include "routing/core.hpp"

namespace prefix_router::routing {

Ticket::Ticket(Ask ask) : ask_(std::move(ask)) {}
Ticket::~Ticket() = default;

Router::Router(Options options, pool::Pool& pool, prefix::PrefixMap& map, Random random)
    : core_(std::make_unique<Core>(std::move(options), pool, map, random)) {}
Router::~Router() = default;

void Router::reconfigure(const Options& options, TimePoint now) {
    core_->reconfigure(options, now);
}
void Router::backend_added(BackendSlot slot, TimePoint /*now*/) {
    core_->backend_added(slot);
}
void Router::backend_removed(BackendSlot slot) {
    core_->backend_removed(slot);
}
void Router::backend_changed(BackendSlot slot, const config::Backend& before, TimePoint now) {
    core_->backend_changed(slot, before, now);
}
bool Router::is_idle(BackendSlot slot) const {
    return core_->is_idle(slot);
}
bool Router::backend_scraped(BackendSlot slot, TimePoint now) {
    return core_->backend_scraped(slot, now);
}
void Router::backend_returned(BackendSlot slot, TimePoint /*now*/) {
    core_->backend_returned(slot);
}

const Decision& Router::admit(Ticket& ticket, TimePoint now) {
    return core_->admit(ticket, now);
}

ExplainedDecision Router::explain(Ask ask, TimePoint now) {
    return core_->explain(std::move(ask), now);
}

const Decision& Router::retry(Ticket& ticket, Outcome::Kind why, TimePoint now) {
    return core_->retry(ticket, why, now);
}

void Router::first_byte(Ticket& ticket, TimePoint now) {
    core_->first_byte(ticket, now);
}

void Router::end(Ticket& ticket, const Outcome& outcome, TimePoint now) {
    core_->end(ticket, outcome, now);
}

std::vector<Ticket*> Router::take_released() {
    return core_->take_released();
}
void Router::tick(TimePoint now) {
    core_->tick(now);
}
std::size_t Router::held() const {
    return core_->held();
}

QueueState Router::queue() const {
    return core_->queue();
}

BackendBelief Router::belief(BackendSlot slot, TimePoint now) const {
    return core_->belief(slot, now);
}

std::vector<ExplainedDecision> Router::explained(std::size_t limit) const {
    return core_->explained(limit);
}

std::vector<MarkedPrompt> Router::sampled_prompts() const {
    return core_->sampled_prompts();
}

double Router::bytes_per_token(ModelId model) const {
    return core_->bytes_per_token(model);
}

}  // namespace prefix_router::routing
