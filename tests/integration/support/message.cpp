#include "integration/support/message.hpp"

#include <strings.h>

#include <algorithm>
#include <utility>

namespace prefix_router::testing {
namespace {

bool is_same_name(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::vector<std::string> Message::fields(std::string_view name) const {
    std::vector<std::string> values;
    std::string_view rest = head;
    rest.remove_prefix(std::min(rest.find("\r\n") + 2, rest.size()));
    while (!rest.starts_with("\r\n") && !rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find("\r\n"));
        const std::size_t colon = line.find(':');
        if (is_same_name(line.substr(0, colon), name)) {
            std::string_view value = line.substr(colon + 1);
            value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
            values.emplace_back(value);
        }
        rest.remove_prefix(std::min(line.size() + 2, rest.size()));
    }
    return values;
}

std::string Message::field(std::string_view name) const {
    const std::vector<std::string> values = fields(name);
    if (values.size() > 1) {
        return "<" + std::to_string(values.size()) + " values>";
    }
    return values.empty() ? std::string() : values.front();
}

bool MessageReader::fill(Message& message) {
    message.end = socket_->receive(buffer_);
    return message.end == ReadEnd::Data;
}

bool MessageReader::read_head(Message& message) {
    std::size_t end = buffer_.find("\r\n\r\n");
    while (end == std::string::npos) {
        if (!fill(message)) {
            return false;
        }
        end = buffer_.find("\r\n\r\n");
    }
    message.head = buffer_.substr(0, end + 4);
    message.start_line = buffer_.substr(0, buffer_.find("\r\n"));
    buffer_.erase(0, end + 4);
    return true;
}

void MessageReader::read_body(Message& message, BodyRule rule) {
    const std::string length = message.field("Content-Length");
    if (rule == BodyRule::AnswerWithoutBody) {
        message.is_complete = true;
    } else if (is_same_name(message.field("Transfer-Encoding"), "chunked")) {
        message.framing = BodyFraming::Chunked;
        read_chunked(message);
    } else if (!length.empty()) {
        message.framing = BodyFraming::Length;
        read_sized(message, std::stoul(length));
    } else if (rule == BodyRule::Request) {
        message.is_complete = true;
    } else {
        message.framing = BodyFraming::UntilClose;
        while (fill(message)) {
        }
        message.body = std::exchange(buffer_, {});
        message.is_complete = message.end == ReadEnd::Ended;
    }
}

void MessageReader::read_sized(Message& message, std::size_t size) {
    while (buffer_.size() < size) {
        if (!fill(message)) {
            message.body = std::exchange(buffer_, {});
            return;
        }
    }
    message.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    message.is_complete = true;
}

bool MessageReader::take_line(Message& message, std::string& line) {
    std::size_t end = buffer_.find("\r\n");
    while (end == std::string::npos) {
        if (!fill(message)) {
            return false;
        }
        end = buffer_.find("\r\n");
    }
    line = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    return true;
}

void MessageReader::read_chunked(Message& message) {
    std::string line;
    while (take_line(message, line)) {
        const std::size_t size = std::stoul(line, nullptr, 16);
        if (size == 0) {
            while (take_line(message, line) && !line.empty()) {
            }
            message.is_complete = line.empty();
            return;
        }
        while (buffer_.size() < size + 2) {
            if (!fill(message)) {
                message.body += buffer_.substr(0, size);
                return;
            }
        }
        message.body += buffer_.substr(0, size);
        buffer_.erase(0, size + 2);
    }
}

}  // namespace prefix_router::testing
