//! The temporary database: the tables of an export, as far as the summaries read them.
//!
//! When the first row is written, neither the earliest time nor the process is known. So rows keep the file's own times,
//! and `start`, `end` and `globalPid` are added as computed columns at the end, which rewrites no row.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Statement};

use super::facts::Members;
use super::names::bare;
use crate::summary::{KERNEL_TABLE, MEMCPY_TABLE, MEMSET_TABLE, RUNTIME_TABLE};

/// How many names are held in memory; further ones are looked up in the database. A program has some thousand kernels,
/// but annotations may differ from step to step.
const NAMES_IN_MEMORY: usize = 1 << 16;

/// The database's own cache while it is written, in KiB: the inner pages of all tables, and the leaves being filled.
const CACHE_KIB: i64 = 16 << 10;

/// A table of events under construction.
#[derive(Debug, Clone, Copy)]
struct Layout {
    table: &'static str,
    /// Behind `began` and `ended`.
    columns: &'static [&'static str],
    owner: Owner,
}

/// How a row says whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// By a `globalPid` that all rows share.
    Process,
    /// By a `globalTid` of its own.
    Thread,
}

const KERNELS: Layout = Layout {
    table: KERNEL_TABLE,
    columns: &[
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "demangledName",
        "shortName",
        "registersPerThread",
        "gridX",
        "gridY",
        "gridZ",
        "blockX",
        "blockY",
        "blockZ",
        "graphNodeId",
    ],
    owner: Owner::Process,
};

const COPIES: Layout = Layout {
    table: MEMCPY_TABLE,
    columns: &[
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "bytes",
        "copyKind",
        "srcKind",
        "dstKind",
        "graphNodeId",
    ],
    owner: Owner::Process,
};

const SETS: Layout = Layout {
    table: MEMSET_TABLE,
    columns: &[
        "deviceId",
        "contextId",
        "streamId",
        "correlationId",
        "bytes",
        "memKind",
        "graphNodeId",
    ],
    owner: Owner::Process,
};

const CALLS: Layout = Layout {
    table: RUNTIME_TABLE,
    columns: &["globalTid", "correlationId", "nameId"],
    owner: Owner::Thread,
};

const RANGES: Layout = Layout {
    table: "NVTX_EVENTS",
    columns: &["globalTid", "textId", "eventType"],
    owner: Owner::Thread,
};

const ALL: [Layout; 5] = [KERNELS, COPIES, SETS, CALLS, RANGES];

/// The code of `ENUM_NSYS_EVENT_TYPE` for a range that is pushed and popped.
const PUSH_POP: i64 = 59;

/// What an export has beside its events, and the calls that launched a graph.
const OTHER_TABLES: &str = "
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT UNIQUE);
CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE ANALYSIS_DETAILS (duration INTEGER);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, name TEXT);
CREATE TABLE KINETO_GRAPH_LAUNCH (correlationId INTEGER PRIMARY KEY);
";

/// Makes the tables.
pub(super) fn create(conn: &Connection) -> rusqlite::Result<()> {
    // Nobody else sees the file before it is whole, and nobody needs it after a crash.
    conn.pragma_update(None, "journal_mode", "OFF")?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    conn.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    conn.execute_batch("BEGIN")?;
    conn.execute_batch(OTHER_TABLES)?;
    for layout in ALL {
        let columns: Vec<String> = ["began", "ended"]
            .iter()
            .chain(layout.columns)
            .map(|column| format!("{column} INTEGER"))
            .collect();
        conn.execute_batch(&format!(
            "CREATE TABLE {} ({})",
            layout.table,
            columns.join(", ")
        ))?;
    }
    Ok(())
}

/// When an event was, in nanoseconds of the file's own clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// Where GPU work ran, and what launched it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) device: i64,
    pub(super) context: Option<i64>,
    pub(super) stream: Option<i64>,
    pub(super) correlation: Option<i64>,
    /// The node of a graph, as an export numbers it; `None` outside of graphs and where the file does not say.
    pub(super) graph_node: Option<i64>,
}

/// What else a kernel's row holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shapes {
    pub(super) registers: Option<i64>,
    pub(super) grid: [Option<i64>; 3],
    pub(super) block: [Option<i64>; 3],
}

/// Writes rows.
pub(super) struct Rows<'c> {
    kernels: Statement<'c>,
    copies: Statement<'c>,
    sets: Statement<'c>,
    calls: Statement<'c>,
    ranges: Statement<'c>,
    threads: Statement<'c>,
    graph_launches: Statement<'c>,
    names: Names<'c>,
    /// Full and bare names of kernels, by the full one.
    kernel_names: HashMap<Box<str>, (i64, i64)>,
}

