#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
constexpr const char* kKeyLabel = "key";

prometheus::Labels to_map(const Registry::Labels& labels) {
    return prometheus::Labels(labels.begin(), labels.end());
}

}  // namespace

/// The library's registry, and for each backend and API key how to drop its series: the library can
/// remove a series only by the pointer that it gave out.
class Registry::Families {
  public:
    template <class Metric, class Builder, class... Arguments>
    Metric& add(Builder builder, const Registry::Labels& labels, Arguments&&... arguments) {
        auto& family = builder.Register(registry_);
        const std::lock_guard lock(mutex_);
        const prometheus::Labels map = to_map(labels);
        const bool is_known = family.Has(map);
        Metric& metric = family.Add(map, std::forward<Arguments>(arguments)...);
        for (const char* const label : {kBackendLabel, kKeyLabel}) {
            const auto owner = map.find(label);
            if (!is_known && owner != map.end()) {
                removals_.push_back({label, owner->second, &metric,
                                     [&family, &metric] { family.Remove(&metric); }});
            }
        }
        return metric;
    }

    /// Drops the series for which `is_meant`(removal) holds.
    template <class Predicate>
    void remove_where(Predicate is_meant) {
        const std::lock_guard lock(mutex_);
        std::erase_if(removals_, [&](const Removal& removal) {
            if (!is_meant(removal)) {
                return false;
            }
            removal.remove();
            return true;
        });
    }

    void remove(std::string_view label, const std::string& owner) {
        remove_where([&](const Removal& removal) {
            return removal.label == label && removal.owner == owner;
        });
    }

    void remove(const void* metric) {
        remove_where([&](const Removal& removal) { return removal.metric == metric; });
    }

    std::string exposition() const {
        return prometheus::TextSerializer().Serialize(registry_.Collect());
    }

  private:
    struct Removal {
        std::string_view label;
        std::string owner;
        const void* metric;
        std::function<void()> remove;
    };

    prometheus::Registry registry_;
    std::mutex mutex_;  ///< guards removals_ and the pair of Has() and Add()
    std::vector<Removal> removals_;
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
    families_->remove(kBackendLabel, id);
}

void Registry::remove_backend_series(const prometheus::Gauge& gauge) {
    families_->remove(&gauge);
}

void Registry::remove_api_key(const std::string& name) {
    families_->remove(kKeyLabel, name);
}

std::string Registry::exposition() const {
    return families_->exposition();
}

}  // namespace prefix_router::metrics
