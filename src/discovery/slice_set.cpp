#include "discovery/slice_set.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "discovery/new_backend.hpp"

namespace prefix_router::discovery {
namespace {

std::optional<std::uint16_t> as_number(const std::string& text) {
    std::uint16_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    return code == std::errc{} && rest == end && number != 0 ? std::optional(number) : std::nullopt;
}

/// The port that `wanted` (name, number, or nullopt for the only one) is in this slice.
std::optional<std::uint16_t> port_in(const EndpointSlice& slice,
                                     const std::optional<std::string>& wanted) {
    if (!wanted) {
        return slice.ports.size() == 1 ? slice.ports.front().number : std::nullopt;
    }
    const auto number = as_number(*wanted);
    if (slice.ports.empty()) {
        return number;
    }
    for (const SlicePort& port : slice.ports) {
        if (number ? port.number == number : port.name == *wanted) {
            return port.number;
        }
    }
    return std::nullopt;
}

std::string in_words(const std::vector<SlicePort>& ports) {
    std::string words;
    for (const SlicePort& port : ports) {
        words += (words.empty() ? "" : ", ") + (port.name.empty() ? "unnamed" : port.name) + "=" +
                 (port.number ? std::to_string(*port.number) : "none");
    }
    return words.empty() ? "none" : words;
}

Error no_port(const std::optional<std::string>& wanted, const std::vector<SlicePort>& there) {
    return Error(ErrorKind::InvalidConfiguration,
                 (wanted ? "the Service's pods have no port '" + *wanted + "'"
                         : std::string("the Service's pods have not just one port")) +
                     "; set port to one of these: " + in_words(there));
}

bool is_id(const std::string& text) {
    constexpr std::size_t kLongest = 63;
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return text.size() <= kLongest && std::all_of(text.begin(), text.end(), allowed);
}

/// An endpoint with what its slice says of it.
struct Place {
    const SliceEndpoint* endpoint;
    EndpointSlice::Family family;
    std::uint16_t port;
};

std::optional<config::Backend> backend_at(const config::Backend& common, const Place& place) {
    auto backend = new_backend(common, place.endpoint->address, place.port);
    if (backend.has_error()) {
        return std::nullopt;
    }
    const std::string id = place.endpoint->pod + "-" + std::to_string(place.port);
    if (!place.endpoint->pod.empty() && is_id(id)) {
        backend->id = id;
    }
    return std::move(*backend);
}

}  // namespace

void SliceSet::replace(std::vector<EndpointSlice> slices) {
    slices_.clear();
    for (EndpointSlice& slice : slices) {
        put(std::move(slice));
    }
}

void SliceSet::put(EndpointSlice slice) {
    std::string name = slice.name;
    slices_.insert_or_assign(std::move(name), std::move(slice));
}

void SliceSet::remove(const std::string& name) {
    slices_.erase(name);
}

Result<std::vector<config::Backend>> SliceSet::backends(
    const config::KubernetesSource& source) const {
    std::vector<Place> places;
    const EndpointSlice* without_port = nullptr;
    for (const auto& [name, slice] : slices_) {
        const auto port = port_in(slice, source.port);
        for (const SliceEndpoint& endpoint : slice.endpoints) {
            if (endpoint.is_usable && port) {
                places.push_back({&endpoint, slice.family, *port});
            }
            without_port = endpoint.is_usable && !port ? &slice : without_port;
        }
    }
    if (places.empty() && without_port != nullptr) {
        return no_port(source.port, without_port->ports);
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return std::tie(a.family, a.endpoint->address, a.port) <
               std::tie(b.family, b.endpoint->address, b.port);
    });
    std::vector<config::Backend> backends;
    std::set<std::string> pods;
    std::set<std::pair<std::string, std::string>> seen;
    for (const Place& place : places) {
        const std::string& pod = place.endpoint->pod;
        auto backend = backend_at(source.backend, place);
        const bool is_new = pod.empty() || pods.insert(pod).second;
        if (is_new && backend && seen.emplace(backend->url.text, backend->id).second) {
            backends.push_back(std::move(*backend));
        }
    }
    return backends;
}

}  // namespace prefix_router::discovery
