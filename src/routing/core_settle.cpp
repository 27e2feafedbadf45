#include <algorithm>
#include <memory>
#include <utility>

#include "routing/chain.hpp"
#include "routing/core.hpp"

namespace prefix_router::routing {
namespace {

constexpr double kDecodeWeight = 0.02;
constexpr double kEstimateSlack = 0.02;

std::size_t blocks_within(const std::vector<std::uint32_t>& ends, double tokens) {
    const auto after = std::upper_bound(
        ends.begin(), ends.end(), tokens,
        [](double wanted, std::uint32_t end) { return wanted < static_cast<double>(end); });
    return static_cast<std::size_t>(after - ends.begin());
}

// Reports count the engine's tokens in its own blocks, the chain counts estimates.
CapacityLearner::Report blocks_found(const Record& record, Tokens engine_block, Tokens prompt,
                                     Tokens cached) {
    const bool is_exact = record.ticket->ask().key.is_tokens;
    const double scale = static_cast<double>(record.prompt_tokens) /
                         static_cast<double>(std::max<Tokens>(1, prompt));
    const double tokens = static_cast<double>(cached) * scale;
    const double slack =
        is_exact ? 0.0 : kEstimateSlack * tokens + static_cast<double>(engine_block);
    CapacityLearner::Report report;
    report.expected_blocks = record.match.blocks;
    report.actual_blocks = blocks_within(record.chain_tokens, tokens);
    if (report.actual_blocks < report.expected_blocks) {
        report.actual_blocks = std::min<std::size_t>(
            report.expected_blocks, blocks_within(record.chain_tokens, tokens + slack));
    }
    report.most_blocks =
        blocks_within(record.chain_tokens, static_cast<double>(record.prompt_tokens - 1) - slack);
    return report;
}

}  // namespace

void Router::Core::first_byte(Ticket& ticket, TimePoint now) {
    begin(now);
    Record& record = *ticket.record_;
    if (record.phase != Record::Phase::Prefill) {
        return;
    }
    record.phase = Record::Phase::Decode;
    BackendState& state = fleet_.at(record.backend);
    discount_awaiting(record, state);
    state.settle(now_);
    record.first = record.place == Backlog::Entry::Place::Watched ? record.served() : now_;
    const PrefillModel& prefill = fleet_.model(ticket.ask().model).prefill;
    if (record.streams && prefill.is_calibrated()) {
        state.lanes.completed(record.service);
    } else {
        state.lanes.spoiled();
    }
    state.backlog.remove(record, now_);
    state.backlog_changed(now_);
    // Requests past their first byte are in its memory, all at once.
    if (options_.learn_capacity && !state.slots &&
        state.capacity.holds_at_least(map_.pinned(record.backend) - state.awaiting_tokens)) {
        map_.set_capacity(record.backend, state.capacity.believed());
    }
    pump(record.backend);
}

void Router::Core::end(Ticket& ticket, const Outcome& outcome, TimePoint now) {
    if (!ticket.record_) {
        return;  // never admitted, or ended before
    }
    begin(now);
    std::erase(released_, &ticket);
    std::unique_ptr<Record> ending = std::move(ticket.record_);  // once, should it throw, too
    Record& record = *ending;
    std::optional<BackendSlot> changed;
    if (record.phase == Record::Phase::Held) {
        queue_.remove(record, HoldQueue::Leaves::Unsent, now_);
        ticket.held_ += from_seconds(now_ - record.held_since);
        discount(record);
    } else if (record.phase != Record::Phase::Admitted) {
        changed = record.backend;
        leave_backend(record, leaves(outcome.kind));
        try {
            conclude(record, outcome);
        } catch (...) {  // a slot that nobody leaves would be busy for good
            withdraw_from_slot(record);
            throw;
        }
    } else {
        discount(record);  // sent before, and taken nowhere
    }
    records_.give_back(std::move(ending));
    pump(changed);
}

// What became of it there.
void Router::Core::conclude(Record& record, const Outcome& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::Success:
            learn(record, outcome);
            remember_answer(record, outcome);
            break;
        case Outcome::Kind::Refused:
        case Outcome::Kind::Failed:
            take_back_work(record);
            discount(record);
            withdraw_from_slot(record);
            unpin(record, outcome.kind);
            break;
        case Outcome::Kind::ClientLeft:
            leave_slot(record, record.chain());
            unpin(record, outcome.kind);
            break;
    }
}

