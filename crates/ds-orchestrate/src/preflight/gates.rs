//! The gates, each over what the pipeline's files say.

use ds_ceilings::Batch;
use ds_config::{InferPlugin, Knob, KnobSetting, Pipeline, QueuePosition, Role, Target};

use super::files::KnownFiles;
use super::{Gate, GateId, GateState};

/// Looks at every gate of a pipeline that is to run with `batch`. `files` says which of its files exist; `None` where
/// nobody looked.
pub fn preflight(
    pipeline: &Pipeline,
    batch: Option<Batch>,
    files: Option<&KnownFiles>,
) -> Vec<Gate> {
    let look = Look {
        pipeline,
        batch,
        files,
    };
    vec![
        look.batch(),
        look.engine(),
        look.memory(),
        look.calibration(),
        look.leaky(),
    ]
}

struct Look<'a> {
    pipeline: &'a Pipeline,
    batch: Option<Batch>,
    files: Option<&'a KnownFiles>,
}

/// The value of a knob, as far as it can be told.
enum Told<'a> {
    /// There is one.
    Value(i64, &'a KnobSetting),
    /// Nobody sets it, or the form has no such knob.
    Absent,
    /// A program or the shell computes it.
    Computed(&'a KnobSetting),
}

impl Look<'_> {
    fn batch(&self) -> Gate {
        let id = GateId::Batch;
        let Some(stage) = self.pipeline.infer.first() else {
            return unknown(id, "no inference element is seen");
        };
        if stage.tensors_from_preprocess {
            return pass(id, "nvdspreprocess decides the batch of the inference");
        }
        let Some(mux) = self.pipeline.elements_with(Role::Mux).next() else {
            return unknown(id, "no mux with a batch of its own is seen");
        };
        let mux = self.told(Target {
            element: mux.id,
            knob: Knob::MuxBatchSize,
        });
        let infer = self.told(Target {
            element: stage.element,
            knob: Knob::InferBatchSize,
        });
        match (mux, infer) {
            (Told::Value(mux, at_mux), Told::Value(infer, at_infer)) => {
                let evidence = format!(
                    "mux `batch-size` {mux} ({}), inference `batch-size` {infer} ({})",
                    place(at_mux),
                    place(at_infer)
                );
                // A larger one is harmless: the engine takes fewer frames.
                if infer < mux {
                    let advice = "give both the same batch, as `dsprof derive` does";
                    fail(id, evidence, advice)
                } else {
                    pass(id, evidence)
                }
            }
            (Told::Computed(setting), _) | (_, Told::Computed(setting)) => {
                unknown(id, format!("`batch-size` is computed ({})", place(setting)))
            }
            _ => unknown(id, "`batch-size` is not set on both"),
        }
    }

    fn engine(&self) -> Gate {
        let id = GateId::Engine;
        let Some(stage) = self.pipeline.infer.first() else {
            return unknown(id, "no inference element is seen");
        };
        if stage.plugin != InferPlugin::Nvinfer {
            return unknown(id, "the model is served by Triton, which has its own");
        }
        let Some(files) = self.files else {
            return unknown(id, "nobody looked whether the engine exists");
        };
        let path_of = |knob| {
            let setting = self.pipeline.knob(Target {
                element: stage.element,
                knob,
            })?;
            Some((setting, self.pipeline.path_of(setting)))
        };
        let model = path_of(Knob::InferOnnxFile).and_then(|(_, path)| path);
        let has_model = model.as_ref().is_some_and(|path| files.holds(path));
        let build = "run the pipeline once so that nvinfer builds it, and name the file in `model-engine-file`";
        let engine = match path_of(Knob::InferModelEngineFile) {
            Some((setting, None)) if setting.computed.is_some() => {
                return unknown(
                    id,
                    format!("`model-engine-file` is computed ({})", place(setting)),
                );
            }
            Some((_, Some(path))) => path,
            _ if has_model => {
                let evidence =
                    "no `model-engine-file` is named: nvinfer builds an engine at every start";
                return fail(id, evidence, build);
            }
            _ => return unknown(id, "neither an engine nor an ONNX model is named"),
        };
        if !files.holds(&engine) {
            let evidence = format!("`{engine}` does not exist");
            return if has_model {
                fail(
                    id,
                    format!("{evidence}: nvinfer builds one while it starts"),
                    build,
                )
            } else {
                unknown(id, format!("{evidence}, and no ONNX model is seen either"))
            };
        }
        let named = self.pipeline.engine_name(stage.element);
        let largest = named.and_then(|name| Batch::new(name.max_batch));
        match (largest, self.batch) {
            (Some(largest), Some(batch)) if largest < batch => fail(
                id,
                format!(
                    "`{engine}` takes batches of {largest}, {batch} are wanted: nvinfer builds another one"
                ),
                build,
            ),
            (Some(largest), Some(_)) => pass(
                id,
                format!("`{engine}` exists and takes batches of {largest}"),
            ),
            _ => unknown(
                id,
                format!("`{engine}` exists; its name does not tell the batch that it takes"),
            ),
        }
    }

    fn memory(&self) -> Gate {
        let id = GateId::Memory;
        let knobs = [Knob::MuxNvbufMemoryType, Knob::DecodeCudadecMemtype];
        let settings: Vec<&KnobSetting> = knobs
            .into_iter()
            .flat_map(|knob| self.pipeline.knobs_of(knob))
            .collect();
        let written = |setting: &&&KnobSetting| {
            let value = setting.value.as_ref().and_then(|value| value.integer());
            value.is_some_and(|value| value != 0)
        };
        if let Some(setting) = settings.iter().find(written) {
            let value = setting.value.as_ref().map(ToString::to_string);
            return fail(
                id,
                format!(
                    "`{}` is {} ({})",
                    setting.target.knob.key(),
                    value.unwrap_or_default(),
                    place(setting)
                ),
                "0 keeps frames in device memory; on a Jetson, and where a probe on the CPU reads frames, waive this",
            );
        }
        if let Some(setting) = settings.iter().find(|setting| setting.computed.is_some()) {
            return unknown(
                id,
                format!(
                    "`{}` is computed ({})",
                    setting.target.knob.key(),
                    place(setting)
                ),
            );
        }
        pass(
            id,
            format!("{} settings, all 0 or left alone", settings.len()),
        )
    }

    fn calibration(&self) -> Gate {
        let id = GateId::Calibration;
        let Some(stage) = self.pipeline.infer.first() else {
            return unknown(id, "no inference element is seen");
        };
        let of = |knob| Target {
            element: stage.element,
            knob,
        };
        match self.told(of(Knob::InferNetworkMode)) {
            Told::Value(INT8, _) => {}
            Told::Value(mode, setting) => {
                return pass(
                    id,
                    format!("`network-mode` {mode} ({}) needs none", place(setting)),
                );
            }
            Told::Absent => return pass(id, "`network-mode` is not set and needs none"),
            Told::Computed(setting) => {
                return unknown(
                    id,
                    format!("`network-mode` is computed ({})", place(setting)),
                );
            }
        }
        let advice = "name the table in `int8-calib-file`, or set `network-mode=2`; a model that carries its own \
                      quantisation needs none: waive this";
        let setting = self.pipeline.knob(of(Knob::InferInt8CalibFile));
        let path = setting.and_then(|setting| self.pipeline.path_of(setting));
        match (path, self.files) {
            (None, _) => fail(
                id,
                "`network-mode` is 1 and no `int8-calib-file` is named: nvinfer falls back to FP16",
                advice,
            ),
            (Some(_), None) => unknown(id, "nobody looked whether the table exists"),
            (Some(path), Some(files)) if files.holds(&path) => pass(id, format!("`{path}` exists")),
            (Some(path), Some(_)) => fail(
                id,
                format!("`{path}` does not exist: nvinfer falls back to FP16"),
                advice,
            ),
        }
    }

    /// A queue that drops frames makes the rate of what is behind it meaningless; in front of a message broker that is
    /// what it is for.
    fn leaky(&self) -> Gate {
        let id = GateId::Leaky;
        let mut looked_at = 0;
        for element in &self.pipeline.elements {
            let Role::Queue(position) = element.role else {
                continue;
            };
            let told = self.told(Target {
                element: element.id,
                knob: Knob::QueueLeaky,
            });
            match told {
                Told::Value(leaky, setting)
                    if leaky != 0 && position != QueuePosition::MessageBranch =>
                {
                    return fail(
                        id,
                        format!(
                            "`leaky` of `{}` is {leaky} ({})",
                            element.name,
                            place(setting)
                        ),
                        "a queue that drops frames hides how many the pipeline carries: set it to 0",
                    );
                }
                Told::Computed(setting) => {
                    return unknown(id, format!("`leaky` is computed ({})", place(setting)));
                }
                _ => looked_at += 1,
            }
        }
        pass(
            id,
            format!("{looked_at} queues, none drops frames of the main path"),
        )
    }

    fn told(&self, target: Target) -> Told<'_> {
        match self.pipeline.knob(target) {
            None => Told::Absent,
            Some(setting) if setting.computed.is_some() => Told::Computed(setting),
            Some(setting) => {
                let value = setting.value.as_ref().and_then(|value| value.integer());
                value.map_or(Told::Absent, |value| Told::Value(value, setting))
            }
        }
    }
}

/// `network-mode` of INT8 (DeepStream 9.1, `NvDsInferNetworkMode`).
const INT8: i64 = 1;

fn place(setting: &KnobSetting) -> String {
    setting
        .place
        .as_ref()
        .map_or_else(|| "by default".to_owned(), ToString::to_string)
}

fn gate(id: GateId, state: GateState, evidence: impl Into<String>, advice: &'static str) -> Gate {
    Gate {
        id,
        state,
        evidence: evidence.into(),
        advice,
    }
}

fn pass(id: GateId, evidence: impl Into<String>) -> Gate {
    gate(id, GateState::Pass, evidence, "")
}

fn fail(id: GateId, evidence: impl Into<String>, advice: &'static str) -> Gate {
    gate(id, GateState::Fail, evidence, advice)
}

fn unknown(id: GateId, evidence: impl Into<String>) -> Gate {
    gate(id, GateState::Unknown, evidence, "")
}
