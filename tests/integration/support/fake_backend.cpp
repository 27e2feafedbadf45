#include "integration/support/fake_backend.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

namespace prefix_router::testing {
namespace {

constexpr std::array<std::string_view, 6> kProbes{"/health", "/ping",  "/metrics",
                                                  "/props",  "/slots", "/v1/models"};

/// A path of its own for every backend of every test process.
std::string free_unix_path() {
    static std::atomic<int> next{0};
    return ::testing::TempDir() + "backend-" + std::to_string(::getpid()) + "-" +
           std::to_string(next++);
}

const char* unix_path(const SocketAddress& address) {
    return reinterpret_cast<const sockaddr_un&>(address.storage).sun_path;
}

SocketAddress free_address(FakeBackend::Where where) {
    switch (where) {
        case FakeBackend::Where::Ipv4:
            return SocketAddress::ipv4(0);
        case FakeBackend::Where::Ipv6:
            return SocketAddress::ipv6(0);
        case FakeBackend::Where::UnixPath:
            break;
    }
    return SocketAddress::unix_path(free_unix_path());
}

}  // namespace

std::string_view BackendRequest::method() const {
    return std::string_view(start_line).substr(0, start_line.find(' '));
}

std::string_view BackendRequest::target() const {
    const std::size_t begin = start_line.find(' ') + 1;
    return std::string_view(start_line).substr(begin, start_line.rfind(' ') - begin);
}

bool BackendLine::answer(std::string_view body, std::string_view status, std::string_view fields) {
    std::string text = "HTTP/1.1 ";
    text.append(status).append("\r\nContent-Length: ").append(std::to_string(body.size()));
    text.append("\r\n").append(fields).append("\r\n").append(body);
    return send(text);
}

bool BackendLine::wait_until_left() {
    std::string ignored;
    const ReadEnd end = socket_.receive_to_end(ignored);
    return end != ReadEnd::TimedOut;
}

FakeBackend::FakeBackend(Script script, Reads reads, Where where)
    : script_(std::move(script)),
      reads_(reads),
      listener_(Socket::bind_to(free_address(where))),
      address_(listener_.local_address()) {
    probes_["/health"].status = "200 OK";
    if (!script_) {
        script_ = [](BackendLine& line, const BackendRequest&) { line.answer("ok"); };
    }
    if (where != Where::UnixPath) {
        spare_ = Socket::bind_to(address_);
    }
    begin_accepting();
}

void FakeBackend::begin_accepting() {
    ::listen(listener_.descriptor(), 128);
    acceptor_ = std::thread([this] { accept_all(); });
}

FakeBackend::~FakeBackend() {
    refuse();
    for (Connection& connection : connections_) {
        connection.thread.join();
    }
    if (address_.family() == AF_UNIX) {
        ::unlink(unix_path(address_));
    }
}

void FakeBackend::speak_tls(std::shared_ptr<ssl_ctx_st> context) {
    const std::lock_guard lock(mutex_);
    tls_ = std::move(context);
}

std::size_t FakeBackend::resumed_sessions() const {
    const std::lock_guard lock(mutex_);
    return resumed_sessions_;
}

std::vector<std::string> FakeBackend::server_names() const {
    const std::lock_guard lock(mutex_);
    return server_names_;
}

bool FakeBackend::secure(Socket& socket) {
    std::shared_ptr<ssl_ctx_st> context;
    {
        const std::lock_guard lock(mutex_);
        context = tls_;
    }
    if (!context) {
        return true;
    }
    if (!socket.secure_as_server(context.get())) {
        return false;
    }
    const char* const name = SSL_get_servername(socket.tls(), TLSEXT_NAMETYPE_host_name);
    const std::lock_guard lock(mutex_);
    resumed_sessions_ += SSL_session_reused(socket.tls()) == 1 ? 1U : 0U;
    server_names_.emplace_back(name == nullptr ? "" : name);
    return true;
}

std::string FakeBackend::url() const {
    const std::string scheme = tls_ ? "https" : "http";
    switch (address_.family()) {
        case AF_UNIX:
            return std::string("unix:") + unix_path(address_);
        case AF_INET6:
            return scheme + "://[::1]:" + std::to_string(port());
        default:
            return scheme + "://127.0.0.1:" + std::to_string(port());
    }
}

void FakeBackend::answer_probes(const std::string& path, const std::string& status,
                                const std::string& body) {
    const std::lock_guard lock(mutex_);
    Probe& probe = probes_[path];
    probe.status = status;
    probe.body = body;
}

bool FakeBackend::wait_for_probes(const std::string& path, std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
        const auto found = probes_.find(path);
        return found != probes_.end() && found->second.count >= count;
    });
}

