#include "prefix_router/sim/engine.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <utility>

#include "sim/block_cache.hpp"
#include "sim/prefill_cost.hpp"

namespace prefix_router::sim {
namespace {

using Place = std::uint32_t;

enum class Phase : std::uint8_t { Ended, Waiting, Prefilling, Decoding };

/// A request from submit to its end. Places are reused; the serial tells the users apart.
struct Job {
    std::vector<std::uint64_t> blocks;
    std::vector<std::uint64_t> answer_blocks;
    Tokens prompt_tokens = 0;
    Tokens output_tokens = 0;
    Tokens cached_tokens = 0;
    std::size_t matched_blocks = 0;
    std::size_t anonymous_blocks = 0;  // of the prompt without an id, and of the answer
    Seconds work = 0;                  // own prefill seconds
    Seconds first_token_at = 0;
    Phase phase = Phase::Ended;
    std::uint32_t serial = 0;
};

struct Active {
    Place place;
    Seconds left;  // own prefill seconds still to be served
};

struct Ending {
    Seconds at;
    std::uint64_t order;
    Engine::RequestId id;
    bool operator>(const Ending& other) const {
        return std::pair{at, order} > std::pair{other.at, other.order};
    }
};

std::size_t blocks_for(Tokens tokens, Tokens block_tokens) {
    return static_cast<std::size_t>((tokens + block_tokens - 1) / block_tokens);
}

std::size_t blocks_of_pool(const EngineOptions& options) {
    return static_cast<std::size_t>(std::max<Tokens>(1, options.kv_tokens / options.block_tokens));
}

}  // namespace

class Engine::State {
  public:
    explicit State(const EngineOptions& options)
        : options_(options),
          cache_(blocks_of_pool(options)),
          prefill_places_(std::size_t{options.lanes} * options.interleave) {}

    Submission submit(const Request& request, Seconds now);
    bool cancel(RequestId id, Seconds now);
    std::optional<Seconds> next_event_time() const;
    std::span<const Event> advance(Seconds now);

    const EngineOptions& options() const { return options_; }
    const Counters& counters() {
        counters_.evicted_blocks = cache_.evicted();
        return counters_;
    }
    const BlockCache& cache() const { return cache_; }
    BlockCache& cache() { return cache_; }
    void set_prefill_rate(double rate) { options_.prefill_rate = rate; }
    void set_kv_tokens(Tokens tokens) {
        options_.kv_tokens = tokens;
        cache_.resize(blocks_of_pool(options_));
    }
    std::size_t waiting() const { return queue_.size(); }
    std::size_t running() const { return running_; }

  private:
    static RequestId id_of(Place place, const Job& job) {
        return (std::uint64_t{job.serial} << 32) | place;
    }
    Job* find(RequestId id);
    Place open(const Request& request);
    void close(Place place);
    void run_until(Seconds now);
    void serve(Seconds now);
    void schedule(Seconds now);
    bool fits(const Job& job) const;
    void drop_head(Seconds now);
    bool try_schedule_head(Seconds now);
    void expect_next(Seconds now);
    void finish_prefill();
    void finish_decode();
    void cancel_prefill(Place place, Job& job);
    void cancel_decode(Job& job, Seconds now);
    void release(Job& job, std::size_t computed, std::span<const std::uint64_t> answer);
    void drop_stale_endings();
    double share() const;

