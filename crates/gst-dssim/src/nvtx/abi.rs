//! The injection protocol of NVTX 3, as its headers define it (NVIDIA/NVTX, `nvtxDetail/nvtxTypes.h`, `nvtxInit.h`).
//!
//! A profiler sets `NVTX_INJECTION64_PATH` to a library. The program loads it and calls its
//! `InitializeInjectionNvtx2` with a function that hands out tables of function pointers; the library writes its own
//! functions into them, and from then on the program calls what stands there.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `NVTX_VERSION` of the headers that this follows.
const NVTX_VERSION: u16 = 3;
/// `NVTX_MESSAGE_TYPE_ASCII`.
const MESSAGE_ASCII: i32 = 1;

/// `NvtxExportTableID`.
const CALLBACKS: u32 = 1;
const VERSION_INFO: u32 = 3;

/// `NvtxCallbackModule`: core functions, and those of named domains.
pub(super) const CORE: usize = 1;
pub(super) const CORE2: usize = 5;

/// `NvtxCallbackIdCore`.
pub(super) const RANGE_PUSH_A: usize = 9;
pub(super) const RANGE_POP: usize = 11;
/// `NvtxCallbackIdCore2`.
pub(super) const DOMAIN_RANGE_START_EX: usize = 2;
pub(super) const DOMAIN_RANGE_END: usize = 3;
pub(super) const DOMAIN_RANGE_PUSH_EX: usize = 4;
pub(super) const DOMAIN_RANGE_POP: usize = 5;
pub(super) const DOMAIN_CREATE_A: usize = 12;

/// `NVTX_CBID_…_SIZE` of each `NvtxCallbackModule`: invalid, core, CUDA, OpenCL, CUDA runtime, core 2, sync.
const SIZES: [usize; 7] = [0, 16, 9, 15, 7, 16, 7];
/// The largest of them.
const SLOTS: usize = 16;

pub(super) type RangePushA = unsafe extern "C" fn(*const c_char) -> c_int;
pub(super) type RangePop = unsafe extern "C" fn() -> c_int;
pub(super) type DomainCreateA = unsafe extern "C" fn(*const c_char) -> *mut c_void;
pub(super) type DomainRangePushEx = unsafe extern "C" fn(*mut c_void, *const Attributes) -> c_int;
pub(super) type DomainRangePop = unsafe extern "C" fn(*mut c_void) -> c_int;
pub(super) type DomainRangeStartEx = unsafe extern "C" fn(*mut c_void, *const Attributes) -> u64;
pub(super) type DomainRangeEnd = unsafe extern "C" fn(*mut c_void, u64);
pub(super) type InitializeInjection =
    unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;

/// `nvtxEventAttributes_v2`.
#[repr(C)]
pub(super) struct Attributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

impl Attributes {
    /// A range that has a text and nothing else.
    pub(super) fn text(message: *const c_char) -> Self {
        const SIZE: u16 = 48;
        const { assert!(size_of::<Self>() == SIZE as usize) };
        Self {
            version: NVTX_VERSION,
            size: SIZE,
            category: 0,
            color_type: 0,
            color: 0,
            payload_type: 0,
            reserved: 0,
            payload: 0,
            message_type: MESSAGE_ASCII,
            message,
        }
    }
}

/// What a profiler wrote: one pointer for each function of each module.
static FUNCTIONS: [[AtomicPtr<c_void>; SLOTS]; SIZES.len()] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS] }; SIZES.len()];

/// The function that a profiler wrote into a slot; null where it wrote none.
pub(super) fn function(module: usize, id: usize) -> *mut c_void {
    FUNCTIONS[module][id].load(Ordering::Acquire)
}

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct ExportTableCallbacks {
    struct_size: usize,
    get_module_function_table:
        unsafe extern "C" fn(c_uint, *mut *mut *mut *mut c_void, *mut c_uint) -> c_int,
}

static CALLBACK_TABLE: ExportTableCallbacks = ExportTableCallbacks {
    struct_size: size_of::<ExportTableCallbacks>(),
    get_module_function_table,
};

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct ExportTableVersionInfo {
    struct_size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: extern "C" fn(u32),
}

static VERSION_TABLE: ExportTableVersionInfo = ExportTableVersionInfo {
    struct_size: size_of::<ExportTableVersionInfo>(),
    version: NVTX_VERSION as u32,
    reserved: 0,
    set_injection_version,
};

extern "C" fn set_injection_version(_version: u32) {}

/// `nvtxGetExportTable`: what the profiler's library asks for first.
pub(super) extern "C" fn get_export_table(id: u32) -> *const c_void {
    match id {
        CALLBACKS => ptr::from_ref(&CALLBACK_TABLE).cast(),
        VERSION_INFO => ptr::from_ref(&VERSION_TABLE).cast(),
        _ => ptr::null(),
    }
}

/// `GetModuleFunctionTable`: an array of pointers to function pointers, the first of them null.
unsafe extern "C" fn get_module_function_table(
    module: c_uint,
    out_table: *mut *mut *mut *mut c_void,
    out_size: *mut c_uint,
) -> c_int {
    let known = usize::try_from(module)
        .ok()
        .and_then(|module| Some((FUNCTIONS.get(module)?, *SIZES.get(module)?)))
        .filter(|(_, size)| *size > 0);
    let Some((slots, size)) = known else {
        return 0;
    };
    let mut table: Vec<*mut *mut c_void> = slots[..size].iter().map(AtomicPtr::as_ptr).collect();
    table[0] = ptr::null_mut();
    // The headers end the table in one more null; a profiler keeps it for as long as the process lives.
    table.push(ptr::null_mut());
    let table = table.leak();
    // SAFETY: the protocol says that both point to variables of the caller, or are null.
    unsafe {
        if let Some(out) = out_table.as_mut() {
            *out = table.as_mut_ptr();
        }
        if let Some(out) = out_size.as_mut() {
            *out = c_uint::try_from(size).unwrap_or(0);
        }
    }
    1
}
