//! A new pipeline as files of deepstream-app.

use std::fmt::Write as _;

use super::Variant;
use super::graph::{KAFKA_LIBRARY, TRACKER_LIBRARY, ratio, source_of};
use super::request::{NewOutput, NewRequest, StreamSource, Task};

/// One group with its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    name: String,
    keys: Vec<(String, String)>,
}

impl Group {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            keys: Vec::new(),
        }
    }

    fn key(mut self, name: &str, value: impl ToString) -> Self {
        self.keys.push((name.to_owned(), value.to_string()));
        self
    }
}

/// The groups of one variant, and the sources apart: the YAML form keeps those in a table. Knobs that a rule sets are left
/// out where they have a default.
pub(super) struct AppFile {
    before: Vec<Group>,
    sources: Vec<Group>,
    after: Vec<Group>,
}

impl AppFile {
    /// The groups for what is asked for, with the model's configuration in the file `infer`.
    pub(super) fn new(
        request: &NewRequest,
        variant: Variant,
        infer: &str,
        plugin: InferType,
    ) -> Self {
        let mut before = vec![
            Group::new("application")
                .key("enable-perf-measurement", 1)
                .key("perf-measurement-interval-sec", 5),
        ];
        before.push(tiler(request, variant));
        let mut mux = Group::new("streammux").key("gpu-id", 0);
        // Where the frames are looked at, R1 leaves the size alone, and the legacy mux has no default for it.
        if variant == Variant::Output {
            mux = mux
                .key("width", request.source_size.width())
                .key("height", request.source_size.height());
        }
        let mut gie = Group::new("primary-gie").key("enable", 1);
        if plugin == InferType::Nvinferserver {
            gie = gie.key("plugin-type", 1);
        }
        gie = gie
            .key("gpu-id", 0)
            .key("gie-unique-id", 1)
            .key("config-file", infer);
        let mut after = vec![mux, gie];
        if request.task == Task::Track {
            after.push(
                Group::new("tracker")
                    .key("enable", 1)
                    .key("gpu-id", 0)
                    .key("ll-lib-file", TRACKER_LIBRARY),
            );
        }
        let draws = variant == Variant::Output && shows_frames(request);
        after.push(Group::new("osd").key("enable", u8::from(draws)));
        after.extend(sinks(request, variant));
        after.push(Group::new("tests").key("file-loop", 0));
        Self {
            before,
            sources: sources(request),
            after,
        }
    }

    /// The key file, with `head` as comments in front.
    pub(super) fn txt(&self, head: &[String]) -> String {
        let mut out = comments(head);
        for group in self.before.iter().chain(&self.sources).chain(&self.after) {
            let _ = writeln!(out, "\n[{}]", group.name);
            for (name, value) in &group.keys {
                let _ = writeln!(out, "{name}={value}");
            }
        }
        out
    }

    /// The YAML file, which names its table of sources.
    pub(super) fn yml(&self, head: &[String], csv: &str) -> String {
        let mut out = comments(head);
        let source = Group::new("source").key("csv-file-path", csv);
        let groups = self.before.iter().chain([&source]).chain(&self.after);
        for group in groups {
            let _ = writeln!(out, "\n{}:", group.name);
            for (name, value) in &group.keys {
                let _ = writeln!(out, "  {name}: {value}");
            }
        }
        out
    }

    /// The table of sources: every line behind its header is one, so that it holds no comments.
    pub(super) fn csv(&self) -> String {
        // By these three the table is known for what it is.
        let mut columns = vec!["enable", "type", "uri"];
        for (name, _) in self.sources.iter().flat_map(|source| &source.keys) {
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
        let mut out = columns.join(",") + "\n";
        for source in &self.sources {
            let cell = |column: &&str| {
                let value = source.keys.iter().find(|(name, _)| name == *column);
                // A cell that is empty is no number; 0 is the default of all keys that not every source has.
                let missing = if *column == "uri" { "" } else { "0" };
                value.map_or(missing, |(_, value)| value.as_str())
            };
            let cells: Vec<&str> = columns.iter().map(cell).collect();
            out += &(cells.join(",") + "\n");
        }
        out
    }
}

/// Which plugin infers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum InferType {
    Nvinfer,
    Nvinferserver,
}

