//! The string table without what nothing refers to any more.

use anyhow::Result;

use super::{Export, quoted};

/// What nsys writes behind a column that holds string ids, in the text that created the table.
const REFERENCE: &str = "REFERENCES StringIds(id)";

/// Columns that hold string ids and are not always marked as such.
const KNOWN: [&str; 10] = [
    "contentId",
    "demangledName",
    "filenameId",
    "jsonTextId",
    "mangledName",
    "module",
    "nameId",
    "shortName",
    "symbol",
    "textId",
];

/// Deletes the strings that no row refers to.
pub(super) fn drop_unused(export: &Export) -> Result<()> {
    if !export.has("StringIds", "id") {
        return Ok(());
    }
    export
        .conn
        .execute_batch("CREATE TEMP TABLE used (id INTEGER PRIMARY KEY)")?;
    for (table, columns) in &export.tables {
        let created: String = export.conn.query_row(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )?;
        for column in columns {
            if KNOWN.contains(&column.name.as_str()) || is_marked(&created, &column.name) {
                let (table, column) = (quoted(table), quoted(&column.name));
                export.conn.execute_batch(&format!(
                    "INSERT OR IGNORE INTO used SELECT {column} FROM {table} WHERE typeof({column}) = 'integer'"
                ))?;
            }
        }
    }
    export.delete("StringIds", "id NOT IN (SELECT id FROM used)")?;
    Ok(export.conn.execute_batch("DROP TABLE used")?)
}

/// Whether the line of a column in `CREATE TABLE` refers to the string table.
fn is_marked(created: &str, column: &str) -> bool {
    created
        .lines()
        .any(|line| line.split_whitespace().next() == Some(column) && line.contains(REFERENCE))
}
