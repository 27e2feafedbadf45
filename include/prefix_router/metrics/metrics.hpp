#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
class Registry;
template <class T>
class Family;
}  // namespace prometheus

namespace prefix_router::metrics {

/// The process's metric registry: prometheus-cpp's core behind one place, so that names, help texts
/// and buckets are declared once. Thread-safe; the returned references live as long as the
/// registry, except series of backends and API keys: they vanish with the remove_...() calls.
class Registry {
  public:
    using Labels = std::vector<std::pair<std::string, std::string>>;

    Registry();
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    /// `name` without the "prefix_router_" prefix; labels come from enums and backend ids only.
    prometheus::Counter& counter(const std::string& name, const std::string& help,
                                 const Labels& labels = {});
    prometheus::Gauge& gauge(const std::string& name, const std::string& help,
                             const Labels& labels = {});
    prometheus::Histogram& histogram(const std::string& name, const std::string& help,
                                     std::span<const double> buckets, const Labels& labels = {});

    /// Drops every series that carries label backend="id".
    void remove_backend(const std::string& id);
    /// Drops one series of a backend.
    void remove_backend_series(const prometheus::Gauge& gauge);
    /// Drops every series that carries label key="name".
    void remove_api_key(const std::string& name);

    /// The text exposition (Prometheus 0.0.4).
    std::string exposition() const;

  private:
    class Families;
    std::unique_ptr<Families> families_;
};

/// 5 ms to 10 min: fit for inference latencies, in seconds.
std::span<const double> latency_buckets();
/// 1 us to 10 ms: decision times, in seconds.
std::span<const double> decision_buckets();

}  // namespace prefix_router::metrics
