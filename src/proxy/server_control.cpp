#include "proxy/server_control.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace prefix_router::proxy {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kControls{
    // vLLM
    "/collective_rpc"sv,
    "/pause"sv,
    "/reset_encoder_cache"sv,
    "/reset_mm_cache"sv,
    "/reset_prefix_cache"sv,
    "/resume"sv,
    "/scale_elastic_ep"sv,
    "/sleep"sv,
    "/v1/load_lora_adapter"sv,
    "/v1/unload_lora_adapter"sv,
    "/wake_up"sv,
    // SGLang
    "/clear_hicache_storage_backend"sv,
    "/continue_generation"sv,
    "/flush_cache"sv,
    "/load_lora_adapter"sv,
    "/pause_generation"sv,
    "/release_memory_occupation"sv,
    "/resume_memory_occupation"sv,
    "/set_internal_state"sv,
    "/start_profile"sv,
    "/stop_profile"sv,
    "/unload_lora_adapter"sv,
    "/update_weight_version"sv,
    "/update_weights_from_disk"sv,
    "/update_weights_from_distributed"sv,
    "/update_weights_from_tensor"sv,
};

// llama.cpp: saves, restores or erases one slot's cache.
constexpr std::string_view kSlots = "/slots/";

bool is_server_control_as_it_is(std::string_view path) {
    if (path.size() > 1 && path.ends_with('/')) {
        path.remove_suffix(1);  // frameworks redirect to the path without it
    }
    return path.starts_with(kSlots) || std::ranges::find(kControls, path) != kControls.end();
}

/// As servers decode it before they look for a handler: once.
std::string decoded(std::string_view path) {
    std::string text;
    while (!path.empty()) {
        unsigned value = 0;
        const bool is_escape = path.size() >= 3 && path.front() == '%';
        if (is_escape && std::from_chars(&path[1], &path[1] + 2, value, 16).ptr == &path[1] + 2) {
            text += static_cast<char>(value);
            path.remove_prefix(3);
        } else {
            text += path.front();
            path.remove_prefix(1);
        }
    }
    return text;
}

}  // namespace

bool is_server_control(std::string_view path) {
    if (path.find('%') != std::string_view::npos) {
        return is_server_control_as_it_is(decoded(path));
    }
    return is_server_control_as_it_is(path);
}

}  // namespace prefix_router::proxy
