#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prefix_router/base/error.hpp"

namespace prefix_router::web {

/// TLS of an https:// request, as PEM text: files are read by the caller, so that what rotates is
/// seen.
struct HttpTls {
    bool verify = true;
    std::optional<std::string> ca;           ///< nullopt: the system's authorities
    std::optional<std::string> certificate;  ///< shown to the server
    std::optional<std::string> key;          ///< present when the certificate is
};

struct HttpRequest {
    std::string method = "GET";
    std::string url;                   ///< http:// or https://
    std::vector<std::string> headers;  ///< "Name: value"
    std::string body;                  ///< sent when it is not empty
    HttpTls tls;
    std::chrono::milliseconds connect_timeout{5'000};     ///< name and TLS included
    std::chrono::milliseconds timeout{10'000};            ///< of the whole exchange; 0 = no limit
    std::size_t most_body_bytes = std::size_t{16} << 20;  ///< of what is collected
};

struct HttpAnswer {
    int status = 0;
    std::string body;
    std::chrono::seconds retry_after{0};  ///< 0: the server did not say
};

/// An HTTP/1.1 client for the router's own errands (an API server, a collector), over libcurl.
/// Never for clients' requests: it blocks the thread that calls it. One thread at a time, except
/// cancel() and is_cancelled(). Connections are kept for the next exchange; no redirects, no
/// proxies.
class HttpClient {
  public:
    /// Gets each piece of a body as it comes, before the first an empty one: the head is there.
    /// False ends the exchange in good order.
    using Sink = std::function<bool(std::string_view piece)>;

    HttpClient();
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// One request and its whole answer, of any status. Error Io: no answer, an incomplete one or
    /// one that is too large; Draining: cancelled.
    Result<HttpAnswer> exchange(const HttpRequest& request);
    /// The same, but the body of an answer with a 2xx status goes to `sink` and not into the
    /// answer.
    Result<HttpAnswer> stream(const HttpRequest& request, const Sink& sink);

    /// Ends the exchange that runs, and every later one, at once. From any thread.
    void cancel();
    bool is_cancelled() const { return is_cancelled_; }

  private:
    class Connections;
    std::unique_ptr<Connections> connections_;
    std::atomic<bool> is_cancelled_{false};
};

}  // namespace prefix_router::web
