//! Where the captures are.

use std::path::Path;

use crate::support::root;

/// A capture that is shipped, relative to the root of the repository.
pub(crate) fn shipped(name: &str) -> String {
    format!("testdata/nsys/captures/{name}/trace.sqlite.gz")
}

/// A capture of the collection beside the repository; `None`, and a line that says so, where there is none.
pub(crate) fn shared(name: &str) -> Option<String> {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    if !captures.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    let trace = captures.join(name).join("trace.sqlite");
    Some(trace.to_str().expect("a UTF-8 path").to_owned())
}

/// The names of the shipped captures.
pub(crate) const SHIPPED: [&str; 5] = [
    "decode_graph",
    "decode_mixed",
    "decode_node",
    "idle",
    "nvtxonly",
];

/// What nsys printed for a shipped capture.
pub(crate) fn reference(name: &str, report: &str) -> String {
    let path = root().join(format!(
        "testdata/nsys/captures/{name}/nsys-stats/{report}.csv"
    ));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
