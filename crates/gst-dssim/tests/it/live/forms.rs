//! What dsprof makes of every form of pipeline is taken by the real parser of `gst-launch-1.0`, which then runs nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::bench::{Bench, gstreamer, is_live, text};
use super::cases;

/// Stands in for gst-launch-1.0: asks the parser and notes what it says.
const ASK: &str = "\
#!/bin/sh
while [ \"${1#-}\" != \"$1\" ]; do shift; done
if said=$(dssim-parse \"$@\" 2>&1); then
    echo accepted >>asked
else
    echo \"refused: $said: $*\" >>asked
fi
";

const INFER: &str = "\
[property]
onnx-file=model.onnx
batch-size=1
network-mode=2
infer-dims=3;544;960
";

const APP_TXT: &str = "\
[application]
enable-perf-measurement=1
perf-measurement-interval-sec=1

[source0]
enable=1
type=3
uri=file://VIDEO
num-sources=4

[streammux]
batch-size=1
batched-push-timeout=40000
width=1920
height=1080

[primary-gie]
enable=1
config-file=infer.txt

[sink0]
enable=1
type=1
sync=0
";

const APP_YML: &str = "\
application:
  enable-perf-measurement: 1
  perf-measurement-interval-sec: 1
source:
  csv-file-path: sources.csv
streammux:
  batch-size: 1
  batched-push-timeout: 40000
  width: 1920
  height: 1080
primary-gie:
  enable: 1
  config-file: infer.txt
sink0:
  enable: 1
  type: 1
  sync: 0
";

const SOURCES_CSV: &str = "enable,type,uri,num-sources\n1,3,file://VIDEO,4\n";

const LINE: &str = "\
gst-launch-1.0 nvurisrcbin uri=file://VIDEO ! m.sink_0 nvurisrcbin uri=file://VIDEO ! m.sink_1 \\
  nvstreammux name=m batch-size=1 width=1920 height=1080 batched-push-timeout=40000 ! \\
  nvinfer config-file-path=infer.txt ! nvdsosd ! nvvideoconvert ! fakesink sync=false
";

const PYTHON: &str = "\
import gi
gi.require_version('Gst', '1.0')
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.Pipeline()
source = Gst.ElementFactory.make('nvurisrcbin', 'source')
source.set_property('uri', 'file://VIDEO')
mux = Gst.ElementFactory.make('nvstreammux', 'mux')
mux.set_property('batch-size', 1)
mux.set_property('width', 1920)
mux.set_property('height', 1080)
pgie = Gst.ElementFactory.make('nvinfer', 'pgie')
pgie.set_property('config-file-path', 'infer.txt')
sink = Gst.ElementFactory.make('fakesink', 'sink')
for element in (source, mux, pgie, sink):
    pipeline.add(element)
mux.link(pgie)
pgie.link(sink)
";

const SERVICE_MAKER: &str = "\
deepstream:
  nodes:
  - type: nvurisrcbin
    name: src
    properties:
      uri: file://VIDEO
  - type: nvstreammux
    name: mux
    properties:
      batch-size: 1
      width: 1920
      height: 1080
  - type: nvinfer
    name: infer
    properties:
      config-file-path: infer.txt
  - type: fakesink
    name: sink
  edges:
    src: mux
    mux: infer
    infer: sink
";

fn check(name: &str, form: &str) {
    let Some(gstreamer) = is_live().then(gstreamer).flatten() else {
        return;
    };
    let bench = Bench::with_elements(cases::plateau_at_4(), gstreamer);
    let video = bench.write("video.mp4", "").display().to_string();
    bench.write("infer.txt", INFER);
    bench.write("sources.csv", &SOURCES_CSV.replace("VIDEO", &video));
    bench.write(name, &form.replace("VIDEO", &video));
    symlink(&gstreamer.parse, bench.path("bin/dssim-parse")).expect("a link");
    let ask = bench.write("bin/gst-launch-1.0", ASK);
    fs::set_permissions(&ask, fs::Permissions::from_mode(0o755)).expect("executable");
    let mut args = vec!["sweep".to_owned(), name.to_owned()];
    args.extend(bench.wishes());
    args.extend(["--batches".to_owned(), "1,4,7".to_owned()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // No rate comes of it; what counts is what the parser said.
    let output = bench.dsprof_output(&args);
    let asked = fs::read_to_string(bench.path("asked")).unwrap_or_default();
    assert_eq!(
        asked,
        "accepted\naccepted\naccepted\n",
        "{name}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn live_parser_refuses_what_the_elements_lack() {
    let Some(gstreamer) = is_live().then(gstreamer).flatten() else {
        return;
    };
    let bench = Bench::with_elements(cases::plateau_at_4(), gstreamer);
    for (line, what) in [
        (
            "nvurisrcbin nvbuf-memory-type=0 ! fakesink",
            "nvbuf-memory-type",
        ),
        ("nvinfer batch-size=many ! fakesink", "batch-size"),
        ("nvinfer ! nvstreammux", "nvstreammux"),
        ("nvtrackers ! fakesink", "nvtrackers"),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = bench.command(&gstreamer.parse);
        let output = command.args(&words).output().expect("it runs");
        let said = text(&output.stderr);
        assert!(
            !output.status.success() && said.contains(what),
            "{line}: {said}"
        );
    }
}

#[test]
fn live_parser_takes_what_is_made_of_deepstream_app_txt() {
    check("app.txt", APP_TXT);
}

#[test]
fn live_parser_takes_what_is_made_of_deepstream_app_yml() {
    check("app.yml", APP_YML);
}

#[test]
fn live_parser_takes_what_is_made_of_a_gst_launch_line() {
    check("line.sh", LINE);
}

#[test]
fn live_parser_takes_what_is_made_of_python() {
    check("pipeline.py", PYTHON);
}

#[test]
fn live_parser_takes_what_is_made_of_service_maker_yml() {
    check("service.yml", SERVICE_MAKER);
}
