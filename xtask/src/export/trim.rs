//! The cut in time.
//!
//! Work of a GPU is kept when it lies wholly inside the window, so that no interval reaches over its edges. What a CPU
//! did is kept when it touches the window, and the call that launched kept work is kept wherever it lies: it may end up
//! before zero, as real exports have it for what happened before the collection.

use anyhow::Result;

use super::counts::Counts;
use super::window::Window;
use super::{Export, PROCESS_BITS, quoted};

/// Tables of work on a GPU.
const GPU_WORK: [&str; 4] = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
];

/// The calls of both CUDA interfaces.
const CALLS: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

/// Further records of a call, found by its correlation id: they have no times, or times of their own clock.
const RECORDS_OF_CALLS: [&str; 2] = [
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
];

/// What later rows refer to, however early it was declared.
const DECLARATIONS: [&str; 2] = ["CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS"];

/// Allocations: what is in use at the beginning of the window was allocated before it.
const ALLOCATIONS: &str = "CUDA_GPU_MEMORY_USAGE_EVENTS";

/// Messages about the session as a whole.
const MESSAGES: &str = "DIAGNOSTIC_EVENT";

/// NVTX event types with a time of their own: mark, ranges of both styles, and their old forms. The others declare
/// domains, categories and threads.
const NVTX_EVENTS: &str = "(34, 59, 60, 70, 71)";

/// The NVTX event type of a mark, which has no end.
const NVTX_MARK: i64 = 34;

/// Cuts everything to the window and moves the window to zero.
pub(super) fn trim(export: &Export, window: Window) -> Result<()> {
    let session = export.session()?;
    let window = match session {
        Some(session) => window.within(session)?,
        None => window,
    };
    let before = Counts::of(export)?;
    cut_gpu_work(export, window)?;
    cut_calls(export, window)?;
    cut_nvtx(export, window)?;
    if export.has(ALLOCATIONS, "start") {
        export.delete(ALLOCATIONS, &format!("start > {}", window.to()))?;
    }
    for table in export.event_tables() {
        let has_own_rule = GPU_WORK.contains(&table)
            || RECORDS_OF_CALLS.contains(&table)
            || DECLARATIONS.contains(&table)
            || [CALLS, ALLOCATIONS, MESSAGES, "NVTX_EVENTS"].contains(&table);
        if !has_own_rule {
            cut_by_overlap(export, table, window)?;
        }
    }
    cut_call_chains(export)?;
    shift(export, window)?;
    set_session(export, window)?;
    before.rewrite_messages(export, &Counts::of(export)?)?;
    leave_note(export, window, session)
}

fn cut_gpu_work(export: &Export, window: Window) -> Result<()> {
    for table in GPU_WORK
        .into_iter()
        .filter(|table| export.has(table, "end"))
    {
        let (from, to) = (window.from(), window.to());
        export.delete(table, &format!("start < {from} OR \"end\" > {to}"))?;
    }
    Ok(())
}

/// Keeps the calls that touch the window and those that launched kept work, with their further records.
fn cut_calls(export: &Export, window: Window) -> Result<()> {
    if !export.has(CALLS, "correlationId") {
        return Ok(());
    }
    export.conn.execute_batch(
        "CREATE TEMP TABLE kept (process INTEGER, correlation INTEGER, PRIMARY KEY (process, correlation))
         WITHOUT ROWID",
    )?;
    for table in GPU_WORK
        .into_iter()
        .filter(|table| export.has(table, "correlationId"))
    {
        export.conn.execute_batch(&format!(
            "INSERT OR IGNORE INTO kept SELECT globalPid, correlationId FROM {table}
             WHERE globalPid IS NOT NULL AND correlationId IS NOT NULL"
        ))?;
    }
    let (from, to) = (window.from(), window.to());
    export.delete(
        CALLS,
        &format!(
            "(start > {to} OR \"end\" < {from})
             AND (globalTid & {PROCESS_BITS}, correlationId) NOT IN (SELECT process, correlation FROM kept)"
        ),
    )?;
    export.conn.execute_batch(&format!(
        "INSERT OR IGNORE INTO kept SELECT globalTid & {PROCESS_BITS}, correlationId FROM {CALLS}
         WHERE globalTid IS NOT NULL AND correlationId IS NOT NULL"
    ))?;
    for table in RECORDS_OF_CALLS
        .into_iter()
        .filter(|table| export.has(table, "correlationId"))
    {
        export.delete(
            table,
            "(globalPid, correlationId) NOT IN (SELECT process, correlation FROM kept)",
        )?;
    }
    Ok(export.conn.execute_batch("DROP TABLE kept")?)
}

