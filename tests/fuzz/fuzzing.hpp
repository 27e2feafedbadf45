#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// What the fuzz targets share. A target is libFuzzer's entry point; replay.cpp calls it on the
/// files of its corpus where there is no libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace prefix_router::fuzz {

inline std::string_view view_of(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

/// Takes the first byte off; 0 when there is none.
inline std::uint8_t take_byte(std::string_view& input) {
    if (input.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(input.front());
    input.remove_prefix(1);
    return byte;
}

/// Ends the run, so that the fuzzer keeps the input.
inline void require(bool holds, const char* claim) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", claim);
    std::abort();
}

}  // namespace prefix_router::fuzz
