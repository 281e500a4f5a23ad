//! What an event says, as far as summaries need it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::time::nanos;

/// One element of `traceEvents`, with what is inside `args` still unread.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default)]
    pub(super) ph: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) cat: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    dur: Option<&'a RawValue>,
    /// A process, or the device of GPU work.
    #[serde(default)]
    pub(super) pid: Number,
    /// A thread, or the stream of GPU work.
    #[serde(default)]
    pub(super) tid: Number,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl Event<'_> {
    /// When it began, in nanoseconds of the file's own clock.
    pub(super) fn start(&self) -> Option<i64> {
        nanos(self.ts?.get())
    }

    /// When it began and ended; `None` without a time or a duration.
    pub(super) fn times(&self) -> Option<(i64, i64)> {
        let start = self.start()?;
        Some((start, start.checked_add(nanos(self.dur?.get())?)?))
    }

    /// Its arguments; without any, or where they cannot be read, all are unknown.
    pub(super) fn args(&self) -> Args<'_> {
        self.args
            .and_then(|args| serde_json::from_str(args.get()).ok())
            .unwrap_or_default()
    }
}

/// The arguments that summaries read, under the names of libkineto's `output_json.cpp` and `CuptiActivity.cpp`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Args<'a> {
    pub(super) device: Number,
    pub(super) context: Number,
    pub(super) stream: Number,
    pub(super) correlation: Number,
    pub(super) bytes: Number,
    #[serde(rename = "registers per thread")]
    pub(super) registers: Number,
    pub(super) grid: Shape,
    pub(super) block: Shape,
    #[serde(rename = "graph id")]
    pub(super) graph: Number,
    #[serde(rename = "graph node id")]
    pub(super) graph_node: Number,
    /// The name that a metadata event gives to a process or thread.
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
}

/// A whole number, also one in quotes as older releases write it; `None` for anything else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Number(pub(super) Option<i64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number(Some(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(Number(i64::try_from(value).ok()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        /// Up to here every whole number is a double.
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
        let whole = (value.trunc().total_cmp(&value).is_eq() && value.abs() < LARGEST)
            .then_some(value as i64);
        Ok(Number(whole))
    }

    fn visit_str<E>(self, value: &str) -> Result<Number, E> {
        Ok(Number(value.trim().parse().ok()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Number, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<Number, A::Error> {
        while values.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number(None))
    }
}

/// Three extents, written as an array or, by older releases, as one in quotes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape(pub(super) [Option<i64>; 3]);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Shape, A::Error> {
        let mut shape = Shape::default();
        let mut at = 0..;
        while let Some(value) = values.next_element::<Number>()? {
            if let Some(extent) = at.next().and_then(|at: usize| shape.0.get_mut(at)) {
                *extent = value.0;
            }
        }
        Ok(shape)
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        let mut shape = Shape::default();
        let values = value.trim_matches(['[', ']', ' ']).split(',');
        for (extent, value) in shape.0.iter_mut().zip(values) {
            *extent = value.trim().parse().ok();
        }
        Ok(shape)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::default())
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<Shape, A::Error> {
        while values.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Shape::default())
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Number, Shape};

    #[test]
    fn an_event_as_kineto_writes_it() {
        let text = r#"{"ph": "X", "cat": "kernel", "name": "f\u003cint\u003e(a\\b)", "pid": 0, "tid": 7,
            "ts": 5203268610167.974, "dur": 5.215,
            "args": {"External id": 1, "device": 0, "context": 1, "stream": "7", "correlation": 465.0,
                     "registers per thread": 32, "blocks per SM": 0.030303, "grid": [4, 1, 1], "block": "[32, 4, 1]"}}"#;
        let event: Event<'_> = serde_json::from_str(text).expect("an event");
        assert_eq!(event.name, "f<int>(a\\b)");
        assert_eq!(
            event.times(),
            Some((5_203_268_610_167_974, 5_203_268_610_173_189))
        );
        let args = event.args();
        assert_eq!(args.stream, Number(Some(7)));
        assert_eq!(args.correlation, Number(Some(465)));
        assert_eq!(args.registers, Number(Some(32)));
        assert_eq!(args.grid, Shape([Some(4), Some(1), Some(1)]));
        assert_eq!(args.block, Shape([Some(32), Some(4), Some(1)]));
        assert_eq!(args.graph, Number(None));
    }

    #[test]
    fn what_is_missing_or_odd_is_unknown() {
        let text = r#"{"ph": "X", "pid": "Spans", "tid": [1, {}], "ts": null,
            "args": {"device": 0.5, "stream": true, "context": null, "correlation": 18446744073709551615,
                     "grid": [1, 2], "block": 7}}"#;
        let event: Event<'_> = serde_json::from_str(text).expect("an event");
        assert_eq!(event.times(), None);
        assert_eq!((event.pid, event.tid), (Number(None), Number(None)));
        let args = event.args();
        assert_eq!(args.device, Number(None));
        assert_eq!(args.stream, Number(None));
        assert_eq!(args.correlation, Number(None));
        assert_eq!(args.grid, Shape([Some(1), Some(2), None]));
        assert_eq!(args.block, Shape::default());
    }
}
