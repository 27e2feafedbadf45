#include "prefix_router/base/small_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router {
namespace {

using ::testing::HasSubstr;

class SmallFile : public ::testing::Test {
  protected:
    SmallFile() {
        std::string pattern = ::testing::TempDir() + "small-file-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~SmallFile() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& text) const {
        const std::string path = folder_ + "/file";
        std::ofstream(path) << text;
        return path;
    }
    std::string pipe() const {
        const std::string path = folder_ + "/pipe";
        EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
        return path;
    }
    static std::string complaint(const std::string& path, std::size_t most = 100) {
        const auto text = read_small_file(path, most);
        return text ? "" : text.error().message();
    }

    std::string folder_;
};

TEST_F(SmallFile, IsReadWhole) {
    const std::string text(100, 'x');
    EXPECT_EQ(read_small_file(file(text), 100).value(), text);
    EXPECT_EQ(read_small_file(file(""), 100).value(), "");
    EXPECT_EQ(trouble_with_file(file(text)), "");
}

TEST_F(SmallFile, MustBeSmall) {
    EXPECT_EQ(complaint(file(std::string(101, 'x'))), "is larger than 100 bytes");
    EXPECT_EQ(complaint("/dev/zero"), "is larger than 100 bytes");
}

TEST_F(SmallFile, SaysWhyItCannotBeRead) {
    EXPECT_EQ(complaint(folder_ + "/none"), "cannot be opened: No such file or directory");
    EXPECT_EQ(complaint(folder_), "cannot be read: Is a directory");
    EXPECT_EQ(trouble_with_file(folder_ + "/none"), "cannot be read: No such file or directory");
    EXPECT_EQ(trouble_with_file(folder_), "is no regular file");
    EXPECT_EQ(trouble_with_file(file("")), "is empty");
}

TEST_F(SmallFile, MayBeAPipeThatSomebodyFills) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "abc", 3), 3);
    ::close(ends[1]);
    EXPECT_EQ(read_small_file("/dev/fd/" + std::to_string(ends[0]), 100).value(), "abc");
    ::close(ends[0]);
}

TEST_F(SmallFile, WaitsForNoWriterOfAPipe) {
    const std::string path = pipe();
    EXPECT_EQ(read_small_file(path, 100).value(), "");
    EXPECT_EQ(trouble_with_file(path), "is no regular file");
}

}  // namespace
}  // namespace prefix_router