void FakeBackend::stop_accepting() {
    {
        const std::lock_guard lock(mutex_);
        accepts_ = false;
    }
    if (acceptor_.joinable()) {
        const Socket waker = Socket::connect_to(address_);
        acceptor_.join();
    }
}

void FakeBackend::refuse() {
    stop_accepting();
    listener_.shut_down();
    const std::lock_guard lock(mutex_);
    for (Connection& connection : connections_) {
        connection.socket.shut_down();
    }
}

void FakeBackend::come_back() {
    listener_ = std::move(spare_);
    {
        const std::lock_guard lock(mutex_);
        accepts_ = true;
    }
    begin_accepting();
}

void FakeBackend::turn_deaf() {
    stop_accepting();
    ::listen(listener_.descriptor(), 0);
    // More than fit: the kernel drops every further attempt.
    for (int i = 0; i < 4; ++i) {
        fillers_.push_back(Socket::begin_connecting_to(address_));
    }
}

void FakeBackend::accept_all() {
    while (true) {
        Socket socket(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
        const std::lock_guard lock(mutex_);
        if (!accepts_ || !socket.is_open()) {
            return;
        }
        Connection& connection = connections_.emplace_back();
        connection.socket = std::move(socket);
        connection.thread = std::thread([this, &connection] { serve(connection.socket); });
    }
}

void FakeBackend::serve(Socket& socket) {
    if (!secure(socket)) {
        socket.end_sending();
        return;
    }
    MessageReader reader(socket);
    BackendLine line(socket, mutex_);
    bool is_counted = false;
    std::size_t connection = 0;
    for (std::size_t number = 0; socket.is_open();) {
        BackendRequest request;
        if (!reader.read_head(request)) {
            break;
        }
        if (reads_ == Reads::WholeRequests) {
            reader.read_body(request, BodyRule::Request);
            if (!request.is_complete) {
                break;
            }
        } else {
            request.body.swap(reader.buffered());
        }
        if (answer_probe(line, request)) {
            continue;
        }
        if (!std::exchange(is_counted, true)) {
            const std::lock_guard lock(mutex_);
            connection = next_connection_++;
        }
        request.connection = connection;
        request.number = number++;
        record(request);
        script_(line, request);
        if (reads_ == Reads::HeadsOnly) {
            break;
        }
    }
    socket.end_sending();
}

bool FakeBackend::answer_probe(BackendLine& line, const BackendRequest& request) {
    const std::string_view target = request.target();  // under a base path, perhaps
    const auto path = std::find_if(kProbes.begin(), kProbes.end(),
                                   [target](auto probed) { return target.ends_with(probed); });
    if (request.method() != "GET" || path == kProbes.end()) {
        return false;
    }
    Probe answer;
    {
        const std::lock_guard lock(mutex_);
        Probe& probe = probes_[std::string(*path)];
        ++probe.count;
        probed_.emplace_back(*path);
        answer = probe;
        changed_.notify_all();
    }
    return line.answer(answer.body, answer.status);
}

void FakeBackend::record(const BackendRequest& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
}

std::vector<std::string> FakeBackend::probed() const {
    const std::lock_guard lock(mutex_);
    return probed_;
}

std::vector<BackendRequest> FakeBackend::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

bool FakeBackend::wait_for_requests(std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return requests_.size() >= count; });
}

}  // namespace prefix_router::testing
