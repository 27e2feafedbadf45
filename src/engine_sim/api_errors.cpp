#include "engine_sim/api_errors.hpp"

#include <nlohmann/json.hpp>

namespace prefix_router::engine_sim {

std::string ApiError::to_json() const {
    const nlohmann::ordered_json error = {
        {"message", message}, {"type", type}, {"param", nullptr}, {"code", status}};
    return nlohmann::ordered_json{{"error", error}}.dump(
        -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ApiError bad_request(std::string_view message) {
    return {400, "BadRequestError", std::string(message)};
}

ApiError unknown_model(std::string_view model) {
    return {404, "NotFoundError", "The model `" + std::string(model) + "` does not exist."};
}

ApiError unknown_path(std::string_view path) {
    return {404, "NotFoundError", "No such path: " + std::string(path)};
}

ApiError wrong_method() {
    return {405, "MethodNotAllowed", "Method Not Allowed"};
}

ApiError body_too_large() {
    return {413, "BadRequestError", "The request body is too large."};
}

ApiError context_too_long(long long tokens, long long room) {
    return {400, "BadRequestError",
            "This model's maximum context length is " + std::to_string(room) +
                " tokens; prompt and answer together need " + std::to_string(tokens) + "."};
}

ApiError queue_full() {
    return {503, "ServiceUnavailableError",
            "The server's queue is full. Please try a different instance."};
}

ApiError engine_died() {
    return {500, "InternalServerError", "EngineCore encountered an issue."};
}

}  // namespace prefix_router::engine_sim