// Gives back what reserve() took, but for the map's blocks and their pins.
void Router::Core::leave_backend(Record& record, Backlog::Leaves leaves) {
    BackendState& state = fleet_.at(record.backend);
    pool::Backend& backend = *pool_.find(record.backend);
    if (record.phase == Record::Phase::Prefill) {
        discount_awaiting(record, state);
    }
    if (record.place != Backlog::Entry::Place::None) {
        state.settle(now_);
        state.lanes.spoiled();
        if (record.place == Backlog::Entry::Place::Watched) {
            record.first = record.served();
        }
        state.backlog.remove(record, now_, leaves);
        state.backlog_changed(now_);
    }
    backend.in_flight -= record.ticket->ask().sequences;
    --state.requests;
    state.room_changed = now_;
    is_roomy_current_ = false;
    backend.health.abandon_trial(
        record.trial);  // a verdict came through the pool, or there is none
    record.trial = pool::Health::kNoTrial;
}

void Router::Core::leave_slot(const Record& record, const prefix::Chain& content) {
    if (auto& slots = fleet_.at(record.backend).slots) {
        slots->ended(&record, content, now_);
    }
}

void Router::Core::withdraw_from_slot(const Record& record) {
    if (auto& slots = fleet_.at(record.backend).slots) {
        slots->withdrawn(&record, now_);
    }
}

// As far as it is known, what a client did not wait for is computed.
void Router::Core::unpin(const Record& record, Outcome::Kind why) {
    if (record.ticket->ask().key.empty()) {
        return;
    }
    if (why == Outcome::Kind::ClientLeft) {
        map_.unpin_computed(record.chain(), record.backend);
    } else {
        map_.unpin_failed(record.chain(), record.backend);
    }
}

// An answer that the map has no blocks of, or a block that is partly filled, takes memory, too: on
// short prompts a tenth of it, and what lay beneath was believed cached for as much longer.
void Router::Core::count_beside(const Record& record, const Outcome& outcome, Tokens mapped) {
    const Tokens most = map_.capacity(record.backend);
    const Tokens output = std::clamp<Tokens>(outcome.reported_output.value_or(0), 0, most);
    const Tokens block = fleet_.at(record.backend).engine_block.size();
    const Tokens used = (record.prompt_tokens + output + block - 1) / block * block;
    if (output > 0 && used > mapped) {
        map_.fill(record.backend, used - mapped);
    }
}

// Requests that a backend refuses, or fails before their first byte, are no load.
void Router::Core::take_back_work(const Record& record) {
    if (record.phase == Record::Phase::Prefill) {
        fleet_.at(record.backend).work.take_back(record.service, record.sent, now_);
    }
}

// Nobody computed it.
void Router::Core::discount(Record& record) {
    if (record.is_counted && record.phase != Record::Phase::Decode) {
        record.is_counted = false;
        fleet_.model(record.ticket->ask().model)
            .take_back(record.counted_work, record.counted_at, now_);
    }
}

// The engine frees the blocks now, the prompt's and the answer's: they are the youngest.
void Router::Core::remember_answer(const Record& record, const Outcome& outcome) {
    const prompt::PromptKey& key = record.ticket->ask().key;
    if (key.empty()) {
        leave_slot(record, {});
        return;
    }
    const Tokens prompt_mapped = record.chain_tokens.back();
    if (outcome.answer_hashes.empty()) {
        leave_slot(record, record.chain());
        count_beside(record, outcome, prompt_mapped);
        map_.unpin_and_touch(record.chain(), record.backend);
        return;
    }
    // The answer follows the last message; fields that templates render behind it do not come
    // before it in the next turn.
    const std::size_t before = key.history.hash != 0 ? key.history.blocks : key.size();
    const std::size_t common = std::min(before, key.size());
    const auto kept = static_cast<std::ptrdiff_t>(common);
    answer_hashes_.assign(key.hashes.begin(), key.hashes.begin() + kept);
    answer_hashes_.insert(answer_hashes_.end(), outcome.answer_hashes.begin(),
                          outcome.answer_hashes.end());
    answer_tokens_.assign(record.chain_tokens.begin(), record.chain_tokens.begin() + kept);
    const ModelState& model = fleet_.model(record.ticket->ask().model);
    tokens_of(outcome.answer_ends, key.is_tokens ? 1.0 : model.ratio.bytes_per_token(),
              answer_tokens_);
    leave_slot(record, {answer_hashes_, answer_tokens_});
    const Tokens shared = common > 0 ? record.chain_tokens[common - 1] : 0;
    count_beside(record, outcome, prompt_mapped - shared + answer_tokens_.back());
    // Ends before beginnings, and what prompt and answer share but once.
    const prefix::Chain prompt = record.chain();
    map_.unpin_and_touch(prompt, record.backend, common);
    map_.touch({answer_hashes_, answer_tokens_}, record.backend, common);
    map_.unpin_and_touch({prompt.hashes.first(common), prompt.tokens.first(common)},
                         record.backend);
}

