//! Small traces written by hand.

use std::io::Write as _;

use ds_nsys::Trace;
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::{Builder, NamedTempFile};

/// Where hand-written times count from, in microseconds: far from 0, as in real files.
pub(crate) const BASE_US: i64 = 5_203_268_603_000;

/// A trace under construction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    pub(crate) members: Vec<String>,
    pub(crate) events: Vec<String>,
    correlation: i64,
}

/// Nanoseconds as the profiler writes them.
pub(crate) fn micros(nanos: i64) -> String {
    format!("{}.{:03}", nanos.div_euclid(1000), nanos.rem_euclid(1000))
}

impl Written {
    pub(crate) fn new() -> Self {
        Self::default()
            .member("schemaVersion", "1")
            .member("baseTimeNanoseconds", "1790857026000000000")
    }

    pub(crate) fn member(mut self, name: &str, value: &str) -> Self {
        self.members.push(format!("\"{name}\": {value}"));
        self
    }

    /// The description of one rank among several.
    pub(crate) fn rank(self, rank: u64, of: u64) -> Self {
        let info = format!(
            "{{\"backend\": \"nccl\", \"rank\": {rank}, \"world_size\": {of}, \"pg_count\": 1}}"
        );
        self.member("distributedInfo", &info)
    }

    /// An event as it stands in the file.
    pub(crate) fn raw(&mut self, event: &str) {
        self.events.push(event.to_owned());
    }

    /// An event with a duration; times in nanoseconds from the start of the session.
    fn event(&mut self, cat: &str, name: &str, place: (i64, i64), at: (i64, i64), args: &str) {
        let (pid, tid) = place;
        let ts = micros(BASE_US * 1000 + at.0);
        let dur = micros(at.1 - at.0);
        self.raw(&format!(
            "{{\"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"pid\": {pid}, \"tid\": {tid}, \"ts\": {ts}, \
             \"dur\": {dur}, \"args\": {{{args}}}}}"
        ));
    }

    /// Something on the host that becomes no row.
    pub(crate) fn host(&mut self, cat: &str, name: &str, start: i64, end: i64) {
        self.event(cat, name, (426, 427), (start, end), "\"External id\": 1");
    }

    /// A range of the thread that makes the calls.
    pub(crate) fn annotation(&mut self, name: &str, start: i64, end: i64) {
        self.host("user_annotation", name, start, end);
    }

    /// A call; returns its correlation id.
    pub(crate) fn call(&mut self, name: &str, start: i64, end: i64) -> i64 {
        self.correlation += 1;
        let id = self.correlation;
        let args = format!("\"cbid\": 211, \"correlation\": {id}");
        self.event("cuda_runtime", name, (426, 427), (start, end), &args);
        id
    }

    /// A kernel of a launch that is in the file.
    pub(crate) fn kernel_of(
        &mut self,
        correlation: i64,
        device: i64,
        stream: i64,
        name: &str,
        at: (i64, i64),
    ) {
        let args = format!(
            "\"queued\": 0, \"device\": {device}, \"context\": 1, \"stream\": {stream}, \"correlation\": {correlation}, \
             \"registers per thread\": 32, \"grid\": [4, 1, 1], \"block\": [128, 2, 1]"
        );
        self.event("kernel", name, (device, stream), at, &args);
    }

    /// A kernel on stream 7 of device 0 that one call launched shortly before.
    pub(crate) fn kernel(&mut self, name: &str, start: i64, end: i64) {
        let id = self.call("cudaLaunchKernel", start - 10, start - 5);
        self.kernel_of(id, 0, 7, name, (start, end));
    }

    /// A copy or set that one call launched shortly before.
    pub(crate) fn memory(&mut self, cat: &str, name: &str, bytes: i64, start: i64, end: i64) {
        let id = self.call("cudaMemcpyAsync", start - 10, start - 5);
        let args = format!(
            "\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {id}, \"bytes\": {bytes}, \
             \"memory bandwidth (GB/s)\": 1.5"
        );
        self.event(cat, name, (0, 7), (start, end), &args);
    }

    /// The whole file.
    pub(crate) fn json(&self) -> String {
        format!(
            "{{\n  {},\n  \"traceEvents\": [\n  {}\n  ],\n  \"traceName\": \"x\"\n}}\n",
            self.members.join(",\n  "),
            self.events.join(",\n  ")
        )
    }

    #[track_caller]
    pub(crate) fn open(&self) -> Trace {
        open_bytes(self.json().as_bytes()).expect("a readable trace")
    }
}

/// A file with these bytes; the name says nothing about them.
pub(crate) fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = Builder::new()
        .prefix("trace")
        .suffix(".bin")
        .tempfile()
        .expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    file
}

/// Opens a file with these bytes.
pub(crate) fn open_bytes(bytes: &[u8]) -> ds_nsys::Result<Trace> {
    Trace::open(file(bytes).path())
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).expect("memory");
    packed.finish().expect("memory")
}
