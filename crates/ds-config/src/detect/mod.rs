//! Which form a text is, told by its content and never by the name of its file.
//!
//! Half of all names mislead: `.txt` is four forms, text protobuf comes as `.yml`, and most files
//! that look like a deepstream-app YAML are of another schema. The name decides one thing only, and
//! at run time: DeepStream reads `.yml` and `.yaml` as YAML and everything else as a key file.

mod carrier;
mod outline;
mod rules;

use std::fmt;

use self::outline::Outline;

pub use self::carrier::Carrier;

/// A form of configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// deepstream-app, key file.
    AppTxt,
    /// deepstream-app, YAML.
    AppYml,
    /// The table of sources that a deepstream-app YAML names.
    SourcesCsv,
    /// The YAML of a sample app, with element properties below each key.
    SampleAppYml,
    /// nvinfer, key file.
    NvinferTxt,
    /// nvinfer, YAML.
    NvinferYml,
    /// nvinferserver, text protobuf.
    Nvinferserver,
    /// The low-level tracker's YAML.
    TrackerYml,
    /// A lone `[tracker]` group, read by sample apps.
    TrackerTxt,
    /// The policy file of the new nvstreammux, key file.
    MuxPolicyTxt,
    /// The policy file of the new nvstreammux, YAML.
    MuxPolicyYml,
    /// nvdsanalytics, key file.
    AnalyticsTxt,
    /// nvdsanalytics, YAML.
    AnalyticsYml,
    /// nvdspreprocess, key file.
    PreprocessTxt,
    /// nvdspreprocess, YAML.
    PreprocessYml,
    /// A service-maker pipeline.
    ServiceMakerYml,
    /// `gst-launch-1.0` command lines.
    GstLaunch,
    /// A Python program that builds a pipeline.
    Python,
    /// A text that is recognised and not read.
    Declined(Carrier),
    /// None of these.
    Unknown,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::AppTxt => "deepstream-app-txt",
            Self::AppYml => "deepstream-app-yml",
            Self::SourcesCsv => "sources-csv",
            Self::SampleAppYml => "sample-app-yml",
            Self::NvinferTxt => "nvinfer-txt",
            Self::NvinferYml => "nvinfer-yml",
            Self::Nvinferserver => "nvinferserver",
            Self::TrackerYml => "tracker-yml",
            Self::TrackerTxt => "tracker-group-txt",
            Self::MuxPolicyTxt => "nvstreammux-new-txt",
            Self::MuxPolicyYml => "nvstreammux-new-yml",
            Self::AnalyticsTxt => "analytics-txt",
            Self::AnalyticsYml => "analytics-yml",
            Self::PreprocessTxt => "preprocess-txt",
            Self::PreprocessYml => "preprocess-yml",
            Self::ServiceMakerYml => "servicemaker-yml",
            Self::GstLaunch => "gst-launch",
            Self::Python => "python",
            Self::Declined(carrier) => return write!(f, "other: {carrier}"),
            Self::Unknown => "unknown",
        };
        f.write_str(name)
    }
}

/// A form, and what in the text gave it away.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detection {
    /// The form.
    pub form: Form,
    /// The evidence, as a fragment: "group `[streammux]`".
    pub because: String,
}

impl Detection {
    fn new(form: Form, because: impl Into<String>) -> Self {
        Self {
            form,
            because: because.into(),
        }
    }
}

/// Tells the form of a text.
#[must_use]
pub fn detect(text: &[u8]) -> Detection {
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Detection::new(
            Form::Unknown,
            "the text is UTF-16, which no reader of DeepStream takes",
        );
    }
    let outline = Outline::of(text);
    // Programs come first: they hold strings that look like every other form. A template comes
    // before what it is a template of.
    rules::program(&outline)
        .or_else(|| rules::foreign_yaml(&outline))
        .or_else(|| rules::template(&outline))
        .or_else(|| rules::protobuf(&outline))
        .or_else(|| rules::key_file(&outline))
        .or_else(|| rules::yaml(&outline))
        .or_else(|| rules::sources_csv(&outline))
        .or_else(|| rules::gst_launch(text))
        .or_else(|| rules::here_document(&outline))
        .or_else(|| rules::other_key_file(&outline))
        .or_else(|| rules::other_yaml(&outline))
        .unwrap_or_else(|| Detection::new(Form::Unknown, "nothing in it belongs to a known form"))
}
