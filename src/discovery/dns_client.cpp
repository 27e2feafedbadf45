#include "discovery/dns_client.hpp"

#include <ares.h>
#include <arpa/nameser.h>
#include <poll.h>
#include <sys/time.h>

#include <array>
#include <utility>

#include "prefix_router/base/contain.hpp"
#include "prefix_router/config/options.hpp"

namespace prefix_router::discovery {
namespace {

constexpr int kTimeoutMs = 2'000;  // of the first try; c-ares doubles it for the next
constexpr int kTries = 3;

/// c-ares' own state, which is made once in a process.
int begin_ares() {
    static const int code = ares_library_init(ARES_LIB_INIT_ALL);
    return code;
}

Error failure(int status) {
    return Error(ErrorKind::Io, std::string("no answer to DNS: ") + ares_strerror(status));
}

/// Where the answer to one question comes.
struct Slot {
    Result<DnsAnswer> answer = Error(ErrorKind::Draining, "cancelled");
};

void take_reply(void* slot, int status, int /*timeouts*/, unsigned char* bytes, int length) {
    auto& answer = static_cast<Slot*>(slot)->answer;
    if (status == ARES_SUCCESS && bytes != nullptr && length > 0) {
        // An exception cannot pass through c-ares.
        contain("a DNS answer", [&answer, bytes, length] {
            answer = parse_dns_answer({bytes, static_cast<std::size_t>(length)});
        });
    } else if (status == ARES_ENOTFOUND || status == ARES_ENODATA) {
        answer = DnsAnswer{};
    } else if (status != ARES_ECANCELLED && status != ARES_EDESTRUCTION) {
        answer = failure(status);
    }
}

int type_code(DnsQuestion::Type type) {
    switch (type) {
        case DnsQuestion::Type::Ipv4:
            return ns_t_a;
        case DnsQuestion::Type::Ipv6:
            return ns_t_aaaa;
        case DnsQuestion::Type::Services:
            break;
    }
    return ns_t_srv;
}

}  // namespace

Result<DnsClient> DnsClient::make(const std::optional<config::ListenAddress>& nameserver,
                                  const StopSignal& stop) {
    if (const int begun = begin_ares(); begun != ARES_SUCCESS) {
        return failure(begun);
    }
    ares_options options{};
    options.timeout = kTimeoutMs;
    options.tries = kTries;
    ares_channel channel = nullptr;
    int status = ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
    if (status == ARES_SUCCESS && nameserver) {
        status = ares_set_servers_ports_csv(channel, config::to_string(*nameserver).c_str());
        if (status != ARES_SUCCESS) {
            ares_destroy(channel);
        }
    }
    if (status != ARES_SUCCESS) {
        return failure(status);
    }
    return DnsClient(channel, stop);
}

DnsClient::DnsClient(DnsClient&& other) noexcept
    : channel_(std::exchange(other.channel_, nullptr)), stop_(other.stop_) {}

DnsClient::~DnsClient() {
    if (channel_ != nullptr) {
        ares_destroy(channel_);
    }
}

std::vector<Result<DnsAnswer>> DnsClient::ask(const std::vector<DnsQuestion>& questions) {
    std::vector<Slot> slots(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const auto ask_one =
            questions[i].search == DnsQuestion::Search::Yes ? ares_search : ares_query;
        ask_one(channel_, questions[i].name.c_str(), ns_c_in, type_code(questions[i].type),
                take_reply, &slots[i]);
    }
    while (work()) {
    }
    ares_cancel(channel_);  // nothing writes to the slots from here on
    std::vector<Result<DnsAnswer>> answers;
    answers.reserve(slots.size());
    for (Slot& slot : slots) {
        answers.push_back(std::move(slot.answer));
    }
    return answers;
}

/// Waits for sockets and timeouts, once. False when there is nothing to wait for any more.
bool DnsClient::work() {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int wanted = ares_getsock(channel_, sockets.data(), ARES_GETSOCK_MAXNUM);
    if (wanted == 0 || stop_->is_raised()) {
        return false;
    }
    std::array<pollfd, ARES_GETSOCK_MAXNUM + 1> waiting{};
    nfds_t count = 0;
    for (int i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
        const bool reads = ARES_GETSOCK_READABLE(wanted, i) != 0;
        const bool writes = ARES_GETSOCK_WRITABLE(wanted, i) != 0;
        if (reads || writes) {
            waiting[count++] = {sockets[static_cast<std::size_t>(i)],
                                static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)),
                                0};
        }
    }
    waiting[count] = {stop_->descriptor(), POLLIN, 0};
    timeval longest{kTimeoutMs / 1'000, 0};
    timeval time{};
    ares_timeout(channel_, &longest, &time);
    static_cast<void>(::poll(waiting.data(), count + 1,
                             static_cast<int>(time.tv_sec * 1'000 + time.tv_usec / 1'000 + 1)));
    for (nfds_t i = 0; i < count; ++i) {
        const bool reads = (waiting[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0;
        const bool writes = (waiting[i].revents & (POLLOUT | POLLERR | POLLHUP)) != 0;
        ares_process_fd(channel_, reads ? waiting[i].fd : ARES_SOCKET_BAD,
                        writes ? waiting[i].fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // timeouts
    return true;
}

}  // namespace prefix_router::discovery
