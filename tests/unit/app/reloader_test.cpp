#include "app/reloader.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/metrics/metrics.hpp"

#include "app/file_stamps.hpp"

namespace prefix_router::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// A data plane that is not started, and what a start does before its Reloader is there.
class ReloaderTest : public ::testing::Test {
  protected:
    ReloaderTest() { fs::create_directories(folder_); }
    ~ReloaderTest() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    /// Replaces it in one step.
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path("next")) << text;
        fs::rename(path("next"), path(name));
    }
    void write_backends(const std::string& list) const {
        write("router.yaml",
              "admin: off\nlog: {access: \"off\"}\nreload: {watch: true}\nbackends: [" + list +
                  "]\n");
    }
    std::string guarded(const std::string& id) const {
        return "{id: " + id +
               ", url: 'http://127.0.0.1:1', authorization: 'file:" + path("secret") + "'}";
    }

    /// Everything that a start reads.
    void read() {
        file_ = {path("router.yaml"), stamp_of(path("router.yaml"))};
        auto loaded = config::load_file(file_.path);
        ASSERT_TRUE(loaded.config.has_value()) << config::to_string(loaded.problems.front());
        *config_ = std::move(*loaded.config);
        named_ = stamps_of(files_named_in(*config_));
        ASSERT_TRUE(roster_.replace_configured(config_->backends, proxy::AskedForKeys::No));
        access_log_ = *proxy::AccessLog::open(config_->log, metrics_.access_log_dropped);
        server_ = *proxy::Server::make(*config_, {desk_, metrics_, *access_log_, nullptr, clock_});
    }
    void begin_to_watch() {
        reloader_ = std::make_unique<Reloader>(
            file_, named_, *config_, Reloader::Surroundings{*server_, roster_, registry_});
    }
    /// A change is taken once it looks the same twice.
    void look() {
        reloader_->reload_if_changed();
        reloader_->reload_if_changed();
    }
    std::vector<std::string> ids() const {
        std::vector<std::string> found;
        for (const config::Backend& backend : reloader_->effective().backends) {
            found.push_back(backend.id);
        }
        return found;
    }
    std::vector<std::string> authorizations() const {
        std::vector<std::string> found;
        for (const proxy::BackendRef& backend : desk_.backends()) {
            found.push_back(backend->access.authorization.value_or(""));
        }
        return found;
    }

    const fs::path folder_ = fs::path(::testing::TempDir()) / "reloader_test";
    const std::unique_ptr<config::Config> config_ = std::make_unique<config::Config>();
    ConfigurationFile file_;
    std::vector<FileStamp> named_;
    const SteadyClock clock_{1};
    metrics::Registry registry_;
    proxy::Metrics metrics_{registry_};
    proxy::RoutingDesk desk_{*config_, metrics_, clock_, Random(1)};
    proxy::Roster roster_{desk_, metrics_, proxy::AskedForKeys::No};
    std::unique_ptr<proxy::AccessLog> access_log_;
    std::unique_ptr<proxy::Server> server_;
    std::unique_ptr<Reloader> reloader_;
};

TEST_F(ReloaderTest, SeesAFileThatChangedAfterTheStartHadReadIt) {
    write_backends("{id: a, url: 'http://127.0.0.1:1'}");
    read();
    write_backends("{id: b, url: 'http://127.0.0.1:1'}");
    begin_to_watch();
    EXPECT_THAT(ids(), ElementsAre("a"));
    look();
    EXPECT_THAT(ids(), ElementsAre("b"));
}

TEST_F(ReloaderTest, SeesASecretThatChangedAfterTheStartHadReadIt) {
    write("secret", "Bearer one\n");
    write_backends(guarded("a"));
    read();
    write("secret", "Bearer two\n");
    begin_to_watch();
    EXPECT_THAT(authorizations(), ElementsAre("Bearer one"));
    look();
    EXPECT_THAT(authorizations(), ElementsAre("Bearer two"));
}

TEST_F(ReloaderTest, ReadsNothingAgainThatIsAsItWasRead) {
    write("secret", "Bearer one\n");
    write_backends(guarded("a"));
    read();
    begin_to_watch();
    look();
    EXPECT_THAT(registry_.exposition(), ::testing::HasSubstr("config_reloads_total 0"));
}

}  // namespace
}  // namespace prefix_router::app
