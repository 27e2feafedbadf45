#include "proxy/backend_monitor.hpp"

#include <array>
#include <string>
#include <utility>

#include <prometheus/counter.h>
#include <spdlog/spdlog.h>

namespace prefix_router::proxy {
namespace {

constexpr std::chrono::milliseconds kScrapeTimeout{3000};
// Models and capacities change seldom: they are asked for at first and then every so many scrapes.
constexpr unsigned kRareScrape = 10;
constexpr std::string_view kDefaultProbe = "/health";
constexpr std::string_view kSageMakerProbe = "/ping";
constexpr std::array<std::string_view, 2> kLlamaCppInfo{"/props", "/slots"};

bool is_missing(unsigned status) {
    return status == 404 || status == 405 || status == 501;
}
bool is_good(unsigned status) {
    return status >= 200 && status < 300;
}

}  // namespace

BackendMonitor::BackendMonitor(net::Worker& worker, Services& services, const BackendRef& backend,
                               const config::Health& health)
    : worker_(worker),
      services_(services),
      prober_(worker, backend),
      scraper_(worker, backend),
      health_(health),
      scrape_interval_(
          std::chrono::ceil<std::chrono::milliseconds>(health.scrape_interval / services.speed_up)),
      probe_path_(health.path) {}

void BackendMonitor::start() {
    const bool scrapes = health_.scrape_interval.count() > 0;
    is_broken_ = true;  // until all run
    worker_.spawn(probe_forever());
    if (scrapes) {
        worker_.spawn(scrape_forever());
    }
    is_broken_ = running_loops_ < (scrapes ? 2 : 1);
}

void BackendMonitor::stop() {
    prober_.stop();
    scraper_.stop();
}

/// Counts a loop that runs. One that was not stopped has ended by an exception.
class BackendMonitor::RunningLoop {
  public:
    RunningLoop(BackendMonitor& monitor, const Fetcher& fetcher)
        : monitor_(monitor), fetcher_(fetcher) {
        ++monitor_.running_loops_;
    }
    RunningLoop(const RunningLoop&) = delete;
    RunningLoop& operator=(const RunningLoop&) = delete;
    ~RunningLoop() {
        --monitor_.running_loops_;
        monitor_.is_broken_ |= !fetcher_.is_stopped();
    }

