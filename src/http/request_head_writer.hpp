#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "prefix_router/http/request_head.hpp"

#include "http/connection_options.hpp"

namespace prefix_router::http {

/// Parses one complete request head with Beast and writes it, rewritten, into a RequestHead. Beast
/// knows the grammar of lines; what it lets pass and must not (DATAPLANE.md: unknown codings, lists
/// of lengths, missing Hosts, target forms) is checked here. Lives for one head; keeps views into
/// its bytes, which are contiguous.
class RequestHeadWriter final : public boost::beast::http::basic_parser<true> {
  public:
    RequestHeadWriter(RequestHead& head, const Arrival& arrival);

    /// `bytes`: exactly one head, without empty lines before it. Call once.
    Result<void> write(std::string_view bytes);

  private:
    using ErrorCode = boost::beast::error_code;
    using Field = boost::beast::http::field;
    using StringView = boost::beast::string_view;

    void on_request_impl(boost::beast::http::verb verb, StringView method, StringView target,
                         int version, ErrorCode& code) override;
    void on_field_impl(Field field, StringView name, StringView value, ErrorCode& code) override;
    void on_header_impl(ErrorCode& code) override;
    // Never called: the bytes end with the head.
    void on_response_impl(int, StringView, int, ErrorCode&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
    std::size_t on_body_impl(StringView body, ErrorCode&) override { return body.size(); }
    void on_chunk_header_impl(std::uint64_t, StringView, ErrorCode&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, StringView body, ErrorCode&) override {
        return body.size();
    }
    void on_finish_impl(ErrorCode&) override {}

    bool take_known_field(Field field, std::string_view value);
    bool take_own_field(std::string_view name, std::string_view value);
    void take_host(std::string_view value);
    void take_content_length(std::string_view value);
    void set_framing();
    void append_own_fields();
    void append_forwarded_for();
    void append_request_id();
    void fail(ErrorKind kind, const char* message);

    RequestHead& head_;
    const Arrival& arrival_;
    std::optional<Error> error_;  // the first one
    ConnectionOptions connection_;
    std::uint32_t hosts_ = 0;
    std::uint32_t lengths_ = 0;
    std::uint32_t codings_ = 0;
    bool is_absolute_ = false;
    bool has_upgrade_ = false;
    bool expects_continue_ = false;
    std::string_view coding_;
    std::string_view request_id_;
    std::string_view forwarded_host_;
    std::string_view forwarded_proto_;
    std::string forwarded_for_;
};

}  // namespace prefix_router::http
