#include "prefix_router/http/error_answer.hpp"

#include <algorithm>

namespace prefix_router::http {
namespace {

std::string_view reason_of(unsigned status) {
    switch (status) {
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 408:
            return "Request Timeout";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 417:
            return "Expectation Failed";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 499:
            return "Client Closed Request";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        default:
            return "Internal Server Error";
    }
}

// For errors that come without a message of their own.
std::string_view sentence_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::BadRequest:
            return "The request is not well-formed HTTP/1.1.";
        case ErrorKind::ServerControl:
            return "This call changes one inference server. Send it to each of them, not here.";
        case ErrorKind::InvalidApiKey:
            return "The API key is missing or not known. Send it as Authorization: Bearer KEY.";
        case ErrorKind::ModelForbidden:
            return "This API key is for certain models: name one of them, once, in a JSON body.";
        case ErrorKind::RateLimited:
            return "This API key has sent too many requests. Retry later.";
        case ErrorKind::RequestHeaderTimeout:
            return "The request header did not arrive in time.";
        case ErrorKind::RequestBodyTimeout:
            return "The request body did not arrive in time.";
        case ErrorKind::BodyTooLarge:
            return "The request body exceeds the limit of this router.";
        case ErrorKind::TargetTooLong:
            return "The request line exceeds the limit of this router.";
        case ErrorKind::ExpectationFailed:
            return "The only expectation that is met is 100-continue.";
        case ErrorKind::HeaderTooLarge:
            return "The request header exceeds the limit of this router.";
        case ErrorKind::UnknownCoding:
            return "The only transfer coding that is understood is chunked.";
        case ErrorKind::ClientGone:
        case ErrorKind::ClientStalled:
            return "The client left before the answer was complete.";
        case ErrorKind::TlsFailed:
            return "This port speaks TLS. Use https://.";
        case ErrorKind::TlsTimeout:
            return "The TLS handshake was not completed in time.";
        case ErrorKind::NoBackend:
            return "No inference server is available at the moment.";
        case ErrorKind::Overloaded:
            return "The router is at its limit of work. Retry later.";
        case ErrorKind::QueueFull:
            return "All inference servers are busy and too many requests wait. Retry later.";
        case ErrorKind::QueueDisplaced:
            return "Requests of a higher priority took this one's place. Retry later.";
        case ErrorKind::QueueTimeout:
            return "All inference servers are busy for longer than requests may wait. Retry later.";
        case ErrorKind::DeadlineExceeded:
            return "The request's deadline cannot be met.";
        case ErrorKind::Draining:
            return "The router is shutting down. Retry on another one.";
        case ErrorKind::OutOfDescriptors:
            return "The router is out of connections. Retry later.";
        case ErrorKind::TotalTimeout:
            return "The request took longer than this router allows.";
        case ErrorKind::ConnectTimeout:
            return "The inference server did not accept a connection in time.";
        case ErrorKind::FirstByteTimeout:
            return "The inference server did not begin to answer in time.";
        case ErrorKind::IdleTimeout:
            return "The inference server fell silent inside its answer.";
        case ErrorKind::BackendTlsTimeout:
            return "The inference server did not complete the TLS handshake in time.";
        case ErrorKind::BackendTlsFailed:
            return "The inference server could not be reached with TLS.";
        case ErrorKind::BackendCertificate:
            return "The inference server's certificate is refused.";
        case ErrorKind::ConnectRefused:
        case ErrorKind::ConnectFailed:
            return "The inference server could not be reached.";
        case ErrorKind::ResetBeforeResponse:
        case ErrorKind::ResetMidResponse:
        case ErrorKind::BadResponse:
            return "The inference server failed to give a complete answer.";
        case ErrorKind::InvalidConfiguration:
        case ErrorKind::Io:
            break;
    }
    return "The router failed to serve the request.";
}

std::string_view openai_type_of(unsigned status) {
    return status == 429   ? "rate_limit_error"
           : status < 500  ? "invalid_request_error"
           : status == 503 ? "overloaded_error"
                           : "server_error";
}

std::string_view anthropic_type_of(unsigned status) {
    switch (status) {
        case 401:
            return "authentication_error";
        case 403:
            return "permission_error";
        case 413:
            return "request_too_large";
        case 429:
            return "rate_limit_error";
        case 503:
            return "overloaded_error";
        default:
            return status < 500 ? "invalid_request_error" : "api_error";
    }
}

void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            out += "\\u00";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

