#include "proxy/explainer.hpp"

#include <memory>
#include <utility>

#include "proxy/server_control.hpp"

namespace prefix_router::proxy {

Result<Explanation> Explainer::explain(const HypotheticalRequest& request) {
    const auto settings = services_.settings.load();
    std::shared_ptr<Client> client;
    if (!request.api_key.empty()) {
        client = settings->api_keys.find_by_name(request.api_key);
        if (!client) {
            return Error(ErrorKind::BadRequest, "there is no API key named " + request.api_key);
        }
    }
    Explanation explanation;
    explanation.dialect = prompt::dialect_of("POST", request.path);
    if (explanation.dialect == prompt::Dialect::None && is_server_control(request.path)) {
        return Error(ErrorKind::ServerControl,
                     "it would be refused: it changes one server of many");
    }
    const bool is_isolated = settings->config.routing.isolate_tenants && client;
    const std::lock_guard lock(mutex_);
    auto& facts = reader_.read(explanation.dialect, request.body, request.prefix_id,
                               is_isolated ? client->tenant : 0);
    if (client && !client->may_use(facts.model)) {
        return Error(ErrorKind::ModelForbidden,
                     "it would be refused: " + request.api_key + " may not use this model");
    }
    explanation.model = facts.model;
    explanation.sequences = facts.sequences;
    explanation.streams = facts.streams;
    explanation.prompt_units = facts.key.total;
    routing::Ask ask;
    ask.key = std::move(facts.key);
    ask.sequences = facts.sequences;
    ask.streams = facts.streams;
    ask.bytes = request.body.size();
    ask.priority = client ? client->spec.priority : request.priority;
    ask.tenant = client ? client->tenant : 0;
    explanation.decision = services_.desk.explain(std::move(ask), facts.model);
    return explanation;
}

}  // namespace prefix_router::proxy
