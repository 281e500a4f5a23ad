//! What `gst-inspect-1.0 ELEMENT` prints.

use std::ops::RangeInclusive;

/// A property of an installed element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    /// Its name.
    pub(super) name: String,
    /// Whether it can be set.
    pub(super) is_writable: bool,
    /// The values that it takes.
    pub(super) values: Values,
}

/// The values that a property takes, as far as they are printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Values {
    /// Whole numbers from here to there.
    Range(RangeInclusive<i128>),
    /// One of these numbers.
    OneOf(Vec<i128>),
    /// Anything; text, a flag, another object.
    Open,
}

impl Property {
    /// Why it does not take a number; `None` where it does, or where that is not told.
    pub(super) fn refuses(&self, value: i64) -> Option<String> {
        let value = i128::from(value);
        match &self.values {
            Values::Range(range) if !range.contains(&value) => {
                Some(format!("takes {} to {}", range.start(), range.end()))
            }
            Values::OneOf(values) if !values.contains(&value) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                Some(format!("takes {}", values.join(", ")))
            }
            _ => None,
        }
    }
}

/// The properties of an element; `None` for text that describes none, such as the answer to an unknown name.
///
/// GStreamer 1.22 prints a heading, then each property as `  name   : text`, and behind it, indented further, its flags, its
/// type with range and default, and the values of an enumeration as `(2): nick - text`.
pub(super) fn properties(text: &str) -> Option<Vec<Property>> {
    let (_, behind) = text.split_once("Element Properties:\n")?;
    let mut properties: Vec<Property> = Vec::new();
    for line in behind.lines() {
        let indent = line.len() - line.trim_start().len();
        match (indent, properties.last_mut()) {
            // The next heading.
            (0, _) if !line.is_empty() => break,
            (2, _) => properties.extend(first_line(line)),
            (3.., Some(property)) => property.read(line.trim()),
            _ => {}
        }
    }
    Some(properties)
}

fn first_line(line: &str) -> Option<Property> {
    let (name, _) = line.split_once(':')?;
    Some(Property {
        name: name.trim().to_owned(),
        is_writable: false,
        values: Values::Open,
    })
}

impl Property {
    /// Takes in one of the lines behind the first.
    fn read(&mut self, line: &str) {
        if let Some(flags) = line.strip_prefix("flags:") {
            self.is_writable = flags.contains("writable");
        } else if let Some((_, behind)) = line.split_once(" Range: ") {
            if let Some(range) = range(behind) {
                self.values = Values::Range(range);
            }
        } else if line.starts_with("Enum ") {
            self.values = Values::OneOf(Vec::new());
        } else if let Values::OneOf(values) = &mut self.values
            && let Some(number) = line.strip_prefix('(').and_then(|rest| rest.split_once(')'))
        {
            values.extend(number.0.parse::<i128>());
        }
    }
}

/// `-1 - 2147483647 Default: …`; ranges of fractions are none of whole numbers.
fn range(text: &str) -> Option<RangeInclusive<i128>> {
    let (range, _) = text.split_once(" Default:").unwrap_or((text, ""));
    let (from, to) = range.trim().split_once(" - ")?;
    Some(from.trim().parse().ok()?..=to.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{Values, properties};

    /// Out of what 1.22.0 prints of `queue`, and a property with a negative limit as other elements have it.
    const QUEUE: &str = "Factory Details:\n  Rank                     none (0)\n\nElement Properties:\n  \
        current-level-buffers: Current number of buffers in the queue\n                        \
        flags: readable\n                        \
        Unsigned Integer. Range: 0 - 4294967295 Default: 0 \n  \
        leaky               : Where the queue leaks, if at all\n                        \
        flags: readable, writable, changeable in NULL, READY, PAUSED or PLAYING state\n                        \
        Enum \"GstQueueLeaky\" Default: 0, \"no\"\n                           \
        (0): no               - Not Leaky\n                           \
        (1): upstream         - Leaky on upstream (new buffers)\n                           \
        (2): downstream       - Leaky on downstream (old buffers)\n  \
        timeout             : -1 waits for ever\n                        \
        flags: readable, writable\n                        \
        Integer. Range: -1 - 2147483647 Default: -1 \n  \
        name                : The name of the object\n                        \
        flags: readable, writable\n                        \
        String. Default: \"queue0\"\n\nElement Signals:\n  \"underrun\" :  void user_function (GstElement* object,\n";

    #[test]
    fn names_flags_ranges_and_enumerations() {
        let found = properties(QUEUE).expect("an element");
        let names: Vec<(&str, bool)> = found
            .iter()
            .map(|property| (property.name.as_str(), property.is_writable))
            .collect();
        assert_eq!(
            names,
            [
                ("current-level-buffers", false),
                ("leaky", true),
                ("timeout", true),
                ("name", true)
            ]
        );
        assert_eq!(found[1].values, Values::OneOf(vec![0, 1, 2]));
        assert_eq!(found[2].values, Values::Range(-1..=2_147_483_647));
        assert_eq!(found[3].values, Values::Open);
    }

    #[test]
    fn numbers_that_are_refused() {
        let found = properties(QUEUE).expect("an element");
        assert_eq!(found[1].refuses(3).as_deref(), Some("takes 0, 1, 2"));
        assert_eq!(found[1].refuses(2), None);
        assert_eq!(
            found[2].refuses(-2).as_deref(),
            Some("takes -1 to 2147483647")
        );
        assert_eq!(found[2].refuses(-1), None);
        assert_eq!(found[3].refuses(1), None);
    }

    #[test]
    fn an_answer_that_describes_no_element() {
        assert_eq!(properties("No such element or plugin 'nvinfer'\n"), None);
    }
}
