#include "prefix_router/base/error.hpp"

#include <stdexcept>

namespace prefix_router {

void throw_exception_from_error(const Error& error, const boost::source_location& /*where*/) {
    throw std::runtime_error(std::string(to_string(error.kind())) + ": " + error.message());
}

std::string_view to_string(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::BadRequest:
            return "bad_request";
        case ErrorKind::ServerControl:
            return "server_control";
        case ErrorKind::InvalidApiKey:
            return "invalid_api_key";
        case ErrorKind::ModelForbidden:
            return "model_forbidden";
        case ErrorKind::RateLimited:
            return "rate_limited";
        case ErrorKind::RequestHeaderTimeout:
            return "request_header_timeout";
        case ErrorKind::RequestBodyTimeout:
            return "request_body_timeout";
        case ErrorKind::BodyTooLarge:
            return "body_too_large";
        case ErrorKind::TargetTooLong:
            return "target_too_long";
        case ErrorKind::ExpectationFailed:
            return "expectation_failed";
        case ErrorKind::HeaderTooLarge:
            return "header_too_large";
        case ErrorKind::UnknownCoding:
            return "unknown_coding";
        case ErrorKind::ClientGone:
            return "client_gone";
        case ErrorKind::ClientStalled:
            return "client_stalled";
        case ErrorKind::TlsFailed:
            return "tls_failed";
        case ErrorKind::TlsTimeout:
            return "tls_timeout";
        case ErrorKind::NoBackend:
            return "no_backend";
        case ErrorKind::Overloaded:
            return "overloaded";
        case ErrorKind::QueueFull:
            return "queue_full";
        case ErrorKind::QueueDisplaced:
            return "queue_displaced";
        case ErrorKind::QueueTimeout:
            return "queue_timeout";
        case ErrorKind::DeadlineExceeded:
            return "deadline_exceeded";
        case ErrorKind::Draining:
            return "draining";
        case ErrorKind::TotalTimeout:
            return "total_timeout";
        case ErrorKind::ConnectRefused:
            return "connect_refused";
        case ErrorKind::ConnectTimeout:
            return "connect_timeout";
        case ErrorKind::ConnectFailed:
            return "connect_failed";
        case ErrorKind::BackendTlsFailed:
            return "backend_tls_failed";
        case ErrorKind::BackendTlsTimeout:
            return "backend_tls_timeout";
        case ErrorKind::BackendCertificate:
            return "backend_certificate";
        case ErrorKind::OutOfDescriptors:
            return "out_of_descriptors";
        case ErrorKind::ResetBeforeResponse:
            return "reset_before_response";
        case ErrorKind::ResetMidResponse:
            return "reset_mid_response";
        case ErrorKind::FirstByteTimeout:
            return "first_byte_timeout";
        case ErrorKind::IdleTimeout:
            return "idle_timeout";
        case ErrorKind::BadResponse:
            return "bad_response";
        case ErrorKind::InvalidConfiguration:
            return "invalid_configuration";
        case ErrorKind::Io:
            return "io";
    }
    return "unknown";
}

}  // namespace prefix_router
