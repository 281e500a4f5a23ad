//! Which elements of a pipeline show up in a trace by name.

use ds_config::{Element, Pipeline, Role};
use ds_nsys::Plugin;

use crate::stages::TraceReading;

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

/// The elements without ranges, each kind once, with how many there are and why.
pub fn uninstrumented(pipeline: &Pipeline) -> Vec<(String, usize, String)> {
    kinds(pipeline)
        .into_iter()
        .filter_map(|(element, count)| match coverage(element) {
            Coverage::Covered(_) => None,
            Coverage::Uninstrumented(reason) => {
                Some((element.factory.clone(), count, reason.to_owned()))
            }
        })
        .collect()
}

/// What a trace of the pipeline says about its elements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceCoverage {
    /// The kinds of element whose ranges the trace holds, with how many ranges.
    pub covered: Vec<(String, u64)>,
    /// The others, with how many elements there are and why.
    pub uninstrumented: Vec<(String, usize, String)>,
    /// Why ranges are missing altogether, where that can be told.
    pub broken: Option<String>,
}

/// Which elements of `pipeline` show up in a trace of it. A trace of another program says nothing about them.
pub fn coverage_in(pipeline: &Pipeline, trace: &TraceReading) -> TraceCoverage {
    let mut found = TraceCoverage::default();
    for (element, count) in kinds(pipeline) {
        let factory = element.factory.as_str();
        let ranges = marked_by(factory).map_or(0, |plugin| {
            trace
                .plugins
                .iter()
                .filter(|owner| owner.plugin == plugin)
                .flat_map(|owner| &owner.ranges)
                .map(|range| range.count)
                .sum()
        });
        if ranges > 0 {
            found.covered.push((factory.to_owned(), ranges));
            continue;
        }
        let reason = match coverage(element) {
            Coverage::Covered(range) => {
                format!("the trace of this build holds none of its ranges, {range}")
            }
            Coverage::Uninstrumented(reason) => reason.to_owned(),
        };
        found
            .uninstrumented
            .push((factory.to_owned(), count, reason));
    }
    found.broken = broken(pipeline, trace);
    found
}

/// Whether NVTX ranges do not reach nsys: nvinfer marks some for every batch, so that a trace with its kernels and none
/// of them was made where the injection does not work.
fn broken(pipeline: &Pipeline, trace: &TraceReading) -> Option<String> {
    let has_infer = pipeline
        .elements
        .iter()
        .any(|element| element.factory == "nvinfer");
    let marked = |plugin| trace.plugins.iter().any(|owner| owner.plugin == plugin);
    (has_infer && trace.kernel_names > 0 && !marked(Plugin::Infer)).then(|| {
        let tensorrt = if marked(Plugin::TensorRt) {
            ", though TensorRT's own ranges are there"
        } else {
            ""
        };
        format!(
            "NVTX injection is broken in this container: the pipeline holds nvinfer, the trace kernels of {} names and not \
             one range of `GstNvInfer`{tensorrt}. {IMAGES}",
            trace.kernel_names
        )
    })
}

/// What is known of images.
const IMAGES: &str = "Of the images of DeepStream 9.0 `triton-multiarch` delivers the ranges and `samples-multiarch` does \
                      not, since the injector is missing there (pipeline-profiling skill of NVIDIA/DeepStream at 581889d; not \
                      verified here)";

/// Who marks the ranges of an element, in the words of the trace. nvinferserver has a domain of its own for each unique
/// id, which tells nothing of the element.
fn marked_by(factory: &str) -> Option<Plugin> {
    Some(match factory {
        "nvinfer" => Plugin::Infer,
        "nvdspreprocess" => Plugin::Preprocess,
        "nvtracker" => Plugin::Tracker,
        "nvstreammux" => Plugin::Mux,
        "nvdsosd" => Plugin::Osd,
        "nvdewarper" => Plugin::Dewarper,
        "dsexample" => Plugin::Example,
        _ => return None,
    })
}

/// Each kind of element by its first, with how many there are. A group of settings is no element.
fn kinds(pipeline: &Pipeline) -> Vec<(&Element, usize)> {
    let mut kinds: Vec<(&Element, usize)> = Vec::new();
    let elements = pipeline.elements.iter();
    for element in elements.filter(|element| element.role != Role::Application) {
        match kinds
            .iter_mut()
            .find(|(first, _)| first.factory == element.factory)
        {
            Some((_, count)) => *count += 1,
            None => kinds.push((element, 1)),
        }
    }
    kinds
}
