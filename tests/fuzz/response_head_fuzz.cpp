/// Answer heads: the verdict does not depend on the cut, and what a client gets is a head that this
/// parser accepts as the same answer. The first byte chooses the asker and the cut.

#include <algorithm>

#include "fuzz/fuzzing.hpp"
#include "unit/http/feeding.hpp"

using prefix_router::fuzz::require;
using namespace prefix_router::http;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    const std::uint8_t choice = prefix_router::fuzz::take_byte(input);
    Asker asker;
    asker.is_head = (choice & 1U) != 0;
    asker.version = (choice & 2U) != 0 ? Version::Http10 : Version::Http11;
    asker.keeps_alive = (choice & 4U) != 0;
    asker.request_id = "r-1";
    asker.decision = "prefix";
    const ParsedResponse whole = parse_response(input, asker);
    const ParsedResponse pieces = parse_response(input, asker, std::min<std::size_t>(choice, size));
    require(whole.size == pieces.size, "the same length however it is cut");
    require(whole.error.has_value() == pieces.error.has_value(), "the same verdict");
    if (whole.size == 0 || whole.error) return 0;
    require(whole.head.text() == pieces.head.text(), "the same text however it is cut");
    if (whole.head.is_interim() && !whole.head.should_forward_interim()) return 0;
    const ParsedResponse again = parse_response(whole.head.text(), asker);
    require(!again.error, "the rewritten head is accepted");
    require(again.size == whole.head.text().size(), "the rewritten head is one head");
    require(again.head.status() == whole.head.status(), "the status stays");
    return 0;
}
