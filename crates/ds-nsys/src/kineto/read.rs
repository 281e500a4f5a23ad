//! From the events of a file to a database.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use rusqlite::Connection;
use tempfile::{NamedTempFile, TempPath};

use super::database::{self, Place, Rows, Session, Shapes, Times, thread_id};
use super::event::{Args, Event};
use super::facts::{CutOff, Kineto, Members, rank_of_name};
use super::names;
use super::pieces::{Ended, Piece, Pieces};
use super::repair::repaired;
use crate::error::{Error, Result};
use crate::units::{Bytes, Nanos};

/// A trace that was read.
#[derive(Debug)]
pub(crate) struct Imported {
    /// The database, which goes with this value.
    pub(crate) database: TempPath,
    pub(crate) facts: Kineto,
}

/// How many processes are told apart by name; a file of one program names its own and its GPUs.
const MOST_PROCESSES: usize = 256;

/// Reads a trace of PyTorch's profiler into a temporary database.
///
/// Memory stays bounded whatever the size of the file, and a file that ends early is read as far as it goes.
///
/// # Errors
///
/// Fails when the file cannot be read, holds no `traceEvents`, or the temporary database cannot be written.
pub(crate) fn import(path: &Path, source: impl Read) -> Result<Imported> {
    let read_error = |source: io::Error| Error::Read {
        path: path.to_owned(),
        source,
    };
    let write_error = |source: rusqlite::Error| Error::Import {
        path: path.to_owned(),
        source,
    };
    let database = NamedTempFile::with_suffix(".sqlite")
        .map_err(read_error)?
        .into_temp_path();
    let conn = Connection::open(&database).map_err(write_error)?;
    database::create(&conn).map_err(write_error)?;
    let mut pieces = Pieces::new(source);
    let mut reader = Reader::new(&conn).map_err(write_error)?;
    let ended = loop {
        match pieces.next().map_err(read_error)? {
            Ok(Piece::Member(name, value)) => reader.members.take(name, value),
            Ok(Piece::Event(event)) => reader.event(event).map_err(write_error)?,
            Ok(Piece::TooLong) => reader.members.facts.events.unreadable += 1,
            Err(ended) => break ended,
        }
    };
    if !pieces.has_events() {
        return Err(without_events(path, &ended, reader.members.is_kineto));
    }
    let (session, mut members) = reader.done();
    database::finish(&conn, session, &members).map_err(write_error)?;
    conn.close().map_err(|(_, source)| write_error(source))?;
    members.facts.cut_off = cut_off(ended);
    let name = path.file_name().map(|name| name.to_string_lossy());
    if let Some(name) = name {
        let rank = &mut members.facts.distributed.rank;
        *rank = rank.or_else(|| rank_of_name(&name));
        // So vLLM names the file of the process that talks to clients.
        members.facts.is_of_front_end = name.contains("async_llm");
    }
    Ok(Imported {
        database,
        facts: members.facts,
    })
}

fn cut_off(ended: Ended) -> Option<CutOff> {
    let bytes = |at: u64| Bytes(i64::try_from(at).unwrap_or(i64::MAX));
    match ended {
        Ended::Whole => None,
        Ended::CutOff { at, why } => Some(CutOff {
            after: bytes(at),
            reason: why.map_or_else(
                || "it was not written to its end".to_owned(),
                |why| format!("the gzip data end or break early: {why}"),
            ),
        }),
        Ended::Broken { at, found } => Some(CutOff {
            after: bytes(at),
            reason: format!(
                "`{}` follows, which is no JSON there",
                found.escape_default()
            ),
        }),
    }
}

fn without_events(path: &Path, ended: &Ended, is_kineto: bool) -> Error {
    let (at, found) = match ended {
        Ended::Whole => (0, "a JSON object without `traceEvents`".to_owned()),
        Ended::CutOff { at, .. } => (
            *at,
            format!("a JSON object that ends after {at} bytes, without `traceEvents`"),
        ),
        Ended::Broken { at, found } => (
            *at,
            format!(
                "text that begins as JSON and has `{}` at byte {at}",
                found.escape_default()
            ),
        ),
    };
    if is_kineto && *ended != Ended::Whole {
        return Error::Damaged {
            path: path.to_owned(),
            detail: format!(
                "the trace of PyTorch's profiler ends after {at} bytes, before its events"
            ),
        };
    }
    Error::NotAnExport {
        path: path.to_owned(),
        found,
    }
}

