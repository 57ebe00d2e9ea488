/*===- dtlto/PluginAPI.h - The plugin ABI of dtlto -----------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * What a plugin for a distributed build system (DBS) needs to run the backend
 * compiles of a ThinLTO link on remote machines. Optional abilities of either
 * side are extensions, with one header each in dtlto/ext/. Those in
 * dtlto/ext/draft/ may still change.
 *
 * The two sides
 *   The *host* is the linker. The *plugin* is a shared library that exports one
 *   constant object, `dtlto_plugin_entry`, of type `dtlto_plugin`. One link is
 *   one *session*:
 *
 *     host                                     plugin
 *      |  configure(params, config) -----------> |   read arguments
 *      |  open(host, params) ------------------> |   connect, start threads
 *      |  submit(job) -------------------------> |   OK, or BUSY
 *      | <---------------- job_state(running) -- |
 *      | <------------------- load_changed() --- |   room for more jobs
 *      | <--------- job_done(id, result) ------- |   exactly once per job
 *      |  close() -----------------------------> |   a barrier
 *
 * Jobs
 *   A job is the code generation of one module: inputs in memory, the command
 *   line with which a stock clang turns them into one object file, and hints.
 *   Its result is the object file, in memory. The host checks the format and
 *   the machine of every object. If the plugin cannot run a job, the host
 *   compiles it locally or fails the link, as the user chose. The host cannot
 *   detect flipped bits in the object of a plain clang: if the DBS does not
 *   protect its transfers, the plugin should.
 *
 * Compatibility
 *   Every struct begins with `size`, which the side that *made* the struct sets
 *   to its own sizeof. A field past `size` does not exist: do not read it. The
 *   majors of both sides must match. A higher minor only appends fields to
 *   structs and constants to lists. Treat an unknown constant as the comment on
 *   its list says. New abilities are extensions first.
 *
 * Threads
 *   [link-thread]  The host makes these calls one at a time, and all of a
 *                  session's on one thread.
 *   [any-thread]   May be called on any thread, also concurrently.
 *
 * Times
 *   A call of the plugin that returns "at once", without waiting, takes at most
 *   5 ms on average, and 250 ms in a rare case: the link waits for it. "Soon"
 *   is within 10 s.
 *
 * Memory
 *   A `dtlto_span` and a `const char *` are borrowed: a comment says for how
 *   long. A `dtlto_buffer` is owned: it carries its own release function, which
 *   its last owner calls exactly once. Strings end in NUL and are UTF-8 where
 *   the file system's names are. The host shows other bytes of a plugin's text,
 *   and control characters, as \xNN. After close(), a plugin keeps no
 *   descriptor and no thread of the session, and no memory of its jobs (the
 *   checker tolerates 2 KiB a job).
 *
 * The process
 *   No exception may leave a function of either side. The host loads a plugin
 *   with RTLD_NOW|RTLD_LOCAL and never unloads it. Static constructors return
 *   at once; what may wait or fail belongs in open(). The process is the
 *   host's. A plugin does not call exit() or _exit(), nor exit() in a child
 *   that it forks. It leaves the working directory, umask, environment, locale,
 *   signal handlers and standard output alone, and writes to sockets with
 *   MSG_NOSIGNAL.
 *
 * History and rules for changes: docs/ABI-CHANGELOG.md.
 *
 *===----------------------------------------------------------------------===*/

#ifndef DTLTO_PLUGINAPI_H
#define DTLTO_PLUGINAPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DTLTO_ABI_MAJOR 1
#define DTLTO_ABI_MINOR 0

/* Makes `dtlto_plugin_entry` visible; its declaration below has it already. */
#if defined(_WIN32)
#define DTLTO_PLUGIN_EXPORT __declspec(dllexport)
#else
#define DTLTO_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/*===----------------------------------------------------------------------===*
 * Constants
 *===----------------------------------------------------------------------===*/

/* Status codes of calls and jobs. The host acts on the class of an error, so
 * classes must not be mixed: a caller error is never retried, an infrastructure
 * error is, and a compiler error is shown to the user. Treat an unknown value
 * as an infrastructure error. */
