//! The sources of deepstream-app: groups, one list, or a table of their own.

use super::{ENTRY, enabled, flag, group_place, integer, key, keyed, numbered};
use crate::error::{Error, ErrorKind};
use crate::ini::IniType;
use crate::model::{
    Branch, Document, ElementId, FilePlace, FrameRate, FrameSize, Knob, Locator, Role, Site,
    Source, SourceKind,
};
use crate::resolve::builder::Builder;
use crate::resolve::source::join;

/// What `[source-list]` makes of the batch keys of other groups.
#[derive(Clone, Copy)]
pub(super) struct SourceList {
    /// The batch of the mux and of the primary inference; `None` where it is not known.
    pub(super) batch: Option<i64>,
    /// Why.
    pub(super) reason: &'static str,
    /// The batch of every secondary inference, where it replaces theirs.
    pub(super) secondary_batch: Option<i64>,
}

/// The decoder's knobs, with the defaults of `[sourceN]`.
const DECODE: [(Knob, &str); 2] = [
    (Knob::DecodeNumExtraSurfaces, "1"),
    (Knob::DecodeCudadecMemtype, "0"),
];

/// `[sourceN]`, `[source-list]` with `[source-attr-all]`, or the table that a YAML names.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Option<SourceList> {
    if matches!(builder.file(ENTRY).document, Document::Yaml(_)) {
        named_table(builder);
        return None;
    }
    let list = keyed(builder).has("source-list").then(|| listed(builder));
    for (position, group) in numbered(builder, "source").into_iter().enumerate() {
        if enabled(builder, &group) {
            group_source(builder, &group, position);
        }
    }
    list
}

/// `[source-list]`: one list of URIs, and one group with the settings of all of them.
fn listed(builder: &mut Builder<'_>) -> SourceList {
    let uris = keyed(builder)
        .list("source-list", "list")
        .unwrap_or_default();
    let count = u32::try_from(uris.len()).ok();
    let uses_multi_uri = flag(builder, "source-list", "use-nvmultiurisrcbin");
    let cap = integer(builder, "source-list", "max-batch-size");
    let secondary = integer(builder, "source-list", "sgie-batch-size").unwrap_or(0);
    let place = group_place(builder, "source-list");
    let (role, factory) = if uses_multi_uri {
        (Role::MultiSource, "nvmultiurisrcbin")
    } else {
        (Role::Source, "nvurisrcbin")
    };
    let id = builder.element(role, factory, "source-list", place, Branch::Source(0));
    builder.pipeline.sources.push(Source {
        element: id,
        kind: uris
            .first()
            .map_or(SourceKind::Other, |uri| kind_of_uri(uri)),
        streams: count,
        uris,
        size: None,
        rate: None,
    });
    if uses_multi_uri {
        let cap = key(
            builder,
            "source-list",
            Knob::MultiUriMaxBatchSize.key(),
            IniType::Integer,
        );
        builder.knob(id, Knob::MultiUriMaxBatchSize, vec![cap], None);
    }
    decode_knobs(builder, id, "source-attr-all");
    let (batch, reason) = if uses_multi_uri {
        (cap, "[source-list] sets it to its max-batch-size")
    } else {
        (
            count.map(i64::from),
            "[source-list] sets it to the number of URIs",
        )
    };
    SourceList {
        batch,
        reason,
        secondary_batch: (secondary != 0 || uses_multi_uri).then_some(secondary),
    }
}

