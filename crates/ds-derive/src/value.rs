//! What a knob can hold, and what it holds now.

use std::fmt;

use ds_ceilings::Resolution;

use crate::knob::Knob;

/// A flag. DeepStream writes it as 0 or 1 in every form but service-maker YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Switch {
    /// Off.
    Off,
    /// On.
    On,
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "0",
            Self::On => "1",
        })
    }
}

/// Channels, height and width of a model's input, in the order in which nvinfer's `infer-dims` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dims {
    channels: u32,
    size: Resolution,
}

impl Dims {
    /// Takes the three numbers in the order of `infer-dims`; `None` if one is zero.
    #[must_use]
    pub fn new(channels: u32, height: u32, width: u32) -> Option<Self> {
        let size = Resolution::new(width, height)?;
        (channels > 0).then_some(Self { channels, size })
    }

    /// The number of colour channels, 3 for nearly every model.
    #[must_use]
    pub fn channels(self) -> u32 {
        self.channels
    }

    /// The size of the frame that the model takes.
    #[must_use]
    pub fn size(self) -> Resolution {
        self.size
    }

    /// Reads `3;544;960`; one `;` at the end is allowed, as nvinfer allows it in a text file.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut numbers = text
            .strip_suffix(';')
            .unwrap_or(text)
            .split(';')
            .map(|number| number.trim().parse().ok());
        let dims = Self::new(numbers.next()??, numbers.next()??, numbers.next()??)?;
        numbers.next().is_none().then_some(dims)
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channels, size } = self;
        write!(f, "{channels};{};{}", size.height(), size.width())
    }
}

/// The value of a knob. `Display` gives the text that the configuration forms share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A flag.
    Switch(Switch),
    /// The shape of a model's input.
    Dims(Dims),
    /// A path, the name of an element, or a text that is not what the knob asks for.
    Text(String),
}

impl Value {
    /// The number, if it is one.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Switch(_) | Self::Dims(_) | Self::Text(_) => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Integer(_) | Self::Switch(_) | Self::Dims(_) => None,
        }
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<Switch> for Value {
    fn from(switch: Switch) -> Self {
        Self::Switch(switch)
    }
}

impl From<Dims> for Value {
    fn from(dims: Dims) -> Self {
        Self::Dims(dims)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Switch(switch) => switch.fmt(f),
            Self::Dims(dims) => dims.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Where a value stands, in words that the reader can follow: `pipeline.txt:12 [streammux]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(String);

impl Place {
    /// Takes the words.
    #[must_use]
    pub fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the configuration says about a knob before the plan: the effective value and the place that wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Present {
    /// Nothing: the element's own default holds.
    #[default]
    Absent,
    /// A value that could be read.
    Value {
        /// The value.
        value: Value,
        /// The place that wins.
        place: Place,
    },
    /// Text that only the running program turns into a value: a variable, a call, a template.
    Computed {
        /// The text as it stands.
        text: String,
        /// The place that wins.
        place: Place,
    },
}

impl Present {
    /// A literal that stands at a place, read as its knob asks: see [`Knob::read`].
    #[must_use]
    pub fn literal(knob: Knob, text: &str, place: Place) -> Self {
        Self::Value {
            value: knob.read(text),
            place,
        }
    }

    /// The value, where there is one to read.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Value { value, .. } => Some(value),
            Self::Absent | Self::Computed { .. } => None,
        }
    }

    /// The place that wins, where the knob is named at all.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Value { place, .. } | Self::Computed { place, .. } => Some(place),
            Self::Absent => None,
        }
    }

    /// Whether the configuration names the knob.
    #[must_use]
    pub fn is_named(&self) -> bool {
        !matches!(self, Self::Absent)
    }
}
