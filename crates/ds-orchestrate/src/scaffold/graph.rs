//! The elements of a new pipeline and how they are linked, before any form is given to them.

use ds_ceilings::Resolution;

use super::Variant;
use super::request::{NewOutput, NewRequest, StreamSource, Task};

/// Where DeepStream installs its libraries (DeepStream 9.1, default prefix).
pub(super) const TRACKER_LIBRARY: &str =
    "/opt/nvidia/deepstream/deepstream/lib/libnvds_nvmultiobjecttracker.so";
/// The adapter of Kafka, as every release since 5.0 installs it.
pub(super) const KAFKA_LIBRARY: &str =
    "/opt/nvidia/deepstream/deepstream/lib/libnvds_kafka_proto.so";

/// The value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Property {
    /// A text or the nick of an enumeration.
    Text(String),
    /// A number.
    Number(i64),
    /// A switch.
    Flag(bool),
}

/// One element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) factory: &'static str,
    pub(super) name: String,
    pub(super) properties: Vec<(&'static str, Property)>,
}

impl Node {
    fn new(factory: &'static str, name: impl Into<String>) -> Self {
        Self {
            factory,
            name: name.into(),
            properties: Vec::new(),
        }
    }

    fn text(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.properties.push((name, Property::Text(value.into())));
        self
    }

    fn number(mut self, name: &'static str, value: impl Into<i64>) -> Self {
        self.properties.push((name, Property::Number(value.into())));
        self
    }

    fn flag(mut self, name: &'static str, value: bool) -> Self {
        self.properties.push((name, Property::Flag(value)));
        self
    }

    fn caps(name: impl Into<String>, caps: impl Into<String>) -> Self {
        Self::new("capsfilter", name).text("caps", caps)
    }
}

/// Elements that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// The element that the first one is linked behind, where another chain holds it: a tee.
    pub(super) from: Option<String>,
    pub(super) nodes: Vec<Node>,
    /// The element and pad that the last one is linked to, where another chain holds it: the mux.
    pub(super) to: Option<(String, String)>,
}

/// The elements of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    /// The chain that begins at the mux, what branches off it, and one chain a source.
    pub(super) chains: Vec<Chain>,
}

impl Graph {
    /// The elements for one variant of what is asked for. Knobs that a rule sets are left out: the rules put them in.
    pub(super) fn new(request: &NewRequest, variant: Variant, infer: Option<&Node>) -> Self {
        let mut main = vec![mux(request, variant), queue("batched")];
        main.extend(infer.cloned());
        if request.task == Task::Track {
            main.push(Node::new("nvtracker", "tracker").text("ll-lib-file", TRACKER_LIBRARY));
        }
        let mut chains = vec![Chain {
            from: None,
            nodes: main,
            to: None,
        }];
        match variant {
            Variant::Benchmark => chains[0].nodes.push(fake_sink("sink")),
            Variant::Output => outputs(request, &mut chains),
        }
        chains.extend(sources(request));
        Self { chains }
    }

    /// Gives an element a property, in place of one that it has.
    pub(super) fn set(&mut self, element: &str, name: &'static str, value: Property) {
        let mut nodes = self.chains.iter_mut().flat_map(|chain| &mut chain.nodes);
        let Some(node) = nodes.find(|node| node.name == element) else {
            return;
        };
        match node.properties.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => node.properties.push((name, value)),
        }
    }

    /// The elements in order.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.chains.iter().flat_map(|chain| &chain.nodes)
    }
}

/// The element that infers, with the configuration file that it reads.
pub(super) fn infer(factory: &'static str, config: &str) -> Node {
    Node::new(factory, "pgie").text("config-file-path", config)
}

fn mux(request: &NewRequest, variant: Variant) -> Node {
    let node = Node::new("nvstreammux", "mux").number("gpu-id", 0);
    // Where the frames are looked at, or no model says a size, R1 leaves it alone, and the legacy mux has no default.
    if variant == Variant::Output || request.task == Task::Vlm {
        sized(node, request.source_size)
    } else {
        node
    }
}

fn sized(node: Node, size: Resolution) -> Node {
    node.number("width", size.width())
        .number("height", size.height())
}

