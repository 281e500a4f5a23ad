//! Which elements of a pipeline show up in a trace by name.

use ds_config::{Element, Pipeline};

/// Whether an element's time can be read from NVTX ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It emits ranges; these are found by their domain or name.
    Covered(&'static str),
    /// It emits none, for this reason.
    Uninstrumented(&'static str),
}

/// Elements that emit ranges, by the published source of DeepStream 9.1 (`gst-plugins/gst-nvinfer`, `gst-nvinferserver`,
/// `gst-nvdspreprocess`, `gst-nvtracker`, `gst-nvdsosd`, `gst-nvdewarper`, `gst-dsexample`).
const COVERED: [(&str, &str); 7] = [
    ("nvinfer", "domain `GstNvInfer: UID=…`"),
    ("nvinferserver", "a domain per unique id"),
    ("nvdspreprocess", "domain `GstNvDsPreProcess: UID=…`"),
    ("nvtracker", "default domain, `…_nvtracker_process(…)`"),
    ("nvdsosd", "default domain, `…_(Frame=…)`"),
    ("nvdewarper", "default domain, `…_Scale`"),
    ("dsexample", "domain `GstNvDsExample: UID=…`"),
];

/// What a table can say about an element before a trace exists. What does not appear in a trace of this build is
/// uninstrumented there, whatever the table says.
pub fn coverage(element: &Element) -> Coverage {
    let factory = element.factory.as_str();
    if let Some((_, range)) = COVERED.iter().find(|(name, _)| *name == factory) {
        return Coverage::Covered(range);
    }
    if factory.starts_with("nv") {
        Coverage::Uninstrumented("an NVIDIA element whose source or reports show no range")
    } else {
        Coverage::Uninstrumented("GStreamer's own elements emit no ranges")
    }
}

/// The elements without ranges, each kind once, with how many there are.
pub fn uninstrumented(pipeline: &Pipeline) -> Vec<(String, usize, &'static str)> {
    let mut kinds: Vec<(String, usize, &'static str)> = Vec::new();
    for element in &pipeline.elements {
        // A group of settings is no element.
        if element.role == ds_config::Role::Application {
            continue;
        }
        if let Coverage::Uninstrumented(reason) = coverage(element) {
            match kinds
                .iter_mut()
                .find(|(factory, ..)| *factory == element.factory)
            {
                Some((_, count, _)) => *count += 1,
                None => kinds.push((element.factory.clone(), 1, reason)),
            }
        }
    }
    kinds
}
