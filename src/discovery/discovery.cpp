#include "prefix_router/discovery/discovery.hpp"

#include "discovery/dns_source.hpp"
#include "discovery/file_source.hpp"
#include "discovery/kubernetes_source.hpp"

namespace prefix_router::discovery {

Discovery::Discovery(const config::Discovery& config, metrics::Registry& registry,
                     const Publish& publish) {
    if (config.file) {
        sources_.push_back(std::make_unique<FileSource>(config, registry, publish));
    }
    for (const auto& source : config.dns) {
        sources_.push_back(std::make_unique<DnsSource>(source, config, registry, publish));
    }
    for (const auto& source : config.kubernetes) {
        sources_.push_back(std::make_unique<KubernetesSource>(source, config, registry, publish));
    }
    threads_.reserve(sources_.size());
    try {
        for (const auto& source : sources_) {
            threads_.emplace_back([&running = *source] { running.run_until_stopped(); });
        }
    } catch (...) {
        stop();
        throw;
    }
}

Discovery::~Discovery() {
    stop();
}

void Discovery::stop() {
    for (const auto& source : sources_) {
        source->stop();
    }
    for (std::thread& thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

}  // namespace prefix_router::discovery
