/// Request heads: the verdict does not depend on the cut, and what a backend gets is a head that
/// this parser, strict as it is, accepts as the same request.

#include <algorithm>

#include "fuzz/fuzzing.hpp"
#include "unit/http/feeding.hpp"

namespace {

using prefix_router::fuzz::require;
using namespace prefix_router::http;

void check_rewritten(RequestHead& head) {
    const std::string text = text_for(head, head.content_length());
    const ParsedRequest again = parse_request(text);
    require(!again.error, "the rewritten head is accepted");
    require(again.size == text.size(), "the rewritten head is one head");
    require(again.head.method() == head.method(), "the method stays");
    require(again.head.target() == head.target(), "the target stays");
    require(again.head.authority() == "backend:8000", "the Host is the backend's");
    require(again.head.request_id() == head.request_id(), "the request id stays");
    require(again.head.framing() == Framing::None || again.head.framing() == Framing::Length,
            "a backend gets a sized body");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    const std::size_t cut = prefix_router::fuzz::take_byte(input);
    ParsedRequest whole = parse_request(input);
    const ParsedRequest pieces = parse_request(input, std::min(cut, input.size()));
    require(whole.size == pieces.size, "the same length however it is cut");
    require(whole.error.has_value() == pieces.error.has_value(), "the same verdict");
    if (whole.size == 0 || whole.error) return 0;
    require(whole.head.method() == pieces.head.method(), "the same method");
    require(whole.head.target() == pieces.head.target(), "the same target");
    require(whole.head.framing() == pieces.head.framing(), "the same framing");
    check_rewritten(whole.head);
    return 0;
}
