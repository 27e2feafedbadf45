#include "app/configuration_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "prefix_router/config/kubeconfig.hpp"
#include "prefix_router/config/options.hpp"
#include "prefix_router/net/listener.hpp"
#include "prefix_router/net/tls.hpp"
#include "prefix_router/proxy/backend_entry.hpp"
#include "prefix_router/proxy/url_advice.hpp"
#include "prefix_router/tracing/headers.hpp"

namespace prefix_router::app {
namespace {

class Check {
  public:
    explicit Check(const config::Config& config) : config_(config) {}

    Findings run() {
        look_at_listeners();
        look_at_logs();
        look_at_backends(config_.backends);
        look_at_discovery();
        return std::move(findings_);
    }

  private:
    template <class Value>
    void expect(const Result<Value>& result, const std::string& where = "") {
        if (!result) {
            findings_.problems.push_back(where + result.error().message());
        }
    }

    void look_at_listeners() {
        expect(net::listen_endpoint(config_.listen), "listen: ");
        if (config_.admin) {
            expect(net::listen_endpoint(*config_.admin), "admin: ");
        }
        if (config_.tls.certificate) {
            expect(net::TlsServer::load(config_.tls));
        }
    }

    /// As opening it would go, but that nothing is made.
    void look_at_log(const std::string& option, const std::string& path) {
        if (!path.starts_with('/')) {
            return;  // off, or a stream
        }
        struct stat found{};
        const bool is_there = ::stat(path.c_str(), &found) == 0;
        const std::string folder = path.substr(0, path.rfind('/') + 1);
        int error = 0;
        if (is_there && S_ISDIR(found.st_mode)) {
            error = EISDIR;
        } else if (is_there) {
            error = ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ? 0 : errno;
        } else if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
            error = errno;
        }
        if (error != 0) {
            findings_.problems.push_back(option + ": cannot open '" + path +
                                         "': " + std::strerror(error));
        }
    }

    void look_at_logs() {
        look_at_log("log.access", config_.log.access);
        look_at_log("log.trace", config_.log.trace);
        if (config_.tracing.endpoint && config_.tracing.headers) {
            expect(tracing::load_headers(*config_.tracing.headers));
        }
    }

    void look_at(const config::Backend& backend) {
        expect(proxy::load_access(backend, proxy::AskedForKeys::No));
    }

    void look_at_backends(const std::vector<config::Backend>& backends) {
        for (const config::Backend& backend : backends) {
            look_at(backend);
        }
        for (std::string& advice : proxy::advice_on(backends)) {
            findings_.warnings.push_back(std::move(advice));
        }
    }

    /// What the backends of a source have in common.
    void look_at_common(const std::string& source, config::Backend common) {
        common.id = source;
        common.url.host = common.tls.server_name.value_or("backend");
        look_at(common);
    }

    /// The file of backends may come later; what is there must be right.
    void look_at_file(const std::string& path) {
        const auto text = config::read_file(path);
        if (!text) {
            return;
        }
        const auto loaded = config::load_backends(*text, path);
        for (const config::Problem& problem : loaded.problems) {
            findings_.problems.push_back(config::to_string(problem));
        }
        if (loaded.backends) {
            look_at_backends(*loaded.backends);
        }
    }

    void look_at_discovery() {
        const config::Discovery& discovery = config_.discovery;
        if (discovery.file) {
            look_at_file(*discovery.file);
        }
        for (const auto& source : discovery.dns) {
            look_at_common(config::source_name(source), source.backend);
        }
        for (const auto& source : discovery.kubernetes) {
            look_at_common(config::source_name(source), source.backend);
            if (source.kubeconfig) {
                expect(config::load_kubeconfig(*source.kubeconfig),
                       config::source_name(source) + ": kubeconfig: ");
            }
        }
    }

    const config::Config& config_;
    Findings findings_;
};

}  // namespace

Findings look_behind(const config::Config& config) {
    return Check(config).run();
}

}  // namespace prefix_router::app
