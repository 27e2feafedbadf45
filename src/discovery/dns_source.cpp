#include "discovery/dns_source.hpp"

#include <algorithm>
#include <utility>

namespace prefix_router::discovery {
namespace {

constexpr std::size_t kMostTargets = 1'024;

using Type = DnsQuestion::Type;

std::string in_words(Type type) {
    return type == Type::Ipv4   ? "IPv4 addresses"
           : type == Type::Ipv6 ? "IPv6 addresses"
                                : "SRV records";
}

}  // namespace

DnsSource::DnsSource(const config::DnsSource& source, const config::Discovery& config,
                     metrics::Registry& registry, const Publish& publish)
    : source_(source),
      announcer_(config::source_name(source), config, registry, publish),
      pause_(source.min_interval, source.max_interval, Random(seed_from_system())) {}

void DnsSource::run() {
    while (!stop_signal().is_raised()) {
        const auto found = look_up();
        if (stop_signal().is_raised()) {
            return;
        }
        if (found.has_error()) {
            announcer_.failed(found.error().message());
            stop_signal().wait(pause_.next());
            continue;
        }
        auto backends = make_backends(source_, found->places);
        ids_.assign(backends);
        announcer_.found(std::move(backends));
        pause_.reset();
        stop_signal().wait(until_next(*found));
    }
}

std::chrono::milliseconds DnsSource::until_next(const Found& found) const {
    // An empty answer has no time to live that is told.
    const auto ttl = found.places.empty() ? std::chrono::seconds(0) : found.ttl;
    return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(ttl),
                      source_.min_interval, source_.max_interval);
}

Result<DnsSource::Found> DnsSource::look_up() {
    auto client = DnsClient::make(source_.nameserver, stop_signal());
    if (client.has_error()) {
        return client.error();
    }
    if (!source_.port) {
        return look_up_services(*client);
    }
    Found found;
    if (const auto done =
            look_up_families(*client, {Wanted{source_.name, *source_.port, 1.0}}, found);
        done.has_error()) {
        return done.error();
    }
    return found;
}

Result<DnsSource::Found> DnsSource::look_up_services(DnsClient& client) {
    const std::vector<DnsQuestion> question{
        {source_.name, Type::Services, DnsQuestion::Search::Yes}};
    const auto answers = client.ask(question);
    const auto& answer = answers.front();
    if (answer.has_error()) {
        return Error(answer.error().kind(),
                     in_words(Type::Services) + ": " + answer.error().message());
    }
    const auto records = preferred(answer->services);
    if (records.size() > kMostTargets) {
        return Error(ErrorKind::BadResponse, "more than " + std::to_string(kMostTargets) +
                                                 " SRV records; no more backends can be had");
    }
    const auto weights = relative_weights(records);
    std::vector<Wanted> wanted;
    wanted.reserve(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        wanted.push_back({records[i].target, records[i].port, weights[i]});
    }
    Found found;
    found.ttl = answer->ttl;
    if (const auto done = look_up_families(client, std::move(wanted), found); done.has_error()) {
        return done.error();
    }
    return found;
}

Result<void> DnsSource::look_up_families(DnsClient& client, std::vector<Wanted> wanted,
                                         Found& found) {
    using Family = config::AddressFamily;
    const Family family = source_.family;
    if (family != Family::Ipv6) {
        std::vector<Wanted> left = wanted;
        if (auto done = look_up_addresses(client, Type::Ipv4, left, found);
            done.has_error() || family == Family::Ipv4) {
            return done;
        }
        if (family == Family::Auto) {
            wanted = std::move(left);
        }
    }
    return look_up_addresses(client, Type::Ipv6, wanted, found);
}

/// Takes those out of `wanted` that have addresses of this type.
Result<void> DnsSource::look_up_addresses(DnsClient& client, Type type, std::vector<Wanted>& wanted,
                                          Found& found) {
    const auto search = source_.port ? DnsQuestion::Search::Yes : DnsQuestion::Search::No;
    std::vector<DnsQuestion> questions;
    questions.reserve(wanted.size());
    for (const Wanted& one : wanted) {
        questions.push_back({one.name, type, search});
    }
    const auto answers = client.ask(questions);
    std::vector<Wanted> left;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto& answer = answers[i];
        if (answer.has_error()) {
            return Error(answer.error().kind(), in_words(type) + " of " + wanted[i].name + ": " +
                                                    answer.error().message());
        }
        if (answer->addresses.empty()) {
            left.push_back(wanted[i]);
            continue;
        }
        found.ttl = std::min(found.ttl, answer->ttl);
        for (const std::string& address : answer->addresses) {
            found.places.push_back({wanted[i].name, address, wanted[i].port, wanted[i].weight});
        }
    }
    wanted = std::move(left);
    return {};
}

}  // namespace prefix_router::discovery
