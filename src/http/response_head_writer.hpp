#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "prefix_router/http/response_head.hpp"

#include "http/connection_options.hpp"

namespace prefix_router::http {

/// Parses one complete answer head with Beast and writes it, rewritten, into a ResponseHead. Lives
/// for one head.
class ResponseHeadWriter final : public boost::beast::http::basic_parser<false> {
  public:
    /// Beast refuses Content-Length beside Transfer-Encoding; a head whose lengths were taken out
    /// for that reason is read as chunked, and its connection is not used again.
    enum class Lengths : std::uint8_t { AsSent, TakenOut };

    ResponseHeadWriter(ResponseHead& head, const Asker& asker, Lengths lengths);

    /// `bytes`: exactly one head, without empty lines before it. Call once.
    Result<void> write(std::string_view bytes);

    /// After a failed write(): both framings were present, the remedy is Lengths::TakenOut.
    bool has_both_framings() const { return has_both_framings_; }

  private:
    using ErrorCode = boost::beast::error_code;
    using Field = boost::beast::http::field;
    using StringView = boost::beast::string_view;

    void on_response_impl(int status, StringView reason, int version, ErrorCode& code) override;
    void on_field_impl(Field field, StringView name, StringView value, ErrorCode& code) override;
    void on_header_impl(ErrorCode& code) override;
    // Never called: the bytes end with the head.
    void on_request_impl(boost::beast::http::verb, StringView, StringView, int,
                         ErrorCode&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
    std::size_t on_body_impl(StringView body, ErrorCode&) override { return body.size(); }
    void on_chunk_header_impl(std::uint64_t, StringView, ErrorCode&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, StringView body, ErrorCode&) override {
        return body.size();
    }
    void on_finish_impl(ErrorCode&) override {}

    bool take_field(Field field, std::string_view name, std::string_view value);
    bool is_own_field(std::string_view name) const;
    void append_location(std::string_view name, std::string_view value);
    bool has_no_body() const;
    void set_framing();
    void set_relay();
    void append_own_fields();
    void append_framing_field();

    ResponseHead& head_;
    const Asker& asker_;
    Lengths lengths_;
    ConnectionOptions connection_;
    std::uint32_t fields_start_ = 0;
    std::uint32_t codings_ = 0;
    bool has_length_ = false;
    bool has_upgrade_ = false;
    bool has_both_framings_ = false;
    bool is_http10_ = false;
    bool is_unknown_coding_ = false;
    const char* problem_ = nullptr;
};

}  // namespace prefix_router::http
