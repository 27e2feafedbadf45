#pragma once

#include <map>
#include <memory>
#include <thread>

#include "prefix_router/net/ticker.hpp"
#include "prefix_router/net/worker.hpp"

#include "proxy/backend_monitor.hpp"
#include "proxy/services.hpp"

namespace prefix_router::proxy {

/// The control thread: probes and scrapes every backend, re-examines held requests, looks names up
/// again, flushes the trace. Follows the desk: backends added later are watched from the next tick
/// on.
class Control final : public net::Ticked {
  public:
    explicit Control(Services& services);
    ~Control() override;

    void start();
    void stop();
    void on_tick(net::Tick now) override;

  private:
    void follow_backends();
    void flush_trace();

    Services& services_;
    net::Worker worker_;
    std::map<BackendSlot, std::unique_ptr<BackendMonitor>> monitors_;
    std::thread thread_;
    bool is_stopping_ = false;  // on the control thread
    bool is_trace_failing_ = false;
};

}  // namespace prefix_router::proxy
