#include "integration/support/test_client.hpp"

namespace prefix_router::testing {

unsigned Answer::status() const {
    return start_line.size() < 12 ? 0 : static_cast<unsigned>(std::stoul(start_line.substr(9, 3)));
}

bool TestClient::request(std::string_view target, std::string_view body, std::string_view fields) {
    std::string text(body.empty() ? "GET " : "POST ");
    text.append(target).append(" HTTP/1.1\r\nHost: router\r\n").append(fields);
    if (!body.empty()) {
        text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    }
    text.append("\r\n").append(body);
    return send(text);
}

Answer TestClient::read_head() {
    Answer answer;
    while (reader_.read_head(answer) && answer.status() < 200 && answer.status() != 101) {
        answer.interims.push_back(answer.head);
        answer.head.clear();
        answer.start_line.clear();
    }
    return answer;
}

Answer TestClient::read(Expecting expecting) {
    Answer answer = read_head();
    if (answer.status() == 0) {
        return answer;
    }
    const bool has_no_body =
        expecting == Expecting::NoBody || answer.status() == 204 || answer.status() == 304;
    reader_.read_body(answer, has_no_body ? BodyRule::AnswerWithoutBody : BodyRule::Answer);
    return answer;
}

bool TestClient::read_until(std::string_view text) {
    while (reader_.buffered().find(text) == std::string::npos) {
        if (socket_.receive(reader_.buffered()) != ReadEnd::Data) {
            return false;
        }
    }
    return true;
}

ReadEnd TestClient::wait_for_end() {
    return socket_.receive_to_end(reader_.buffered());
}

}  // namespace prefix_router::testing