fn comments(head: &[String]) -> String {
    head.iter().map(|line| format!("# {line}\n")).collect()
}

fn shows_frames(request: &NewRequest) -> bool {
    request.outputs.iter().any(NewOutput::shows_frames)
}

fn tiler(request: &NewRequest, variant: Variant) -> Group {
    let group = Group::new("tiled-display");
    if variant == Variant::Benchmark || !shows_frames(request) {
        return group.key("enable", 0);
    }
    let streams = request.streams.get();
    let columns = (1..=streams)
        .find(|columns| columns * columns >= streams)
        .unwrap_or(1);
    group
        .key("enable", 1)
        .key("rows", streams.div_ceil(columns))
        .key("columns", columns)
        .key("width", request.source_size.width())
        .key("height", request.source_size.height())
        .key("gpu-id", 0)
}

/// One group a source; equal files are one group that stands for all of them.
fn sources(request: &NewRequest) -> Vec<Group> {
    let mut distinct: Vec<(StreamSource, u32)> = Vec::new();
    for index in 0..request.streams.get() {
        let source = source_of(request, index);
        match distinct.iter_mut().find(|(known, _)| *known == source) {
            Some((StreamSource::File(_), count)) => *count += 1,
            _ => distinct.push((source, 1)),
        }
    }
    distinct
        .into_iter()
        .enumerate()
        .map(|(number, (source, count))| source_group(request, number, &source, count))
        .collect()
}

/// `type` of a source group: 1 USB camera, 3 URIs, 4 RTSP (DeepStream 9.1, deepstream-app).
fn source_group(request: &NewRequest, number: usize, source: &StreamSource, count: u32) -> Group {
    let group = Group::new(format!("source{number}")).key("enable", 1);
    match source {
        StreamSource::File(uri) => group
            .key("type", 3)
            .key("uri", uri)
            .key("num-sources", count)
            .key("gpu-id", 0),
        StreamSource::Rtsp(uri) => group
            .key("type", 4)
            .key("uri", uri)
            .key("num-sources", count)
            .key("gpu-id", 0),
        StreamSource::Usb(device) => {
            let (n, d) = ratio(request.fps.get());
            group
                .key("type", 1)
                .key("num-sources", 1)
                .key("camera-width", request.source_size.width())
                .key("camera-height", request.source_size.height())
                .key("camera-fps-n", n)
                .key("camera-fps-d", d)
                .key("camera-v4l2-dev-node", device)
        }
    }
}

/// `type` of a sink group: 1 fake, 2 display, 3 file, 6 message broker (DeepStream 9.1, deepstream-app).
fn sinks(request: &NewRequest, variant: Variant) -> Vec<Group> {
    let fake = |number: usize| {
        Group::new(format!("sink{number}"))
            .key("enable", 1)
            .key("type", 1)
            .key("sync", 0)
            .key("source-id", 0)
            .key("gpu-id", 0)
    };
    if variant == Variant::Benchmark {
        return vec![fake(0)];
    }
    let mut groups: Vec<Group> = request
        .outputs
        .iter()
        .enumerate()
        .map(|(number, output)| sink(request, number, output))
        .collect();
    // A message branch alone leaves the frames without an end.
    if !shows_frames(request) {
        groups.push(fake(groups.len()));
    }
    groups
}

fn sink(request: &NewRequest, number: usize, output: &NewOutput) -> Group {
    let group = Group::new(format!("sink{number}")).key("enable", 1);
    let has_file = request.sources.iter().any(|source| !source.is_live());
    match output {
        NewOutput::Display => group
            .key("type", 2)
            .key("sync", u8::from(has_file))
            .key("gpu-id", 0),
        NewOutput::File(path) => group
            .key("type", 3)
            .key("container", 1)
            .key("codec", 1)
            .key("sync", 0)
            .key("output-file", path),
        NewOutput::Kafka { broker, topic } => group
            .key("type", 6)
            .key("msg-conv-payload-type", 0)
            .key("msg-conv-msg2p-new-api", 1)
            .key("msg-broker-proto-lib", KAFKA_LIBRARY)
            .key(
                "msg-broker-conn-str",
                format!("{};{topic}", broker.replace(':', ";")),
            )
            .key("topic", topic)
            .key("sync", 0),
    }
}
