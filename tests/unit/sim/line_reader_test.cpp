#include "sim/line_reader.hpp"

#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include "unit/sim/temporary_file.hpp"

namespace prefix_router::sim {
namespace {

using Lines = std::vector<std::string>;

Result<Lines> read_all(const std::string& path) {
    auto reader = LineReader::open(path);
    if (!reader) return reader.error();
    Lines lines;
    for (;;) {
        const auto line = reader->next();
        if (!line) return line.error();
        if (!*line) break;
        lines.emplace_back(**line);
        EXPECT_EQ(reader->line_number(), lines.size());
    }
    return lines;
}

std::string gzip(const std::string& text) {
    std::string out(compressBound(text.size()) + 64, '\0');
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string input = text;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string xz(const std::string& text) {
    std::string out(lzma_stream_buffer_bound(text.size()), '\0');
    std::size_t size = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(
                  6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                  text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
              LZMA_OK);
    out.resize(size);
    return out;
}

TEST(LineReader, SplitsLinesWithAndWithoutALastNewline) {
    EXPECT_EQ(*read_all(TemporaryFile("a\n\nbc\n").path()), (Lines{"a", "", "bc"}));
    EXPECT_EQ(*read_all(TemporaryFile("a\nbc").path()), (Lines{"a", "bc"}));
    EXPECT_TRUE(read_all(TemporaryFile("").path())->empty());
}

TEST(LineReader, ReadsGzipAndXzLikePlainText) {
    std::string text;
    Lines expected;
    for (int k = 0; k < 20'000; ++k) {
        expected.push_back("line " + std::to_string(k * 7919));
        text += expected.back() + "\n";
    }
    EXPECT_EQ(*read_all(TemporaryFile(text).path()), expected);
    EXPECT_EQ(*read_all(TemporaryFile(gzip(text)).path()), expected);
    EXPECT_EQ(*read_all(TemporaryFile(xz(text)).path()), expected);
}

TEST(LineReader, ReadsConcatenatedStreams) {
    EXPECT_EQ(*read_all(TemporaryFile(gzip("a\n") + gzip("b\n")).path()), (Lines{"a", "b"}));
    EXPECT_EQ(*read_all(TemporaryFile(xz("a\n") + xz("b\n")).path()), (Lines{"a", "b"}));
}

TEST(LineReader, HoldsLinesLongerThanItsBuffer) {
    const std::string longer(1'000'000, 'x');
    EXPECT_EQ(*read_all(TemporaryFile("a\n" + longer + "\nb").path()), (Lines{"a", longer, "b"}));
}

TEST(LineReader, SaysThatAFileIsDamaged) {
    const std::string text(100'000, 'x');
    const std::string packed = xz(text + "\n" + text);
    const auto short_xz = read_all(TemporaryFile(packed.substr(0, packed.size() / 2)).path());
    ASSERT_FALSE(short_xz);
    EXPECT_NE(short_xz.error().message().find("ends too early"), std::string::npos);
    const std::string zipped = gzip(text);
    const auto short_gzip = read_all(TemporaryFile(zipped.substr(0, zipped.size() / 2)).path());
    ASSERT_FALSE(short_gzip);
    EXPECT_NE(short_gzip.error().message().find("ends too early"), std::string::npos);
    std::string broken = packed;
    broken[broken.size() / 2] = static_cast<char>(broken[broken.size() / 2] ^ 0x55);
    EXPECT_FALSE(read_all(TemporaryFile(broken).path()));
}

TEST(LineReader, SaysWhichFileItCannotOpen) {
    const auto lines = read_all("/nowhere/trace.jsonl");
    ASSERT_FALSE(lines);
    EXPECT_EQ(lines.error().kind(), ErrorKind::Io);
    EXPECT_NE(lines.error().message().find("/nowhere/trace.jsonl"), std::string::npos);
}

TEST(LineReader, ReadsAPipeFromItsFirstByte) {
    for (const std::string& content : {std::string("one\ntwo\n"), gzip("one\ntwo\n")}) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        ASSERT_EQ(write(ends[1], content.data(), content.size()),
                  static_cast<ssize_t>(content.size()));
        close(ends[1]);
        const auto lines = read_all("/dev/fd/" + std::to_string(ends[0]));
        ASSERT_TRUE(lines) << lines.error().message();
        EXPECT_EQ(*lines, (Lines{"one", "two"}));
        close(ends[0]);
    }
}

}  // namespace
}  // namespace prefix_router::sim
