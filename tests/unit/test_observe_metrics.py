"""Metrics have the promised names and labels, and add up."""

import math
import threading

import pytest
from prometheus_client.parser import text_string_to_metric_families

from penstock.observe import BOUNDS, Durations, Metrics
from penstock.observe.collector import SnapshotCollector
from penstock.observe.snapshot import InletGauge


def samples(metrics: Metrics) -> dict[str, float]:
    """Every sample by its text, labels sorted by name as Prometheus gets them."""
    found = {}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_every_metric_has_its_promised_name_type_and_labels() -> None:
    metrics = Metrics("w1")
    metrics.claimed("parse", 100)
    metrics.completed("parse", "success", 98)
    metrics.completed("parse", "dead", 2)
    metrics.notification("task_ready")
    metrics.polled(7)
    metrics.lost(3)
    metrics.rescued(4)
    metrics.set_slots("default", busy=5, free=11)
    metrics.set_queue_gauges({("default", "parse"): 12}, {"default": 1.5}, 900)
    durations = Durations()
    durations.observe(0.5)
    metrics.durations("parse", *durations.drain())
    text = metrics.render().decode().splitlines()
    for line in (
        "# TYPE job_queue_depth gauge",
        'job_queue_depth{job_type="parse",queue="default"} 12.0',
        "# TYPE job_claimed_total counter",
        'job_claimed_total{job_type="parse",worker_id="w1"} 100.0',
        "# TYPE job_completed_total counter",
        'job_completed_total{job_type="parse",status="success"} 98.0',
        'job_completed_total{job_type="parse",status="dead"} 2.0',
        "# TYPE job_processing_seconds histogram",
        'job_processing_seconds_bucket{job_type="parse",le="0.5"} 1.0',
        'job_processing_seconds_count{job_type="parse"} 1.0',
        "# TYPE job_notification_received_total counter",
        'job_notification_received_total{channel="task_ready"} 1.0',
        "# TYPE job_poll_scanned_total counter",
        "job_poll_scanned_total 7.0",
        "# TYPE job_oldest_ready_seconds gauge",
        'job_oldest_ready_seconds{queue="default"} 1.5',
        "# TYPE job_leases_lost_total counter",
        "job_leases_lost_total 3.0",
        "# TYPE job_rescued_total counter",
        "job_rescued_total 4.0",
        "# TYPE job_ready_dead_tuples gauge",
        "job_ready_dead_tuples 900.0",
        "# TYPE job_worker_slots gauge",
        'job_worker_slots{queue="default",state="busy"} 5.0',
        'job_worker_slots{queue="default",state="free"} 11.0',
    ):
        assert line in text
    assert any(line.startswith("process_resident_memory_bytes ") for line in text)


def test_batches_add_up() -> None:
    metrics = Metrics("w1")
    for _ in range(3):
        metrics.claimed("parse", 10)
        metrics.completed("parse", "failed", 2)
        metrics.polled(1)
    metrics.worker_id = "w2"
    metrics.claimed("parse", 5)
    found = samples(metrics)
    assert found['job_claimed_total{job_type="parse",worker_id="w1"}'] == 30
    assert found['job_claimed_total{job_type="parse",worker_id="w2"}'] == 5
    assert found['job_completed_total{job_type="parse",status="failed"}'] == 6
    assert found["job_poll_scanned_total"] == 3


def test_plain_counters_start_at_zero_and_unasked_gauges_are_absent() -> None:
    found = samples(Metrics())
    assert found["job_leases_lost_total"] == 0
    assert found["job_rescued_total"] == 0
    assert not any(name.startswith(("job_queue_depth", "job_ready_dead_tuples")) for name in found)


def test_histogram_buckets_are_cumulative_and_include_their_bound() -> None:
    metrics = Metrics()
    durations = Durations()
    for seconds in (0.0005, 0.001, 0.0011, 1.0, 599.0, 601.0):
        durations.observe(seconds)
    metrics.durations("parse", *durations.drain())
    durations.observe(1.0)
    metrics.durations("parse", *durations.drain())
    found = samples(metrics)
    buckets = [found[f'job_processing_seconds_bucket{{job_type="parse",le="{bound}"}}'] for bound in BOUNDS]
    assert buckets[0] == 2
    assert buckets[1] == 3
    assert buckets[BOUNDS.index(0.5)] == 3
    assert buckets[BOUNDS.index(1.0)] == 5
    assert buckets[-1] == 6
    assert buckets == sorted(buckets)
    assert found['job_processing_seconds_bucket{job_type="parse",le="+Inf"}'] == 7
    assert found['job_processing_seconds_count{job_type="parse"}'] == 7
    assert found['job_processing_seconds_sum{job_type="parse"}'] == pytest.approx(1202.0026)


