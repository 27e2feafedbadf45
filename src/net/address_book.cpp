#include "prefix_router/net/address_book.hpp"

#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "prefix_router/base/contain.hpp"

namespace prefix_router::net {

struct BackendAddress::Shared {
    Shared(const config::BackendUrl& url, Resolver resolver_)
        : host(url.host), port(url.port), resolver(std::move(resolver_)) {}

    void look_up();
    void take(Endpoints fresh);

    const std::string host;
    const std::uint16_t port;
    const Resolver resolver;
    SnapshotCell<Endpoints> endpoints{std::make_shared<const Endpoints>()};
    std::atomic<std::uint32_t> generation{0};
    std::atomic<bool> is_looking{false};
    std::atomic<bool> has_failed{false};  // at the last lookup
};

namespace {

/// RFC 6761 section 6.3: localhost is the loopback even where the system has no file of hosts, as
/// in small containers.
BackendAddress::Endpoints loopback(std::uint16_t port) {
    BackendAddress::Endpoints endpoints;
    for (const char* address : {"127.0.0.1", "::1"}) {
        if (const auto endpoint = Endpoint::from_numeric(address, port)) {
            endpoints.push_back(*endpoint);
        }
    }
    return endpoints;
}

}  // namespace

BackendAddress::Endpoints BackendAddress::resolve(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    Endpoints endpoints;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) == 0) {
        for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
            endpoints.emplace_back(entry->ai_addr, entry->ai_addrlen);
        }
        ::freeaddrinfo(found);
    }
    return endpoints.empty() && host == "localhost" ? loopback(port) : endpoints;
}

void BackendAddress::Shared::look_up() {
    contain("a lookup", [this] { take(resolver(host, port)); });
    is_looking.store(false);
}

void BackendAddress::Shared::take(Endpoints fresh) {
    const bool is_empty = fresh.empty();
    const auto known = endpoints.load();
    // Resolvers turn the order at every answer.
    const bool is_same =
        std::is_permutation(fresh.begin(), fresh.end(), known->begin(), known->end());
    if (!is_empty && !is_same) {
        endpoints.store(std::make_shared<const Endpoints>(std::move(fresh)));
        generation.fetch_add(1, std::memory_order_release);
    }
    has_failed.store(is_empty);
}

BackendAddress::BackendAddress(const config::BackendUrl& url, Resolver resolver)
    : shared_(std::make_shared<Shared>(url, std::move(resolver))) {
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

std::string BackendAddress::trouble() const {
    if (!endpoints()->empty()) {
        return "";
    }
    return "the name " + shared_->host +
           (shared_->has_failed.load() ? " did not resolve" : " is still being looked up");
}

std::uint32_t BackendAddress::generation() const {
    return shared_->generation.load(std::memory_order_acquire);
}

void BackendAddress::refresh() {
    if (!is_name_ || shared_->is_looking.exchange(true)) {
        return;
    }
    try {
        // Detached: getaddrinfo cannot be interrupted, and a stop does not wait for a dead
        // resolver. The thread holds what it writes to.
        std::thread([shared = shared_] { shared->look_up(); }).detach();
    } catch (const std::exception&) {  // no thread, no memory
        shared_->is_looking.store(false);
    }
}

}  // namespace prefix_router::net