std::string body_of(const Error& error, unsigned status, ErrorShape shape) {
    const std::string_view message =
        error.message().empty() ? sentence_of(error.kind()) : std::string_view(error.message());
    const bool is_anthropic = shape == ErrorShape::Anthropic;
    std::string body = is_anthropic                  ? R"({"type": "error", "error": {"message": )"
                       : shape == ErrorShape::Ollama ? R"({"error": )"
                                                     : R"({"error": {"message": )";
    append_json_string(body, message);
    if (shape != ErrorShape::Ollama) {
        body += R"(, "type": ")";
        body += is_anthropic ? anthropic_type_of(status) : openai_type_of(status);
        body += '"';
    }
    body += R"(, "code": ")";
    body += to_string(error.kind());
    body += shape == ErrorShape::Ollama ? "\"}\n" : "\"}}\n";
    return body;
}

/// How fast a queue drains is a guess of the moment; when a key has its next turn is known.
long retry_seconds(ErrorKind kind, std::chrono::seconds wait) {
    constexpr long kMinute = 60;
    constexpr long kHour = 3600;
    return std::clamp<long>(wait.count(), 1, kind == ErrorKind::RateLimited ? kHour : kMinute);
}

}  // namespace

unsigned status_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::BadRequest:
        case ErrorKind::TlsFailed:
            return 400;
        case ErrorKind::InvalidApiKey:
            return 401;
        case ErrorKind::ServerControl:
        case ErrorKind::ModelForbidden:
            return 403;
        case ErrorKind::RateLimited:
            return 429;
        case ErrorKind::RequestHeaderTimeout:
        case ErrorKind::RequestBodyTimeout:
        case ErrorKind::TlsTimeout:
            return 408;
        case ErrorKind::BodyTooLarge:
            return 413;
        case ErrorKind::TargetTooLong:
            return 414;
        case ErrorKind::ExpectationFailed:
            return 417;
        case ErrorKind::HeaderTooLarge:
            return 431;
        case ErrorKind::UnknownCoding:
            return 501;
        case ErrorKind::ClientGone:
        case ErrorKind::ClientStalled:
            return 499;
        case ErrorKind::NoBackend:
        case ErrorKind::Overloaded:
        case ErrorKind::QueueFull:
        case ErrorKind::QueueDisplaced:
        case ErrorKind::QueueTimeout:
        case ErrorKind::Draining:
        case ErrorKind::OutOfDescriptors:
        case ErrorKind::ConnectRefused:
        case ErrorKind::ConnectFailed:
            return 503;
        case ErrorKind::ResetBeforeResponse:
        case ErrorKind::ResetMidResponse:
        case ErrorKind::BadResponse:
        case ErrorKind::BackendTlsFailed:
        case ErrorKind::BackendCertificate:
            return 502;
        case ErrorKind::DeadlineExceeded:
        case ErrorKind::TotalTimeout:
        case ErrorKind::ConnectTimeout:
        case ErrorKind::BackendTlsTimeout:
        case ErrorKind::FirstByteTimeout:
        case ErrorKind::IdleTimeout:
            return 504;
        case ErrorKind::InvalidConfiguration:
        case ErrorKind::Io:
            return 500;
    }
    return 500;
}

ErrorShape error_shape_of(std::string_view path) {
    constexpr std::string_view kMessages = "/v1/messages";
    if (path == kMessages || path.starts_with("/v1/messages/")) {
        return ErrorShape::Anthropic;
    }
    return path.starts_with("/api/") ? ErrorShape::Ollama : ErrorShape::OpenAi;
}

bool ends_connection(ErrorKind kind) {
    const unsigned status = status_of(kind);
    const bool is_refusal = kind == ErrorKind::ServerControl || kind == ErrorKind::ModelForbidden ||
                            kind == ErrorKind::RateLimited;
    return (status < 500 && !is_refusal) || kind == ErrorKind::UnknownCoding ||
           kind == ErrorKind::Draining;
}

std::string error_answer(const Error& error, const ErrorAnswerOptions& options) {
    const unsigned status = status_of(error.kind());
    const std::string body = body_of(error, status, options.shape);
    std::string answer = "HTTP/1.1 " + std::to_string(status) + ' ';
    answer += reason_of(status);
    answer += "\r\nContent-Type: application/json\r\nContent-Length: ";
    answer += std::to_string(body.size());
    if (!options.request_id.empty()) {
        answer += "\r\nX-Request-Id: ";
        answer += options.request_id;
    }
    if (status == 401) {
        answer += "\r\nWWW-Authenticate: Bearer";
    }
    if (status == 429 || status == 503) {
        answer += "\r\nRetry-After: ";
        answer += std::to_string(retry_seconds(error.kind(), options.retry_after));
    }
    if (ends_connection(error.kind()) || !options.keeps_alive) {
        answer += "\r\nConnection: close";
    }
    answer += "\r\n\r\n";
    return options.is_head ? answer : answer + body;
}

}  // namespace prefix_router::http