/// A queue whose depth R5 sets: in buffers alone.
fn queue(name: &str) -> Node {
    Node::new("queue", name)
        .number("max-size-bytes", 0)
        .number("max-size-time", 0)
}

/// A queue at the head of a branch, with GStreamer's own limits.
fn thread(name: &str) -> Node {
    Node::new("queue", name)
}

fn fake_sink(name: &str) -> Node {
    Node::new("fakesink", name).flag("sync", false)
}

/// What the frames and the metadata are wanted for, behind the last model.
fn outputs(request: &NewRequest, chains: &mut Vec<Chain>) {
    let shown: Vec<&NewOutput> = request
        .outputs
        .iter()
        .filter(|output| output.shows_frames())
        .collect();
    let kafka = request.outputs.iter().find_map(|output| match output {
        NewOutput::Kafka { broker, topic } => Some((broker, topic)),
        NewOutput::Display | NewOutput::File(_) => None,
    });
    match (kafka, shown.is_empty()) {
        (Some((broker, topic)), true) => chains[0].nodes.extend(messages(broker, topic)),
        (Some((broker, topic)), false) => {
            chains[0].nodes.push(Node::new("tee", "results"));
            chains.push(branch("results", messages(broker, topic)));
            let mut nodes = vec![thread("pictures")];
            nodes.extend(drawing(request));
            chains.push(branch("results", nodes));
            let last = chains.len() - 1;
            show(request, &shown, chains, last);
        }
        (None, _) => {
            chains[0].nodes.extend(drawing(request));
            show(request, &shown, chains, 0);
        }
    }
}

fn branch(from: &str, nodes: Vec<Node>) -> Chain {
    Chain {
        from: Some(from.to_owned()),
        nodes,
        to: None,
    }
}

/// Messages in a branch that drops rather than blocks; R5 sets its queue.
fn messages(broker: &str, topic: &str) -> Vec<Node> {
    vec![
        queue("messages"),
        // The new interface makes messages of the frames' own metadata, so that no probe has to attach any.
        Node::new("nvmsgconv", "converter").flag("msg2p-newapi", true),
        Node::new("nvmsgbroker", "broker")
            .text("proto-lib", KAFKA_LIBRARY)
            .text("conn-str", broker.replace(':', ";"))
            .text("topic", topic)
            .flag("sync", false),
    ]
}

/// One picture of all streams, with boxes.
fn drawing(request: &NewRequest) -> Vec<Node> {
    let (rows, columns) = grid(request.streams.get());
    let mut nodes = Vec::new();
    if request.task == Task::Segment {
        let size = request.source_size;
        nodes.push(sized(Node::new("nvsegvisual", "masks"), size));
    }
    nodes.push(sized(
        Node::new("nvmultistreamtiler", "tiler")
            .number("rows", rows)
            .number("columns", columns),
        request.source_size,
    ));
    nodes.push(Node::new("nvvideoconvert", "to-rgba"));
    nodes.push(Node::new("nvdsosd", "osd"));
    nodes
}

/// Rows and columns that hold so many tiles, as square as can be.
fn grid(streams: u32) -> (u32, u32) {
    let mut columns = streams.isqrt();
    if columns * columns < streams {
        columns += 1;
    }
    (streams.div_ceil(columns), columns)
}

fn show(request: &NewRequest, shown: &[&NewOutput], chains: &mut Vec<Chain>, at: usize) {
    let ends = shown.iter().map(|output| match output {
        NewOutput::File(path) => recording(path),
        NewOutput::Display | NewOutput::Kafka { .. } => vec![display(request)],
    });
    let ends: Vec<Vec<Node>> = ends.collect();
    if ends.len() == 1 {
        chains[at].nodes.extend(ends.into_iter().flatten());
        return;
    }
    chains[at].nodes.push(Node::new("tee", "shown"));
    for (number, nodes) in ends.into_iter().enumerate() {
        let mut nodes = nodes;
        // A branch of a tee runs in a thread of its own, or one of them waits for the other.
        if nodes.first().is_some_and(|node| node.factory != "queue") {
            nodes.insert(0, thread(&format!("shown{number}")));
        }
        chains.push(branch("shown", nodes));
    }
}