void Router::Core::learn(const Record& record, const Outcome& outcome) {
    const Ask& ask = record.ticket->ask();
    ModelState& model = fleet_.model(ask.model);
    if (record.first > 0) {
        model.decode += kDecodeWeight * ((now_ - record.first) - model.decode);
    }
    if (!record.streams) {
        model.answers.add(record.first > 0 ? now_ - record.first : 0);
    }
    // Reports count all prompts of a batch, and a history that the engine holds; the key does not.
    if (ask.key.empty() || ask.sequences > 1 || ask.key.lacks_history) {
        return;
    }
    const Tokens prompt = outcome.reported_prompt.value_or(record.prompt_tokens);
    if (!ask.key.is_tokens && outcome.reported_prompt) {
        model.ratio.learn(ask.key.total, prompt);
    }
    if (outcome.reported_cached) {
        count_saved(record, prompt, *outcome.reported_cached);
    }
    if (outcome.reported_cached && !ask.key.goes_around_cache) {
        learn_cache(record, prompt, *outcome.reported_cached);
    }
    if (record.streams && record.first > 0) {
        const Tokens expected = ask.key.goes_around_cache ? 0 : record.match.tokens;
        const Tokens cached = outcome.reported_cached.value_or(expected);
        const PrefillModel::Sample sample{std::max<Tokens>(1, prompt - cached), prompt,
                                          record.first - record.sent};
        record.is_alone ? model.prefill.learn(record.backend, sample)
                        : model.prefill.learn_bound(sample);
    }
}

// Against computing the whole prompt there.
void Router::Core::count_saved(const Record& record, Tokens prompt, Tokens cached) {
    const PrefillModel& prefill = fleet_.model(record.ticket->ask().model).prefill;
    if (cached <= 0 || !prefill.is_calibrated()) {
        return;
    }
    const Tokens computed = std::max<Tokens>(1, prompt - cached);
    fleet_.at(record.backend).saved_prefill += prefill.estimate(record.backend, prompt, prompt) -
                                               prefill.estimate(record.backend, computed, prompt);
}

// Prompts beside the slots are found again in the order of an LRU, as the map has them; how many
// there are is not told.
void Router::Core::learn_slots(const Record& record, Tokens prompt, Tokens cached) {
    BackendState& state = fleet_.at(record.backend);
    if (record.found_slot && state.slots_watch.learn(prompt, record.match.tokens, cached)) {
        fleet_.set_slots(record.backend, std::nullopt);
        state.capacity.start(options_.initial_capacity, CapacityLearner::Source::Guessed, 0);
        map_.set_capacity(record.backend, state.capacity.believed());
    }
}

void Router::Core::learn_cache(const Record& record, Tokens prompt, Tokens cached) {
    BackendState& state = fleet_.at(record.backend);
    state.has_reported_cached = true;
    state.engine_block.learn(cached);
    const FlushDetector::Verdict verdict = state.flush.learn(
        {record.match.tokens, cached, record.distances.at(0), state.capacity.believed()});
    const bool is_flushed = verdict == FlushDetector::Verdict::Flushed;
    if (is_flushed) {
        forget_cache(record.backend);
    }
    if (!options_.learn_capacity) {
        return;
    }
    if (state.slots) {
        learn_slots(record, prompt, cached);
        return;
    }
    if (verdict == FlushDetector::Verdict::Suspected) {
        state.capacity.suspect();
    }
    bool has_changed =
        cached > 0 ? state.capacity.confirm() : is_flushed && state.capacity.acquit();
    if (!is_flushed && !record.distances.empty()) {
        const CapacityLearner::Report report =
            blocks_found(record, state.engine_block.size(), prompt, cached);
        has_changed |= state.capacity.learn(report, record.distances);
    }
    if (has_changed) {
        map_.set_capacity(record.backend, state.capacity.believed());
    }
}

}  // namespace prefix_router::routing
