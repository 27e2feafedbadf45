#include "app/file_stamps.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::app {
namespace {

namespace fs = std::filesystem;

class FileStampsTest : public ::testing::Test {
  protected:
    FileStampsTest() { fs::create_directories(folder_); }
    ~FileStampsTest() override { fs::remove_all(folder_); }

    std::vector<FileStamp> stamps() const { return stamps_of({(folder_ / "file").string()}); }

    const fs::path folder_ = fs::path(::testing::TempDir()) / "file_stamps_test";
};

TEST_F(FileStampsTest, TellReplacedFilesAndFilesThatCameOrWent) {
    const auto none = stamps();
    std::ofstream(folder_ / "file") << "one";
    const auto first = stamps();
    EXPECT_NE(first, none);
    EXPECT_EQ(first, stamps());
    std::ofstream(folder_ / "next") << "two";
    fs::rename(folder_ / "next", folder_ / "file");
    EXPECT_NE(stamps(), first);
    fs::remove(folder_ / "file");
    EXPECT_EQ(stamps(), none);
}

TEST_F(FileStampsTest, TellALinkThatLeadsElsewhere) {
    for (const char* version : {"one", "two"}) {
        fs::create_directories(folder_ / version);
        std::ofstream(folder_ / version / "file") << "same";
    }
    fs::create_directory_symlink("one", folder_ / "data");
    fs::create_symlink("data/file", folder_ / "file");
    const auto first = stamps();
    fs::create_directory_symlink("two", folder_ / "next");
    fs::rename(folder_ / "next", folder_ / "data");
    EXPECT_NE(stamps(), first);
}

TEST(FilesNamedIn, AreCertificatesKeysAndCredentials) {
    const auto config = std::make_unique<config::Config>();
    config->tls.certificate = "/c";
    config->tls.key = "/k";
    config->backends.emplace_back().authorization = {config::BackendAuthorization::Kind::File,
                                                     "/s"};
    config->backends.emplace_back().tls.ca = "/a";
    config->backends.emplace_back().authorization = {
        config::BackendAuthorization::Kind::Environment, "NAME"};
    config->discovery.dns.emplace_back().backend.tls.ca = "/d";
    config->discovery.kubernetes.emplace_back().backend.tls.client_key = "/p";
    EXPECT_EQ(files_named_in(*config),
              (std::vector<std::string>{"/c", "/k", "/s", "/a", "/d", "/p"}));
}

}  // namespace
}  // namespace prefix_router::app
