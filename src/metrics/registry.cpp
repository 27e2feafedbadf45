#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "prefix_router/metrics/metrics.hpp"

namespace prefix_router::metrics {
namespace {

constexpr const char* kPrefix = "prefix_router_";
constexpr const char* kBackendLabel = "backend";

prometheus::Labels to_map(const Registry::Labels& labels) {
    return prometheus::Labels(labels.begin(), labels.end());
}

}  // namespace

/// The library's registry, and for each backend how to drop its series: the library can remove a
/// series only by the pointer that it gave out.
class Registry::Families {
  public:
    template <class Metric, class Builder, class... Arguments>
    Metric& add(Builder builder, const Registry::Labels& labels, Arguments&&... arguments) {
        auto& family = builder.Register(registry_);
        const std::lock_guard lock(mutex_);
        const prometheus::Labels map = to_map(labels);
        const bool is_known = family.Has(map);
        Metric& metric = family.Add(map, std::forward<Arguments>(arguments)...);
        const auto backend = map.find(kBackendLabel);
        if (!is_known && backend != map.end()) {
            removals_.emplace_back(backend->second, [&family, &metric] { family.Remove(&metric); });
        }
        return metric;
    }

    void remove_backend(const std::string& id) {
        const std::lock_guard lock(mutex_);
        for (const auto& [backend, remove] : removals_) {
            if (backend == id) {
                remove();
            }
        }
        std::erase_if(removals_, [&](const auto& entry) { return entry.first == id; });
    }

    std::string exposition() const {
        return prometheus::TextSerializer().Serialize(registry_.Collect());
    }

  private:
    prometheus::Registry registry_;
    std::mutex mutex_;  ///< guards removals_ and the pair of Has() and Add()
    std::vector<std::pair<std::string, std::function<void()>>> removals_;
};

Registry::Registry() : families_(std::make_unique<Families>()) {}
Registry::~Registry() = default;

prometheus::Counter& Registry::counter(const std::string& name, const std::string& help,
                                       const Labels& labels) {
    return families_->add<prometheus::Counter>(
        prometheus::BuildCounter().Name(kPrefix + name).Help(help), labels);
}

prometheus::Gauge& Registry::gauge(const std::string& name, const std::string& help,
                                   const Labels& labels) {
    return families_->add<prometheus::Gauge>(
        prometheus::BuildGauge().Name(kPrefix + name).Help(help), labels);
}

prometheus::Histogram& Registry::histogram(const std::string& name, const std::string& help,
                                           std::span<const double> buckets, const Labels& labels) {
    return families_->add<prometheus::Histogram>(
        prometheus::BuildHistogram().Name(kPrefix + name).Help(help), labels,
        prometheus::Histogram::BucketBoundaries(buckets.begin(), buckets.end()));
}

void Registry::remove_backend(const std::string& id) {
    families_->remove_backend(id);
}

std::string Registry::exposition() const {
    return families_->exposition();
}

}  // namespace prefix_router::metrics
