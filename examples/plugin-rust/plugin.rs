// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as ../plugin-c in Rust: the ABI needs neither C nor a crate. The
// declarations are the part of PluginAPI.h that the plugin uses.
//
//   rustc -O --edition=2021 --crate-type=cdylib -C panic=abort plugin.rs \
//     -o libdtlto_example_rust.so
//
// With panic=abort, a panic ends the linker with a message, and never unwinds
// into it. Argument: clang=PROGRAM (default: clang).

use std::collections::VecDeque;
use std::ffi::{c_void, CStr, CString, OsStr};
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use std::{fs, ptr, slice, thread};

//===- The ABI -------------------------------------------------------------===//

const OK: i32 = 0;
const BUSY: i32 = 1;
const CANCELLED: i32 = 2;
const CALLER: i32 = 16;
const INFRASTRUCTURE: i32 = 17;
const COMPILER: i32 = 18;
const JOB_INPUTS: u32 = 1;
const JOB_ARGS: u32 = 2;
const STATE_RUNNING: u32 = 2;
const LOG_ERROR: u32 = 3;

#[repr(C)]
struct Input {
    size: u32,
    role: u32,
    path: *const c_char,
    data: *const u8,
    data_size: u64,
    digest: [u8; 32],
}

#[repr(C)]
pub struct Job {
    size: u32,
    fields: u32,
    id: u64,
    name: *const c_char,
    triple: *const c_char,
    cost: u64,
    inputs: *const *const Input,
    args: *const *const c_char,
    num_inputs: u32,
    num_args: u32,
    output: *const c_char,
}

#[repr(C)]
struct Buffer {
    data: *const u8,
    size: u64,
    owner: *mut c_void,
    release: Option<extern "C" fn(*mut c_void, *const u8, u64)>,
}

#[repr(C)]
struct JobResult {
    size: u32,
    status: i32,
    object: Buffer,
    message: *const c_char,
    worker: *const c_char,
}

#[repr(C)]
pub struct Load {
    size: u32,
    slots: u32,
    free: u32,
    queued: u32,
    workers: u32,
    local: u32,
    expected_wait_ms: u64,
}

#[repr(C)]
pub struct Host {
    size: u32,
    abi_major: u32,
    abi_minor: u32,
    reserved: u32,
    name: *const c_char,
    version: *const c_char,
    context: *mut c_void,
    log: extern "C" fn(*mut c_void, u32, *const c_char),
    job_state: extern "C" fn(*mut c_void, u64, u32, *const c_char),
    job_done: extern "C" fn(*mut c_void, u64, *const JobResult),
    load_changed: extern "C" fn(*mut c_void),
    check_result: extern "C" fn(*mut c_void, u64, *const u8, u64, *mut c_char, u64) -> i32,
    extension: extern "C" fn(*mut c_void, *const c_char) -> *const c_void,
}

#[repr(C)]
pub struct Params {
    size: u32,
    num_args: u32,
    args: *const *const c_char,
    llvm_version: *const c_char,
}

#[repr(C)]
pub struct Config {
    size: u32,
    needs: u32,
}

#[repr(C)]
pub struct Plugin {
    size: u32,
    abi_major: u32,
    abi_minor: u32,
    reserved: u32,
    name: *const c_char,
    version: *const c_char,
    configure: extern "C" fn(*const Params, *mut Config),
    open: extern "C" fn(*const Host, *const Params, *mut *mut Session) -> i32,
    submit: extern "C" fn(*mut Session, *const Job) -> i32,
    cancel: extern "C" fn(*mut Session, u64),
    load: extern "C" fn(*mut Session, *mut Load) -> i32,
    close: extern "C" fn(*mut Session),
    extension: extern "C" fn(*const c_char) -> *const c_void,
}
unsafe impl Sync for Plugin {}

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static dtlto_plugin_entry: Plugin = Plugin {
    size: std::mem::size_of::<Plugin>() as u32,
    abi_major: 1,
    abi_minor: 0,
    reserved: 0,
    name: b"example-rust\0".as_ptr() as *const c_char,
    version: b"1.0\0".as_ptr() as *const c_char,
    configure,
    open,
    submit,
    cancel,
    load,
    close,
    extension,
};

//===- A job ---------------------------------------------------------------===//

/// The object and the compiler's messages; or a status and an error message.
type Outcome = Result<(Vec<u8>, String), (i32, String)>;