enum {
  DTLTO_OK = 0,
  /* submit() only: no room now. The job was not accepted; `load_changed` says
   * when to try again. */
  DTLTO_BUSY = 1,
  /* job_done() only: the host called cancel() or close(). */
  DTLTO_CANCELLED = 2,
  /* A mistake of the caller: a wrong argument, an option that cannot be
   * parsed. */
  DTLTO_ERROR_CALLER = 16,
  /* The network, a worker, a daemon, a version, a disk: a retry elsewhere may
   * work. */
  DTLTO_ERROR_INFRASTRUCTURE = 17,
  /* The compiler ran and failed. `message` holds what it wrote, not words of
   * the plugin's own. */
  DTLTO_ERROR_COMPILER = 18
};

/* What an input is to its job. Treat an unknown role as DTLTO_ROLE_OTHER: a
 * file that must exist under its path. */
enum {
  DTLTO_ROLE_OTHER = 0,
  DTLTO_ROLE_PRIMARY = 1, /* the bitcode file to compile; exactly one */
  DTLTO_ROLE_IMPORT = 2,  /* a bitcode file that functions are imported from */
  DTLTO_ROLE_INDEX = 3    /* the module's summary index shard; exactly one */
};

/* Fields of a job that the host fills in only for a plugin that needs them; a
 * bit set for `dtlto_session_config.needs` and `dtlto_job.fields`. Filling them
 * in costs the linker time and memory. A host ignores unknown bits. */
enum {
  DTLTO_JOB_INPUTS = 1,  /* inputs, num_inputs */
  DTLTO_JOB_ARGS = 2,    /* args, num_args, output; implies INPUTS */
  DTLTO_JOB_DIGESTS = 4, /* dtlto_input.digest; only with INPUTS */
  DTLTO_JOB_CONFIG = 8,  /* config; implies INPUTS */
  /* Imports are whole modules; only with INPUTS. A path then has the same bytes
   * in all jobs of the link, for a DBS whose jobs share one folder. */
  DTLTO_JOB_WHOLE_IMPORTS = 16
};

/* Where a job is. Treat an unknown state as DTLTO_STATE_RUNNING. */
enum {
  DTLTO_STATE_QUEUED = 0,    /* waits in the plugin or in the DBS; after another
                                state: that attempt failed */
  DTLTO_STATE_SENDING = 1,   /* inputs are being sent to the worker */
  DTLTO_STATE_RUNNING = 2,   /* the worker compiles */
  DTLTO_STATE_RECEIVING = 3, /* the object is being sent back */
  DTLTO_STATE_LOCAL = 4      /* runs on this machine, in this process */
};

/* Levels of `log`. Treat an unknown level as DTLTO_LOG_NOTE. */
enum {
  DTLTO_LOG_DEBUG = 0,   /* shown with --verbose only */
  DTLTO_LOG_NOTE = 1,    /* shown as a plain message */
  DTLTO_LOG_WARNING = 2, /* the link continues, but the user should know */
  /* The session cannot continue. The host submits no more jobs and ignores the
   * results of those under way: it fails the link or, if the user allows the
   * fallback, warns and compiles the jobs locally. While open() runs, on any
   * thread: the reason why open() fails; if open() returns DTLTO_OK all the
   * same, the session ends at once. For the failure of a single job, use
   * job_done(). */
  DTLTO_LOG_ERROR = 3,
  /* Whole lines that compilers wrote to standard error and that belong to no
   * known job. The host shows the warnings in them as the linker's. What
   * belongs to a job is the message of its result instead. */
  DTLTO_LOG_COMPILER = 4
};

/*===----------------------------------------------------------------------===*
 * Memory
 *===----------------------------------------------------------------------===*/

/* Borrowed bytes. */
typedef struct dtlto_span {
  const void *data; /* may be null if size is 0 */
  uint64_t size;    /* in bytes */
} dtlto_span;

/* Owned bytes. The last owner calls release(owner, data, size) once, on any
 * thread. The link may wait for release(), which must return at once. A null
 * `release` means that there is nothing to do. The bytes must not change while
 * the buffer lives. */
typedef struct dtlto_buffer {
  const void *data;
  uint64_t size; /* in bytes */
  void *owner;   /* opaque; passed to release */
  void (*release)(void *owner, const void *data, uint64_t size);
} dtlto_buffer;

