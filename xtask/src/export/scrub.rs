//! What a shipped recording must not tell about the machine that it was made on.

use anyhow::Result;

use super::{Export, PROCESS_BITS, paths, quoted};

/// Parts of setting names that are private.
const PRIVATE_SETTINGS: [&str; 7] = [
    "DEVICE_DISPLAY_NAME",
    "ENVIRONMENT",
    "HOST",
    "PATH_ABS",
    "USER",
    "UUID",
    "WORKING_DIR",
];

/// Tables of settings: of the capture, and of the export under both of its names.
const SETTINGS: [&str; 3] = ["META_DATA_CAPTURE", "META_DATA_EXPORT", "EXPORT_META_DATA"];

/// What of the host's description is kept: enough to say on what a figure was measured. The rest includes names,
/// addresses and whole configuration files.
const HOST_FACTS: [&str; 10] = [
    "CpuArchitecture",
    "CpuCores",
    "CpuDescription",
    "CpuSpeedMhz",
    "CudaDriverVersion",
    "HardwarePlatform",
    "LinuxParanoidLevel",
    "NvDriverVersion",
    "OsDescription",
    "SoftwarePlatform",
];

/// Tables with what programs printed, and with the files that nsys took along.
const FILES: [&str; 2] = ["ANALYSIS_FILE", "ProcessStreams"];

/// Removes what is private; `traced` are the processes that the recording is about.
pub(super) fn scrub(export: &Export, traced: &[i64]) -> Result<()> {
    for table in SETTINGS
        .into_iter()
        .filter(|table| export.has(table, "name"))
    {
        for part in PRIVATE_SETTINGS {
            export.delete(table, &format!("instr(name, '{part}') > 0"))?;
        }
    }
    for table in FILES
        .into_iter()
        .filter(|table| export.has(table, "globalPid"))
    {
        export.delete(table, "true")?;
    }
    if export.has("TARGET_INFO_SYSTEM_ENV", "name") {
        let kept = HOST_FACTS.map(|name| format!("'{name}'")).join(", ");
        export.delete("TARGET_INFO_SYSTEM_ENV", &format!("name NOT IN ({kept})"))?;
    }
    remove_other_programs(export, traced)?;
    neutralise_paths(export)
}

fn remove_other_programs(export: &Export, traced: &[i64]) -> Result<()> {
    let traced: Vec<String> = traced.iter().map(i64::to_string).collect();
    let traced = traced.join(", ");
    if export.has("PROCESSES", "globalPid") {
        export.delete("PROCESSES", &format!("globalPid NOT IN ({traced})"))?;
    }
    if export.has("ThreadNames", "globalTid") {
        export.delete(
            "ThreadNames",
            &format!("globalTid & {PROCESS_BITS} NOT IN ({traced})"),
        )?;
    }
    Ok(())
}

/// Replaces private folders in every text of the file.
fn neutralise_paths(export: &Export) -> Result<()> {
    let tables = export
        .tables
        .iter()
        .filter(|(table, _)| !table.starts_with("ENUM_"));
    for (table, columns) in tables {
        for column in columns.iter().filter(|column| column.is_text) {
            let (table, column) = (quoted(table), quoted(&column.name));
            let mut read = export.conn.prepare(&format!(
                "SELECT rowid, {column} FROM {table} WHERE typeof({column}) = 'text' AND instr({column}, '/') > 0"
            ))?;
            let texts: Vec<(i64, String)> = read
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            let mut write = export.conn.prepare(&format!(
                "UPDATE {table} SET {column} = ?1 WHERE rowid = ?2"
            ))?;
            for (rowid, text) in texts {
                if let Some(text) = paths::neutralised(&text) {
                    write.execute((text, rowid))?;
                }
            }
        }
    }
    Ok(())
}
