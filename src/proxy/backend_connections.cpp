#include "proxy/backend_connections.hpp"

#include <algorithm>
#include <utility>

#include "proxy/events.hpp"

namespace prefix_router::proxy {

BackendConnection::BackendConnection(net::Stream connected, BackendRef backend_)
    : stream(std::move(connected)), backend(std::move(backend_)) {
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

std::unique_ptr<BackendConnection> BackendConnections::take(const BackendRef& backend) {
    const std::size_t place = backend->slot.index();
    if (place >= idle_.size()) {
        return nullptr;
    }
    auto& kept = idle_[place];
    while (!kept.empty()) {
        auto connection = std::move(kept.back());
        kept.pop_back();
        const bool is_elsewhere =
            connection->backend != backend ||  // the slot was another backend's before
            connection->address_generation != backend->address.generation();
        if (is_elsewhere) {
            continue;
        }
        // llama.cpp closes after every streamed answer although it announces keep-alive; the end
        // may have come with the last byte or a moment after it.
        if (connection->stream.is_quiet()) {
            connection->was_pooled = true;
            return connection;
        }
    }
    return nullptr;
}

void BackendConnections::put(std::unique_ptr<BackendConnection> connection, net::Tick now) {
    const std::size_t place = connection->backend->slot.index();
    if (place >= idle_.size()) {
        idle_.resize(place + 1);
    }
    auto& kept = idle_[place];
    if (kept.size() < kKeptPerBackend && !connection->backend->is_leaving.load()) {
        connection->lend_to(nullptr);
        connection->idle_since = now;
        kept.push_back(std::move(connection));
    }
}

bool BackendConnections::close_idle() {
    const bool were_any =
        std::ranges::any_of(idle_, [](const auto& kept) { return !kept.empty(); });
    idle_.clear();
    return were_any;
}

void BackendConnections::on_tick(net::Tick now) {
    for (auto& kept : idle_) {
        std::erase_if(kept, [&](const auto& connection) {
            return connection->backend->is_leaving.load() ||
                   (now - connection->idle_since) * net::kTickLength >= idle_limit_;
        });
    }
}

}  // namespace prefix_router::proxy