fn text(s: *const c_char) -> String {
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

fn os<'a>(s: *const c_char) -> &'a OsStr {
    OsStr::from_bytes(unsafe { CStr::from_ptr(s) }.to_bytes())
}

fn infrastructure(what: &str, why: std::io::Error) -> (i32, String) {
    (INFRASTRUCTURE, format!("{}: {}", what, why))
}

/// A job from submit() to job_done(); the host keeps it alive.
#[derive(Clone, Copy)]
struct Task {
    id: u64,
    job: *const Job,
}
unsafe impl Send for Task {}

/// Runs the compiler, until it ends or `is_stopped()`.
fn compile(
    clang: &str,
    task: Task,
    folder: &std::path::Path,
    is_stopped: impl Fn() -> bool,
) -> Outcome {
    let job = unsafe { &*task.job };
    let inputs = unsafe { slice::from_raw_parts(job.inputs, job.num_inputs as usize) };
    for input in inputs {
        let input = unsafe { &**input };
        let path = folder.join(os(input.path));
        let bytes: &[u8] = match input.data_size {
            0 => &[], // `data` may be null
            n => unsafe { slice::from_raw_parts(input.data, n as usize) },
        };
        fs::create_dir_all(path.parent().unwrap())
            .and_then(|_| fs::write(&path, bytes))
            .map_err(|e| infrastructure("cannot write an input", e))?;
    }
    let args = unsafe { slice::from_raw_parts(job.args, job.num_args as usize) };
    let said = folder.join(".stderr");
    let stderr = fs::File::create(&said)
        .map_err(|e| infrastructure("cannot create a file for the messages", e))?;
    let mut run = Command::new(clang)
        .args(args[1..].iter().map(|a| os(*a)))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|e| infrastructure(clang, e))?;
    let status = loop {
        if let Some(status) = run.try_wait().map_err(|e| infrastructure(clang, e))? {
            break status;
        }
        if is_stopped() {
            let _ = run.kill();
            let _ = run.wait();
            return Err((CANCELLED, String::new()));
        }
        thread::sleep(Duration::from_millis(5));
    };
    let words = fs::read(&said).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).trim_end().to_string();
    match status.code() {
        None => Err((INFRASTRUCTURE, format!("{}: {}", clang, status))),
        // 0 doesn't mean that there is an object: if clang can't read the
        // index, it writes an empty file and exits with 0.
        Some(0) => match fs::read(folder.join(os(job.output))) {
            Ok(object) if !object.is_empty() => Ok((object, words)),
            _ => Err((INFRASTRUCTURE, format!("no object: {}", words))),
        },
        Some(_) => Err((COMPILER, words)),
    }
}

//===- The session ---------------------------------------------------------===//

#[derive(Default)]
struct State {
    waiting: VecDeque<Task>,
    running: Vec<u64>,
    stopped: Vec<u64>, // cancelled ones of these
    closing: bool,
}

pub struct Session {
    host: *const Host,
    clang: String,
    slots: usize,
    state: Mutex<State>,
    changed: Condvar,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}
unsafe impl Send for Session {}
unsafe impl Sync for Session {}

extern "C" fn free_object(owner: *mut c_void, _: *const u8, _: u64) {
    drop(unsafe { Box::from_raw(owner as *mut Vec<u8>) });
}

impl Session {
    fn host(&self) -> &Host {
        unsafe { &*self.host }
    }

    fn done(&self, id: u64, outcome: Outcome) {
        let mut object = Buffer { data: ptr::null(), size: 0, owner: ptr::null_mut(), release: None };
        let (status, words) = match outcome {
            Ok((bytes, words)) => {
                let bytes = Box::new(bytes);
                object.data = bytes.as_ptr();
                object.size = bytes.len() as u64;
                object.owner = Box::into_raw(bytes) as *mut c_void;
                object.release = Some(free_object);
                (OK, words)
            }
            Err(why) => why,
        };
        let words = CString::new(words.replace('\0', " ")).unwrap();
        let result = JobResult {
            size: std::mem::size_of::<JobResult>() as u32,
            status,
            object,
            message: words.as_ptr(),
            worker: b"this machine\0".as_ptr() as *const c_char,
        };
        (self.host().job_done)(self.host().context, id, &result);
    }