/*===----------------------------------------------------------------------===*
 * Jobs and results
 *===----------------------------------------------------------------------===*/

/* One file of a job, in memory. */
typedef struct dtlto_input {
  uint32_t size;
  uint32_t role; /* DTLTO_ROLE_... */
  /* Relative, unique within the job, in characters that every file system
   * accepts, with `/` between folders, never `..`. The command line and the
   * index shard use this name: keep it. A module has the same path in each job,
   * in every link of the same inputs, and on every machine. A path does not
   * identify contents: an imported module may be reduced to what jobs of this
   * link import from it. Cache contents by digest. */
  const char *path;
  /* Primary modules and imports: borrowed until close() returns; equal
   * addresses have equal contents, and a module has the same address in all
   * jobs that import from it. Others: borrowed until job_done(). */
  dtlto_span bytes;
  /* BLAKE3 of the bytes (256 bits). Zero without DTLTO_JOB_DIGESTS. */
  uint8_t digest[32];
} dtlto_input;

/* The code generation of one module. The struct, and what it points at, are
 * borrowed from submit() until the plugin calls job_done() for the job; that
 * call's result may still point into the job. If submit() does not return
 * DTLTO_OK, they are borrowed until submit() returns. */
typedef struct dtlto_job {
  uint32_t size;
  uint32_t fields; /* DTLTO_JOB_...: what is filled in; at least the needs */
  uint64_t id;     /* unique in the session, never 0 */
  /* The module's name for the user, `dir/libfoo.a(bar.o at 1234)`: for
   * progress, monitors and messages. Not safe as a file name. */
  const char *name;
  const char *triple; /* target triple, e.g. "x86_64-pc-linux-gnu" */
  /* The expected duration, in proportion to the session's other jobs, without a
   * unit. The host submits jobs mostly in falling order of cost. */
  uint64_t cost;
  const dtlto_input *const *inputs;
  /* A complete command line for a stock clang of `params.llvm_version`, to run
   * in a folder that holds the inputs. args[0] is "clang": substitute the
   * workers' name for it. The command writes only `output`. Null, like
   * `output`, without DTLTO_JOB_ARGS. */
  const char *const *args;
  uint32_t num_inputs;
  uint32_t num_args;  /* args[num_args] is null */
  const char *output; /* the relative path that follows -o in args */
  /* The whole configuration of the code generation, for a worker that runs
   * dtlto-codegen: a JSON object, opaque to the plugin. It expresses more than
   * a command line can. dtlto_result.object is then the output of
   * `dtlto-codegen --frame`, which names the job and detects damage; return it
   * unchanged. Once the plugin has made the job's bundle (dtlto/ext/bundle.h),
   * the host refuses any other object, except for one that local code
   * generation made. Null without DTLTO_JOB_CONFIG. */
  const char *config;
  /* A worker, as named in job_state() or a result, that should not get this
   * job: it is slow with the same job now, or its compile error is to be
   * confirmed by another worker. May be null. */
  const char *avoid;
} dtlto_job;

/* The result of a job. */
typedef struct dtlto_result {
  uint32_t size;
  int32_t status; /* DTLTO_OK, _CANCELLED, or an _ERROR_ class */
  /* The object file; empty unless status is DTLTO_OK. job_done() transfers the
   * ownership to the host, whatever the status. */
  dtlto_buffer object;
  /* DTLTO_ERROR_COMPILER: what the compiler wrote. Other errors: what failed
   * and where, in one line. DTLTO_OK: the compiler's warnings. May be null.
   * Borrowed until job_done() returns. */
  const char *message;
  /* The machine or process that ran the job, for display; users need it when an
   * object is wrong. May be null. Borrowed until job_done() returns. */
  const char *worker;
} dtlto_result;

/* What the DBS can take now. An unknown number is UINT32_MAX or UINT64_MAX. */
typedef struct dtlto_load {
  uint32_t size;
  uint32_t slots;   /* jobs that can run at the same time */
  uint32_t free;    /* idle slots */
  uint32_t queued;  /* accepted jobs that do not run yet */
  uint32_t workers; /* machines or processes in reach */
  /* How many of `slots`, idle or not, use this machine's cores: the host then
   * runs fewer jobs of its own. 0 or UINT32_MAX: none, or not known. */
  uint32_t local;
  uint64_t expected_wait_ms; /* until a job submitted now starts to run */
} dtlto_load;