  private:
    BackendMonitor& monitor_;
    const Fetcher& fetcher_;
};

net::Task<void> BackendMonitor::probe_forever() {
    const RunningLoop running(*this, prober_);
    bool goes_on = true;
    while (goes_on) {
        const Health health = co_await probe();
        if (prober_.is_stopped()) {
            break;
        }
        if (health != Health::NotAsked) {
            const bool is_alive = health == Health::Alive;
            backend()->metrics->probe_failures.Increment(is_alive ? 0 : 1);
            backend()->note_trouble(is_alive ? "" : probe_complaint_);
            services_.desk.probed(backend(), is_alive);
            tell_health(is_alive, probe_complaint_);
        }
        goes_on = co_await prober_.sleep(health_.interval);
    }
}

/// At the start a name's first lookup is still under way; a backend must not wait for its second
/// probe because of that.
net::Task<void> BackendMonitor::wait_for_address(std::chrono::milliseconds timeout) {
    net::BackendAddress& address = backend()->address;
    bool goes_on = true;
    for (auto waited = timeout.zero(); goes_on && waited < timeout; waited += net::kTickLength) {
        if (!address.endpoints()->empty()) {
            break;
        }
        address.refresh();
        goes_on = co_await prober_.sleep(net::kTickLength);
    }
}

/// Engines answer /health, SageMaker containers /ping; a server that knows neither is alive when it
/// speaks HTTP at all.
net::Task<BackendMonitor::Health> BackendMonitor::probe() {
    const auto timeout = health_.timeout;
    co_await wait_for_address(timeout);
    auto answer = co_await prober_.get(probe_path_, timeout);
    if (answer && is_missing(answer->status) && probe_path_ == kDefaultProbe) {
        answer = co_await prober_.get(kSageMakerProbe, timeout);
        if (answer && is_good(answer->status)) {
            probe_path_ = kSageMakerProbe;
        } else if (answer && is_missing(answer->status)) {
            co_return Health::Alive;
        }
    }
    if (!answer) {
        const Error& error = answer.error();
        probe_complaint_ = to_string(error.kind());
        probe_complaint_ += error.message().empty() ? "" : ": " + error.message();
        const bool is_ours = error.kind() == ErrorKind::OutOfDescriptors;
        co_return is_ours ? Health::NotAsked : Health::Failing;
    }
    probe_complaint_ = "status " + std::to_string(answer->status);
    co_return is_good(answer->status) ? Health::Alive : Health::Failing;
}

void BackendMonitor::tell_health(bool is_alive, std::string_view why) {
    if (was_alive_ == is_alive) {
        return;
    }
    was_alive_ = is_alive;
    const BackendEntry& entry = *backend();
    if (is_alive) {
        spdlog::info("backend {} ({}) passes its health probe", entry.id, entry.url.text);
    } else {
        spdlog::warn("backend {} ({}) fails its health probe: {}", entry.id, entry.url.text, why);
    }
}

net::Task<void> BackendMonitor::scrape_forever() {
    const RunningLoop running(*this, scraper_);
    bool goes_on = true;
    for (unsigned scrapes = 0; goes_on; ++scrapes) {
        asks_facts_ = std::exchange(needs_facts_, false) || scrapes % kRareScrape == 0;
        if (asks_facts_) {
            co_await scrape_models();
        }
        co_await scrape();
        if (scraper_.is_stopped()) {
            break;
        }
        goes_on = co_await scraper_.sleep(scrape_interval_);
    }
}

/// A backend that does not answer may be another one when it does again.
net::Task<Result<Fetched>> BackendMonitor::ask(std::string_view path) {
    auto answer = co_await scraper_.get(path, kScrapeTimeout);
    needs_facts_ |= !answer;
    co_return answer;
}

net::Task<void> BackendMonitor::scrape_models() {
    const auto answer = co_await ask("/v1/models");
    if (answer && is_good(answer->status)) {
        const auto names = read_models(answer->body);
        if (!names.empty()) {
            services_.desk.report_models(backend(), names);
        }
    }
}

net::Task<void> BackendMonitor::scrape() {
    const auto answer = co_await ask("/metrics");
    if (!answer) {  // the prober says what is wrong
        forget_load();
    } else {
        co_await take_metrics(*answer);
    }
    services_.desk.scraped(backend(), load_);
}

/// What it last had to do is over; what it can hold is not.
void BackendMonitor::forget_load() {
    load_.running.reset();
    load_.waiting.reset();
    load_.kv_usage.reset();
}

net::Task<void> BackendMonitor::take_metrics(const Fetched& answer) {
    load_ = pool::ScrapedLoad();
    if (is_good(answer.status)) {
        const Exposition exposition = read_exposition(answer.body);
        engine_ = exposition.engine;
        load_ = exposition.load;
    }
    if (asks_facts_) {
        co_await ask_facts();
    }
    if (!backend()->is_capacity_told.load() && !load_.capacity) {
        load_.capacity = asked_.capacity;
    }
    load_.slots = asked_.slots;
    if (!load_.step) {
        load_.step = asked_.step;
    }
}

/// What engines do not tell in /metrics.
net::Task<void> BackendMonitor::ask_facts() {
    const bool wants_capacity = !load_.capacity && !backend()->is_capacity_told.load();
    asked_ = EngineFacts();
    if (engine_ == Engine::SgLang) {
        const auto answer = co_await ask("/get_server_info");
        if (answer && is_good(answer->status)) {
            asked_ = read_sglang_facts(answer->body);
        }
    } else if (engine_ == Engine::LlamaCpp || (wants_capacity && engine_ == Engine::Unknown)) {
        co_await ask_llamacpp();
    }
    if (wants_capacity && !asked_.capacity && !has_warned_of_capacity_ && !scraper_.is_stopped()) {
        has_warned_of_capacity_ = true;
        spdlog::warn(
            "backend {} does not tell its KV cache capacity: it is learned from cached tokens in "
            "answers, or set capacity_tokens",
            backend()->id);
    }
}

net::Task<void> BackendMonitor::ask_llamacpp() {
    for (const std::string_view path : kLlamaCppInfo) {
        const auto answer = co_await ask(path);
        if (answer && is_good(answer->status)) {
            asked_ = read_llamacpp_facts(answer->body);
        }
        if (asked_.capacity) {
            co_return;
        }
    }
}

}  // namespace prefix_router::proxy
