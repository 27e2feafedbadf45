// Shutting down: running answers finish, nothing new begins.
#include <string>
#include <thread>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

class Drain : public RouterTest {
  protected:
    Gate begun;
    Gate finish;
    FakeBackend backend{[this](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
        begun.open();
        if (finish.wait()) {
            line.send("1\r\nb\r\n0\r\n\r\n");
        }
    }};
};

TEST_F(Drain, LetsRunningAnswersFinishAndClosesTheRest) {
    start({backend.url()});
    TestClient idle(port());
    TestClient busy(port());
    ASSERT_TRUE(busy.request("/x", "hello"));
    ASSERT_TRUE(busy.read_until("1\r\na\r\n"));
    std::thread drainer([this] { router().drain(); });
    EXPECT_EQ(idle.wait_for_end(), ReadEnd::Ended);
    finish.open();
    const Answer answer = busy.read();
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(answer.body, "ab");
    EXPECT_EQ(busy.wait_for_end(), ReadEnd::Ended);
    drainer.join();
    EXPECT_FALSE(Socket::connect_to(port()).is_open());
}

TEST_F(Drain, FinishesRequestsThatAreStillArriving) {
    FakeBackend quick;
    start({quick.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send("POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\n\r\nhe"));
    TestClient idle(port());
    ASSERT_TRUE(wait_for_metric("connections", 2));
    std::thread drainer([this] { router().drain(); });
    EXPECT_EQ(idle.wait_for_end(), ReadEnd::Ended);  // draining has begun
    ASSERT_TRUE(client.send("llo"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.body, "ok");
    EXPECT_EQ(answer.field("Connection"), "close");
    drainer.join();
}

TEST_F(Drain, CutsWhatIsNotFinishedAfterTheGrace) {
    config.timeouts.drain_grace = std::chrono::milliseconds(300);
    is_published_to_the_end = false;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(begun.wait());
    router().drain();
    router().stop();
    const Answer answer = client.read();
    EXPECT_FALSE(answer.is_complete);
    EXPECT_NE(answer.end, ReadEnd::TimedOut);
    finish.open();
}

TEST_F(Drain, IsEndedEarlyByStop) {
    is_published_to_the_end = false;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(client.read_until("1\r\na\r\n"));
    std::thread drainer([this] { router().drain(); });
    router().stop();
    drainer.join();
    EXPECT_FALSE(client.read().is_complete);
    finish.open();
}

TEST_F(Drain, IsImmediateWithNothingToDo) {
    start({backend.url()});
    router().drain();
    EXPECT_FALSE(Socket::connect_to(port()).is_open());
}

TEST_F(Drain, RefusesToStartOnAPortInUse) {
    start({backend.url()});
    config::Config second = config;
    second.listen.port = port();
    second.admin.reset();
    const auto started = app::Application::start(second);
    ASSERT_FALSE(started.has_value());
    EXPECT_EQ(started.error().kind(), ErrorKind::Io);
}

}  // namespace
}  // namespace prefix_router::testing