/// One `[sourceN]`.
fn group_source(builder: &mut Builder<'_>, group: &str, position: usize) {
    let number = integer(builder, group, "type");
    let mut count = |key| integer(builder, group, key).and_then(|value| u32::try_from(value).ok());
    let streams = match number {
        Some(3) => count("num-sources").unwrap_or(1),
        _ => 1,
    };
    let size = count("camera-width").zip(count("camera-height"));
    let rate = count("camera-fps-n").zip(count("camera-fps-d"));
    let uri = keyed(builder).text(group, "uri");
    let (kind, factory) = kind_of_number(number, uri.as_deref());
    let place = group_place(builder, group);
    let id = builder.element(
        Role::Source,
        factory,
        group,
        place,
        Branch::Source(position),
    );
    builder.pipeline.sources.push(Source {
        element: id,
        kind,
        uris: uri.into_iter().collect(),
        streams: Some(streams),
        size: size.map(|(width, height)| FrameSize { width, height }),
        rate: rate.map(|(numerator, denominator)| FrameRate {
            numerator,
            denominator,
        }),
    });
    if factory == "nvurisrcbin" {
        decode_knobs(builder, id, group);
    }
}

/// The decoder's knobs of a source group.
fn decode_knobs(builder: &mut Builder<'_>, id: ElementId, group: &str) {
    for (knob, default) in DECODE {
        let site = key(builder, group, knob.key(), IniType::Integer);
        builder.knob(id, knob, vec![site], Some(default));
    }
}

/// The table that `source: csv-file-path` names.
fn named_table(builder: &mut Builder<'_>) {
    let Some(named) = keyed(builder).text("source", "csv-file-path") else {
        return;
    };
    let path = join(&builder.file(ENTRY).path, &named);
    let Some(file) = builder.follow(&path) else {
        return;
    };
    if matches!(builder.file(file).document, Document::Csv(_)) {
        table(builder, file);
    } else {
        let message = "the file is no table of sources";
        builder.fault(Error::new(ErrorKind::UnknownForm, message).in_file(&path));
    }
}

/// Adds the enabled rows of a table of sources.
pub(in crate::resolve) fn table(builder: &mut Builder<'_>, file: usize) {
    let Document::Csv(table) = &builder.file(file).document else {
        return;
    };
    let table = table.clone();
    let path = builder.file(file).path.clone();
    for (row_number, row) in table.rows().enumerate() {
        let number = |column| row.get(column).and_then(|cell| cell.int()).map(i64::from);
        if number("enable").is_none_or(|enable| enable == 0) {
            continue;
        }
        let uri = row
            .get("uri")
            .and_then(|cell| cell.text())
            .map(str::to_owned);
        let streams = match number("type") {
            Some(3) => number("num-sources")
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(1),
            _ => 1,
        };
        let (kind, factory) = kind_of_number(number("type"), uri.as_deref());
        let place = FilePlace {
            path: path.clone(),
            place: row.place(),
        };
        let name = format!("source{row_number}");
        let id = builder.element(
            Role::Source,
            factory,
            &name,
            place,
            Branch::Source(row_number),
        );
        builder.pipeline.sources.push(Source {
            element: id,
            kind,
            uris: uri.into_iter().collect(),
            streams: Some(streams),
            size: None,
            rate: None,
        });
        if factory == "nvurisrcbin" {
            for (knob, default) in DECODE {
                let locator = Locator::Csv {
                    row: row_number,
                    column: knob.key(),
                };
                builder.knob(id, knob, vec![Site { file, locator }], Some(default));
            }
        }
    }
}

/// The kind and the element that a `type` of deepstream-app stands for.
fn kind_of_number(number: Option<i64>, uri: Option<&str>) -> (SourceKind, &'static str) {
    match number {
        Some(1) => (SourceKind::Usb, "v4l2src"),
        Some(2..=4) => (uri.map_or(SourceKind::Other, kind_of_uri), "nvurisrcbin"),
        Some(5) => (SourceKind::Csi, "nvarguscamerasrc"),
        _ => (SourceKind::Other, "source"),
    }
}

/// The kind of source that a URI names.
pub(in crate::resolve) fn kind_of_uri(uri: &str) -> SourceKind {
    let scheme = uri.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        "file" | "" => SourceKind::File,
        "rtsp" | "rtsps" | "rtspt" => SourceKind::Rtsp,
        _ => SourceKind::Other,
    }
}
