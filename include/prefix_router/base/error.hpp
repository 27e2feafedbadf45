#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <boost/system/result.hpp>

namespace prefix_router {

/// What went wrong, named by what the caller should do differently. Kinds that a client can see map
/// to an HTTP status, a reason and a metric label in one total switch (http/error_answer.hpp).
enum class ErrorKind : unsigned char {
    // The client's request.
    BadRequest,            // malformed HTTP: 400
    ServerControl,         // meant for one inference server, not for a fleet: 403
    InvalidApiKey,         // none, or none that is known: 401
    ModelForbidden,        // not among the API key's models: 403
    RateLimited,           // the API key's requests per second: 429
    RequestHeaderTimeout,  // 408
    RequestBodyTimeout,    // 408
    BodyTooLarge,          // 413
    TargetTooLong,         // 414
    ExpectationFailed,     // 417
    HeaderTooLarge,        // 431
    UnknownCoding,         // a transfer coding other than chunked: 501
    ClientGone,            // the client left: nothing to answer, logged as 499
    ClientStalled,         // the client does not read its answer: as if it had left
    TlsFailed,             // no TLS with the client: it offers none, or none that is accepted
    TlsTimeout,            // the client did not complete the TLS handshake in time
    // This router.
    NoBackend,         // no backend is usable: 503
    Overloaded,        // a limit is reached: 503
    QueueFull,         // a request would have to wait and may not: 503
    QueueDisplaced,    // gave its place in the queue to one of a higher priority: 503
    QueueTimeout,      // waited for queue.max_wait, or would have to for longer: 503
    DeadlineExceeded,  // the client's own deadline passed or cannot be met: 504
    Draining,          // shutting down: 503
    TotalTimeout,      // timeouts.total, whoever took the time: 504
    // A backend.
    ConnectRefused,       // nobody is there: 503
    ConnectTimeout,       // 504
    ConnectFailed,        // any other failure to connect: no route, name unknown: 503
    BackendTlsFailed,     // no TLS with the backend: 502
    BackendTlsTimeout,    // 504
    BackendCertificate,   // the backend's certificate is refused: 502
    OutOfDescriptors,     // EMFILE, ENFILE: our own limit, not the backend's fault
    ResetBeforeResponse,  // the connection ended before the first byte of the answer
    ResetMidResponse,     // the connection ended inside the answer
    FirstByteTimeout,     // no answer's head in time: 504
    IdleTimeout,          // silence between two pieces of the answer
    BadResponse,          // the answer is not HTTP/1.x or breaks its framing: 502
    // Start-up and tools.
    InvalidConfiguration,
    Io,
};

/// A kind and a sentence that says what to do. The message never holds a prompt, a credential or a
/// client's input beyond a name that is shown escaped.
class Error {
  public:
    Error() = default;
    explicit Error(ErrorKind kind, std::string message = {})
        : kind_(kind), message_(std::move(message)) {}

    ErrorKind kind() const { return kind_; }
    const std::string& message() const { return message_; }

  private:
    ErrorKind kind_ = ErrorKind::Io;
    std::string message_;
};

/// Lets boost::system::result throw on an unchecked value().
[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

template <class T>
using Result = boost::system::result<T, Error>;

/// The snake_case name used in logs and metric labels, such as "connect_refused".
std::string_view to_string(ErrorKind kind);

}  // namespace prefix_router
