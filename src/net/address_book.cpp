#include "prefix_router/net/address_book.hpp"

#include <netdb.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace prefix_router::net {

struct BackendAddress::Shared {
    Shared(std::string host_, std::uint16_t port_) : host(std::move(host_)), port(port_) {}

    void look_up();

    const std::string host;
    const std::uint16_t port;
    SnapshotCell<Endpoints> endpoints{std::make_shared<const Endpoints>()};
    std::atomic<bool> is_looking{false};
};

void BackendAddress::Shared::look_up() {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string service = std::to_string(port);
    if (::getaddrinfo(host.c_str(), service.c_str(), &hints, &found) == 0) {
        auto fresh = std::make_shared<Endpoints>();
        for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
            fresh->emplace_back(entry->ai_addr, entry->ai_addrlen);
        }
        ::freeaddrinfo(found);
        endpoints.store(std::move(fresh));
    }
    is_looking.store(false);
}

BackendAddress::BackendAddress(const config::BackendUrl& url)
    : shared_(std::make_shared<Shared>(url.host, url.port)) {
    auto known = std::make_shared<Endpoints>();
    if (!url.unix_path.empty()) {
        if (const auto endpoint = Endpoint::from_unix_path(url.unix_path)) {
            known->push_back(*endpoint);
        }
    } else if (const auto endpoint = Endpoint::from_numeric(url.host, url.port)) {
        known->push_back(*endpoint);
    } else {
        is_name_ = true;
        refresh();
    }
    if (!is_name_) {
        shared_->endpoints.store(std::move(known));
    }
}

BackendAddress::~BackendAddress() = default;

std::shared_ptr<const BackendAddress::Endpoints> BackendAddress::endpoints() const {
    return shared_->endpoints.load();
}

void BackendAddress::refresh() {
    if (!is_name_ || shared_->is_looking.exchange(true)) {
        return;
    }
    try {
        // Detached: getaddrinfo cannot be interrupted, and a stop does not wait for a dead
        // resolver. The thread holds what it writes to.
        std::thread([shared = shared_] { shared->look_up(); }).detach();
    } catch (const std::system_error&) {
        shared_->is_looking.store(false);
    }
}

}  // namespace prefix_router::net
