// What DNS says, read and made into backends.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/options.hpp"

#include "discovery/dns_answer.hpp"
#include "discovery/dns_places.hpp"

namespace prefix_router::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A reply, built by hand. The question is at byte 12; names of answers point there.
class Reply {
  public:
    Reply() { number(0x1234), number(0x8180), number(1), number(0), number(0), number(0); }

    Reply& question(std::string_view name, unsigned type) {
        this->name(name);
        number(type), number(1);
        return *this;
    }
    Reply& record(unsigned type, unsigned long ttl, const std::string& rdata) {
        number(0xc00c), number(type), number(1);
        number(static_cast<unsigned>(ttl >> 16)), number(static_cast<unsigned>(ttl & 0xffff));
        number(static_cast<unsigned>(rdata.size()));
        bytes += rdata;
        bytes[7] = static_cast<char>(bytes[7] + 1);
        return *this;
    }
    Reply& service(unsigned long ttl, unsigned priority, unsigned weight, unsigned port,
                   std::string_view target) {
        Reply rdata;
        rdata.bytes.clear();
        rdata.number(priority), rdata.number(weight), rdata.number(port);
        rdata.name(target);
        return record(33, ttl, rdata.bytes);
    }
    Result<DnsAnswer> parse() const {
        return parse_dns_answer(
            {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
    }

    std::string bytes;

  private:
    void number(unsigned value) {
        bytes += static_cast<char>(value >> 8);
        bytes += static_cast<char>(value & 0xff);
    }
    void name(std::string_view text) {
        while (!text.empty()) {
            const auto dot = std::min(text.find('.'), text.size());
            bytes += static_cast<char>(dot);
            bytes += text.substr(0, dot);
            text.remove_prefix(std::min(dot + 1, text.size()));
        }
        bytes += '\0';
    }
};

const std::string kAddress("\x0a\x00\x00\x07", 4);

TEST(DnsAnswer, GivesAddressesOfBothFamiliesAndTheLeastTimeToLive) {
    Reply reply;
    reply.question("engines.internal", 1);
    reply.record(5, 30, std::string("\x03www\0", 5));  // an alias counts with its time
    reply.record(1, 60, kAddress);
    reply.record(28, 90, std::string(15, '\0') + '\x01');
    const auto answer = reply.parse();
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_THAT(answer->addresses, ElementsAre("10.0.0.7", "::1"));
    EXPECT_EQ(answer->ttl, std::chrono::seconds(30));
}

TEST(DnsAnswer, GivesServices) {
    Reply reply;
    reply.question("_http._tcp.engines.internal", 33);
    reply.service(5, 1, 20, 8000, "a.engines.internal");
    const auto answer = reply.parse();
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_THAT(answer->services, ElementsAre(SrvRecord{1, 20, 8000, "a.engines.internal"}));
    EXPECT_EQ(answer->ttl, std::chrono::seconds(5));
}

TEST(DnsAnswer, AnImpossibleTimeToLiveIsNone) {
    Reply reply;
    reply.question("a", 1).record(1, 0x80000000UL, kAddress);
    EXPECT_EQ(reply.parse()->ttl, std::chrono::seconds(0));
}

TEST(DnsAnswer, WhatIsBrokenIsAnErrorAndNothingWorse) {
    Reply short_address;
    short_address.question("a", 1).record(1, 5, "\x0a");
    EXPECT_TRUE(short_address.parse().has_error());
    Reply short_service;
    short_service.question("a", 33).record(33, 5, "\x01\x02\x03");
    EXPECT_TRUE(short_service.parse().has_error());
    Reply whole;
    whole.question("engines", 33).service(5, 1, 1, 8000, "a.engines").record(1, 5, kAddress);
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
        Reply cut;
        cut.bytes = whole.bytes.substr(0, size);
        EXPECT_TRUE(cut.parse().has_error()) << size;
    }
    for (std::size_t i = 0; i < whole.bytes.size(); ++i) {
        for (const char byte : {'\0', '\x3f', '\xc0', '\xff'}) {
            Reply changed = whole;
            changed.bytes[i] = byte;
            static_cast<void>(changed.parse());  // under a sanitizer, that it reads no byte beyond
        }
    }
}

TEST(SrvRecords, OnlyTheLowestPriorityIsUsedInAStableOrder) {
    const std::vector<SrvRecord> records{
        {20, 1, 80, "fallback"}, {10, 5, 8001, "b"}, {10, 5, 8000, "b"}, {10, 7, 9000, "a"}};
    EXPECT_THAT(preferred(records),
                ElementsAre(SrvRecord{10, 7, 9000, "a"}, SrvRecord{10, 5, 8000, "b"},
                            SrvRecord{10, 5, 8001, "b"}));
}

TEST(SrvRecords, ATargetThatIsTheRootOrAPortOfZeroIsNoService) {
    EXPECT_THAT(preferred({{0, 0, 80, "."}, {0, 0, 80, ""}, {0, 0, 0, "a"}}), IsEmpty());
}

TEST(SrvRecords, WeightsAreRelativeToTheLargest) {
    EXPECT_THAT(relative_weights({{0, 10, 1, "a"}, {0, 40, 1, "b"}, {0, 0, 1, "c"}}),
                ElementsAre(0.25, 1.0, 0.0));
    EXPECT_THAT(relative_weights({{0, 0, 1, "a"}, {0, 0, 1, "b"}}), ElementsAre(1.0, 1.0));
}

config::DnsSource source() {
    config::DnsSource made;
    made.name = "engines.internal";
    made.port = 8000;
    made.backend.models = {"m"};
    made.backend.weight = 2;
    return made;
}

TEST(DnsBackends, HaveTheIdOfTheSameUrlInTheConfigurationAndWhatTheSourceSays) {
    const auto backends = make_backends(
        source(),
        {{"n", "fd00::1", 8000, 0.5}, {"n", "10.0.0.7", 8000, 0}, {"n", "10.0.0.7", 8000, 1}});
    ASSERT_EQ(backends.size(), 2U);
    EXPECT_EQ(backends[0].url.text, "http://10.0.0.7:8000");
    EXPECT_EQ(backends[0].id, config::backend_from_url("http://10.0.0.7:8000")->id);
    EXPECT_EQ(backends[0].weight, 0.001) << "no backend is without any share";
    EXPECT_THAT(backends[0].models, ElementsAre("m"));
    EXPECT_EQ(backends[1].url.text, "http://[fd00::1]:8000");
    EXPECT_EQ(backends[1].weight, 1);
}

TEST(DnsBackends, ShowTheNameThatWasLookedUpToTls) {
    config::DnsSource secure = source();
    secure.backend.url.is_tls = true;
    auto backends = make_backends(secure, {{"a.internal", "10.0.0.7", 8000, 1}});
    EXPECT_EQ(backends.at(0).url.text, "https://10.0.0.7:8000");
    EXPECT_EQ(backends.at(0).tls.server_name, "a.internal");
    secure.backend.tls.server_name = "told.internal";
    backends = make_backends(secure, {{"a.internal", "10.0.0.7", 8000, 1}});
    EXPECT_EQ(backends.at(0).tls.server_name, "told.internal");
}

}  // namespace
}  // namespace prefix_router::discovery
