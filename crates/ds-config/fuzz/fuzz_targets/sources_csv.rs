#![no_main]
//! Tables of sources: the text is kept, lookups do not panic, an edit reads back and settles.

use ds_config::SourcesCsv;
use ds_config_fuzz::{applied, assert_settled, value_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(table) = SourcesCsv::parse(text) else {
        return;
    };
    assert_eq!(table.as_bytes(), text);
    let columns: Vec<String> = table
        .columns()
        .filter_map(|name| String::from_utf8(name.to_vec()).ok())
        .take(4)
        .collect();
    for (number, row) in table.rows().enumerate().take(4) {
        assert!(
            row.span().end() <= text.len(),
            "a row lies outside of the text"
        );
        let _ = row.place();
        for column in columns.iter().map(String::as_str).chain(["no-such-column"]) {
            if let Some(cell) = row.get(column) {
                assert!(
                    cell.span().end() <= text.len(),
                    "a cell lies outside of the text"
                );
                let _ = (cell.bytes(), cell.text(), cell.int());
            }
            check(&table, number, column, value_for(text));
        }
    }
    for column in &columns {
        if let Some(after) = applied(text, table.set_column(column, "4")) {
            let after = SourcesCsv::parse(&after).expect("an edited table is read");
            assert_settled(after.set_column(column, "4"));
        }
    }
});

fn check(table: &SourcesCsv, row: usize, column: &str, value: &str) {
    let Some(after) = applied(table.as_bytes(), table.set(row, column, value)) else {
        return;
    };
    let after = SourcesCsv::parse(&after).expect("an edited table is read");
    let cell = after.rows().nth(row).and_then(|row| row.get(column));
    // With CRLF line ends the last cell keeps the `\r`, which no value may hold.
    let read = cell
        .and_then(|cell| cell.text())
        .map(|text| text.trim_end_matches('\r'));
    assert_eq!(read, Some(value), "`{column}`");
    assert_settled(after.set(row, column, value));
}
