#include "integration/support/fake_backend.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace prefix_router::testing {
namespace {

constexpr std::string_view kHealth = "/health";
constexpr std::array<std::string_view, 5> kScrapes{"/ping", "/metrics", "/props", "/slots",
                                                   "/v1/models"};

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
    return end == ReadEnd::Ended || end == ReadEnd::Reset;
}

FakeBackend::FakeBackend(Script script, Reads reads)
    : script_(std::move(script)),
      reads_(reads),
      listener_(Socket::bind_to_free_port()),
      port_(listener_.local_port()) {
    if (!script_) {
        script_ = [](BackendLine& line, const BackendRequest&) { line.answer("ok"); };
    }
    ::listen(listener_.descriptor(), 128);
    acceptor_ = std::thread([this] { accept_all(); });
}

FakeBackend::~FakeBackend() {
    refuse();
    for (Connection& connection : connections_) {
        connection.thread.join();
    }
}

void FakeBackend::stop_accepting() {
    {
        const std::lock_guard lock(mutex_);
        accepts_ = false;
    }
    if (acceptor_.joinable()) {
        const Socket waker = Socket::connect_to(port_);
        acceptor_.join();
    }
}

void FakeBackend::refuse() {
    stop_accepting();
    listener_.shut_down();
    for (Connection& connection : connections_) {
        connection.socket.shut_down();
    }
}

void FakeBackend::turn_deaf() {
    stop_accepting();
    ::listen(listener_.descriptor(), 0);
    // More than fit: the kernel drops every further attempt.
    for (int i = 0; i < 4; ++i) {
        fillers_.push_back(Socket::begin_connecting_to(port_));
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
    MessageReader reader(socket);
    BackendLine line(socket);
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
    const bool is_health = target.ends_with(kHealth);
    const bool is_scrape = request.method() == "GET" &&
                           std::any_of(kScrapes.begin(), kScrapes.end(),
                                       [target](auto path) { return target.ends_with(path); });
    if (!is_health && !is_scrape) {
        return false;
    }
    return line.answer("", is_health ? "200 OK" : "404 Not Found");
}

void FakeBackend::record(const BackendRequest& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
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
