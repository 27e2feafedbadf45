#include <iostream>

#include "chat_load/load_run.hpp"

using namespace prefix_router::chat_load;

int main(int argc, char** argv) {
    const ParsedCommandLine command = parse_command_line(argc, argv);
    if (!command.run) return command.exit_code;
    const Options& options = command.options;

    net::io_context io(1);
    boost::system::error_code error;
    net::ip::tcp::resolver resolver(io);
    const auto found = resolver.resolve(options.host, std::to_string(options.port), error);
    if (error) {
        std::cerr << "chat-load: cannot find " << options.host << ": " << error.message()
                  << std::endl;
        return 2;
    }
    LoadRun run(io, options, found.begin()->endpoint());
    run.start();
    io.run();
    std::cout << (options.json ? json_report(options.label, run.tally(), run.watch()) + "\n"
                               : table_report(options.label, run.tally(), run.watch()));
    return run.tally().errors() == 0 ? 0 : 1;
}
