//! The decoding engines of a process, shared by all of its decoders.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::deadline::Server;
use crate::ledger::Ledger;
use crate::model::Model;

/// All decoding engines.
#[derive(Debug)]
pub struct Decoders {
    frame: Duration,
    engines: Mutex<Vec<Engine>>,
    ledger: Arc<Ledger>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Engine {
    server: Server,
    sessions: u32,
}

/// One stream that is decoded. It stays on the engine that it was given, so that one stream is never decoded faster
/// than one engine decodes.
#[derive(Debug)]
pub struct Session {
    decoders: Arc<Decoders>,
    engine: usize,
}

static OF_PROCESS: OnceLock<Arc<Decoders>> = OnceLock::new();

impl Decoders {
    /// The engines of this process.
    pub fn of_process(model: &Model) -> Arc<Self> {
        Arc::clone(OF_PROCESS.get_or_init(|| Arc::new(Self::new(model, Ledger::of_process(model)))))
    }

    fn new(model: &Model, ledger: Arc<Ledger>) -> Self {
        let engines = (0..model.decode_engines).map(|_| Engine::default());
        Self {
            frame: model.decode(),
            engines: Mutex::new(engines.collect()),
            ledger,
        }
    }

    /// Begins to decode one more stream, on the engine with the fewest.
    pub fn open(self: &Arc<Self>) -> Session {
        let mut engines = self.lock();
        let fewest = engines.iter().enumerate().min_by_key(|(_, e)| e.sessions);
        let engine = fewest.map_or(0, |(index, _)| index);
        if let Some(engine) = engines.get_mut(engine) {
            engine.sessions += 1;
        }
        drop(engines);
        Session {
            decoders: Arc::clone(self),
            engine,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Engine>> {
        // Plain numbers are whole whatever happened to the thread that changed them.
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// When the next frame, asked for at `now`, is decoded.
    pub fn decode(&self, now: Instant) -> Instant {
        let mut engines = self.decoders.lock();
        let frame = self.decoders.frame;
        let done = engines
            .get_mut(self.engine)
            .map_or(now, |engine| engine.server.serve(now, frame));
        drop(engines);
        self.decoders.ledger.decoded(frame);
        done
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(engine) = self.decoders.lock().get_mut(self.engine) {
            engine.sessions = engine.sessions.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_streams_share_two_engines() {
        let model = Model {
            decode_fps: 100.0,
            ..Model::default()
        };
        let decoders = Arc::new(Decoders::new(&model, Arc::default()));
        let sessions: Vec<Session> = (0..3).map(|_| decoders.open()).collect();
        let start = Instant::now();
        let done: Vec<u128> = sessions
            .iter()
            .map(|session| (session.decode(start) - start).as_millis())
            .collect();
        assert_eq!(done, [10, 10, 20]);
    }
}