/// What an event is, by its category. Releases before 2022 begin some with a capital and leave `gpu_` out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Category {
    Kernel,
    Copy,
    Set,
    Call,
    Annotation,
    Operator,
    PythonFunction,
    Overhead,
    Other,
}

impl Category {
    fn of(name: &str) -> Self {
        const NAMES: [(&str, Category); 12] = [
            ("kernel", Category::Kernel),
            ("cuda_runtime", Category::Call),
            ("cpu_op", Category::Operator),
            ("python_function", Category::PythonFunction),
            ("cuda_driver", Category::Call),
            ("gpu_memcpy", Category::Copy),
            ("gpu_memset", Category::Set),
            ("user_annotation", Category::Annotation),
            ("overhead", Category::Overhead),
            ("memcpy", Category::Copy),
            ("memset", Category::Set),
            ("runtime", Category::Call),
        ];
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or(Self::Other, |(_, category)| *category)
    }

    /// Whether its events become rows.
    fn is_kept(self) -> bool {
        match self {
            Self::Kernel | Self::Copy | Self::Set | Self::Call | Self::Annotation => true,
            Self::Operator | Self::PythonFunction | Self::Overhead | Self::Other => false,
        }
    }
}

/// Sorts events into tables.
struct Reader<'c> {
    rows: Rows<'c>,
    members: Members,
    span: Option<(i64, i64)>,
    /// The first process that made a CUDA call.
    caller: Option<i64>,
    /// The first process that did anything on the host.
    host: Option<i64>,
    callers: BTreeSet<i64>,
}

