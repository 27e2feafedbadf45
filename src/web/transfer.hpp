#pragma once

#include <curl/curl.h>

#include <array>
#include <string_view>

#include "prefix_router/web/http_client.hpp"

namespace prefix_router::web {

/// One request in libcurl's hands: its options, and what comes back. The request and the sink
/// outlive it.
class Transfer {
  public:
    /// `sink` may be null: everything is collected.
    Transfer(const HttpRequest& request, const HttpClient::Sink* sink);
    ~Transfer();
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    CURL* handle() const { return handle_; }
    /// Its end waits for nobody, not even for a name that is being looked up.
    void abandon();
    /// After libcurl is done with `code`.
    Result<HttpAnswer> outcome(CURLcode code);

  private:
    enum class Ending : unsigned char { Libcurls, SinkIsDone, TooLarge };

    static std::size_t take_field(char* bytes, std::size_t size, std::size_t count, void* self);
    bool take_field(std::string_view line);
    static std::size_t take(char* bytes, std::size_t size, std::size_t count, void* self);
    bool take(std::string_view piece);
    bool give(std::string_view piece);
    int status() const;
    void say_what();
    void say_how_long();
    void say_tls();

    const HttpRequest& request_;
    const HttpClient::Sink* sink_;
    CURL* handle_;
    curl_slist* headers_ = nullptr;
    HttpAnswer answer_;
    bool has_head_ = false;
    Ending ending_ = Ending::Libcurls;
    std::array<char, CURL_ERROR_SIZE> why_{};
};

}  // namespace prefix_router::web
