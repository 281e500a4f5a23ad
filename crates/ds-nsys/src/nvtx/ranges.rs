//! Reading ranges and their names.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::grouped::Grouped;
use crate::ids::{ProcessKey, ThreadKey};
use crate::rows::Column;
use crate::style::Style;
use crate::trace::Trace;

/// How a range was marked; displayed as `nsys stats` calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RangeStyle {
    /// Pushed and popped on one thread: such ranges of a domain nest.
    PushPop,
    /// Started and ended by id, possibly on two threads: such ranges may overlap.
    StartEnd,
}

impl RangeStyle {
    /// Codes of `ENUM_NSYS_EVENT_TYPE`: 70 and 71 are what files of the old NVTX text format hold.
    fn from_event_type(code: i64) -> Option<Self> {
        match code {
            59 | 70 => Some(Self::PushPop),
            60 | 71 => Some(Self::StartEnd),
            _ => None,
        }
    }
}

impl fmt::Display for RangeStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PushPop => "PushPop",
            Self::StartEnd => "StartEnd",
        })
    }
}

/// The event type of a row that names a domain.
const DOMAIN_CREATE: i64 = 75;

/// The name of a range, in its two parts: a printed name cannot be split again, since both may hold colons.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeName {
    /// The domain; `None` for the default one, and where the export does not name it.
    pub domain: Option<Arc<str>>,
    /// The text.
    pub text: Arc<str>,
}

impl RangeName {
    /// The name as a release prints it.
    #[must_use]
    pub fn printed(&self, style: Style) -> String {
        match (&self.domain, style) {
            (Some(domain), _) => format!("{domain}:{}", self.text),
            (None, Style::V2025) => format!(":{}", self.text),
            (None, Style::V2023) => self.text.to_string(),
        }
    }
}

/// One range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// The row, by which `nsys stats` numbers ranges.
    pub(crate) row: i64,
    pub(crate) start: i64,
    /// The end, or the end of all ranges while the range is open.
    pub(crate) end: i64,
    pub(crate) style: RangeStyle,
    pub(crate) thread: Option<ThreadKey>,
    /// Where it ended, for ranges that say so.
    pub(crate) end_thread: Option<ThreadKey>,
    /// The position of its name in [`Ranges::names`].
    pub(crate) name: usize,
}

impl Range {
    pub(crate) fn duration(&self) -> i64 {
        self.end.saturating_sub(self.start)
    }

    /// The thread on which everything between start and end belongs to the range.
    ///
    /// A range that names the thread it ended on takes no part in joins with GPU work, even when that is the thread it
    /// started on: measured against 2023.4.4.
    pub(crate) fn own_thread(&self) -> Option<ThreadKey> {
        if self.end_thread.is_some() {
            None
        } else {
            self.thread
        }
    }
}

/// All ranges of a trace, in the order of their rows.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    pub(crate) ranges: Vec<Range>,
    /// Distinct names.
    pub(crate) names: Vec<RangeName>,
    /// How many ranges were still open when the collection ended.
    pub(crate) open: u64,
}

impl Ranges {
    /// The names as a release prints them, in the order of [`Ranges::names`].
    pub(crate) fn printed_names(&self, style: Style) -> Vec<String> {
        self.names.iter().map(|name| name.printed(style)).collect()
    }
}

/// The text of a row, before names are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Text {
    /// A registered string.
    Registered(i64),
    /// A text of its own, by its position among the distinct ones.
    Own(usize),
    Missing,
}

/// Process, domain and text: what makes up a name.
type NameKey = (Option<ProcessKey>, Option<i64>, Text);