impl<'c> Rows<'c> {
    pub(super) fn new(conn: &'c Connection) -> rusqlite::Result<Self> {
        let insert = |layout: Layout| {
            let marks = vec!["?"; layout.columns.len() + 2].join(", ");
            conn.prepare(&format!("INSERT INTO {} VALUES ({marks})", layout.table))
        };
        Ok(Self {
            kernels: insert(KERNELS)?,
            copies: insert(COPIES)?,
            sets: insert(SETS)?,
            calls: insert(CALLS)?,
            ranges: insert(RANGES)?,
            threads: conn.prepare("INSERT INTO ThreadNames VALUES (?, ?)")?,
            graph_launches: conn.prepare("INSERT OR IGNORE INTO KINETO_GRAPH_LAUNCH VALUES (?)")?,
            names: Names::new(conn)?,
            kernel_names: HashMap::new(),
        })
    }

    pub(super) fn kernel(
        &mut self,
        times: Times,
        place: Place,
        name: &str,
        shapes: Shapes,
    ) -> rusqlite::Result<()> {
        let (full, bare) = self.kernel_name(name)?;
        let [grid_x, grid_y, grid_z] = shapes.grid;
        let [block_x, block_y, block_z] = shapes.block;
        insert(
            &mut self.kernels,
            &[
                Some(times.start),
                Some(times.end),
                Some(place.device),
                place.context,
                place.stream,
                place.correlation,
                Some(full),
                Some(bare),
                shapes.registers,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                place.graph_node,
            ],
        )
    }

    /// A copy of so many bytes; `kinds` are those of the copy, of the memory read and of the memory written.
    pub(super) fn copy(
        &mut self,
        times: Times,
        place: Place,
        bytes: i64,
        kinds: [Option<i64>; 3],
    ) -> rusqlite::Result<()> {
        let [kind, from, to] = kinds;
        insert(
            &mut self.copies,
            &[
                Some(times.start),
                Some(times.end),
                Some(place.device),
                place.context,
                place.stream,
                place.correlation,
                Some(bytes),
                kind,
                from,
                to,
                place.graph_node,
            ],
        )
    }

    /// A set of so many bytes in memory of a kind.
    pub(super) fn set(
        &mut self,
        times: Times,
        place: Place,
        bytes: i64,
        kind: Option<i64>,
    ) -> rusqlite::Result<()> {
        insert(
            &mut self.sets,
            &[
                Some(times.start),
                Some(times.end),
                Some(place.device),
                place.context,
                place.stream,
                place.correlation,
                Some(bytes),
                kind,
                place.graph_node,
            ],
        )
    }

    /// A call of the CUDA runtime or driver.
    pub(super) fn call(
        &mut self,
        times: Times,
        thread: i64,
        correlation: Option<i64>,
        name: &str,
    ) -> rusqlite::Result<()> {
        let id = self.names.id(name)?;
        let launches_graph =
            name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch");
        if launches_graph && correlation.is_some() {
            insert(&mut self.graph_launches, &[correlation])?;
        }
        insert(
            &mut self.calls,
            &[
                Some(times.start),
                Some(times.end),
                Some(thread),
                correlation,
                Some(id),
            ],
        )
    }

    /// A range of a thread.
    pub(super) fn range(&mut self, times: Times, thread: i64, text: &str) -> rusqlite::Result<()> {
        let id = self.names.id(text)?;
        insert(
            &mut self.ranges,
            &[
                Some(times.start),
                Some(times.end),
                Some(thread),
                Some(id),
                Some(PUSH_POP),
            ],
        )
    }

    /// The name of a thread.
    pub(super) fn thread(&mut self, thread: i64, name: &str) -> rusqlite::Result<()> {
        let id = self.names.id(name)?;
        insert(&mut self.threads, &[Some(id), Some(thread)])
    }

    fn kernel_name(&mut self, name: &str) -> rusqlite::Result<(i64, i64)> {
        if let Some(known) = self.kernel_names.get(name) {
            return Ok(*known);
        }
        let ids = (self.names.id(name)?, self.names.id(bare(name))?);
        if self.kernel_names.len() >= NAMES_IN_MEMORY {
            self.kernel_names.clear();
        }
        self.kernel_names.insert(name.into(), ids);
        Ok(ids)
    }
}

