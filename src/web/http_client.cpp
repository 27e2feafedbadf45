#include "prefix_router/web/http_client.hpp"

#include <curl/curl.h>

#include <new>
#include <stdexcept>

#include "web/transfer.hpp"

namespace prefix_router::web {
namespace {

/// libcurl's own state, which is made once in a process.
void begin_libcurl() {
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        throw std::runtime_error(curl_easy_strerror(code));
    }
}

Error cancelled() {
    return Error(ErrorKind::Draining, "cancelled");
}

}  // namespace

/// libcurl's set of connections. It waits in poll() so that another thread can wake it.
class HttpClient::Connections {
  public:
    Connections() {
        begin_libcurl();
        multi_ = curl_multi_init();
        if (multi_ == nullptr) {
            throw std::bad_alloc();
        }
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 2L);
    }
    ~Connections() { curl_multi_cleanup(multi_); }
    Connections(const Connections&) = delete;
    Connections& operator=(const Connections&) = delete;

    void wake() { curl_multi_wakeup(multi_); }

    Result<HttpAnswer> run(Transfer& transfer, const std::atomic<bool>& is_cancelled) {
        curl_multi_add_handle(multi_, transfer.handle());
        const CURLMcode ended = work(is_cancelled);
        const CURLcode code = outcome();
        if (is_cancelled) {
            transfer.abandon();
        }
        curl_multi_remove_handle(multi_, transfer.handle());
        if (is_cancelled) {
            return cancelled();
        }
        if (ended != CURLM_OK) {
            return Error(ErrorKind::Io, curl_multi_strerror(ended));
        }
        return transfer.outcome(code);
    }

  private:
    CURLMcode work(const std::atomic<bool>& is_cancelled) {
        constexpr int kLongestPollMs = 60'000;
        int running = 1;
        CURLMcode code = CURLM_OK;
        while (running > 0 && code == CURLM_OK && !is_cancelled) {
            code = curl_multi_perform(multi_, &running);
            if (running > 0 && code == CURLM_OK) {
                code = curl_multi_poll(multi_, nullptr, 0, kLongestPollMs, nullptr);
            }
        }
        return code;
    }

    CURLcode outcome() {
        int left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
            if (message->msg == CURLMSG_DONE) {
                return message->data.result;
            }
        }
        return CURLE_ABORTED_BY_CALLBACK;
    }

    CURLM* multi_ = nullptr;
};

HttpClient::HttpClient() : connections_(std::make_unique<Connections>()) {}
HttpClient::~HttpClient() = default;

Result<HttpAnswer> HttpClient::exchange(const HttpRequest& request) {
    if (is_cancelled_) {
        return cancelled();
    }
    Transfer transfer(request, nullptr);
    return connections_->run(transfer, is_cancelled_);
}

Result<HttpAnswer> HttpClient::stream(const HttpRequest& request, const Sink& sink) {
    if (is_cancelled_) {
        return cancelled();
    }
    Transfer transfer(request, &sink);
    return connections_->run(transfer, is_cancelled_);
}

void HttpClient::cancel() {
    is_cancelled_ = true;
    connections_->wake();
}

}  // namespace prefix_router::web
