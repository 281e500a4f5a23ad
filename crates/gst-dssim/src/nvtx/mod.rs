//! The ranges that the real elements mark (which element marks what: the published sources of DeepStream 9.1).
//!
//! NVIDIA's own crate `nvtx` 2.0 generates its bindings with libclang at build time, which the tests of this workspace
//! must not need; what is used of NVTX is eight functions and one structure, so they stand here.
#![expect(
    unsafe_code,
    reason = "a profiler hands out C functions, and NVTX's injection protocol is the only way to reach one"
)]

mod abi;

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

use crate::model::{Model, Ranges};

/// Where ranges go: into a domain of their own, or into the default one; nowhere without a profiler.
#[derive(Debug, Clone)]
pub struct Domain(Target);

#[derive(Debug, Clone)]
enum Target {
    Nowhere,
    Default,
    Named(Handle),
}

/// A domain's handle, which the profiler gave.
#[derive(Debug, Clone, Copy)]
struct Handle(*mut c_void);

// SAFETY: the handle is only ever handed back to the profiler, whose functions may be called from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// A range of this thread; ends where it is dropped.
#[must_use]
#[derive(Debug)]
pub struct Pushed<'a>(&'a Domain);

/// A range that may end on another thread.
#[must_use]
#[derive(Debug)]
pub struct Started(u64);

impl Domain {
    /// The default domain.
    pub fn default_of(model: &Model) -> Self {
        Self(if is_listened_to(model) {
            Target::Default
        } else {
            Target::Nowhere
        })
    }

    /// The domain of this name.
    pub fn named(model: &Model, name: &str) -> Self {
        let create = if is_listened_to(model) {
            abi::function(abi::CORE2, abi::DOMAIN_CREATE_A)
        } else {
            ptr::null_mut()
        };
        if create.is_null() {
            return Self(Target::Nowhere);
        }
        let name = c_text(name);
        // SAFETY: the slot holds a function of this type, and the name ends in a null.
        let handle = unsafe {
            let create: abi::DomainCreateA = std::mem::transmute(create);
            create(name.as_ptr())
        };
        Self(Target::Named(Handle(handle)))
    }

    /// Begins a range on this thread.
    pub fn push(&self, text: &str) -> Pushed<'_> {
        match &self.0 {
            Target::Nowhere => {}
            Target::Default => {
                let push = abi::function(abi::CORE, abi::RANGE_PUSH_A);
                if !push.is_null() {
                    let text = c_text(text);
                    // SAFETY: the slot holds a function of this type, and the text ends in a null.
                    unsafe {
                        let push: abi::RangePushA = std::mem::transmute(push);
                        push(text.as_ptr());
                    }
                }
            }
            Target::Named(handle) => {
                let push = abi::function(abi::CORE2, abi::DOMAIN_RANGE_PUSH_EX);
                if !push.is_null() {
                    let text = c_text(text);
                    let attributes = abi::Attributes::text(text.as_ptr());
                    // SAFETY: the slot holds a function of this type; handle and text are valid for the call.
                    unsafe {
                        let push: abi::DomainRangePushEx = std::mem::transmute(push);
                        push(handle.0, &raw const attributes);
                    }
                }
            }
        }
        Pushed(self)
    }

    /// Begins a range that [`Domain::end`] ends; only named domains mark such ranges here.
    pub fn start(&self, text: &str) -> Started {
        let Target::Named(handle) = &self.0 else {
            return Started(0);
        };
        let start = abi::function(abi::CORE2, abi::DOMAIN_RANGE_START_EX);
        if start.is_null() {
            return Started(0);
        }
        let text = c_text(text);
        let attributes = abi::Attributes::text(text.as_ptr());
        // SAFETY: the slot holds a function of this type; handle and text are valid for the call.
        let id = unsafe {
            let start: abi::DomainRangeStartEx = std::mem::transmute(start);
            start(handle.0, &raw const attributes)
        };
        Started(id)
    }

    /// Ends a range, on whichever thread.
    pub fn end(&self, range: Started) {
        let end = abi::function(abi::CORE2, abi::DOMAIN_RANGE_END);
        if let Target::Named(handle) = &self.0
            && !end.is_null()
        {
            // SAFETY: the slot holds a function of this type, and the range began in this domain.
            unsafe {
                let end: abi::DomainRangeEnd = std::mem::transmute(end);
                end(handle.0, range.0);
            }
        }
    }
}

impl Drop for Pushed<'_> {
    fn drop(&mut self) {
        match &self.0.0 {
            Target::Nowhere => {}
            Target::Default => {
                let pop = abi::function(abi::CORE, abi::RANGE_POP);
                if !pop.is_null() {
                    // SAFETY: the slot holds a function of this type.
                    unsafe {
                        let pop: abi::RangePop = std::mem::transmute(pop);
                        pop();
                    }
                }
            }
            Target::Named(handle) => {
                let pop = abi::function(abi::CORE2, abi::DOMAIN_RANGE_POP);
                if !pop.is_null() {
                    // SAFETY: the slot holds a function of this type, and the range began in this domain.
                    unsafe {
                        let pop: abi::DomainRangePop = std::mem::transmute(pop);
                        pop(handle.0);
                    }
                }
            }
        }
    }
}

/// A text for C; what follows a null byte is no part of it.
fn c_text(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().take_while(|byte| *byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Whether a profiler has taken hold of this process; the first call lets it.
fn is_listened_to(model: &Model) -> bool {
    static ATTACHED: OnceLock<bool> = OnceLock::new();
    model.ranges == Ranges::Marked && *ATTACHED.get_or_init(attach)
}

fn attach() -> bool {
    let Some(path) = std::env::var_os("NVTX_INJECTION64_PATH").filter(|path| !path.is_empty())
    else {
        return false;
    };
    // SAFETY: the library is the profiler's, made to be loaded into the program that it watches; its entry point has
    // the type that the protocol gives it, and the library stays loaded.
    unsafe {
        let Ok(library) = Library::new(path) else {
            return false;
        };
        let entry = library.get::<abi::InitializeInjection>(b"InitializeInjectionNvtx2\0");
        let attached = entry.is_ok_and(|initialize| initialize(abi::get_export_table) != 0);
        std::mem::forget(library);
        attached
    }
}
