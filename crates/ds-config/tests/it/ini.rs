//! Key files: the reading of GLib, and edits that change nothing else.

use ds_config::{Error, ErrorKind, IniAssignment, IniDocument, IniType, IniValue};
use proptest::prelude::*;

use crate::table::{rows, unescape};

/// How the table spells the result of a getter.
fn spell<T>(result: Result<T, Error>, show: impl Fn(T) -> String) -> Vec<u8> {
    match result {
        Ok(value) => show(value).into_bytes(),
        Err(error) if error.kind() == ErrorKind::Encoding => b"ERR_ENCODING".to_vec(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
            b"ERR_VALUE".to_vec()
        }
    }
}

/// What the six getters make of a value, in the order of the table's columns.
fn spell_all(value: IniValue<'_>) -> [Vec<u8>; 6] {
    let quoted = |text: String| format!("\"{text}\"");
    [
        spell(value.string(), quoted),
        spell(value.integer(), |v| v.to_string()),
        spell(value.boolean(), |v| v.to_string()),
        spell(value.double(), double),
        spell(value.integer_list(), |v| {
            join(v.into_iter().map(|v| v.to_string()))
        }),
        spell(value.string_list(), |v| join(v.into_iter().map(quoted))),
    ]
}

fn join(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// `%g` of C, for the numbers that the table holds.
fn double(value: f64) -> String {
    if value.abs() >= 1e10 {
        format!("{value:e}").replace('e', "e+")
    } else {
        value.to_string()
    }
}

#[test]
fn every_case_reads_as_glib_reads_it() {
    let rows = rows("ini/gkeyfile-cases.tsv");
    assert_eq!(rows.len(), 149);
    for row in &rows {
        let [id, _, input, load, groups, keys, group, key, getters @ ..] = row.as_slice() else {
            panic!("a row of the table is short: {row:?}");
        };
        let document = IniDocument::parse(unescape(input));
        let loaded = match document.refusal() {
            None => "ok",
            Some(error) if error.message().starts_with("a key stands before any group") => {
                "ERR_NO_GROUP"
            }
            Some(_) => "ERR_PARSE",
        };
        assert_eq!(loaded, load, "{id} load");
        if loaded != "ok" {
            continue;
        }
        let or_none = |names: Vec<String>| {
            if names.is_empty() {
                "(none)".to_owned()
            } else {
                names.join("|")
            }
        };
        let group_names = document
            .groups()
            .into_iter()
            .map(|name| name.into_owned())
            .collect();
        assert_eq!(
            or_none(group_names).as_bytes(),
            unescape(groups),
            "{id} groups"
        );
        let key_names = if document.has_group(group) {
            or_none(document.keys(group).map(|name| name.into_owned()).collect())
        } else {
            "ERR_NO_GROUP".to_owned()
        };
        assert_eq!(key_names.as_bytes(), unescape(keys), "{id} keys");

        let actual = match document.get(group, key) {
            Some(value) => spell_all(value),
            None if document.has_group(group) => ["ERR_NO_KEY"; 6].map(Vec::from),
            None => ["ERR_NO_GROUP"; 6].map(Vec::from),
        };
        for (column, (actual, expected)) in actual.iter().zip(getters).enumerate() {
            let expected = unescape(expected);
            assert_eq!(*actual, expected, "{id} getter {column}");
        }
    }
}

#[track_caller]
fn refused(text: &[u8], line: usize, reason: &str) {
    let document = IniDocument::parse(text);
    let refusal = document.refusal().expect("GLib refuses this file");
    assert_eq!(refusal.kind(), ErrorKind::Refused);
    assert_eq!(refusal.place().map(|place| place.line), Some(line));
    assert_eq!(refusal.message(), reason);
    let edit = document.set(&[assign("a", "k", "1", IniType::Integer)]);
    assert_eq!(edit.as_ref(), Err(refusal));
}

#[test]
fn a_refused_file_names_its_line_and_the_reason() {
    refused(
        b"\xef\xbb\xbf[a]\nk=1\n",
        1,
        "the file begins with a byte order mark",
    );
    refused(
        b"[a]\n; c\nk=1\n",
        2,
        "`;` begins no comment here, only `#` does",
    );
    refused(
        b"[a]\n// c\n",
        2,
        "`//` begins no comment here, only `#` does",
    );
    refused(
        b"[a]\rk=1\r",
        1,
        "a key stands before any group: the lines end in CR alone",
    );
    refused(b"k=1\n[a]\n", 1, "a key stands before any group");
    refused(b"[a] # c\nk=1\n", 1, "text stands after the group header");
    refused(b"[a\nk=1\n", 1, "the group header is not closed");
    refused(b"[a]\nk: 1\n", 2, "a YAML line stands in a key file");
    refused(
        b"[a]\nk\n",
        2,
        "the line is no `key=value`, group or comment",
    );
    refused(b"[a]\n=1\n", 2, "the key before `=` is empty");
    refused(
        b"[]\nk=1\n",
        1,
        "the group name is empty or holds a bracket or control character",
    );
    refused(
        b"[a]\nk[d e]=1\n",
        2,
        "the key holds a bracket in a place where none may stand",
    );
}

fn assign<'a>(group: &'a str, key: &'a str, value: &'a str, read_as: IniType) -> IniAssignment<'a> {
    IniAssignment {
        group,
        key,
        value,
        read_as,
    }
}

