//! [`Resume`]: goes on where an earlier run on the same bundle stopped.

use super::{
    CommandSpec, Outcome, OutputSink, Recorded, Replay, RunError, Runner, Together, Watch,
};
use crate::bundle::StageName;

/// Answers the commands of finished stages from what an earlier run recorded, and hands all others on.
pub struct Resume<R> {
    finished: Vec<StageName>,
    recorded: Replay,
    live: R,
}

impl<R: Runner> Resume<R> {
    /// `recorded` answers for the stages in `finished`, `live` for the rest.
    pub fn new(finished: Vec<StageName>, recorded: Replay, live: R) -> Self {
        Self {
            finished,
            recorded,
            live,
        }
    }

    fn runner(&self, spec: &CommandSpec) -> &dyn Runner {
        let stage = spec.purpose.split('/').next().unwrap_or_default();
        if self
            .finished
            .iter()
            .any(|finished| finished.to_string() == stage)
        {
            &self.recorded
        } else {
            &self.live
        }
    }
}

impl<R: Runner> Runner for Resume<R> {
    fn recorded_argv(&self, purpose: &str) -> Option<Vec<String>> {
        let none: [String; 0] = [];
        self.runner(&CommandSpec::new(purpose, "", none))
            .recorded_argv(purpose)
    }

    fn recorded(&self, spec: &CommandSpec) -> Recorded {
        self.runner(spec).recorded(spec)
    }

    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError> {
        self.runner(spec).run(spec, sink)
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError> {
        self.runner(main).run_beside(main, sides, watch)
    }
}