/// A file is played at its own speed; what is live comes at its own speed anyway.
fn display(request: &NewRequest) -> Node {
    let has_file = request.sources.iter().any(|source| !source.is_live());
    Node::new("nveglglessink", "display").flag("sync", has_file)
}

fn recording(path: &str) -> Vec<Node> {
    vec![
        queue("recorded"),
        Node::new("nvvideoconvert", "to-nv12"),
        Node::caps("encoded-as", "video/x-raw(memory:NVMM),format=NV12"),
        Node::new("nvv4l2h264enc", "encoder"),
        Node::new("h264parse", "parser"),
        Node::new("qtmux", "container"),
        Node::new("filesink", "file")
            .text("location", path)
            .flag("sync", false),
    ]
}

fn sources(request: &NewRequest) -> Vec<Chain> {
    (0..request.streams.get())
        .map(|index| source(request, index))
        .collect()
}

/// The source of one stream: those that were given are taken in turn.
pub(super) fn source_of(request: &NewRequest, index: u32) -> StreamSource {
    let at = usize::try_from(index).unwrap_or(0) % request.sources.len().max(1);
    let numbered = |uri: &String| uri.replace("%d", &index.to_string());
    match &request.sources[at] {
        StreamSource::File(uri) => StreamSource::File(numbered(uri)),
        StreamSource::Rtsp(uri) => StreamSource::Rtsp(numbered(uri)),
        StreamSource::Usb(device) => StreamSource::Usb(*device),
    }
}

fn source(request: &NewRequest, index: u32) -> Chain {
    let mut nodes = match source_of(request, index) {
        StreamSource::File(uri) | StreamSource::Rtsp(uri) => {
            vec![Node::new("nvurisrcbin", format!("source{index}")).text("uri", uri)]
        }
        StreamSource::Usb(device) => camera(request, index, device),
    };
    nodes.push(queue(&format!("decoded{index}")));
    Chain {
        from: None,
        nodes,
        to: Some(("mux".to_owned(), format!("sink_{index}"))),
    }
}

/// A camera delivers raw frames in system memory, which are brought to the GPU once.
fn camera(request: &NewRequest, index: u32, device: u32) -> Vec<Node> {
    let size = request.source_size;
    let (n, d) = ratio(request.fps.get());
    vec![
        Node::new("v4l2src", format!("source{index}"))
            .text("device", format!("/dev/video{device}")),
        Node::caps(
            format!("camera{index}"),
            format!(
                "video/x-raw,width={},height={},framerate={n}/{d}",
                size.width(),
                size.height()
            ),
        ),
        Node::new("nvvideoconvert", format!("upload{index}")),
        Node::caps(
            format!("device{index}"),
            "video/x-raw(memory:NVMM),format=NV12",
        ),
    ]
}

/// A frame rate as a fraction of whole numbers; 29.97 and its like as they are defined.
pub(super) fn ratio(fps: f64) -> (u32, u32) {
    let near = |rate: f64| (fps - rate).abs() < 5e-3;
    for base in [24_u32, 30, 60] {
        let ntsc = f64::from(base) * 1000.0 / 1001.0;
        if near(ntsc) && !near(f64::from(base)) {
            return (base * 1000, 1001);
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a frame rate is positive, and one above four million is cut to the largest number"
    )]
    let thousandths = (fps * 1000.0).round().max(1.0) as u32;
    if thousandths.is_multiple_of(1000) {
        (thousandths / 1000, 1)
    } else {
        (thousandths, 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::{grid, ratio};

    #[test]
    fn tiles_lie_in_a_square() {
        assert_eq!(grid(1), (1, 1));
        assert_eq!(grid(2), (1, 2));
        assert_eq!(grid(4), (2, 2));
        assert_eq!(grid(5), (2, 3));
        assert_eq!(grid(16), (4, 4));
        assert_eq!(grid(17), (4, 5));
    }

    #[test]
    fn broadcast_rates_are_exact() {
        assert_eq!(ratio(30.0), (30, 1));
        assert_eq!(ratio(29.97), (30000, 1001));
        assert_eq!(ratio(59.94), (60000, 1001));
        assert_eq!(ratio(12.5), (12500, 1000));
    }
}