#[track_caller]
fn edited(text: &str, assignments: &[IniAssignment<'_>], expected: &str) {
    let apply = |text: &[u8]| {
        let edit = IniDocument::parse(text)
            .set(assignments)
            .expect("the edit is possible");
        edit.apply(text).expect("the edit fits")
    };
    let once = apply(text.as_bytes());
    assert_eq!(String::from_utf8_lossy(&once), expected);
    assert_eq!(apply(&once), once, "the second edit changes something");
}

#[track_caller]
fn edited_integer(text: &str, expected: &str) {
    edited(text, &[assign("a", "k", "8", IniType::Integer)], expected);
}

#[test]
fn a_value_changes_in_place() {
    edited_integer("[a]\nk=1\n", "[a]\nk=8\n");
    edited_integer("[a]\n  k = 1\n", "[a]\n  k = 8\n");
    edited_integer("[a]\r\nk=1\r\nj=2\n", "[a]\r\nk=8\r\nj=2\n");
    edited_integer("[a]\nk=1", "[a]\nk=8");
    edited_integer("[a]\nk=\n", "[a]\nk=8\n");
    edited_integer("[a]\nk=8\n", "[a]\nk=8\n");
}

#[test]
fn the_last_of_several_is_the_one_that_counts() {
    edited_integer("[a]\nk=1\nk=2\nj=0\n", "[a]\nk=1\nk=8\nj=0\n");
    edited_integer(
        "[a]\nk=1\n[b]\nk=3\n[a]\nk=2\n",
        "[a]\nk=1\n[b]\nk=3\n[a]\nk=8\n",
    );
}

#[test]
fn a_comment_stays_behind_an_integer_and_nowhere_else() {
    edited_integer("[a]\nk=1 # one\n", "[a]\nk=8 # one\n");
    edited_integer("[a]\nk=1   \n", "[a]\nk=8   \n");
    edited_integer("[a]\nk=1#one\n", "[a]\nk=8\n");
    let list = [assign("a", "k", "3;224;224", IniType::IntegerList)];
    edited("[a]\nk=3;544;960 # c\n", &list, "[a]\nk=3;224;224 # c\n");
    // To GLib the comment is a part of the last item: what is no item there must go.
    edited("[a]\nk=3;544;960 # c;d\n", &list, "[a]\nk=3;224;224\n");
    edited("[a]\nk=3 # was 1;544;960\n", &list, "[a]\nk=3;224;224\n");
    edited("[a]\nk=3;544;960 # \\c\n", &list, "[a]\nk=3;224;224\n");
    let boolean = [assign("a", "k", "0", IniType::Boolean)];
    edited("[a]\nk=1 # c\n", &boolean, "[a]\nk=0\n");
    let double = [assign("a", "k", "0.5", IniType::Double)];
    edited("[a]\nk=0.25 \n", &double, "[a]\nk=0.5\n");
    let string = [assign("a", "k", "m.onnx", IniType::String)];
    edited("[a]\nk=n.onnx # c\n", &string, "[a]\nk=m.onnx\n");
}

#[test]
fn a_missing_key_goes_behind_the_last_live_one() {
    edited_integer(
        "[a]\nj=0\n\n# about b\n[b]\nz=0\n",
        "[a]\nj=0\nk=8\n\n# about b\n[b]\nz=0\n",
    );
    edited_integer("[a]\nj = 0\n#k=4\n", "[a]\nj = 0\nk = 8\n#k=4\n");
    edited_integer("[a]\r\n  j=0\r\n", "[a]\r\n  j=0\r\n  k=8\r\n");
    edited_integer("[a]\nj=0", "[a]\nj=0\nk=8");
    edited_integer("[a]\nj =   \n", "[a]\nj =   \nk =8\n");
    edited_integer("[a]\nj=\r\r\n", "[a]\nj=\r\r\nk=8\r\n");
    edited_integer("[a]\n[b]\nz=0\n", "[a]\nk=8\n[b]\nz=0\n");
    edited_integer(
        "[a]\nj=0\n[b]\n[a]\ni=1\n[c]\n",
        "[a]\nj=0\n[b]\n[a]\ni=1\nk=8\n[c]\n",
    );
}

#[test]
fn a_missing_group_is_opened_once_at_the_end() {
    let both = [
        assign("n", "x", "1", IniType::Integer),
        assign("n", "y", "5", IniType::Integer),
    ];
    edited("[a]\nj=0\n", &both, "[a]\nj=0\n\n[n]\nx=1\ny=5\n");
    edited("[a]\r\nj=0", &both, "[a]\r\nj=0\r\n\r\n[n]\r\nx=1\r\ny=5");
    edited("[a]\n\n", &both, "[a]\n\n[n]\nx=1\ny=5\n");
    edited("", &both, "[n]\nx=1\ny=5\n");
}

#[test]
fn a_string_is_escaped_so_that_it_reads_back() {
    let path = "C:\\data\\x";
    let text = IniDocument::parse("[a]\nk=1\n")
        .set(&[assign("a", "k", path, IniType::String)])
        .and_then(|edit| edit.apply(b"[a]\nk=1\n"))
        .expect("the edit is possible");
    let value = IniDocument::parse(text)
        .get("a", "k")
        .map(|value| value.string());
    assert_eq!(value, Some(Ok(path.to_owned())));
}

#[test]
fn what_cannot_be_written_is_refused() {
    let document = IniDocument::parse("[a]\nk=1\n");
    for bad in [
        assign("a", "k=j", "1", IniType::Integer),
        assign("a]", "k", "1", IniType::Integer),
        assign("a", "#k", "1", IniType::Integer),
        assign("a", "", "1", IniType::Integer),
        assign("a", "k", "1\n[b]", IniType::Integer),
    ] {
        let error = document.set(&[bad]).expect_err("this cannot be written");
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
    }
    let twice = [
        assign("a", "k", "1", IniType::Integer),
        assign("a", "k", "2", IniType::Integer),
    ];
    assert_eq!(
        document.set(&twice).map_err(|error| error.kind()),
        Err(ErrorKind::Conflict)
    );
}

/// Text that looks like a key file, with the faults that real files have.
fn key_file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[ \t]{0,2}[a-c]{1,2}[ \t]{0,2}=[ \t]{0,2}[0-9a-z;]{0,6}( # c|[ \t]{1,2})?",
        2 => "\\[[a-c]\\][ \t]{0,1}",
        1 => "#[a-c]=[0-9]",
        1 => "[ \t]{0,2}",
    ];
    let ending = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
    proptest::collection::vec((line, ending), 0..20).prop_map(|lines| {
        let body: String = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.to_owned()])
            .collect();
        format!("[a]\n{body}")
    })
}

