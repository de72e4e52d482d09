//! How often threads have panicked: a task that panics, or a handler, is caught by who runs it.

use std::{cell::Cell, panic, sync::Once};

thread_local! {
    static PANICS: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has panicked since this was first asked.
pub(super) fn count() -> u64 {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            PANICS.set(PANICS.get() + 1);
            before(what);
        }));
    });
    PANICS.get()
}
