#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prefix_router/admin/event_feed.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/base/sha256.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::admin {

struct Request {
    std::string method;
    std::string path;                          ///< without the query
    std::map<std::string, std::string> query;  ///< last value of a name wins
    std::string body;
    std::map<std::string, std::string> parameters;  ///< of the path, such as id
    std::string who;  ///< the token's name, or "local": nobody is asked for one
};

struct Answer {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> fields = {};  ///< of the head, beside its type
};

/// One endpoint. Handlers run on the admin thread, one at a time, and must not block for long;
/// those that may block have another thread, one at a time as well.
struct Route {
    std::string method;
    std::string path;  ///< exact, but for parameters such as {id}: one segment each
    std::function<Answer(const Request&)> handle;
    bool is_open = false;            ///< asks for no token
    bool is_part_of_a_page = false;  ///< named in no list of paths
    /// Not null: a GET is answered by these events, for as long as both sides stay. At most 16
    /// clients at a time.
    std::shared_ptr<EventFeed> feed = nullptr;
    bool is_change = false;  ///< without a token for this machine alone, and for no web page
    bool may_block = false;  ///< reads files, or waits for names and for others that do
    /// Answers under any name, such as a Service's; all else, without a token, under those alone
    /// that no web page can have.
    bool is_for_monitoring = false;
};

/// Who may do everything that is not open to all.
struct Token {
    std::string name;
    Sha256 hash;
};

struct Permissions {
    std::vector<Token> tokens;               ///< empty: none is asked for
    std::vector<std::string> allowed_hosts;  ///< names of the listener, beside its machine's own
};

/// The admin listener: a small HTTP server on a thread of its own, apart from the data plane in
/// every respect. Unknown paths get 404 with the list of known ones, other methods 405. Requests
/// are limited to 8 MiB and 10 s, bodies to eight at a time, connections to 256; nothing of a body
/// is read without the token. Changes that may block and event streams hold up nobody else. start()
/// and stop() belong to one owner; stop() (or destruction) joins the threads.
class Server {
  public:
    /// That may block: one is made, the others wait for their turn. For more there is 503.
    static constexpr std::size_t kMostChanges = 8;

    /// Serves on the `inherited` socket where there is one, and binds `address` where not. With
    /// tokens, what is not open is served to `Authorization: Bearer` whose hash one of them is.
    static Result<std::unique_ptr<Server>> start(const config::ListenAddress& address,
                                                 std::vector<Route> routes,
                                                 net::Descriptor inherited = {},
                                                 Permissions permissions = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::uint16_t port() const;
    /// Another descriptor of the listening socket, for a successor. Error: Io.
    Result<net::Descriptor> listening_socket() const;
    /// The successor accepts from now on: accepts no more, and ends each connection with its next
    /// answer.
    void retire();
    void stop();

  private:
    class Listener;
    explicit Server(std::unique_ptr<Listener> listener);
    std::unique_ptr<Listener> listener_;
};

}  // namespace prefix_router::admin
