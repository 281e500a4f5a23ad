//! Small exports built from rows.

use std::fmt::Write as _;

use ds_nsys::Trace;
use tempfile::{NamedTempFile, TempPath};

/// The columns that every release since 2021 has, as far as the analyses read them.
const SCHEMA: &str = "
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.20.3'), ('EXPORT_PRODUCT_VERSION', '2025.3.2.0');
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
  globalPid INTEGER);
";

/// Tables of events, created when a row needs them: an export has no table without rows.
const EVENT_TABLES: [(&str, &str); 6] = [
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, contextId INTEGER, streamId INTEGER, \
         correlationId INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER, gridX INTEGER, \
         gridY INTEGER, gridZ INTEGER",
    ),
    (
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        "start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, contextId INTEGER, streamId INTEGER, \
         correlationId INTEGER, graphId INTEGER, graphExecId INTEGER",
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, contextId INTEGER, streamId INTEGER, \
         correlationId INTEGER, bytes INTEGER, copyKind INTEGER, graphNodeId INTEGER",
    ),
    (
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, contextId INTEGER, streamId INTEGER, \
         correlationId INTEGER, bytes INTEGER, graphNodeId INTEGER",
    ),
    (
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, \
         returnValue INTEGER",
    ),
    (
        "NVTX_EVENTS",
        "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER, \
         endGlobalTid INTEGER, domainId INTEGER",
    ),
];

/// The exporter's id of a process.
pub(crate) fn process(pid: i64) -> i64 {
    pid << 24
}

/// An export under construction.
#[derive(Debug, Default)]
pub(crate) struct Export {
    sql: String,
    strings: Vec<String>,
    tables: Vec<&'static str>,
    correlation: i64,
}

/// A process and one of its devices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) pid: i64,
    pub(crate) device: i64,
}

/// Device 0 of one process.
pub(crate) const ONE: Place = Place { pid: 1, device: 0 };

impl Export {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Statements of the test's own.
    pub(crate) fn sql(mut self, sql: &str) -> Self {
        self.sql.push_str(sql);
        self
    }

    pub(crate) fn session(self, duration: i64) -> Self {
        self.sql(&format!(
            "INSERT INTO ANALYSIS_DETAILS VALUES (0, {duration}, 0, {duration});"
        ))
    }

    pub(crate) fn capture(self, name: &str, value: &str) -> Self {
        self.sql(&format!(
            "INSERT INTO META_DATA_CAPTURE VALUES ('{name}', '{value}');"
        ))
    }

    pub(crate) fn diagnostic(self, severity: i64, text: &str) -> Self {
        self.sql(&format!(
            "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 3, {severity}, '{text}', NULL);"
        ))
    }

    fn string(&mut self, text: &str) -> usize {
        let known = self.strings.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            self.strings.push(text.to_owned());
            self.strings.len() - 1
        })
    }

    fn insert(&mut self, table: &'static str, columns: &str, values: &str) {
        let (table, all_columns) = EVENT_TABLES
            .into_iter()
            .find(|(name, _)| *name == table)
            .expect("a table of events");
        if !self.tables.contains(&table) {
            self.tables.push(table);
            write!(self.sql, "CREATE TABLE {table} ({all_columns});").expect("a String");
        }
        write!(
            self.sql,
            "INSERT INTO {table} ({columns}) VALUES ({values});"
        )
        .expect("a String");
    }

    /// A call of the CUDA API without GPU work; returns its correlation id.
    pub(crate) fn call(&mut self, pid: i64, name: &str, start: i64, end: i64) -> i64 {
        self.correlation += 1;
        let (name, thread, id) = (self.string(name), process(pid) + pid, self.correlation);
        self.insert(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            "start, end, eventClass, globalTid, correlationId, nameId, returnValue",
            &format!("{start}, {end}, 0, {thread}, {id}, {name}, 0"),
        );
        id
    }

    /// A kernel that one call launched shortly before.
    pub(crate) fn kernel(&mut self, place: Place, name: &str, start: i64, end: i64) {
        let id = self.call(place.pid, "cudaLaunchKernel_v7000", start - 10, start - 5);
        self.kernel_row(place, name, start, end, id, None);
    }

    /// A kernel row alone.
    pub(crate) fn kernel_row(
        &mut self,
        place: Place,
        name: &str,
        start: i64,
        end: i64,
        correlation: i64,
        node: Option<i64>,
    ) {
        let name = self.string(name);
        let node = node.map_or("NULL".to_owned(), |node| node.to_string());
        self.insert(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            "start, end, deviceId, globalPid, contextId, streamId, correlationId, demangledName, shortName, \
             graphNodeId, gridX, gridY, gridZ",
            &format!(
                "{start}, {end}, {}, {}, 1, 7, {correlation}, {name}, {name}, {node}, 1, 1, 1",
                place.device,
                process(place.pid)
            ),
        );
    }

    /// A graph launch traced as a whole.
    pub(crate) fn graph(&mut self, place: Place, executable: i64, start: i64, end: i64) {
        let id = self.call(place.pid, "cudaGraphLaunch_v10000", start - 10, start - 5);
        self.insert(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            "start, end, deviceId, globalPid, contextId, streamId, correlationId, graphId, graphExecId",
            &format!(
                "{start}, {end}, {}, {}, 1, 7, {id}, 1, {executable}",
                place.device,
                process(place.pid)
            ),
        );
    }

    /// A copy from the host.
    pub(crate) fn copy(&mut self, place: Place, start: i64, end: i64) {
        let id = self.call(place.pid, "cudaMemcpyAsync_v3020", start - 10, start - 5);
        self.insert(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            "start, end, deviceId, globalPid, contextId, streamId, correlationId, bytes, copyKind",
            &format!(
                "{start}, {end}, {}, {}, 1, 7, {id}, 4096, 1",
                place.device,
                process(place.pid)
            ),
        );
    }

    /// A range pushed and popped on the thread that also makes the calls.
    pub(crate) fn range(&mut self, pid: i64, text: &str, start: i64, end: i64) {
        let thread = process(pid) + pid;
        self.insert(
            "NVTX_EVENTS",
            "start, end, eventType, text, globalTid, domainId",
            &format!("{start}, {end}, 59, '{text}', {thread}, 0"),
        );
    }

    /// Writes the export and opens it; the file lives as long as the path.
    #[track_caller]
    pub(crate) fn open(self) -> (TempPath, Trace) {
        let path = self.write();
        let trace = Trace::open(&path).expect("a readable export");
        (path, trace)
    }

    /// Writes the export.
    #[track_caller]
    pub(crate) fn write(self) -> TempPath {
        let path = NamedTempFile::with_suffix(".sqlite")
            .expect("a temporary file")
            .into_temp_path();
        let database = rusqlite::Connection::open(&path).expect("a database");
        let mut sql = format!("BEGIN; {SCHEMA} {}", self.sql);
        for (id, text) in self.strings.iter().enumerate() {
            let text = text.replace('\'', "''");
            write!(sql, "INSERT INTO StringIds VALUES ({id}, '{text}');").expect("a String");
        }
        sql.push_str("COMMIT;");
        database.execute_batch(&sql).expect("sound SQL");
        path
    }
}
