"""What is sent, and what each is held to: ratios above 1 mean that the router spends less."""
from typing import NamedTuple, Optional


class Workload(NamedTuple):
    title: str
    load: str                      # arguments of dataplane-load
    cost: str                      # the metric of its closed-loop run, or of its memory
    floor: Optional[float] = None  # against nginx
    floor_haproxy: Optional[float] = None
    most_kb: Optional[float] = None
    rate: int = 0                  # of its open-loop run


WORKLOADS = {
    "W1": Workload("2 KB -> 1 KB JSON, 64 connections", "--body 2048 --connections 64", "cpu_us_per_request", 1.3, 1.0, None, 2000),
    "W2": Workload("64 KB -> 1 KB JSON, 32 connections", "--body 65536 --connections 32", "cpu_us_per_request", 0.9, 1.4, None, 1000),
    "W3": Workload("1 MB -> 1 KB JSON, 8 connections", "--body 1048576 --connections 8", "cpu_us_per_request", 0.8, 1.35, None, 60),
    "W4": Workload("SSE, 64 streams, 5 ms gaps", "--body 2048 --connections 64 --events 150 --gap-us 5000", "cpu_us_per_event", 0.95, 0.9),
    "W5": Workload("SSE, 1,000 streams, 50 ms gaps", "--body 2048 --connections 1000 --events 50 --gap-us 50000 --single",
                   "rss_kb_per_stream", most_kb=8),
    "W6": Workload("a connection per request, 2 KB", "--body 2048 --connections 64 --new-connections", "cpu_us_per_request", 1.1, 1.0),
    "W7": Workload("5,000 idle connections", "--body 2048 --connections 5000 --single", "rss_kb_per_connection", most_kb=2.5),
}
# More is better; in all other metrics less is.
RATES = ("requests_per_second",)
