//! The allocator, and when it asks the kernel for memory.
//!
//! The page fault of a new page takes longer than a known mask, and much longer on a busy virtual machine. A text waits for its
//! masks, while a grammar is compiled before the text begins: so pages are asked for while grammars are compiled, and given
//! back when they are dropped.
//!
//! Without the feature `mimalloc` the system's allocator is used, and nothing here does anything.

#[cfg(feature = "mimalloc")]
mod allocator {
    use std::ffi::c_long;
    use std::hint::black_box;

    use libmimalloc_sys::{mi_collect, mi_option_set_default, mi_option_t};

    // Compiling makes and drops many small values; that takes about a third less time than with the system's allocator.
    #[global_allocator]
    static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

    /// `mi_option_purge_delay` of mimalloc 3: milliseconds until memory that nobody uses is given back.
    const PURGE_DELAY: mi_option_t = 15;

    /// Three weeks and more: by itself, mimalloc gives back nothing before. Told "never", `mi_collect` would not either.
    const LATE: c_long = i32::MAX as c_long;

    /// Bytes that are at hand when a grammar has been compiled: more than the masks of most schemas need.
    const AHEAD: usize = 2 << 20;

    /// Bytes of the smallest page that kernels know.
    const PAGE: usize = 4096;

    pub(crate) fn keep() {
        // SAFETY: mimalloc checks the number of the option and stores a value; this runs once, while the
        // module is imported.
        unsafe { mi_option_set_default(PURGE_DELAY, LATE) };
    }

    pub(crate) fn give_back() {
        // SAFETY: any thread may call it at any time; it gives back free memory only.
        unsafe { mi_collect(true) };
    }

    /// In one piece, so that the pages may become pieces of any size.
    pub(crate) fn get_ready() {
        let mut piece: Vec<u8> = Vec::with_capacity(AHEAD);
        for page in piece.spare_capacity_mut().chunks_mut(PAGE) {
            page[0].write(0);
        }
        black_box(&piece);
    }
}

/// Keeps memory that is freed, from now on, unless the environment (`MIMALLOC_PURGE_DELAY`) says otherwise.
pub(crate) fn keep() {
    #[cfg(feature = "mimalloc")]
    allocator::keep();
}

/// Gives free memory back to the kernel.
pub(crate) fn give_back() {
    #[cfg(feature = "mimalloc")]
    allocator::give_back();
}

/// Has the kernel find the pages that will be needed next.
pub(crate) fn get_ready() {
    #[cfg(feature = "mimalloc")]
    allocator::get_ready();
}
