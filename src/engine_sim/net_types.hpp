#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace prefix_router::engine_sim {

namespace net = boost::asio;
using Executor = net::io_context::executor_type;
using Socket = net::basic_stream_socket<net::ip::tcp, Executor>;
using Acceptor = net::basic_socket_acceptor<net::ip::tcp, Executor>;
using Timer = net::basic_waitable_timer<std::chrono::steady_clock,
                                        net::wait_traits<std::chrono::steady_clock>, Executor>;
template <class T>
using Awaitable = net::awaitable<T, Executor>;

/// The one completion token: an error comes back as a value.
inline constexpr auto kAwait = net::as_tuple(net::use_awaitable_t<Executor>());

}  // namespace prefix_router::engine_sim
