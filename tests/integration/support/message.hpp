#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/socket.hpp"

namespace prefix_router::testing {

/// How a received body was framed.
enum class BodyFraming : std::uint8_t { None, Length, Chunked, UntilClose };

/// An HTTP message as it came over the wire, read by rules of this test's own.
struct Message {
    std::string start_line;
    std::string head;  ///< start line and fields, as received, with the empty line
    std::string body;  ///< chunk framing removed
    BodyFraming framing = BodyFraming::None;
    bool is_complete = false;     ///< the body ended as its framing says
    ReadEnd end = ReadEnd::Data;  ///< how reading ended, when it is not complete

    /// All values of a field, in order.
    std::vector<std::string> fields(std::string_view name) const;
    /// The value of a field that stands there once; "" when absent, "<n values>" when repeated.
    std::string field(std::string_view name) const;
};

/// Which messages have no body, whatever their fields say.
enum class BodyRule : std::uint8_t { Request, Answer, AnswerWithoutBody };

/// Reads messages off one connection; keeps what came after a message for the next.
class MessageReader {
  public:
    explicit MessageReader(const Socket& socket) : socket_(&socket) {}

    /// False, with `message.end`, when the connection ended before a whole head came.
    bool read_head(Message& message);
    void read_body(Message& message, BodyRule rule);

    std::string& buffered() { return buffer_; }

  private:
    bool fill(Message& message);
    void read_sized(Message& message, std::size_t size);
    void read_chunked(Message& message);
    bool take_line(Message& message, std::string& line);

    const Socket* socket_;
    std::string buffer_;
};

}  // namespace prefix_router::testing