impl Trace {
    /// Reads all ranges; `None` when the export has no NVTX events.
    pub(crate) fn ranges(&self) -> Result<Option<Ranges>> {
        let columns = [
            Column::if_there("rowid"),
            Column::always("start"),
            Column::always("end"),
            Column::always("eventType"),
            Column::if_there("text"),
            Column::if_there("textId"),
            Column::if_there("globalTid"),
            Column::if_there("endGlobalTid"),
            Column::if_there("domainId"),
        ];
        let mut texts = Texts::default();
        let mut domains: BTreeMap<(Option<ProcessKey>, i64), Text> = BTreeMap::new();
        let mut keys: Grouped<NameKey, ()> = Grouped::default();
        let mut found = Ranges::default();
        let mut last = i64::MIN;
        let there = self.for_each("NVTX_EVENTS", &columns, |fields| {
            let code: i64 = fields.get(3)?;
            let style = RangeStyle::from_event_type(code);
            if style.is_none() && code != DOMAIN_CREATE {
                return Ok(());
            }
            let text = match fields.text(4)? {
                Some(own) => Text::Own(texts.position(&own)),
                None => fields
                    .get::<Option<i64>>(5)?
                    .map_or(Text::Missing, Text::Registered),
            };
            let thread = fields.get::<Option<i64>>(6)?.map(ThreadKey::of);
            let process = thread.map(ThreadKey::process);
            let domain: Option<i64> = fields.get(8)?;
            let Some(style) = style else {
                domains.insert((process, domain.unwrap_or_default()), text);
                return Ok(());
            };
            let start: i64 = fields.get(1)?;
            let end: Option<i64> = fields.get(2)?;
            last = last.max(end.unwrap_or(start));
            found.open += u64::from(end.is_none());
            found.ranges.push(Range {
                // A view has no row ids; what comes from one is counted.
                row: fields
                    .get::<Option<i64>>(0)?
                    .unwrap_or_else(|| next_row(&found.ranges)),
                start,
                end: end.unwrap_or(i64::MAX),
                style,
                thread,
                end_thread: fields.get::<Option<i64>>(7)?.map(ThreadKey::of),
                name: keys.position((process, domain, text)),
            });
            Ok(())
        })?;
        if !there {
            return Ok(None);
        }
        // `nsys stats` lets an open range last until the last time that any range knows.
        for range in &mut found.ranges {
            if range.end == i64::MAX {
                range.end = last.max(range.start);
            }
        }
        let mut distinct: HashMap<RangeName, usize> = HashMap::new();
        let mut name_of_key = Vec::with_capacity(keys.len());
        for ((process, domain, text), ()) in keys.iter() {
            let domain = domain.and_then(|domain| domains.get(&(process, domain)));
            let domain = domain
                .map(|text| self.range_text(*text, &texts))
                .transpose()?;
            let name = RangeName {
                domain,
                text: self.range_text(text, &texts)?,
            };
            let position = *distinct.entry(name.clone()).or_insert(found.names.len());
            if position == found.names.len() {
                found.names.push(name);
            }
            name_of_key.push(position);
        }
        for range in &mut found.ranges {
            range.name = name_of_key[range.name];
        }
        Ok(Some(found))
    }

    fn range_text(&self, text: Text, texts: &Texts) -> Result<Arc<str>> {
        match text {
            Text::Registered(id) => self.name(Some(id)),
            Text::Own(position) => Ok(Arc::clone(&texts.distinct[position])),
            Text::Missing => self.name(None),
        }
    }
}

fn next_row(ranges: &[Range]) -> i64 {
    ranges.last().map_or(1, |range| range.row.saturating_add(1))
}

/// Distinct texts, so that a million ranges of a dozen names cost a dozen allocations.
#[derive(Debug, Default)]
struct Texts {
    positions: HashMap<Arc<str>, usize>,
    distinct: Vec<Arc<str>>,
}

impl Texts {
    fn position(&mut self, text: &str) -> usize {
        if let Some(position) = self.positions.get(text) {
            return *position;
        }
        let text: Arc<str> = Arc::from(text);
        self.positions
            .insert(Arc::clone(&text), self.distinct.len());
        self.distinct.push(text);
        self.distinct.len() - 1
    }
}
