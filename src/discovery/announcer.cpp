#include "discovery/announcer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <spdlog/spdlog.h>

#include "prefix_router/base/logging.hpp"

namespace prefix_router::discovery {
namespace {

double seconds_since_epoch() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

std::string in_words(std::size_t backends) {
    return std::to_string(backends) + (backends == 1 ? " backend" : " backends");
}

}  // namespace

Announcer::Announcer(std::string source, const config::Discovery& config,
                     metrics::Registry& registry, Publish publish)
    : source_(std::move(source)),
      allows_empty_(config.allow_empty),
      publish_(std::move(publish)),
      up_(registry.gauge("discovery_up",
                         "Whether the source of backends answered last time, and its answer is in "
                         "force",
                         {{"source", source_}})),
      last_success_(registry.gauge("discovery_last_success_timestamp_seconds",
                                   "When the source of backends answered last",
                                   {{"source", source_}})),
      count_(registry.gauge("discovery_backends", "Backends that the source names",
                            {{"source", source_}})),
      failures_(registry.counter("discovery_failures_total",
                                 "Answers of the source that failed, or could not be used",
                                 {{"source", source_}})) {}

void Announcer::found(std::vector<config::Backend> backends) {
    refused_.reset();
    if (backends.empty() && !allows_empty_) {
        unusable(in_force_.empty()
                     ? "it names no backend (discovery.allow_empty would take that)"
                     : "it names no backend (discovery.allow_empty would remove all)");
        return;
    }
    std::sort(backends.begin(), backends.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    if (backends == in_force_) {
        confirm();
        return;
    }
    publish(std::move(backends));
}

void Announcer::publish(std::vector<config::Backend> backends) {
    if (const auto published = publish_(source_, backends); published.has_error()) {
        unusable(published.error().message());
        refused_ = std::move(backends);
        return;
    }
    refused_.reset();
    in_force_ = std::move(backends);
    count_.Set(static_cast<double>(in_force_.size()));
    spdlog::info("discovery: {} names {}", source_, in_words(in_force_.size()));
    confirm();
}

void Announcer::confirm() {
    is_answer_good_ = true;
    last_success_.Set(seconds_since_epoch());
    up_.Set(1);
    if (works_ == false) {
        spdlog::info("discovery: {} works again, with {}", source_, in_words(in_force_.size()));
    }
    works_ = true;
}

void Announcer::unusable(std::string_view why, Tell tell) {
    is_answer_good_ = false;
    fail(why, tell);
}

void Announcer::fail(std::string_view why, Tell tell) {
    up_.Set(0);
    failures_.Increment();
    const bool is_news = works_ != false || tell == Tell::Always;
    spdlog::log(is_news ? spdlog::level::warn : spdlog::level::debug,
                "discovery: {}: {}; what it named last stays: {}", source_, escape_for_log(why),
                in_words(in_force_.size()));
    works_ = false;
}

void Announcer::same_as_before() {
    if (refused_) {
        publish(*std::exchange(refused_, std::nullopt));
    } else if (is_answer_good_) {
        confirm();
    }
}

}  // namespace prefix_router::discovery
