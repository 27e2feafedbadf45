#include "engine_sim/live_engine.hpp"

#include <algorithm>
#include <limits>

namespace prefix_router::engine_sim {
namespace {

constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();
constexpr Seconds kBatchSeconds = 0.005;  // real time between two batches of a stream's tokens

void tell(const Generation& generation) {
    if (generation.listener != nullptr) generation.listener->on_progress();
}

}  // namespace

GenerationHandle::~GenerationHandle() {
    if (engine_ == nullptr) return;
    generation_->listener = nullptr;
    if (!generation_->finished) engine_->cancel(id_);
}

void GenerationHandle::release() {
    if (engine_ == nullptr) return;
    generation_->listener = nullptr;
    engine_ = nullptr;
}

void GenerationHandle::swap(GenerationHandle& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(id_, other.id_);
    std::swap(generation_, other.generation_);
}

LiveEngine::LiveEngine(net::io_context& io, const sim::EngineOptions& options, double time_scale)
    : clock_(time_scale),
      time_scale_(time_scale),
      engine_(options),
      timer_(io.get_executor()),
      armed_for_(kNever),
      next_tokens_(kNever) {}

LiveEngine::Started LiveEngine::start(const sim::Engine::Request& request, Generation generation) {
    const sim::Engine::Submission submission = engine_.submit(request, now());
    Started started;
    started.status = submission.status;
    if (submission.status == sim::Engine::Submitted::Accepted) {
        auto shared = std::make_shared<Generation>(generation);
        generations_.emplace(submission.id, shared);
        started.handle = GenerationHandle(*this, submission.id, std::move(shared));
    }
    advance();
    return started;
}

void LiveEngine::cancel(sim::Engine::RequestId id) {
    engine_.cancel(id, now());
    const auto found = generations_.find(id);
    if (found != generations_.end()) {
        found->second->finished = true;
        generations_.erase(found);
    }
    advance();
}

void LiveEngine::stop() {
    stopped_ = true;
    timer_.cancel();
}

void LiveEngine::advance() {
    const Seconds time = now();
    for (const sim::Engine::Event& event : engine_.advance(time)) apply(event);
    if (time >= next_tokens_) hand_out_tokens(time);
    arm();
}

void LiveEngine::apply(const sim::Engine::Event& event) {
    const auto found = generations_.find(event.id);
    if (found == generations_.end()) return;
    const std::shared_ptr<Generation> generation = found->second;
    generation->cached_tokens = event.cached_tokens;
    switch (event.kind) {
        case sim::Engine::Event::Kind::Scheduled:
            return;
        case sim::Engine::Event::Kind::PrefillDone:
            generation->first_at = event.at;
            generation->ready = 1;
            if (!generation->wants_tokens) return;
            streaming_.push_back(generation);
            next_tokens_ = std::min(next_tokens_, next_token_time(*generation, event.at));
            break;
        case sim::Engine::Event::Kind::Finished:
            generation->ready = generation->total;
            generation->finished = true;
            generations_.erase(found);
            break;
        case sim::Engine::Event::Kind::Dropped:
            generation->is_dropped = true;
            generation->finished = true;
            generations_.erase(found);
            break;
    }
    tell(*generation);
}

void LiveEngine::hand_out_tokens(Seconds time) {
    const auto is_over = [](const std::shared_ptr<Generation>& generation) {
        return generation->finished || generation->ready == generation->total;
    };
    const double rate = engine_.options().decode_rate;
    next_tokens_ = kNever;
    for (const std::shared_ptr<Generation>& generation : streaming_) {
        if (is_over(generation)) continue;
        const auto made = 1 + static_cast<Tokens>((time - generation->first_at) * rate);
        const Tokens ready = std::min(generation->total, made);
        if (ready > generation->ready) {
            generation->ready = ready;
            tell(*generation);
        }
        next_tokens_ = std::min(next_tokens_, next_token_time(*generation, time));
    }
    std::erase_if(streaming_, is_over);
}

Seconds LiveEngine::next_token_time(const Generation& generation, Seconds time) const {
    const auto made = static_cast<double>(generation.ready);
    // A hair late, so that rounding never makes a token due just before its time.
    const Seconds due = generation.first_at + (made + 1e-6) / engine_.options().decode_rate;
    return std::max(due, time + kBatchSeconds * time_scale_);
}

void LiveEngine::arm() {
    const Seconds next = std::min(engine_.next_event_time().value_or(kNever), next_tokens_);
    if (stopped_ || next == armed_for_) return;
    armed_for_ = next;
    if (next == kNever) {
        timer_.cancel();
        return;
    }
    const Seconds wait = std::max(0.0, (next - now()) / time_scale_);
    timer_.expires_after(from_seconds(std::min(wait, 3600.0)));
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;  // armed anew for another time
        armed_for_ = kNever;
        advance();
    });
}

}  // namespace prefix_router::engine_sim
