//! The elements of a pipeline, and what they stand for.

use std::fmt;

use crate::line_index::Place;

/// A line and column of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePlace {
    /// The path as the caller's [`FileSource`](crate::FileSource) knows it.
    pub path: String,
    /// The line and column.
    pub place: Place,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.place)
    }
}

/// Names an element of one [`Pipeline`](crate::Pipeline): its position among the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(pub(crate) usize);

impl ElementId {
    /// The position of the element, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// An element, or a group of deepstream-app that stands for one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Element {
    /// Its name in this pipeline.
    pub id: ElementId,
    /// What it does in the pipeline.
    pub role: Role,
    /// The GStreamer factory. For a group of deepstream-app the one that the program makes.
    pub factory: String,
    /// The name of the element, or of its group.
    pub name: String,
    /// Where it stands.
    pub place: FilePlace,
    /// On which stretch of the pipeline it stands.
    pub branch: Branch,
}

/// What an element does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The program itself, where it has settings of its own: `[application]` of deepstream-app.
    Application,
    /// Brings frames or files in.
    Source,
    /// Parts or parses a container or stream.
    Parser,
    /// Decodes.
    Decoder,
    /// Puts frames of several sources into one batch.
    Mux,
    /// Sources, decoders and mux in one element: nvmultiurisrcbin.
    MultiSource,
    /// Prepares tensors: nvdspreprocess.
    Preprocess,
    /// Infers on whole frames.
    PrimaryInfer,
    /// Infers on the objects of another inference.
    SecondaryInfer,
    /// Follows objects.
    Tracker,
    /// Counts objects in regions: nvdsanalytics.
    Analytics,
    /// Takes batches apart.
    Demux,
    /// Puts the frames of a batch into one picture.
    Tiler,
    /// Draws on frames.
    Osd,
    /// Converts format or memory.
    Converter,
    /// Encodes.
    Encoder,
    /// Makes messages of metadata: nvmsgconv.
    MessageConverter,
    /// Sends messages: nvmsgbroker.
    MessageBroker,
    /// Holds buffers between two threads.
    Queue(QueuePosition),
    /// Splits a stream into branches.
    Tee,
    /// Takes buffers out of the pipeline.
    Sink,
    /// Anything else.
    Other,
}

/// Between which elements a queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum QueuePosition {
    /// Between a decoder and the mux: one buffer is one frame.
    DecoderToMux,
    /// Between the mux and the primary inference: one buffer is one batch.
    MuxToInfer,
    /// In front of a message converter or broker.
    MessageBranch,
    /// In front of an encoder or a file sink.
    FileBranch,
    /// Anywhere else.
    Other,
}

/// A stretch of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Branch {
    /// In front of the mux, one for each source, from 0.
    Source(usize),
    /// From the mux on.
    Main,
    /// Behind a tee or a demux, from 0 in the order of the links.
    Tail(usize),
}
