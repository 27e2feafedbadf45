#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace prefix_router::sim {

/// A file name under the test's own temporary folder, removed at the end.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view content = {}, const std::string& suffix = ".jsonl") {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        path_ = testing::TempDir() + "prefix_router_" + test->test_suite_name() + "_" +
                test->name() + suffix;
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace prefix_router::sim