    EngineOptions options_;
    BlockCache cache_;
    std::size_t prefill_places_;
    std::deque<Job> jobs_;  // a deque: references stay valid while it grows
    std::vector<Place> free_places_;
    std::deque<Place> queue_;
    std::vector<Active> active_;
    std::size_t running_ = 0;
    Seconds served_until_ = 0;
    std::optional<std::pair<Seconds, Place>> next_prefill_;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
    std::uint64_t order_ = 0;
    std::vector<Event> events_;
    bool events_were_handed_out_ = false;
    Counters counters_;
};

Engine::Submission Engine::State::submit(const Request& request, Seconds now) {
    run_until(now);
    const Place place = open(request);
    Job& job = jobs_[place];
    if (!fits(job)) {
        close(place);
        ++counters_.refused;
        return {Submitted::TooLarge, 0};
    }
    const RequestId id = id_of(place, job);
    queue_.push_back(place);
    schedule(now);
    if (options_.max_waiting && queue_.size() > *options_.max_waiting) {
        queue_.pop_back();  // it is the last: nothing behind it was there to be scheduled
        close(place);
        ++counters_.refused;
        return {Submitted::QueueFull, 0};
    }
    return {Submitted::Accepted, id};
}

bool Engine::State::cancel(RequestId id, Seconds now) {
    run_until(now);
    Job* job = find(id);
    if (job == nullptr) return false;
    const auto place = static_cast<Place>(id);
    serve(now);
    switch (job->phase) {
        case Phase::Waiting:
            std::erase(queue_, place);
            break;
        case Phase::Prefilling:
            cancel_prefill(place, *job);
            break;
        case Phase::Decoding:
            cancel_decode(*job, now);
            break;
        case Phase::Ended:
            return false;
    }
    ++counters_.cancelled;
    close(place);
    drop_stale_endings();
    schedule(now);
    return true;
}

void Engine::State::cancel_prefill(Place place, Job& job) {
    const auto at = std::find_if(active_.begin(), active_.end(),
                                 [place](const Active& active) { return active.place == place; });
    const Seconds served = job.work - at->left;
    active_.erase(at);
    const Tokens done = job.cached_tokens + tokens_computed(options_, job.cached_tokens, served);
    release(job, static_cast<std::size_t>(done / options_.block_tokens), {});
}

void Engine::State::cancel_decode(Job& job, Seconds now) {
    const auto decoded = static_cast<Tokens>((now - job.first_token_at) * options_.decode_rate);
    const Tokens beyond = job.prompt_tokens + decoded -
                          static_cast<Tokens>(job.blocks.size()) * options_.block_tokens;
    const auto whole = static_cast<std::size_t>(beyond / options_.block_tokens);
    const std::span<const std::uint64_t> answer = job.answer_blocks;
    release(job, job.blocks.size(), answer.first(std::min(whole, answer.size())));
}

void Engine::State::release(Job& job, std::size_t computed, std::span<const std::uint64_t> answer) {
    --running_;
    cache_.release(job.blocks, std::max(computed, job.matched_blocks), answer,
                   job.anonymous_blocks);
}

std::optional<Seconds> Engine::State::next_event_time() const {
    std::optional<Seconds> next;
    if (next_prefill_) next = next_prefill_->first;
    if (!endings_.empty() && (!next || endings_.top().at < *next)) next = endings_.top().at;
    return next;
}

std::span<const Engine::Event> Engine::State::advance(Seconds now) {
    run_until(now);
    events_were_handed_out_ = true;
    return events_;
}

void Engine::State::run_until(Seconds now) {
    if (events_were_handed_out_) {
        events_.clear();
        events_were_handed_out_ = false;
    }
    for (auto next = next_event_time(); next && *next <= now; next = next_event_time()) {
        if (next_prefill_ && next_prefill_->first <= *next) {
            finish_prefill();
        } else {
            finish_decode();
        }
    }
}

/// Among more prefills than lanes each is this many times slower than alone.
double Engine::State::share() const {
    return std::max(1.0, static_cast<double>(active_.size()) / options_.lanes);
}

void Engine::State::serve(Seconds now) {
    const Seconds each = std::max(0.0, now - served_until_) / share();
    for (Active& active : active_) active.left -= each;
    served_until_ = std::max(served_until_, now);
}

void Engine::State::schedule(Seconds now) {
    serve(now);
    while (!queue_.empty() && active_.size() < prefill_places_ && running_ < options_.slots) {
        if (!fits(jobs_[queue_.front()])) {
            drop_head(now);
        } else if (!try_schedule_head(now)) {
            break;
        }
    }
    expect_next(now);
}

bool Engine::State::fits(const Job& job) const {
    return job.blocks.size() + job.anonymous_blocks <= blocks_of_pool(options_);
}

/// The pool has shrunk: the head would wait for ever, and all behind it.
void Engine::State::drop_head(Seconds now) {
    const Place place = queue_.front();
    queue_.pop_front();
    events_.push_back({Event::Kind::Dropped, id_of(place, jobs_[place]), now, 0});
    ++counters_.refused;
    close(place);
}

bool Engine::State::try_schedule_head(Seconds now) {
    const Place place = queue_.front();
    Job& job = jobs_[place];
    const std::size_t matched = cache_.match(job.blocks);
    if (!cache_.acquire(job.blocks, job.anonymous_blocks)) return false;
    queue_.pop_front();
    ++running_;
    job.phase = Phase::Prefilling;
    job.matched_blocks = matched;
    const Tokens useful = (job.prompt_tokens - 1) / options_.block_tokens;
    job.cached_tokens = std::min(static_cast<Tokens>(matched), useful) * options_.block_tokens;
    job.work = prefill_seconds(options_, job.prompt_tokens, job.cached_tokens);
    active_.push_back(Active{place, job.work});
    counters_.prompt_tokens += static_cast<std::uint64_t>(job.prompt_tokens);
    counters_.cached_tokens += static_cast<std::uint64_t>(job.cached_tokens);
    counters_.prefill_seconds += job.work;
    events_.push_back({Event::Kind::Scheduled, id_of(place, job), now, job.cached_tokens});
    return true;
}

void Engine::State::expect_next(Seconds now) {
    next_prefill_.reset();
    if (active_.empty()) return;
    const auto first =
        std::min_element(active_.begin(), active_.end(),
                         [](const Active& a, const Active& b) { return a.left < b.left; });
    next_prefill_.emplace(now + std::max(0.0, first->left) * share(), first->place);
}

void Engine::State::finish_prefill() {
    const auto [now, place] = *next_prefill_;
    serve(now);
    std::erase_if(active_, [place](const Active& active) { return active.place == place; });
    Job& job = jobs_[place];
    job.phase = Phase::Decoding;
    job.first_token_at = now;
    const Seconds decode = static_cast<double>(job.output_tokens) / options_.decode_rate;
    endings_.push(Ending{now + decode, ++order_, id_of(place, job)});
    events_.push_back({Event::Kind::PrefillDone, id_of(place, job), now, job.cached_tokens});
    schedule(now);
}

void Engine::State::finish_decode() {
    const Ending ending = endings_.top();
    endings_.pop();
    const auto place = static_cast<Place>(ending.id);
    Job& job = jobs_[place];
    release(job, job.blocks.size(), job.answer_blocks);
    events_.push_back({Event::Kind::Finished, ending.id, ending.at, job.cached_tokens});
    ++counters_.finished;
    close(place);
    drop_stale_endings();
    schedule(ending.at);
}

/// Keeps the head of endings_ a living request, so that next_event_time() needs no search.
void Engine::State::drop_stale_endings() {
    while (!endings_.empty() && find(endings_.top().id) == nullptr) endings_.pop();
}

Job* Engine::State::find(RequestId id) {
    const auto place = static_cast<Place>(id);
    if (place >= jobs_.size()) return nullptr;
    Job& job = jobs_[place];
    return job.phase != Phase::Ended && id_of(place, job) == id ? &job : nullptr;
}

Place Engine::State::open(const Request& request) {
    if (free_places_.empty()) {
        free_places_.push_back(static_cast<Place>(jobs_.size()));
        jobs_.emplace_back();
    }
    const Place place = free_places_.back();
    free_places_.pop_back();
    Job& job = jobs_[place];
    job.blocks.assign(request.blocks.begin(), request.blocks.end());
    job.answer_blocks.assign(request.answer_blocks.begin(), request.answer_blocks.end());
    job.prompt_tokens = request.prompt_tokens;
    job.output_tokens = request.output_tokens;
    job.cached_tokens = 0;
    job.phase = Phase::Waiting;
    const Tokens named = static_cast<Tokens>(job.blocks.size()) * options_.block_tokens;
    const Tokens unnamed = std::max<Tokens>(0, job.prompt_tokens - named);
    job.anonymous_blocks = blocks_for(unnamed, options_.block_tokens) +
                           blocks_for(job.output_tokens, options_.block_tokens);
    ++job.serial;
    return place;
}

void Engine::State::close(Place place) {
    jobs_[place].phase = Phase::Ended;
    free_places_.push_back(place);
}

Engine::Engine(const EngineOptions& options) : state_(std::make_unique<State>(options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Engine::Submission Engine::submit(const Request& request, Seconds now) {
    return state_->submit(request, now);
}
bool Engine::cancel(RequestId id, Seconds now) {
    return state_->cancel(id, now);
}
std::optional<Seconds> Engine::next_event_time() const {
    return state_->next_event_time();
}
std::span<const Engine::Event> Engine::advance(Seconds now) {
    return state_->advance(now);
}
std::size_t Engine::waiting() const {
    return state_->waiting();
}
std::size_t Engine::running() const {
    return state_->running();
}
std::size_t Engine::total_blocks() const {
    return state_->cache().capacity();
}
const Engine::Counters& Engine::counters() const {
    return state_->counters();
}
const EngineOptions& Engine::options() const {
    return state_->options();
}
void Engine::flush() {
    state_->cache().flush();
}
void Engine::set_prefill_rate(double tokens_per_second) {
    state_->set_prefill_rate(tokens_per_second);
}
void Engine::set_kv_tokens(Tokens tokens) {
    state_->set_kv_tokens(tokens);
}

double Engine::kv_usage() const {
    const BlockCache& cache = state_->cache();
    const std::size_t unused = cache.free() + cache.evictable();
    return 1.0 - static_cast<double>(unused) / static_cast<double>(cache.capacity());
}

std::size_t Engine::match(std::span<const std::uint64_t> blocks) const {
    return state_->cache().match(blocks);
}

}  // namespace prefix_router::sim
