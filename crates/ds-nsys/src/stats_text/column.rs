//! What the columns of a table hold, whatever the release calls them.

/// What the numbers of a column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds, printed to the nanosecond.
    Microseconds,
    /// Milliseconds, printed to 100 ns.
    Milliseconds,
    /// Seconds, printed to 100 µs.
    Seconds,
    /// Per cent.
    Percent,
    /// 10^6 bytes.
    Megabytes,
    /// 1024 bytes.
    Kibibytes,
    /// 10^6 bytes a second.
    MegabytesPerSecond,
    /// A count, an id, or a text.
    None,
}

impl StatsUnit {
    /// The unit in parentheses at the end of a heading.
    pub(super) fn from_heading(heading: &str) -> Option<Self> {
        let unit = heading.strip_suffix(')')?.rsplit_once('(')?.1;
        Some(match unit {
            "ns" => Self::Nanoseconds,
            "us" | "μs" => Self::Microseconds,
            "ms" => Self::Milliseconds,
            "s" | "sec" => Self::Seconds,
            "%" => Self::Percent,
            "MB" => Self::Megabytes,
            "KiB" => Self::Kibibytes,
            "MB/s" | "MBps" => Self::MegabytesPerSecond,
            _ => return None,
        })
    }

    /// How many nanoseconds or bytes one is; `None` for what is neither.
    pub(super) fn scale(self) -> Option<f64> {
        match self {
            Self::Nanoseconds => Some(1.0),
            Self::Microseconds => Some(1e3),
            Self::Milliseconds | Self::Megabytes => Some(1e6),
            Self::Seconds => Some(1e9),
            Self::Kibibytes => Some(1024.0),
            Self::Percent | Self::MegabytesPerSecond | Self::None => None,
        }
    }

    pub(super) fn is_size(self) -> bool {
        matches!(self, Self::Megabytes | Self::Kibibytes)
    }
}

/// A figure of a summary, whatever the release calls its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsFigure {
    /// The share in per cent.
    Share,
    /// The total.
    Total,
    /// How many.
    Count,
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// The least.
    Min,
    /// The most.
    Max,
    /// The standard deviation.
    StdDev,
    /// What it is about: a name, an operation, a range.
    Name,
}

impl StatsFigure {
    /// Headings of 2020 to 2026, without their unit.
    pub(super) fn from_heading(heading: &str) -> Option<Self> {
        let stem = heading.split('(').next().unwrap_or(heading).trim();
        Some(match stem {
            "Time" => Self::Share,
            "Total Time" | "Total" => Self::Total,
            "Instances" | "Num Calls" | "Calls" | "Count" | "Operations" | "Kern Inst" => {
                Self::Count
            }
            "Avg" | "Average" => Self::Mean,
            "Med" | "Median" => Self::Median,
            "Min" | "Minimum" => Self::Min,
            "Max" | "Maximum" => Self::Max,
            "StdDev" => Self::StdDev,
            "Name" | "Operation" | "Range" | "Kernel Name" => Self::Name,
            _ => return None,
        })
    }

    pub(super) fn has_fraction(self) -> bool {
        matches!(self, Self::Share | Self::Mean | Self::Median | Self::StdDev)
    }
}

/// A column as printed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatsColumn {
    /// Its heading.
    pub heading: String,
    /// Its unit: from the heading, or from what the release is known to print without saying.
    pub unit: StatsUnit,
    /// Which figure it holds, in summaries.
    pub figure: Option<StatsFigure>,
}
