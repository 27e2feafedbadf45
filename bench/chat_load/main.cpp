#include <iostream>
#include <string>
#include <utility>

#include "prefix_router/sim/trace.hpp"

#include "chat_load/load_run.hpp"
#include "chat_load/trace_run.hpp"

using namespace prefix_router::chat_load;

namespace {

template <class Run>
int run_and_report(net::io_context& io, Run& run, const Options& options) {
    run.start();
    io.run();
    std::cout << (options.json ? json_report(options.label, run.tally(), run.watch()) + "\n"
                               : table_report(options.label, run.tally(), run.watch()));
    return run.tally().errors() == 0 ? 0 : 1;
}

int complain(const std::string& what) {
    std::cerr << "chat-load: " << what << std::endl;
    return 2;
}

int send_trace(net::io_context& io, const Options& options, const net::ip::tcp::endpoint& server) {
    auto trace = prefix_router::sim::load_trace(options.trace.path, options.trace.read);
    if (!trace) return complain(trace.error().message());
    const auto run = TraceRun::open(io, options, server, std::move(*trace));
    if (!run) return complain(run.error().message());
    return run_and_report(io, **run, options);
}

}  // namespace

int main(int argc, char** argv) {
    const ParsedCommandLine command = parse_command_line(argc, argv);
    if (!command.run) return command.exit_code;
    const Options& options = command.options;

    net::io_context io(1);
    boost::system::error_code error;
    net::ip::tcp::resolver resolver(io);
    const auto found = resolver.resolve(options.host, std::to_string(options.port), error);
    if (error) return complain("cannot find " + options.host + ": " + error.message());
    const net::ip::tcp::endpoint server = found.begin()->endpoint();
    if (!options.trace.path.empty()) return send_trace(io, options, server);
    LoadRun run(io, options, server);
    return run_and_report(io, run, options);
}
