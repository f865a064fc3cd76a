//! What the page holds, by number, and what it is told.

use std::any::{Any, type_name};
use std::cell::RefCell;

use syntagma_host::{Error, ErrorKind};

/// Values by number, from 1 on.
#[derive(Default)]
pub(crate) struct Things {
    slots: Vec<Option<Box<dyn Any>>>,
    free: Vec<u32>,
}

impl Things {
    pub(crate) fn add<T: Any>(&mut self, thing: T) -> i32 {
        let thing: Option<Box<dyn Any>> = Some(Box::new(thing));
        let at = if let Some(at) = self.free.pop() {
            self.slots[at as usize] = thing;
            at
        } else {
            self.slots.push(thing);
            self.slots.len() as u32 - 1
        };
        at.cast_signed() + 1
    }

    pub(crate) fn remove(&mut self, thing: u32) -> Option<Box<dyn Any>> {
        let at = thing.checked_sub(1)?;
        let removed = self.slots.get_mut(at as usize)?.take()?;
        self.free.push(at);
        Some(removed)
    }

    pub(crate) fn get<T: Any>(&self, thing: u32) -> Result<&T, Error> {
        let found = self.slots.get((thing as usize).wrapping_sub(1));
        let found = found.and_then(Option::as_ref);
        found
            .and_then(|found| found.downcast_ref())
            .ok_or_else(|| unknown::<T>(thing))
    }

    pub(crate) fn get_mut<T: Any>(&mut self, thing: u32) -> Result<&mut T, Error> {
        let found = self.slots.get_mut((thing as usize).wrapping_sub(1));
        let found = found.and_then(Option::as_mut);
        found
            .and_then(|found| found.downcast_mut())
            .ok_or_else(|| unknown::<T>(thing))
    }
}

fn unknown<T>(thing: u32) -> Error {
    let kind = type_name::<T>().rsplit("::").next().unwrap_or_default();
    Error::new(
        ErrorKind::Argument,
        "E-ARGUMENT-VALUE",
        format!("{thing} is no {kind}"),
    )
}

/// All that the module remembers between two calls.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) things: Things,
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    /// The last mask.
    pub(crate) row: Vec<i32>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

pub(crate) fn with_page<T>(work: impl FnOnce(&mut Page) -> T) -> T {
    PAGE.with_borrow_mut(work)
}

/// Answers a call: an error becomes -1, and its JSON the output.
pub(crate) fn answer(work: impl FnOnce(&mut Page) -> Result<i32, Error>) -> i32 {
    with_page(|page| {
        let answered = work(page);
        answered.unwrap_or_else(|error| {
            page.output = error.to_json().into_bytes();
            -1
        })
    })
}
