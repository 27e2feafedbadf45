#include "proxy/backend_connections.hpp"

#include <algorithm>
#include <utility>

#include "proxy/events.hpp"

namespace prefix_router::proxy {

BackendConnection::BackendConnection(net::Stream connected) : stream(std::move(connected)) {
    stream.listen(this);
}

void BackendConnection::on_readable() {
    if (parker_ != nullptr) {
        parker_->signal(kBackendReadable);
    }
}

void BackendConnection::on_writable() {
    if (parker_ != nullptr) {
        parker_->signal(kBackendWritable);
    }
}

std::unique_ptr<BackendConnection> BackendConnections::take(BackendSlot backend) {
    if (backend.index() >= idle_.size()) {
        return nullptr;
    }
    auto& kept = idle_[backend.index()];
    while (!kept.empty()) {
        auto connection = std::move(kept.back());
        kept.pop_back();
        // llama.cpp closes after every streamed answer although it announces keep-alive; the end
        // may have come with the last byte or a moment after it.
        if (connection->stream.is_quiet()) {
            connection->was_pooled = true;
            return connection;
        }
    }
    return nullptr;
}

void BackendConnections::put(BackendSlot backend, std::unique_ptr<BackendConnection> connection,
                             net::Tick now) {
    if (backend.index() >= idle_.size()) {
        idle_.resize(backend.index() + 1);
    }
    auto& kept = idle_[backend.index()];
    if (kept.size() < kKeptPerBackend) {
        connection->lend_to(nullptr);
        connection->idle_since = now;
        kept.push_back(std::move(connection));
    }
}

void BackendConnections::on_tick(net::Tick now) {
    for (auto& kept : idle_) {
        const auto first_young = std::ranges::find_if(kept, [&](const auto& connection) {
            return (now - connection->idle_since) * net::kTickLength < idle_limit_;
        });
        kept.erase(kept.begin(), first_young);
    }
}

}  // namespace prefix_router::proxy
