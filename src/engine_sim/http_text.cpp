#include "engine_sim/http_text.hpp"

#include <cstdio>

namespace prefix_router::engine_sim {
namespace {

std::string_view phrase(unsigned status) {
    switch (status) {
        case 200:
            return "OK";
        case 400:
            return "Bad Request";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 413:
            return "Content Too Large";
        case 503:
            return "Service Unavailable";
        default:
            return "Internal Server Error";
    }
}

}  // namespace

std::string whole_answer(const HttpRequest& request, unsigned status, std::string_view content_type,
                         std::string_view body) {
    std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
    text.append(phrase(status)).append("\r\nServer: engine-sim\r\nContent-Type: ");
    text.append(content_type).append("\r\nContent-Length: ").append(std::to_string(body.size()));
    if (!request.keep_alive) text += "\r\nConnection: close";
    if (request.keep_alive && request.is_http_1_0) text += "\r\nConnection: keep-alive";
    text += "\r\n\r\n";
    if (request.method != "HEAD") text += body;
    return text;
}

std::string stream_head(const HttpRequest& request, bool says_keep_alive) {
    std::string text =
        "HTTP/1.1 200 OK\r\nServer: engine-sim\r\n"
        "Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n";
    if (request.is_http_1_0) return text + "Connection: close\r\n\r\n";
    text += "Transfer-Encoding: chunked\r\n";
    if (!request.keep_alive) text += "Connection: close\r\n";
    if (request.keep_alive && says_keep_alive) text += "Connection: keep-alive\r\n";
    return text + "\r\n";
}

std::string stream_piece(const HttpRequest& request, std::string_view bytes) {
    // An empty chunk would end the answer.
    if (request.is_http_1_0 || bytes.empty()) return std::string(bytes);
    char size[20];
    static_cast<void>(std::snprintf(size, sizeof size, "%zx\r\n", bytes.size()));
    std::string piece = size;
    return piece.append(bytes).append("\r\n");
}

std::string_view stream_end(const HttpRequest& request) {
    return request.is_http_1_0 ? std::string_view() : std::string_view("0\r\n\r\n");
}

}  // namespace prefix_router::engine_sim
