#include "web/transfer.hpp"

#include <new>
#include <string>
#include <utility>

#include "prefix_router/base/contain.hpp"

namespace prefix_router::web {
namespace {

curl_blob blob(const std::string& pem) {
    // libcurl copies it, and takes no pointer to const.
    return curl_blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
}

}  // namespace

Transfer::Transfer(const HttpRequest& request, const HttpClient::Sink* sink)
    : request_(request), sink_(sink), handle_(curl_easy_init()) {
    if (handle_ == nullptr) {
        throw std::bad_alloc();
    }
    say_what();
    say_how_long();
    say_tls();
    curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION,
                     static_cast<std::size_t (*)(char*, std::size_t, std::size_t, void*)>(&take));
    curl_easy_setopt(handle_, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(
        handle_, CURLOPT_HEADERFUNCTION,
        static_cast<std::size_t (*)(char*, std::size_t, std::size_t, void*)>(&take_field));
    curl_easy_setopt(handle_, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, why_.data());
}

Transfer::~Transfer() {
    curl_easy_cleanup(handle_);
    curl_slist_free_all(headers_);
}

void Transfer::say_what() {
    curl_easy_setopt(handle_, CURLOPT_URL, request_.url.c_str());
    curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle_, CURLOPT_PROXY, "");
    curl_easy_setopt(handle_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    if (!request_.body.empty()) {
        curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(request_.body.size()));
        curl_easy_setopt(handle_, CURLOPT_POSTFIELDS, request_.body.c_str());
        // Without a wait for the server's "100 Continue".
        headers_ = curl_slist_append(headers_, "Expect:");
    }
    for (const std::string& header : request_.headers) {
        headers_ = curl_slist_append(headers_, header.c_str());
    }
    curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers_);
}

void Transfer::say_how_long() {
    constexpr long kKeepAliveSeconds = 15;
    curl_easy_setopt(handle_, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(request_.connect_timeout.count()));
    curl_easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
    curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
    // A server that vanished without a word is noticed in a long silence, too.
    curl_easy_setopt(handle_, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(handle_, CURLOPT_TCP_KEEPIDLE, kKeepAliveSeconds);
    curl_easy_setopt(handle_, CURLOPT_TCP_KEEPINTVL, kKeepAliveSeconds);
}

void Transfer::say_tls() {
    const HttpTls& tls = request_.tls;
    curl_easy_setopt(handle_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYPEER, tls.verify ? 1L : 0L);
    curl_easy_setopt(handle_, CURLOPT_SSL_VERIFYHOST, tls.verify ? 2L : 0L);
    if (tls.ca) {
        const curl_blob ca = blob(*tls.ca);
        curl_easy_setopt(handle_, CURLOPT_CAINFO_BLOB, &ca);
    }
    if (tls.certificate && tls.key) {
        const curl_blob certificate = blob(*tls.certificate);
        const curl_blob key = blob(*tls.key);
        curl_easy_setopt(handle_, CURLOPT_SSLCERT_BLOB, &certificate);
        curl_easy_setopt(handle_, CURLOPT_SSLKEY_BLOB, &key);
    }
}

void Transfer::abandon() {
    curl_easy_setopt(handle_, CURLOPT_QUICK_EXIT, 1L);
}

std::size_t Transfer::take(char* bytes, std::size_t size, std::size_t count, void* self) {
    const std::size_t length = size * count;
    bool goes_on = false;
    // An exception cannot pass through libcurl: it ends the transfer as a failed write.
    contain("what an answer is for",
            [&] { goes_on = static_cast<Transfer*>(self)->take({bytes, length}); });
    // Another number than `length` ends the transfer; 0 would not where the piece is empty.
    return goes_on ? length : length + 1;
}

/// The same for the lines of heads; trailers come here, too.
std::size_t Transfer::take_field(char* bytes, std::size_t size, std::size_t count, void* self) {
    const std::size_t length = size * count;
    bool goes_on = false;
    contain("what an answer is for",
            [&] { goes_on = static_cast<Transfer*>(self)->take_field({bytes, length}); });
    return goes_on ? length : length + 1;
}

bool Transfer::take_field(std::string_view line) {
    const bool is_end = line == "\r\n" || line == "\n";
    if (!is_end || has_head_ || status() / 100 != 2) {
        return true;
    }
    has_head_ = true;
    return sink_ == nullptr || give({});
}

bool Transfer::give(std::string_view piece) {
    ending_ = (*sink_)(piece) ? Ending::Libcurls : Ending::SinkIsDone;
    return ending_ == Ending::Libcurls;
}

bool Transfer::take(std::string_view piece) {
    if (sink_ != nullptr && status() / 100 == 2) {
        return give(piece);
    }
    if (piece.size() > request_.most_body_bytes - answer_.body.size()) {
        ending_ = Ending::TooLarge;
        return false;
    }
    answer_.body += piece;
    return true;
}

int Transfer::status() const {
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
}

Result<HttpAnswer> Transfer::outcome(CURLcode code) {
    if (ending_ == Ending::TooLarge) {
        return Error(ErrorKind::Io, "the answer is larger than " +
                                        std::to_string(request_.most_body_bytes) + " bytes");
    }
    if (code != CURLE_OK && ending_ != Ending::SinkIsDone) {
        const std::string_view why = why_.front() != '\0' ? why_.data() : curl_easy_strerror(code);
        return Error(ErrorKind::Io, std::string(why));
    }
    curl_off_t retry_after = 0;
    curl_easy_getinfo(handle_, CURLINFO_RETRY_AFTER, &retry_after);
    answer_.status = status();
    answer_.retry_after = std::chrono::seconds(retry_after);
    return std::move(answer_);
}

}  // namespace prefix_router::web
