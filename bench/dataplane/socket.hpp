#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Loopback sockets without a library between: what both ends of the data-plane bench spend is not
/// to show beside what a proxy spends.
namespace prefix_router::dataplane {

/// A non-blocking descriptor of its own.
class Socket {
  public:
    Socket() = default;
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;
    ~Socket() { close(); }

    int descriptor() const { return descriptor_; }
    bool is_open() const { return descriptor_ >= 0; }
    void close();

    /// Bytes moved; 0 at the end of the stream (read) ; negative: would block or failed.
    std::ptrdiff_t read(char* to, std::size_t size);
    std::ptrdiff_t write(std::string_view bytes);

  private:
    int descriptor_ = -1;
};

/// Listens on 127.0.0.1; port 0 is any, and is set to the one taken.
Socket listen_on(std::uint16_t& port);
Socket accept_from(Socket& listener);
/// Begins to connect to 127.0.0.1.
Socket connect_to(std::uint16_t port);
/// The last read or write failed for good, and not because it would block.
bool is_broken();

/// The epoll set of one thread: edge-triggered, both directions, one registration per socket.
class Readiness {
  public:
    Readiness();
    void add(Socket& socket, void* owner);
    /// Calls `ready(owner, events)` for each socket that became ready within `nanoseconds`.
    template <class Ready>
    void wait(std::int64_t nanoseconds, Ready ready) {
        const int count = wait_for_events(nanoseconds);
        for (int i = 0; i < count; ++i) {
            ready(owner_of(i));
        }
    }

  private:
    int wait_for_events(std::int64_t nanoseconds);
    static void* owner_of(int index);

    Socket set_;
};

}  // namespace prefix_router::dataplane