fn ini_type() -> impl Strategy<Value = IniType> {
    prop_oneof![
        Just(IniType::Integer),
        Just(IniType::Boolean),
        Just(IniType::Double),
        Just(IniType::String)
    ]
}

proptest! {
    #[test]
    fn lines_tile_arbitrary_bytes(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let document = IniDocument::parse(text.as_slice());
        prop_assert_eq!(document.lines().flatten().copied().collect::<Vec<u8>>(), text);
    }

    #[test]
    fn an_edit_reads_back_and_leaves_other_keys_alone(
        text in key_file(),
        group in "[a-d]",
        key in "[a-c]{1,2}",
        read_as in ini_type(),
        one in any::<bool>(),
    ) {
        let value = if one { "1" } else { "0" };
        let before = IniDocument::parse(text.as_str());
        prop_assert!(before.refusal().is_none());
        let assignment = [assign(&group, &key, value, read_as)];
        let edit = before.set(&assignment).expect("a good file takes an edit");
        prop_assert!(edit.indels().len() <= 1);
        let after = IniDocument::parse(edit.apply(text.as_bytes()).expect("the edit fits"));
        prop_assert!(after.refusal().is_none());
        let read = after.get(&group, &key).expect("the key is there now");
        let good = match read_as {
            IniType::Integer => read.integer() == Ok(i32::from(one)),
            IniType::Boolean => read.boolean() == Ok(one),
            IniType::Double => read.double().is_ok_and(|v| v.to_string() == value),
            _ => read.string().as_deref() == Ok(value),
        };
        prop_assert!(good, "{:?}", read.raw());
        prop_assert!(after.set(&assignment).expect("still good").is_empty());
        for other_group in before.groups() {
            for other in before.keys(&other_group) {
                if (other_group.as_ref(), other.as_ref()) != (group.as_str(), key.as_str()) {
                    let old = before.get(&other_group, &other).map(|value| value.raw().to_vec());
                    let new = after.get(&other_group, &other).map(|value| value.raw().to_vec());
                    prop_assert_eq!(old, new);
                }
            }
        }
    }
}
