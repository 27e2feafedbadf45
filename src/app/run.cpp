#include "prefix_router/app/run.hpp"

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <spdlog/spdlog.h>

#include "prefix_router/app/application.hpp"
#include "prefix_router/app/command_line.hpp"
#include "prefix_router/base/contain.hpp"
#include "prefix_router/base/logging.hpp"
#include "prefix_router/sim/replay.hpp"

#include "app/hash_key.hpp"
#include "app/reloader.hpp"
#include "app/succession.hpp"

namespace prefix_router::app {
namespace {

constexpr int kCannotStart = 1;
constexpr timespec kWatchInterval{1, 0};  // reload.watch

/// The signals that the main thread waits for; blocked before any thread starts, the log's too, so
/// that all inherit it: a thread without it takes a signal while the main thread does not wait, and
/// the process dies of it.
sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, Succession::kReplacedSignal);
    sigaddset(&signals, Reloader::kDrainSignal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    return signals;
}

/// As many descriptors as the system allows: two per streamed answer.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// The next signal that asks for an end. Meanwhile this thread has nothing else to do: it reloads.
int wait_for(Application& application, const sigset_t& signals, const Succession& succession) {
    while (true) {
        const int signal = sigtimedwait(&signals, nullptr, &kWatchInterval);
        if (signal < 0) {
            contain("a look at the files", [&] { application.reload_if_changed(); });
        } else if (signal == SIGHUP) {
            contain("a reload", [&] { application.reload("SIGHUP"); });
        } else if (signal != Succession::kReplacedSignal || succession.is_replaced()) {
            return signal;
        }
    }
}

/// Drains when replaced, asked to, or on the first signal; another signal ends at once. Where the
/// admin listener has asked, a service manager's stop after that is the first.
void serve_until_signalled(Application& application, Succession& succession, sigset_t signals) {
    const int first = wait_for(application, signals, succession);
    const auto successor = succession.end();
    const bool is_asked = first == Reloader::kDrainSignal;
    if (successor == proxy::Successor::None && !is_asked) {
        spdlog::info("signal {}; another one ends at once", first);
    }
    std::atomic<bool> is_done{false};
    std::thread drain([&application, &is_done, successor] {
        contain("the drain", [&] { application.drain(successor); });
        is_done.store(true);
        kill(getpid(), SIGTERM);  // wakes the main thread when all is done
    });
    sigdelset(&signals, Succession::kReplacedSignal);
    sigdelset(&signals, Reloader::kDrainSignal);
    wait_for(application, signals, succession);
    if (is_asked && !is_done.load()) {
        spdlog::info("drains already; another signal ends at once");
        wait_for(application, signals, succession);
    }
    application.stop();
    drain.join();
    spdlog::info("stopped");
}

Result<std::unique_ptr<Application>> start(config::Config config, double speed_up,
                                           ListeningSockets sockets, ConfigurationFile file) {
    try {
        return Application::start(std::move(config), speed_up, std::move(sockets), std::move(file));
    } catch (const std::runtime_error& failure) {  // of a thread, an epoll set, a timer
        return Error(ErrorKind::Io,
                     std::string(failure.what()) +
                         "; set threads lower, or allow the process more threads, descriptors "
                         "and memory");
    }
}

/// Until it ends. Error: it cannot start.
Result<void> serve_with(Serve serve, const sigset_t& signals) {
    Succession succession(std::move(serve.take_over));
    auto sockets = succession.sockets(serve.config);
    if (!sockets) {
        return sockets.error();
    }
    auto application =
        start(std::move(serve.config), serve.speed_up, std::move(*sockets), std::move(serve.file));
    if (!application) {
        return application.error();
    }
    if (const auto begun = succession.begin(**application); !begun) {
        (*application)->drain(proxy::Successor::Accepts);
        return begun.error();
    }
    serve_until_signalled(**application, succession, signals);
    return boost::system::in_place_value;
}

int serve(Serve serve) {
    const auto signals = block_signals();
    const auto logger = start_logging(serve.config.log.format, serve.config.log.level);
    if (!logger) {
        std::cerr << "prefix-router: " << logger.error().message() << '\n';
        return kCannotStart;
    }
    raise_descriptor_limit();
    const auto served = serve_with(std::move(serve), signals);
    if (!served) {
        spdlog::error("cannot start: {}", served.error().message());
    }
    spdlog::shutdown();
    return served ? 0 : kCannotStart;
}

}  // namespace

int run(std::span<const char* const> arguments) {
    auto command = parse_command_line(arguments, std::cout, std::cerr);
    if (auto* serving = std::get_if<Serve>(&command)) {
        return serve(std::move(*serving));
    }
    if (const auto* replay = std::get_if<Replay>(&command)) {
        std::vector<const char*> words;
        words.reserve(replay->arguments.size());
        for (const auto& argument : replay->arguments) {
            words.push_back(argument.c_str());
        }
        return sim::replay_command(words);
    }
    if (std::holds_alternative<HashKey>(command)) {
        return hash_key(std::cin, std::cout, std::cerr);
    }
    return std::get<Exit>(command).code;
}

}  // namespace prefix_router::app