/// Keeps declarations, and the events that touch the window; a range that was never closed goes on to the end.
fn cut_nvtx(export: &Export, window: Window) -> Result<()> {
    if !export.has("NVTX_EVENTS", "eventType") {
        return Ok(());
    }
    let (from, to) = (window.from(), window.to());
    let end =
        format!("coalesce(\"end\", CASE eventType WHEN {NVTX_MARK} THEN start ELSE {to} END)");
    export.delete(
        "NVTX_EVENTS",
        &format!("eventType IN {NVTX_EVENTS} AND (start > {to} OR {end} < {from})"),
    )
}

/// Keeps the rows of any other table that touch the window.
fn cut_by_overlap(export: &Export, table: &str, window: Window) -> Result<()> {
    let (from, to) = (window.from(), window.to());
    if export.has(table, "start") && export.has(table, "end") {
        export.delete(
            table,
            &format!("start > {to} OR coalesce(\"end\", start) < {from}"),
        )
    } else if let Some(at) = ["start", "timestamp"]
        .into_iter()
        .find(|at| export.has(table, at))
    {
        export.delete(table, &format!("{at} NOT BETWEEN {from} AND {to}"))
    } else {
        Ok(())
    }
}

/// Drops call chains that no kept row refers to.
fn cut_call_chains(export: &Export) -> Result<()> {
    for (chains, events) in [("OSRT_CALLCHAINS", "OSRT_API"), ("CUDA_CALLCHAINS", CALLS)] {
        if export.has(chains, "id") && export.has(events, "callchainId") {
            export.delete(
                chains,
                &format!(
                    "id NOT IN (SELECT callchainId FROM {events} WHERE callchainId IS NOT NULL)"
                ),
            )?;
        }
    }
    Ok(())
}

/// Moves every time so that the window begins at zero.
fn shift(export: &Export, window: Window) -> Result<()> {
    let from = window.from();
    for table in export.event_tables() {
        let moved: Vec<String> = ["start", "end", "timestamp", "rawTimestamp"]
            .into_iter()
            .filter(|column| export.has(table, column))
            .map(|column| format!("\"{column}\" = \"{column}\" - {from}"))
            .collect();
        if !moved.is_empty() {
            let sql = format!("UPDATE {} SET {}", quoted(table), moved.join(", "));
            export.conn.execute_batch(&sql)?;
        }
    }
    if export.has(MESSAGES, "text") && export.has(MESSAGES, "timestamp") {
        export.conn.execute_batch(&format!(
            "UPDATE {MESSAGES} SET timestamp = 0 WHERE text = 'Profiling has started.';
             UPDATE {MESSAGES} SET timestamp = {} WHERE text = 'Profiling has stopped.'",
            window.duration()
        ))?;
    }
    Ok(())
}

/// Makes the session as long as the window, and lets it begin when the window does.
fn set_session(export: &Export, window: Window) -> Result<()> {
    let (from, duration) = (window.from(), window.duration());
    if export.has("ANALYSIS_DETAILS", "duration") {
        export.conn.execute_batch(&format!(
            "UPDATE ANALYSIS_DETAILS SET duration = {duration}"
        ))?;
    }
    if export.has("ANALYSIS_DETAILS", "startTime") && export.has("ANALYSIS_DETAILS", "stopTime") {
        export.conn.execute_batch(&format!(
            "UPDATE ANALYSIS_DETAILS SET startTime = startTime + {from}, stopTime = startTime + {from} + {duration}"
        ))?;
    }
    let clock = "TARGET_INFO_SESSION_START_TIME";
    if ["utcEpochNs", "utcTime", "localTime"]
        .iter()
        .all(|column| export.has(clock, column))
    {
        // The two texts hold whole seconds; the right-hand sides see the values from before the update.
        let seconds =
            format!("((utcEpochNs + {from}) / 1000000000 - utcEpochNs / 1000000000) || ' seconds'");
        export.conn.execute_batch(&format!(
            "UPDATE {clock} SET utcEpochNs = utcEpochNs + {from},
             utcTime = strftime('%Y-%m-%dT%H:%M:%S', utcTime, {seconds}),
             localTime = strftime('%Y-%m-%dT%H:%M:%S', localTime, {seconds})"
        ))?;
    }
    if export.has(clock, "systemClockNs") {
        export.conn.execute_batch(&format!(
            "UPDATE {clock} SET systemClockNs = systemClockNs + {from}"
        ))?;
    }
    Ok(())
}

/// The file says of itself that it is a part.
fn leave_note(export: &Export, window: Window, session: Option<i64>) -> Result<()> {
    let whole = session.map_or_else(
        || "a session".to_owned(),
        |ns| format!("a session of {ns} ns"),
    );
    let note = format!("{} ns to {} ns of {whole}", window.from(), window.to());
    let table = ["META_DATA_EXPORT", "EXPORT_META_DATA"]
        .into_iter()
        .find(|table| export.has(table, "value"));
    if let Some(table) = table {
        export.conn.execute(
            &format!("INSERT INTO {table} (name, value) VALUES ('DSPROF_TRIMMED_TO', ?1)"),
            [note],
        )?;
    }
    Ok(())
}
