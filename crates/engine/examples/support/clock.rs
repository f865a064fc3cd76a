//! Time that a thread has worked, whatever else the machine does.

/// CPU time of this thread, in microseconds.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn clock() -> f64 {
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
    }
    const THREAD_CPU_TIME: i32 = 3;
    let mut time = TimeSpec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the layout is that of 64-bit Linux, and the pointer is good for the call.
    unsafe { clock_gettime(THREAD_CPU_TIME, &raw mut time) };
    // A thread of less than an hour keeps well below what a double holds exactly.
    (time.seconds * 1_000_000_000 + time.nanoseconds) as f64 / 1e3
}
