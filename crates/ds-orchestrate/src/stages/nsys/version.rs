//! Which nsys it is, and whether it can be used.

use std::fmt;

/// A release of Nsight Systems: year, release of that year, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NsysVersion {
    /// Year.
    pub year: u16,
    /// Release of the year.
    pub release: u16,
    /// Patch.
    pub patch: u16,
}

impl NsysVersion {
    /// A version by its three numbers.
    pub const fn new(year: u16, release: u16, patch: u16) -> Self {
        Self {
            year,
            release,
            patch,
        }
    }

    /// Reads what `nsys --version` prints; `None` where it holds no version.
    ///
    /// ```
    /// use ds_orchestrate::NsysVersion;
    ///
    /// let text = "NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0\n";
    /// assert_eq!(NsysVersion::parse(text), Some(NsysVersion::new(2023, 4, 4)));
    /// assert_eq!(NsysVersion::parse("sh: nsys: not found"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (_, behind) = text.split_once("version ")?;
        let mut numbers = behind.split(['.', '-', ' ', '\n']).map(str::parse);
        let mut next = || numbers.next()?.ok();
        let (year, release) = (next()?, next()?);
        Some(Self::new(year, release, next().unwrap_or(0)))
    }

    /// Why this release is not used; `None` for one that is.
    pub fn unfit(self) -> Option<String> {
        let floor = OLDEST;
        if self == HANGS {
            return Some(format!(
                "nsys {self} is known to hang: at the end of a short program it did not return in 12 of 18 runs; \
                 install 2023.4.4 or newer (0 of 18)"
            ));
        }
        (self < floor).then(|| {
            format!(
                "nsys {self} is too old: releases before {floor} write another kind of report, `.qdrep`; install \
                 2023.4.4 or newer"
            )
        })
    }
}

/// The first release seen to write `.nsys-rep` (public files; the last `.qdrep` is of 2021.3.3).
const OLDEST: NsysVersion = NsysVersion::new(2022, 1, 1);
/// Measured on a host without a GPU, with a program of 0.3 s.
const HANGS: NsysVersion = NsysVersion::new(2022, 4, 2);

impl fmt::Display for NsysVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.year, self.release, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::NsysVersion;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let version = NsysVersion::parse(text).expect("a version");
        assert_eq!(version.to_string(), expected);
    }

    #[test]
    fn what_releases_print() {
        check(
            "NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n",
            "2022.4.2",
        );
        check(
            "NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0\n",
            "2025.3.1",
        );
        check("NVIDIA Nsight Systems version 2027.1\n", "2027.1.0");
    }

    #[test]
    fn what_is_no_version() {
        for text in ["", "version", "version of nsys", "version 12", "2023.4.4"] {
            assert_eq!(NsysVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn releases_that_are_not_used_say_why() {
        let unfit = |year, release, patch| NsysVersion::new(year, release, patch).unfit();
        assert!(unfit(2022, 4, 2).is_some_and(|why| why.contains("hang")));
        assert!(unfit(2021, 3, 3).is_some_and(|why| why.contains("too old")));
        for (year, release, patch) in [(2022, 1, 1), (2023, 4, 4), (2025, 3, 2), (2031, 1, 0)] {
            assert_eq!(unfit(year, release, patch), None);
        }
    }
}