impl<'c> Reader<'c> {
    fn new(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            rows: Rows::new(conn)?,
            members: Members::default(),
            span: None,
            caller: None,
            host: None,
            callers: BTreeSet::new(),
        })
    }

    fn done(mut self) -> (Session, Members) {
        self.members.facts.processes = self.callers.len();
        let session = Session {
            span: self.span,
            pid: self.caller.or(self.host).unwrap_or_default(),
        };
        (session, self.members)
    }

    fn event(&mut self, bytes: &[u8]) -> rusqlite::Result<()> {
        if let Ok(event) = serde_json::from_slice::<Event<'_>>(bytes) {
            return self.take(&event);
        }
        let text = repaired(bytes);
        match serde_json::from_str::<Event<'_>>(&text) {
            Ok(event) => self.take(&event),
            Err(_) => {
                self.members.facts.events.unreadable += 1;
                Ok(())
            }
        }
    }

    fn take(&mut self, event: &Event<'_>) -> rusqlite::Result<()> {
        match event.ph.as_ref() {
            "X" => self.duration(event),
            "M" => self.description(event),
            // The profiler's own mark of its end.
            "i" | "I" if event.name == "Record Window End" => {
                if let Some(time) = event.start() {
                    self.reach(time, time);
                }
                Ok(())
            }
            // Flow arrows repeat correlation ids, counters and other marks say nothing of time spent.
            _ => Ok(()),
        }
    }

    /// Widens the session.
    fn reach(&mut self, start: i64, end: i64) {
        let (first, last) = self.span.get_or_insert((start, end));
        *first = start.min(*first);
        *last = end.max(*last);
    }

    fn duration(&mut self, event: &Event<'_>) -> rusqlite::Result<()> {
        let category = Category::of(&event.cat);
        let counts = &mut self.members.facts.events;
        match category {
            Category::Operator => counts.operators += 1,
            Category::PythonFunction => counts.python_functions += 1,
            _ => {}
        }
        let Some((start, end)) = event.times() else {
            counts.untimed += u64::from(category.is_kept());
            return Ok(());
        };
        if start <= end {
            self.reach(start, end);
        }
        let times = Times { start, end };
        match category {
            Category::Kernel | Category::Copy | Category::Set => self.work(category, times, event),
            Category::Call | Category::Annotation => self.of_thread(category, times, event),
            Category::Operator | Category::PythonFunction => {
                self.host = self.host.or(event.pid.0);
                Ok(())
            }
            Category::Overhead => {
                self.members.facts.overhead += Nanos((end - start).max(0));
                Ok(())
            }
            Category::Other => Ok(()),
        }
    }

    /// A kernel, copy or set.
    fn work(
        &mut self,
        category: Category,
        times: Times,
        event: &Event<'_>,
    ) -> rusqlite::Result<()> {
        let args = event.args();
        let bytes = args.bytes.0;
        let Some(device) = args.device.0.or(event.pid.0) else {
            self.members.facts.events.unreadable += 1;
            return Ok(());
        };
        let place = Place {
            device,
            context: args.context.0,
            stream: args.stream.0.or(event.tid.0),
            correlation: correlation(&args),
            graph_node: graph_node(&args),
        };
        match (category, bytes) {
            (Category::Copy, Some(bytes)) => {
                let codes = names::copy(&event.name);
                let kinds = [Some(codes.kind), codes.from, codes.to];
                self.rows.copy(times, place, bytes, kinds)?;
            }
            (Category::Set, Some(bytes)) => {
                self.rows
                    .set(times, place, bytes, names::set(&event.name))?;
            }
            (Category::Copy | Category::Set, None) => {
                self.members.facts.events.unreadable += 1;
                return Ok(());
            }
            _ => {
                let shapes = Shapes {
                    registers: args.registers.0,
                    grid: args.grid.0,
                    block: args.block.0,
                };
                self.rows.kernel(times, place, &event.name, shapes)?;
            }
        }
        self.members.facts.events.gpu_work += 1;
        Ok(())
    }

    /// A call or an annotation.
    fn of_thread(
        &mut self,
        category: Category,
        times: Times,
        event: &Event<'_>,
    ) -> rusqlite::Result<()> {
        let pid = event.pid.0.unwrap_or_default();
        let thread = thread_id(pid, event.tid.0.unwrap_or_default());
        self.host = self.host.or(event.pid.0);
        if category == Category::Annotation {
            self.members.facts.events.annotations += 1;
            return self.rows.range(times, thread, &event.name);
        }
        self.members.facts.events.calls += 1;
        self.caller = self.caller.or(event.pid.0);
        if self.callers.len() < MOST_PROCESSES {
            self.callers.insert(pid);
        }
        let args = event.args();
        self.rows
            .call(times, thread, correlation(&args), &event.name)
    }

    /// The name of a process or thread.
    fn description(&mut self, event: &Event<'_>) -> rusqlite::Result<()> {
        let args = event.args();
        let (Some(pid), Some(name)) = (event.pid.0, args.name.as_deref()) else {
            return Ok(());
        };
        let known = &mut self.members.process_names;
        match event.name.as_ref() {
            "process_name" if known.len() < MOST_PROCESSES => {
                known.insert(pid, name.to_owned());
                Ok(())
            }
            // A GPU's streams are described as threads of a process with the number of the GPU.
            "thread_name" if !name.starts_with("stream ") => {
                let thread = thread_id(pid, event.tid.0.unwrap_or_default());
                self.rows.thread(thread, name)
            }
            _ => Ok(()),
        }
    }
}

/// CUPTI counts correlation ids from 1; 0 stands for none.
fn correlation(args: &Args<'_>) -> Option<i64> {
    args.correlation.0.filter(|id| *id != 0)
}

/// The node of a graph as an export numbers it: the graph in the upper half, the node within it in the lower one.
fn graph_node(args: &Args<'_>) -> Option<i64> {
    let graph = args.graph.0.filter(|graph| *graph > 0);
    let node = args.graph_node.0.filter(|node| *node > 0);
    match (graph, node) {
        (None, None) => None,
        // Ids of nodes that hold their graph already.
        (_, Some(node)) if node >> 32 != 0 => Some(node),
        (graph, node) => Some((graph.unwrap_or_default() << 32) | node.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::Category;

    #[test]
    fn categories_of_all_releases() {
        for (name, expected) in [
            ("kernel", Category::Kernel),
            ("Kernel", Category::Kernel),
            ("Memcpy", Category::Copy),
            ("gpu_memset", Category::Set),
            ("Runtime", Category::Call),
            ("cuda_driver", Category::Call),
            ("user_annotation", Category::Annotation),
            ("gpu_user_annotation", Category::Other),
            ("Trace", Category::Other),
            ("", Category::Other),
        ] {
            assert_eq!(Category::of(name), expected, "{name}");
        }
    }
}
