#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/support/message.hpp"
#include "integration/support/socket.hpp"

namespace prefix_router::testing {

/// A final answer as a client got it, and the interim ones before it.
struct Answer : Message {
    std::vector<std::string> interims;  ///< heads, as received

    /// 0 when no answer came.
    unsigned status() const;
};

enum class Expecting : std::uint8_t { Body, NoBody };

/// A client that sends exactly the bytes it is told to.
class TestClient {
  public:
    explicit TestClient(std::uint16_t port) : socket_(Socket::connect_to(port)), reader_(socket_) {}

    explicit TestClient(Socket socket) : socket_(std::move(socket)), reader_(socket_) {}

    Socket& socket() { return socket_; }
    bool send(std::string_view bytes) { return socket_.send(bytes); }
    /// GET, or POST when there is a body, with Host and Content-Length.
    bool request(std::string_view target, std::string_view body = {}, std::string_view fields = {});

    /// The next answer, whole or as far as it came.
    Answer read(Expecting expecting = Expecting::Body);
    /// The next head alone; its body is read by what follows.
    Answer read_head();
    /// Reads until `text` has come; true when it has.
    bool read_until(std::string_view text);
    /// Waits until the router ends the connection, and says how; surplus bytes are ignored.
    ReadEnd wait_for_end();

  private:
    Socket socket_;
    MessageReader reader_;
};

}  // namespace prefix_router::testing
