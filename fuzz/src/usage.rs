//! Processor time and peak memory of the process.

use std::time::Duration;

/// Processor time of this thread, where the system tells it; else the time of day.
#[must_use]
pub fn processor_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = statistics.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(
        || std::time::UNIX_EPOCH.elapsed().unwrap_or_default(),
        Duration::from_nanos,
    )
}

/// The most memory that the process has had, in KiB; 0 where the system does not tell.
#[must_use]
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
