#include "discovery/dns_answer.hpp"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <limits>

namespace prefix_router::discovery {
namespace {

Error broken() {
    return Error(ErrorKind::BadResponse, "the name server's answer is broken");
}

Result<std::string> address_of(const ns_rr& record, int family, std::size_t size) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (record.rdlength != size ||
        ::inet_ntop(family, record.rdata, text.data(), text.size()) == nullptr) {
        return broken();
    }
    return std::string(text.data());
}

std::uint16_t number_at(const unsigned char* bytes) {
    return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}

Result<SrvRecord> service_of(const ns_msg& message, const ns_rr& record) {
    constexpr std::size_t kNumbers = 6;
    std::array<char, NS_MAXDNAME> target{};
    if (record.rdlength <= kNumbers ||
        ::ns_name_uncompress(message._msg, message._eom, record.rdata + kNumbers, target.data(),
                             target.size()) < 0) {
        return broken();
    }
    return SrvRecord{number_at(record.rdata), number_at(record.rdata + 2),
                     number_at(record.rdata + 4), target.data()};
}

Result<void> take(const ns_msg& message, const ns_rr& record, DnsAnswer& answer) {
    if (record.type == ns_t_srv) {
        auto service = service_of(message, record);
        if (service.has_error()) {
            return service.error();
        }
        answer.services.push_back(std::move(*service));
    } else if (record.type == ns_t_a || record.type == ns_t_aaaa) {
        auto address = record.type == ns_t_a ? address_of(record, AF_INET, sizeof(in_addr))
                                             : address_of(record, AF_INET6, sizeof(in6_addr));
        if (address.has_error()) {
            return address.error();
        }
        answer.addresses.push_back(std::move(*address));
    }
    return {};
}

}  // namespace

Result<DnsAnswer> parse_dns_answer(std::span<const unsigned char> reply) {
    ns_msg message{};
    if (reply.size() > std::numeric_limits<std::uint16_t>::max() ||
        ::ns_initparse(reply.data(), static_cast<int>(reply.size()), &message) < 0) {
        return broken();
    }
    DnsAnswer answer;
    const int count = message._counts[ns_s_an];
    for (int i = 0; i < count; ++i) {
        ns_rr record{};
        if (::ns_parserr(&message, ns_s_an, i, &record) < 0) {
            return broken();
        }
        // RFC 2181, section 8: with the highest bit set it counts as zero.
        const std::uint32_t ttl = record.ttl > 0x7fffffffU ? 0 : record.ttl;
        answer.ttl =
            i == 0 ? std::chrono::seconds(ttl) : std::min(answer.ttl, std::chrono::seconds(ttl));
        if (const auto taken = take(message, record, answer); taken.has_error()) {
            return taken.error();
        }
    }
    return answer;
}

}  // namespace prefix_router::discovery