/*===----------------------------------------------------------------------===*
 * The host
 *===----------------------------------------------------------------------===*/

/* The link. Borrowed until the call that gets it returns. */
typedef struct dtlto_session_params {
  uint32_t size;
  uint32_t num_args;
  const char *const *args; /* --thinlto-dist-plugin-arg=..., in order */
  /* The linker's, e.g. "19.1.7". Only this exact version makes the same
   * objects: with other workers, open() or each job fails. */
  const char *llvm_version;
  /* The linker's version line, e.g. "Debian LLD 19.1.7": vendor, version and,
   * if it was built from a repository, the revision, as `clang --version` has
   * them. May be null. */
  const char *linker;
  const char *output; /* the file that is linked, for display; may be "" */
  /* Modules of the link. A retry or a duplicate is a job of its own, with its
   * own id, so there may be more jobs. 0: no jobs follow, and the host only
   * asks for the status or the load. */
  uint64_t num_jobs;
  uint32_t job_timeout_s; /* --thinlto-dist-timeout, in seconds */
  uint32_t verbose;       /* not 0: the user asked for all messages */
  /* Bytes of memory that results may take together while they are being
   * received (--thinlto-dist-memory). 0: no limit. */
  uint64_t result_bytes;
} dtlto_session_params;

/* What a plugin asks of the host for one session; see configure(). */
typedef struct dtlto_session_config {
  uint32_t size;
  uint32_t needs; /* DTLTO_JOB_...: fields that each job must have */
  /* Not null: a failure of the session fails the link, as with
   * --thinlto-dist-fallback=none, because the DBS's own settings say so. One
   * line that names the setting; copied when configure() returns. */
  const char *no_fallback;
} dtlto_session_config;

/* The host's side of one session; opaque. */
typedef struct dtlto_host_context dtlto_host_context;

/* What the host offers. Valid until close() returns; after that the plugin
 * must not call the host on any thread. */
typedef struct dtlto_host {
  uint32_t size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;           /* 0 */
  const char *name;            /* "dtlto" */
  const char *version;         /* of the host, for display */
  dtlto_host_context *context; /* first argument of the functions below */

  /* [any-thread] Shows a message to the user. `level` is DTLTO_LOG_...;
   * `message` is one line (several with DTLTO_LOG_COMPILER), lower case,
   * without the plugin's name, which the host adds. It is copied before the
   * call returns. */
  void (*log)(dtlto_host_context *context, uint32_t level, const char *message);

  /* [any-thread] Reports where an accepted job is; `state` is DTLTO_STATE_...,
   * `worker` (may be null) the machine, copied before the call returns.
   * Optional, but a report is a sign of life: the user's time limit for a job
   * counts from its last report and, while the job is QUEUED, from the
   * session's last sign of life. States may be left out or repeated, and come
   * in any order with those of other jobs, also on one worker. Reports after
   * job_done() are ignored, so threads need not be ordered. */
  void (*job_state)(dtlto_host_context *context, uint64_t job, uint32_t state,
                    const char *worker);

  /* [any-thread] Ends an accepted job; exactly once for each, also for a
   * cancelled one. Never from inside submit(), though another thread may call
   * it before submit() has returned; cancel() and close() may call it. The host
   * takes over `result->object`, which it may release at once, and copies the
   * rest before the call returns. After a second result for a job, or a result
   * for an unknown job, the host submits no more jobs; it does not release that
   * object, which may alias another. */
  void (*job_done)(dtlto_host_context *context, uint64_t job,
                   const dtlto_result *result);

  /* [any-thread] After a BUSY: there is room again; a call before the BUSY
   * doesn't count. Otherwise: `load` would answer differently now. Never wrong
   * to call. */
  void (*load_changed)(dtlto_host_context *context);

  /* [any-thread] Checks an object of an accepted job as job_done() will, for a
   * plugin that can ask another worker instead. Returns DTLTO_OK, or an error
   * if the host would refuse the object:
   *   - it should come in a frame (see dtlto_job.config), and is truncated,
   *     damaged or another job's;
   *   - the job has DTLTO_JOB_WHOLE_IMPORTS and _ARGS, and it is not an object
   *     for the job's target.
   * Other objects of a plain clang are not checked. On an error, writes one
   * line with the reason to `why` (may be null), truncated to `why_size` bytes
   * with its NUL. If job_done() then hands over the same memory, the host does
   * not look for damage again: the bytes must not change in between. */
  int32_t (*check_result)(dtlto_host_context *context, uint64_t job,
                          dtlto_span object, char *why, uint64_t why_size);

  /* [any-thread] Returns the host's extension of that id, or null. The object
   * is constant and lives as long as the host. */
  const void *(*extension)(dtlto_host_context *context, const char *id);
} dtlto_host;

