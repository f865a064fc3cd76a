//! The allocator of the Python extension, so that what is measured is what is shipped.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
