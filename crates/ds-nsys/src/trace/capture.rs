//! How a capture was set up.

use rusqlite::Connection;

use crate::schema::Schema;

/// The settings of the capture: the rows of `META_DATA_CAPTURE`, which exports have since 2023.3.
///
/// Settings that carry private data (user, host, working directory, environment) are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureSettings {
    /// In the order of the table; names repeat.
    rows: Vec<(String, String)>,
}

/// At which level CUDA graphs were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphTracing {
    /// One interval a graph launch: the kernels inside are not told apart.
    Graph,
    /// Every node of a graph is a kernel, copy or set of its own.
    Node,
}

/// What started or ended the collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// The launch of the program.
    Immediate,
    /// A command or a delay.
    Manual,
    /// A time span after the start.
    Delayed,
    /// Another one, in the exporter's own word.
    Other(String),
}

/// Parts of setting names whose values are nobody's business in a report.
const PRIVATE: [&str; 6] = [
    "HOST",
    "USER",
    "WORKING_DIR",
    "ENVIRONMENT",
    "DEVICE_DISPLAY_NAME",
    "UUID",
];

impl CaptureSettings {
    pub(super) fn read(conn: &Connection, schema: &Schema) -> rusqlite::Result<Self> {
        let mut settings = Self::default();
        if !schema.has_columns("META_DATA_CAPTURE", &["name", "value"]) {
            return Ok(settings);
        }
        let mut statement =
            conn.prepare("SELECT name, value FROM META_DATA_CAPTURE ORDER BY rowid")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            if PRIVATE.iter().any(|part| name.contains(part)) {
                continue;
            }
            settings
                .rows
                .push((name, row.get::<_, Option<String>>(1)?.unwrap_or_default()));
        }
        Ok(settings)
    }

    /// Whether the export records its settings at all.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The first value under a name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.rows
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// All values under a name, in the table's order.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.rows
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// The kinds of events that were asked for, such as `Cuda` and `NvtxEvents`.
    pub fn event_types(&self) -> impl Iterator<Item = &str> {
        self.values("CAPTURE_EVENT_TYPE")
    }

    /// Whether CUDA was traced; `None` where the export does not say.
    #[must_use]
    pub fn cuda_traced(&self) -> Option<bool> {
        self.asked_for("COLLECT_CUDA_TRACE", "Cuda")
    }

    /// Whether NVTX was traced; `None` where the export does not say.
    #[must_use]
    pub fn nvtx_traced(&self) -> Option<bool> {
        self.asked_for("COLLECT_NVTX_TRACE", "NvtxEvents")
    }

    /// At which level CUDA graphs were recorded; `None` where the export does not say.
    #[must_use]
    pub fn graph_tracing(&self) -> Option<GraphTracing> {
        match self
            .of_any_process("CUDA_GRAPH_TRACE_OPTIONS:MODE")
            .next()?
        {
            "Graph" => Some(GraphTracing::Graph),
            "Node" => Some(GraphTracing::Node),
            _ => None,
        }
    }

    /// What started the collection.
    #[must_use]
    pub fn start_trigger(&self) -> Option<Trigger> {
        self.value("START_TRIGGER").map(Trigger::from_word)
    }

    /// What ended the collection.
    #[must_use]
    pub fn stop_trigger(&self) -> Option<Trigger> {
        self.value("STOP_TRIGGER").map(Trigger::from_word)
    }

    /// A setting of one collection is true, or its event type is listed; per-process rows count for the whole capture.
    fn asked_for(&self, setting: &str, event_type: &str) -> Option<bool> {
        let listed = self.event_types().any(|listed| listed == event_type);
        let mut set = self.of_any_process(setting).peekable();
        if set.peek().is_none() {
            return (self.event_types().next().is_some()).then_some(listed);
        }
        Some(listed || set.any(|value| value == "true"))
    }

    /// Values of `PROCESS_<n>:<setting>`.
    fn of_any_process<'a>(&'a self, setting: &'a str) -> impl Iterator<Item = &'a str> {
        self.rows.iter().filter_map(move |(name, value)| {
            let (process, rest) = name.split_once(':')?;
            (process.starts_with("PROCESS_") && rest == setting).then_some(value.as_str())
        })
    }
}

impl Trigger {
    fn from_word(word: &str) -> Self {
        match word {
            "Immediate" => Self::Immediate,
            "Manual" => Self::Manual,
            "Delayed" => Self::Delayed,
            other => Self::Other(other.to_owned()),
        }
    }
}
