#include <csignal>
#include <iostream>
#include <memory>
#include <vector>

#include <boost/asio/signal_set.hpp>

#include "engine_sim/server.hpp"

using namespace prefix_router::engine_sim;

int main(int argc, char** argv) {
    const ParsedCommandLine command = parse_command_line(argc, argv);
    if (!command.run) return command.exit_code;

    net::io_context io(1);
    std::vector<std::unique_ptr<Server>> servers;
    for (const std::uint16_t port : command.options.ports) {
        servers.push_back(std::make_unique<Server>(io, command.options));
        const auto bound = servers.back()->listen(port);
        if (!bound) {
            std::cerr << "engine-sim: " << bound.error().message() << std::endl;
            for (const auto& server : servers) server->stop();
            io.run();
            return 1;
        }
        std::cout << "engine-sim listens on http://" << command.options.host << ":" << *bound
                  << std::endl;
    }
    net::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code& error, int) {
        if (error) return;
        for (const auto& server : servers) server->stop();
    });
    io.run();
    return 0;
}