/*===----------------------------------------------------------------------===*
 * The plugin
 *===----------------------------------------------------------------------===*/

/* The plugin's side of one session; opaque to the host. */
typedef struct dtlto_session dtlto_session;

typedef struct dtlto_plugin {
  uint32_t size;
  uint32_t abi_major; /* DTLTO_ABI_MAJOR */
  uint32_t abi_minor; /* of the header that the source was written for */
  uint32_t reserved;  /* 0 */
  const char *name;   /* short, e.g. "distcc"; the prefix of its messages */
  const char *version;

  /* [any-thread] Called before open() with the same arguments; sessions of one
   * link may share a call. Asks for what the session needs. The host has set
   * `config->size` and zeroed the rest. Reads arguments and the environment,
   * and returns at once, since no job is built before: after 10 s the session
   * fails. Keeps no state, and leaves it to open() to report a wrong argument.
   */
  void (*configure)(const dtlto_session_params *params,
                    dtlto_session_config *config);

  /* [link-thread] Begins a session. Returns DTLTO_OK and sets *session, or an
   * error after having logged the reason with DTLTO_LOG_ERROR. After
   * DTLTO_ERROR_CALLER (a wrong argument) the link fails; after another error,
   * the host may continue without the plugin. Should return at once: connect in
   * the background. After a second the linker compiles locally meanwhile; if
   * the link is finished before open() returns, the host does not wait for it.
   * After an error no other function is called. A call of this or another
   * function that takes longer than `job_timeout_s`, at most 60 s, ends the
   * session. */
  int32_t (*open)(const dtlto_host *host, const dtlto_session_params *params,
                  dtlto_session **session);

  /* [link-thread] Offers a job. DTLTO_OK: accepted; one job_done() must follow.
   * DTLTO_BUSY: not accepted for lack of room. An error: not accepted, and not
   * to be offered again; users see its number. To give a reason, accept the
   * job, and report the error with job_done(). Returns at once: it waits
   * neither for the network nor for another job. */
  int32_t (*submit)(dtlto_session *session, const dtlto_job *job);

  /* [link-thread] The host does not need the job any more. Its job_done() is
   * still due soon, with any status, also if the job runs: stop it, or forget
   * it. Returns at once. Ignore unknown ids: the job may just have ended. */
  void (*cancel)(dtlto_session *session, uint64_t job);

  /* [link-thread] Fills in *load, whose `size` the host has set, from what is
   * known, without waiting. Fields that the plugin leaves alone are unknown.
   * Returns DTLTO_OK. */
  int32_t (*load)(dtlto_session *session, dtlto_load *load);

  /* [link-thread] Ends the session. Cancels running jobs, each of which gets
   * its job_done(). Returns when no thread of the plugin can call the host any
   * more. Must return within seconds: after 10 s the host continues without the
   * plugin. */
  void (*close)(dtlto_session *session);

  /* [any-thread] Returns the plugin's extension of that id, or null. */
  const void *(*extension)(const char *id);
} dtlto_plugin;

/* The one symbol that a plugin exports:
 *
 *   const dtlto_plugin dtlto_plugin_entry = {
 *       sizeof(dtlto_plugin), DTLTO_ABI_MAJOR, DTLTO_ABI_MINOR, ... };
 */
#define DTLTO_PLUGIN_SYMBOL "dtlto_plugin_entry"
extern DTLTO_PLUGIN_EXPORT const dtlto_plugin dtlto_plugin_entry;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DTLTO_PLUGINAPI_H */