def test_draining_starts_again_from_zero() -> None:
    durations = Durations()
    durations.observe(2.0)
    counts, total = durations.drain()
    assert (sum(counts), total) == (1, 2.0)
    counts, total = durations.drain()
    assert (sum(counts), total) == (0, 0.0)


def test_an_impossible_duration_is_counted_but_does_not_spoil_the_sum() -> None:
    durations = Durations()
    for seconds in (math.nan, math.inf, -1.0, 2.0):
        durations.observe(seconds)
    counts, total = durations.drain()
    assert (sum(counts), total) == (4, 2.0)


def test_counts_of_other_buckets_are_refused() -> None:
    with pytest.raises(ValueError, match="drain"):
        Metrics().durations("parse", [1, 2], 3.0)


def test_queue_gauges_are_replaced_as_a_whole_and_can_be_forgotten() -> None:
    metrics = Metrics()
    metrics.set_queue_gauges({"a": 1, "b": 2}, {"a": 9.0}, 5)
    metrics.set_queue_gauges({"b": 3}, {}, 6)
    found = samples(metrics)
    assert found['job_queue_depth{queue="b"}'] == 3
    assert found["job_ready_dead_tuples"] == 6
    assert not any('queue="a"' in name for name in found)
    metrics.forget_gauges()
    assert not any(name.startswith(("job_queue_depth", "job_ready_dead_tuples")) for name in samples(metrics))


def test_inlets_that_others_read_are_shown_beside_our_own() -> None:
    metrics = Metrics()
    metrics.inlet("ours", taken=3, duplicates=0, refused=0, lag_seconds=0.5)
    metrics.set_inlet_gauges(
        {"ours": InletGauge(9, 8, 1, 0, 7.0, 2, 1.0), "bridge": InletGauge(5, 3, 1, 1, None, None, 60.0)}
    )
    found = samples(metrics)
    assert found['inlet_messages_counted{inlet="bridge",outcome="refused"}'] == 1
    assert found['inlet_messages_counted{inlet="bridge",outcome="received"}'] == 5
    assert found['inlet_messages_counted{inlet="ours",outcome="taken"}'] == 8
    assert found['inlet_messages_total{inlet="ours",outcome="taken"}'] == 3
    assert found['inlet_lag_seconds{inlet="ours"}'] == 0.5, "newer than what the database knows"
    assert found['inlet_backlog{inlet="ours"}'] == 2
    assert found['inlet_silent_seconds{inlet="bridge"}'] == 60
    assert 'inlet_lag_seconds{inlet="bridge"}' not in found, "nobody knows it"
    metrics.forget_gauges()
    assert not any('inlet="bridge"' in name for name in samples(metrics))


def test_series_are_bounded_and_lose_no_count() -> None:
    metrics = Metrics("w1")
    for number in range(3_000):
        metrics.claimed(f"type{number}")
    claimed = [v for name, v in samples(metrics).items() if name.startswith("job_claimed_total")]
    assert len(claimed) <= 1_001
    assert sum(claimed) == 3_000


def test_an_unusual_name_does_not_break_the_scrape() -> None:
    metrics = Metrics("w1")
    metrics.claimed('a"\n\\\ud800' + "x" * 1_000)
    metrics.claimed("b")
    assert samples(metrics)['job_claimed_total{job_type="b",worker_id="w1"}'] == 1


def test_counting_in_threads_loses_nothing_while_being_rendered() -> None:
    metrics = Metrics("w1")

    def count(worker: int) -> None:
        for number in range(500):
            metrics.claimed(f"type{(worker * 500 + number) % 300}")
            metrics.lost()

    threads = [threading.Thread(target=count, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    metrics.render()
    for thread in threads:
        thread.join()
    found = samples(metrics)
    assert sum(v for name, v in found.items() if name.startswith("job_claimed_total")) == 2_000
    assert found["job_leases_lost_total"] == 2_000


def test_a_registry_refuses_a_second_collector_with_the_same_names() -> None:
    registry = Metrics().registry()
    with pytest.raises(ValueError, match="job_claimed"):
        registry.register(SnapshotCollector(Metrics().snapshot))
