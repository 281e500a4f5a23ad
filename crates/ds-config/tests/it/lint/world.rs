//! Pipelines to lint, each a small change of one without findings.

use std::io;

use ds_config::{
    DeepStreamVersion, FilePlace, FileSource, Finding, FrameRate, GpuKind, LintContext, OnnxDim,
    Pipeline, PrecisionWish, Purpose, lint, lint_bytes,
};

use crate::onnx;

/// Files, an environment, and what the caller knows.
#[derive(Clone, Default)]
pub(crate) struct World {
    files: Vec<(String, Vec<u8>)>,
    /// Models and engines, which are asked for and never read.
    models: Option<Vec<&'static str>>,
    new_mux: bool,
    fps: Option<u32>,
    purpose: Purpose,
    precision: PrecisionWish,
    version: Option<DeepStreamVersion>,
    gpu: Option<GpuKind>,
}

/// The start of the primary inference's group in [`app`].
pub(crate) const PRIMARY: &str = "[primary-gie]\nenable=1\nbatch-size=4\n";

const APP: &str = "\
[application]
enable-perf-measurement=1
perf-measurement-interval-sec=5
[source0]
enable=1
type=3
uri=file:///cam%d.mp4
num-sources=4
[streammux]
batch-size=4
batched-push-timeout=33333
[primary-gie]
enable=1
batch-size=4
config-file=pgie.txt
[tracker]
enable=1
tracker-width=480
tracker-height=288
ll-lib-file=/opt/nvidia/deepstream/deepstream/lib/libnvds_nvmultiobjecttracker.so
ll-config-file=config_tracker_NvDCF_max_perf.yml
[sink0]
enable=1
type=1
sync=0
";

const PGIE: &str = "\
[property]
onnx-file=m.onnx
model-engine-file=m.onnx_b4_gpu0_fp16.engine
batch-size=4
network-mode=2
infer-dims=3;480;640
";

/// A deepstream-app pipeline of four files without findings.
pub(crate) fn app() -> World {
    World::default().file("app.txt", APP).file("pgie.txt", PGIE)
}

/// The nvinfer file of that pipeline by itself.
pub(crate) fn pgie() -> World {
    World::default().file("pgie.txt", PGIE)
}

/// A command with the nvinfer file of that pipeline beside it.
pub(crate) fn command(text: &str) -> World {
    World::default()
        .file("run.sh", &format!("gst-launch-1.0 {text}\n"))
        .file("pgie.txt", PGIE)
}

/// One file by itself.
pub(crate) fn alone(path: &str, text: &str) -> World {
    World::default().file(path, text)
}

impl World {
    /// Adds a file.
    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.bytes(path, text.as_bytes())
    }

    /// Adds a file of any bytes.
    pub(crate) fn bytes(mut self, path: &str, bytes: &[u8]) -> Self {
        self.files.push((path.to_owned(), bytes.to_vec()));
        self
    }

    /// Adds a model `m.onnx` whose input has these dimensions.
    pub(crate) fn onnx(self, dims: &[OnnxDim]) -> Self {
        let bytes = onnx::model(&[onnx::input("images", dims)]);
        self.bytes("m.onnx", &bytes).models(&[])
    }

    /// Replaces a text that stands in exactly one file, once.
    #[track_caller]
    pub(crate) fn with(mut self, old: &str, new: &str) -> Self {
        let mut n_found = 0;
        let texts = self.files.iter_mut().filter(|(path, _)| path != "m.onnx");
        for (_, bytes) in texts {
            let text = String::from_utf8(bytes.clone()).expect("the files to change are text");
            n_found += text.matches(old).count();
            *bytes = text.replace(old, new).into_bytes();
        }
        assert_eq!(n_found, 1, "`{old}` is to stand in the files once");
        self
    }

    /// Puts a line above a place.
    #[track_caller]
    pub(crate) fn above(mut self, place: &FilePlace, line: &str) -> Self {
        let mut files = self.files.iter_mut();
        let file = files.find(|(path, _)| *path == place.path);
        let (_, bytes) = file.expect("the place is in one of the files");
        let text = String::from_utf8(bytes.clone()).expect("the files to change are text");
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let line = format!("{line}\n");
        lines.insert(place.place.line - 1, &line);
        *bytes = lines.concat().into_bytes();
        self
    }

    /// Adds lines to the end of the first file.
    pub(crate) fn and(mut self, lines: &str) -> Self {
        self.files[0].1.extend_from_slice(lines.as_bytes());
        self
    }

    pub(crate) fn new_mux(mut self) -> Self {
        self.new_mux = true;
        self
    }

    pub(crate) fn fps(mut self, fps: u32) -> Self {
        self.fps = Some(fps);
        self
    }

    pub(crate) fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    pub(crate) fn precision(mut self, precision: PrecisionWish) -> Self {
        self.precision = precision;
        self
    }

    pub(crate) fn version(mut self, major: u16, minor: u16) -> Self {
        self.version = Some(DeepStreamVersion { major, minor });
        self
    }

    pub(crate) fn gpu(mut self, gpu: GpuKind) -> Self {
        self.gpu = Some(gpu);
        self
    }

    /// Says which models and engines exist; no others do then.
    pub(crate) fn models(mut self, models: &[&'static str]) -> Self {
        self.models = Some(models.to_vec());
        self
    }

    fn context(&self) -> LintContext<'_> {
        LintContext {
            fps: self.fps.map(|numerator| FrameRate {
                numerator,
                denominator: 1,
            }),
            purpose: self.purpose,
            precision: self.precision,
            version: self.version,
            gpu: self.gpu,
            files: self.models.as_ref().map(|_| self as &dyn FileSource),
        }
    }

    /// The findings; a file that is no pipeline is looked at by itself.
    pub(crate) fn lint(&self) -> Vec<Finding> {
        let (path, bytes) = &self.files[0];
        match Pipeline::resolve(path, self) {
            Ok(pipeline) => lint(&pipeline, &self.context()),
            Err(_) => lint_bytes(path, bytes, &self.context()),
        }
    }

    /// The codes of the findings, in order.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        self.lint()
            .iter()
            .map(|finding| finding.rule.code)
            .collect()
    }
}

impl FileSource for World {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let file = self.files.iter().find(|(held, _)| held == path);
        file.map(|(_, bytes)| bytes.clone())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn exists(&self, path: &str) -> bool {
        let models = self.models.as_deref().unwrap_or_default();
        models.contains(&path) || self.files.iter().any(|(held, _)| held == path)
    }

    fn environment(&self, name: &str) -> Option<String> {
        (self.new_mux && name == "USE_NEW_NVSTREAMMUX").then(|| "yes".to_owned())
    }
}

/// Holds a rule to a pipeline that has its fault, and to one that only looks like it.
#[track_caller]
pub(crate) fn check(code: &str, faulty: &World, guarded: &World) {
    let found = faulty.codes();
    assert!(found.contains(&code), "{code} is not among {found:?}");
    let found = guarded.lint();
    let found = found.iter().find(|finding| finding.rule.code == code);
    assert_eq!(found, None, "{code} fires in spite of its guard");
}

/// Two sources into a mux with the properties given.
pub(crate) fn two_cameras(mux: &str) -> World {
    command(&format!(
        "nvurisrcbin uri=rtsp://a ! m.sink_0 nvurisrcbin uri=rtsp://b ! m.sink_1 \
         nvstreammux name=m {mux} ! nvinfer config-file-path=pgie.txt batch-size=2 ! fakesink"
    ))
}