fn insert(statement: &mut Statement<'_>, values: &[Option<i64>]) -> rusqlite::Result<()> {
    for (at, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, value)?;
    }
    statement.raw_execute()?;
    Ok(())
}

/// The table of strings. Only so many are held in memory, whatever the file holds.
struct Names<'c> {
    known: HashMap<Box<str>, i64>,
    find: Statement<'c>,
    insert: Statement<'c>,
    next: i64,
}

impl<'c> Names<'c> {
    fn new(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            known: HashMap::new(),
            find: conn.prepare("SELECT id FROM StringIds WHERE value = ?")?,
            insert: conn.prepare("INSERT INTO StringIds VALUES (?, ?)")?,
            next: 1,
        })
    }

    fn id(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.known.get(text) {
            return Ok(*id);
        }
        let found = self
            .find
            .query_row([text], |row| row.get::<_, i64>(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                self.insert.execute((self.next, text))?;
                self.next += 1;
                self.next - 1
            }
        };
        if self.known.len() >= NAMES_IN_MEMORY {
            self.known.clear();
        }
        self.known.insert(text.into(), id);
        Ok(id)
    }
}

/// What is known when all events were read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session {
    /// The first and the last instant of the file's own clock; `None` without any event that has a time.
    pub(super) span: Option<(i64, i64)>,
    /// The process that owns the GPU work.
    pub(super) pid: i64,
}

/// Times before this many nanoseconds cannot count from 1970: a billion seconds are over since 2001.
const SINCE_1970: i64 = 1_000_000_000_000_000_000;

/// Completes the tables: what all rows share, and what links them.
pub(super) fn finish(
    conn: &Connection,
    session: Session,
    members: &Members,
) -> rusqlite::Result<()> {
    let (origin, end) = session.span.unwrap_or_default();
    for layout in ALL {
        let table = layout.table;
        let is_empty = conn
            .query_row(&format!("SELECT 1 FROM {table} LIMIT 1"), [], |_| Ok(()))
            .optional()?
            .is_none();
        // A table without rows would mean that something was looked for and not found.
        if is_empty {
            conn.execute_batch(&format!("DROP TABLE {table}"))?;
            continue;
        }
        if layout.columns.contains(&"graphNodeId") {
            // Node 0 of executable 0: which graph and which node, such files do not say.
            conn.execute_batch(&format!(
                "UPDATE {table} SET graphNodeId = 0 WHERE graphNodeId IS NULL
                 AND correlationId IN (SELECT correlationId FROM KINETO_GRAPH_LAUNCH)"
            ))?;
        }
        let computed = |name: &str, value: &str| {
            conn.execute_batch(&format!(
                "ALTER TABLE {table} ADD COLUMN \"{name}\" INTEGER AS ({value}) VIRTUAL"
            ))
        };
        computed("start", &format!("began - ({origin})"))?;
        computed("end", &format!("ended - ({origin})"))?;
        if layout.owner == Owner::Process {
            computed("globalPid", &thread_id(session.pid, 0).to_string())?;
        }
    }
    if session.span.is_some() {
        conn.execute("INSERT INTO ANALYSIS_DETAILS VALUES (?)", [end - origin])?;
        let utc = match members.base {
            Some(base) => base.checked_add(origin),
            None => (origin > SINCE_1970).then_some(origin),
        };
        conn.execute(
            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)",
            [utc],
        )?;
    }
    for (at, device) in (0_i64..).zip(&members.devices) {
        let id = device.id.0.unwrap_or(at);
        conn.execute(
            "INSERT INTO TARGET_INFO_GPU VALUES (?, ?, ?, ?)",
            (id, &device.name, device.memory.0, device.sm_count.0),
        )?;
        conn.execute(
            "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, ?, ?)",
            (id, id, session.pid),
        )?;
    }
    if let Some(name) = members.process_names.get(&session.pid) {
        conn.execute(
            "INSERT INTO PROCESSES VALUES (?, ?)",
            (thread_id(session.pid, 0), name),
        )?;
    }
    conn.execute_batch("DROP TABLE KINETO_GRAPH_LAUNCH; COMMIT")
}

/// The id by which an export names a thread: 24 bits each for process and thread, the most that Linux gives out is 22.
pub(super) fn thread_id(pid: i64, tid: i64) -> i64 {
    const BITS: i64 = 0x00FF_FFFF;
    (pid & BITS) << 24 | (tid & BITS)
}
