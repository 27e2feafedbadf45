#include "admin/dashboard.hpp"

#include <memory>
#include <string>
#include <string_view>

#include "admin/dashboard_assets.hpp"
#include "admin/dashboard_feed.hpp"

namespace prefix_router::admin {
namespace {

/// Nothing from elsewhere, nothing inline, in no frame.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Asset {
    const char* path;
    const char* content_type;
    std::string_view bytes;
};

constexpr const char* kScript = "text/javascript; charset=utf-8";
constexpr const char* kStyle = "text/css; charset=utf-8";

constexpr Asset kAssets[] = {
    {"/dashboard/style.css", kStyle, assets::style_css},
    {"/dashboard/uplot.css", kStyle, assets::uplot_css},
    {"/dashboard/uplot.js", kScript, assets::uplot_js},
    {"/dashboard/main.js", kScript, assets::main_js},
    {"/dashboard/stream.js", kScript, assets::stream_js},
    {"/dashboard/figures.js", kScript, assets::figures_js},
    {"/dashboard/format.js", kScript, assets::format_js},
    {"/dashboard/dom.js", kScript, assets::dom_js},
    {"/dashboard/charts.js", kScript, assets::charts_js},
    {"/dashboard/fleet.js", kScript, assets::fleet_js},
    {"/dashboard/backends.js", kScript, assets::backends_js},
    {"/dashboard/decisions.js", kScript, assets::decisions_js},
    {"/dashboard/icon.svg", "image/svg+xml", assets::icon_svg},
};

Answer asset_answer(const Asset& asset) {
    Answer answer{200, asset.content_type, std::string(asset.bytes)};
    answer.fields = {{"Content-Security-Policy", kPolicy},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"}};
    return answer;
}

Route asset_route(const Asset& asset) {
    Route route{"GET", asset.path, [&asset](const Request&) { return asset_answer(asset); }};
    route.is_open = true;
    return route;
}

}  // namespace

std::vector<Route> dashboard_routes(const Sources& sources) {
    static constexpr Asset kPage{"/", "text/html; charset=utf-8", assets::page_html};
    std::vector<Route> routes{asset_route(kPage)};
    for (const Asset& asset : kAssets) {
        routes.push_back(asset_route(asset));
        routes.back().is_part_of_a_page = true;
    }
    Route feed{"GET", "/dashboard/events",
               [](const Request&) { return Answer{200, "text/event-stream", {}}; }};
    feed.feed = std::make_shared<DashboardFeed>(sources);
    routes.push_back(std::move(feed));
    return routes;
}

}  // namespace prefix_router::admin
