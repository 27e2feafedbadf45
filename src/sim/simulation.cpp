#include "sim/simulation.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <utility>

#include "sim/prefill_cost.hpp"

namespace prefix_router::sim {
namespace {

constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();
constexpr Seconds kTick = 0.05;  // as the daemon: the queue looks again at ageing requests
constexpr std::size_t kProgressStep = 256;

struct Arrival {
    Seconds at;
    std::uint64_t order;
    std::size_t request;
    bool operator>(const Arrival& other) const {
        return std::pair{at, order} > std::pair{other.at, other.order};
    }
};

class Simulation {
  public:
    Simulation(const Trace& trace, std::span<Engine> engines, Policy& policy,
               const SimulationSetting& setting)
        : trace_(trace),
          engines_(engines),
          policy_(policy),
          setting_(setting),
          next_event_(engines.size(), kNever),
          requests_(engines.size()) {
        result_.served.resize(trace.requests.size());
    }

    Result<Simulated> run(const Progress& progress);

  private:
    void expect_arrival(std::size_t request, Seconds at) {
        arrivals_.push(Arrival{at, ++order_, request});
    }
    void arrive(const Arrival& arrival);
    void send(std::size_t request, std::size_t backend, Seconds now);
    void send_released(Seconds now);
    void run_engine(std::size_t backend, Seconds now);
    void settle(const Engine::Event& event, std::size_t request, std::size_t backend);
    void finish(std::size_t request, const Engine::Event& event);
    Error never_served() const;
    void refresh(std::size_t backend) {
        next_event_[backend] = engines_[backend].next_event_time().value_or(kNever);
    }

    const Trace& trace_;
    std::span<Engine> engines_;
    Policy& policy_;
    SimulationSetting setting_;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    std::uint64_t order_ = 0;
    std::vector<Seconds> next_event_;  // by backend
    // By backend, by the engine's place of a request (the low half of its id): the request.
    std::vector<std::vector<std::size_t>> requests_;
    Seconds next_tick_ = kNever;
    std::size_t finished_ = 0;
    std::optional<Error> failure_;
    Simulated result_;
};

Result<Simulated> Simulation::run(const Progress& progress) {
    for (std::size_t k = 0; k < trace_.requests.size(); ++k) {
        const TraceRequest& request = trace_.requests[k];
        if (setting_.closed_loop && !request.opens_session) continue;
        expect_arrival(k, request.arrival / setting_.time_scale);
    }
    std::size_t reported = 0;
    while (!failure_) {
        const auto first = std::min_element(next_event_.begin(), next_event_.end());
        const Seconds arrival = arrivals_.empty() ? kNever : arrivals_.top().at;
        if (*first <= arrival && *first <= next_tick_) {
            if (*first == kNever) break;
            run_engine(static_cast<std::size_t>(first - next_event_.begin()), *first);
        } else if (arrival <= next_tick_) {
            const Arrival next = arrivals_.top();
            arrivals_.pop();
            arrive(next);
        } else {
            const Seconds now = next_tick_;
            next_tick_ = kNever;
            policy_.tick(now);
            send_released(now);
        }
        if (progress && finished_ >= reported + kProgressStep) {
            reported = finished_;
            progress(static_cast<double>(finished_) / static_cast<double>(trace_.requests.size()));
        }
    }
    if (failure_) return *failure_;
    if (finished_ < trace_.requests.size()) return never_served();
    return std::move(result_);
}

Error Simulation::never_served() const {
    const auto first = std::find_if(result_.served.begin(), result_.served.end(),
                                    [](const Served& served) { return served.first_token < 0; });
    const auto number = static_cast<std::size_t>(first - result_.served.begin()) + 1;
    return Error(ErrorKind::NoBackend, "the strategy never sent request " + std::to_string(number) +
                                           " of the trace to a backend");
}

void Simulation::arrive(const Arrival& arrival) {
    result_.served[arrival.request].arrival = arrival.at;
    const auto backend = policy_.arrive(arrival.request, arrival.at);
    if (backend) send(arrival.request, *backend, arrival.at);
    send_released(arrival.at);
}

void Simulation::send_released(Seconds now) {
    for (const Policy::Release& release : policy_.take_released()) {
        send(release.request, release.backend, now);
    }
    if (policy_.held() == 0) {
        next_tick_ = kNever;
    } else if (next_tick_ == kNever) {
        next_tick_ = now + kTick;
    }
}

void Simulation::send(std::size_t number, std::size_t backend, Seconds now) {
    const TraceRequest& request = trace_.requests[number];
    Served& served = result_.served[number];
    served.sent = now;
    served.backend = backend;
    served.expected_cached = policy_.expected_cached(number);
    const Engine::Submission submission =
        engines_[backend].submit({trace_.prompt_blocks(request), request.prompt_tokens,
                                  request.output_tokens, trace_.answer_blocks(request)},
                                 now);
    if (submission.status != Engine::Submitted::Accepted) {
        failure_ = Error(ErrorKind::InvalidConfiguration,
                         "request " + std::to_string(number + 1) + " of the trace (" +
                             std::to_string(request.prompt_tokens) + " tokens and an answer of " +
                             std::to_string(request.output_tokens) +
                             ") does not fit into a backend's KV memory; raise --kv-tokens");
        return;
    }
    auto& places = requests_[backend];
    const auto place = static_cast<std::uint32_t>(submission.id);
    if (places.size() <= place) places.resize(place + 1);
    places[place] = number;
    run_engine(backend, now);
}

void Simulation::run_engine(std::size_t backend, Seconds now) {
    // Copied, with their requests: what the policy releases meanwhile is submitted here too.
    std::vector<std::pair<Engine::Event, std::size_t>> settled;
    for (const Engine::Event& event : engines_[backend].advance(now)) {
        settled.emplace_back(event, requests_[backend][static_cast<std::uint32_t>(event.id)]);
    }
    refresh(backend);
    for (const auto& [event, request] : settled) settle(event, request, backend);
}

void Simulation::settle(const Engine::Event& event, std::size_t request, std::size_t backend) {
    Served& served = result_.served[request];
    switch (event.kind) {
        case Engine::Event::Kind::Scheduled: {
            const Seconds work =
                prefill_seconds(engines_[backend].options(), trace_.requests[request].prompt_tokens,
                                event.cached_tokens);
            result_.work.push_back({event.at, backend, work});
            served.cached_tokens = event.cached_tokens;
            return;
        }
        case Engine::Event::Kind::PrefillDone:
            served.first_token = event.at;
            policy_.first_token(request, event.at);
            break;
        case Engine::Event::Kind::Finished:
            finish(request, event);
            break;
        case Engine::Event::Kind::Dropped:  // pools do not shrink here
            return;
    }
    send_released(event.at);
}

void Simulation::finish(std::size_t number, const Engine::Event& event) {
    result_.served[number].end = event.at;
    ++finished_;
    policy_.finish(number, event.cached_tokens, event.at);
    const std::size_t next = trace_.requests[number].next_turn;
    if (!setting_.closed_loop || next == TraceRequest::kNoTurn) return;
    expect_arrival(next, event.at + trace_.requests[next].think / setting_.time_scale);
}

}  // namespace

Result<Simulated> simulate(const Trace& trace, std::span<Engine> engines, Policy& policy,
                           const SimulationSetting& setting, const Progress& progress) {
    return Simulation(trace, engines, policy, setting).run(progress);
}

}  // namespace prefix_router::sim