    fn work(&self) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let mut state = self.state.lock().unwrap();
            while state.waiting.is_empty() && !state.closing {
                state = self.changed.wait(state).unwrap();
            }
            let task = match state.waiting.pop_front() {
                Some(task) => task,
                None => return,
            };
            state.running.push(task.id);
            drop(state); // not held during calls of the host
            let worker = b"this machine\0".as_ptr() as *const c_char;
            (self.host().job_state)(self.host().context, task.id, STATE_RUNNING, worker);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir()
                .join(format!("dtlto-rust-{}-{}", std::process::id(), number));
            let outcome = fs::create_dir(&folder)
                .map_err(|e| infrastructure("no temporary folder", e))
                .and_then(|_| {
                    compile(&self.clang, task, &folder, || {
                        let state = self.state.lock().unwrap();
                        state.closing || state.stopped.contains(&task.id)
                    })
                });
            let _ = fs::remove_dir_all(&folder);
            let mut state = self.state.lock().unwrap();
            state.running.retain(|id| *id != task.id);
            state.stopped.retain(|id| *id != task.id);
            drop(state);
            self.done(task.id, outcome);
            (self.host().load_changed)(self.host().context);
        }
    }
}

fn settings(params: &Params) -> Result<String, (i32, String)> {
    let mut clang = "clang".to_string();
    let args = match params.num_args {
        0 => &[],
        n => unsafe { slice::from_raw_parts(params.args, n as usize) },
    };
    for arg in args.iter().map(|a| text(*a)) {
        match arg.strip_prefix("clang=") {
            Some(name) => clang = name.to_string(),
            None => return Err((CALLER, format!("wrong argument '{}'", arg))),
        }
    }
    // Jobs don't run in the linker's folder, so don't check the version there
    // either.
    let run = Command::new(&clang).arg("--version").current_dir(std::env::temp_dir()).output();
    let run = run.map_err(|e| infrastructure(&clang, e))?;
    // Another version would make other objects.
    let wanted = text(params.llvm_version);
    let words = String::from_utf8_lossy(&run.stdout).into_owned();
    match words.split_whitespace().any(|word| word == wanted) {
        true => Ok(clang),
        false => Err((INFRASTRUCTURE, format!("'{}' is not clang {}", clang, wanted))),
    }
}

extern "C" fn configure(_: *const Params, config: *mut Config) {
    unsafe { (*config).needs = JOB_INPUTS | JOB_ARGS };
}

extern "C" fn open(host: *const Host, params: *const Params, out: *mut *mut Session) -> i32 {
    let host_ref = unsafe { &*host };
    let clang = match settings(unsafe { &*params }) {
        Ok(clang) => clang,
        Err((status, why)) => {
            let why = CString::new(why.replace('\0', " ")).unwrap();
            (host_ref.log)(host_ref.context, LOG_ERROR, why.as_ptr());
            return status;
        }
    };
    let session = Arc::new(Session {
        host,
        clang,
        slots: 4,
        state: Mutex::default(),
        changed: Condvar::new(),
        threads: Mutex::default(),
    });
    for _ in 0..session.slots {
        let clone = session.clone();
        let thread = thread::spawn(move || clone.work());
        session.threads.lock().unwrap().push(thread);
    }
    unsafe { *out = Arc::into_raw(session) as *mut Session };
    OK
}

extern "C" fn submit(session: *mut Session, job: *const Job) -> i32 {
    let session = unsafe { &*session };
    let mut state = session.state.lock().unwrap();
    if state.waiting.len() >= session.slots {
        return BUSY;
    }
    let id = unsafe { (*job).id };
    state.waiting.push_back(Task { id, job });
    session.changed.notify_one();
    OK
}

extern "C" fn cancel(session: *mut Session, id: u64) {
    let session = unsafe { &*session };
    let mut state = session.state.lock().unwrap();
    let found = state.waiting.iter().position(|task| task.id == id);
    if let Some(index) = found {
        state.waiting.remove(index);
        drop(state);
        session.done(id, Err((CANCELLED, String::new())));
        (session.host().load_changed)(session.host().context);
    } else if state.running.contains(&id) {
        state.stopped.push(id);
    }
}

extern "C" fn load(session: *mut Session, load: *mut Load) -> i32 {
    let session = unsafe { &*session };
    let state = session.state.lock().unwrap();
    let load = unsafe { &mut *load };
    load.slots = session.slots as u32;
    load.free = (session.slots - state.running.len()) as u32;
    load.queued = state.waiting.len() as u32;
    load.workers = 1;
    OK
}

extern "C" fn close(session: *mut Session) {
    let session = unsafe { Arc::from_raw(session as *const Session) };
    let mut state = session.state.lock().unwrap();
    state.closing = true;
    let dropped: Vec<Task> = state.waiting.drain(..).collect();
    drop(state);
    session.changed.notify_all();
    for task in dropped {
        session.done(task.id, Err((CANCELLED, String::new())));
    }
    for thread in session.threads.lock().unwrap().drain(..) {
        let _ = thread.join();
    }
}

extern "C" fn extension(_: *const c_char) -> *const c_void {
    ptr::null()
}
