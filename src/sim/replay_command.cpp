#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "prefix_router/sim/replay.hpp"

#include "sim/replay_arguments.hpp"
#include "sim/replay_report.hpp"

namespace prefix_router::sim {
namespace {

constexpr int kCannotReplay = 1;

/// A bar on the terminal that standard error is; silent elsewhere.
class ProgressBar {
  public:
    ProgressBar() : is_terminal_(isatty(STDERR_FILENO) == 1) {}
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(const std::string& name, double share) {
        if (!is_terminal_) return;
        const auto filled = static_cast<std::size_t>(share * kWidth);
        std::string bar(std::min(filled, std::size_t{kWidth}), '#');
        bar.resize(kWidth, '.');
        static_cast<void>(std::fprintf(stderr, "\r\033[K%-28s [%s] %3.0f%%", name.c_str(),
                                       bar.c_str(), share * 100));
        static_cast<void>(std::fflush(stderr));
    }
    void clear() {
        if (is_terminal_) static_cast<void>(std::fputs("\r\033[K", stderr));
    }

  private:
    static constexpr std::size_t kWidth = 40;
    bool is_terminal_;
};

int fail(const Error& error) {
    std::cerr << "prefix-router replay: " << error.message() << '\n';
    return kCannotReplay;
}

bool write_page(const ReplayArguments& arguments, const std::string& setting,
                const std::vector<ReplayResult>& results) {
    std::ofstream file(arguments.html_path, std::ios::binary);
    file << render_page(setting, results);
    file.close();
    return static_cast<bool>(file);
}

Result<std::vector<ReplayResult>> replay_all(const Trace& trace, const ReplayOptions& options,
                                             bool prints_json) {
    ProgressBar bar;
    std::vector<ReplayResult> results;
    for (const std::string& strategy : options.strategies) {
        const Progress progress = [&](double share) { bar.show(strategy, share); };
        auto result = replay(trace, options, strategy, progress);
        if (!result) return result.error();
        if (prints_json) {
            bar.clear();
            std::cout << render_json(*result) << std::endl;
        }
        results.push_back(std::move(*result));
    }
    return results;
}

int replay_words(std::span<const char* const> words) {
    const auto parsed = parse_replay_arguments(words);
    if (const auto* exit = std::get_if<ReplayExit>(&parsed)) return exit->code;
    const auto& arguments = std::get<ReplayArguments>(parsed);
    const auto trace = load_trace(arguments.trace_path, arguments.trace);
    if (!trace) return fail(trace.error());
    const auto results = replay_all(*trace, arguments.options, arguments.json);
    if (!results) return fail(results.error());
    const std::string setting = describe_setting(*trace, arguments.options, results->front());
    if (!arguments.json) std::cout << setting << "\n\n" << render_table(*results);
    if (!arguments.html_path.empty() && !write_page(arguments, setting, *results)) {
        return fail(Error(ErrorKind::Io, "cannot write '" + arguments.html_path + "'"));
    }
    return 0;
}

}  // namespace

int replay_command(std::span<const char* const> words) {
    try {
        return replay_words(words);
    } catch (const std::bad_alloc&) {
        return fail(Error(ErrorKind::Io, "out of memory; replay a part of the trace (--until)"));
    } catch (const std::exception& error) {
        return fail(Error(ErrorKind::Io, error.what()));
    }
}

}  // namespace prefix_router::sim
