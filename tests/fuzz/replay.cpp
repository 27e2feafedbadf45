/// Runs one fuzz target on every file of the folders that are named: its corpus as a normal test.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/fuzzing.hpp"

namespace {

void run(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // names the file that ends the run
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
    std::size_t files = 0;
    for (int i = 1; i < count; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
            run(entry.path());
            ++files;
        }
    }
    if (files == 0) std::fprintf(stderr, "error: no corpus files; name a folder of them\n");
    return files == 0 ? 2 : 0;
}
