#include "admin/answers.hpp"

namespace prefix_router::admin {
namespace {

unsigned status_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::NoBackend:
            return 404;
        case ErrorKind::InvalidConfiguration:
            return 409;
        case ErrorKind::ServerControl:
        case ErrorKind::ModelForbidden:
            return 403;
        default:
            return 400;
    }
}

}  // namespace

Answer json_answer(const nlohmann::json& value, unsigned status) {
    // What came from a client may be no UTF-8.
    const auto text = value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    return {status, "application/json", text + "\n"};
}

Answer refusal(unsigned status, const std::string& message) {
    return json_answer(
        {{"error", {{"message", message}, {"type", "admin_error"}, {"code", status}}}}, status);
}

Answer refusal(const Error& error) {
    return refusal(status_of(error.kind()), error.message());
}

}  // namespace prefix_router::admin
