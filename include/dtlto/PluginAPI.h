/*===- dtlto/PluginAPI.h - The plugin ABI of dtlto -----------------*- C -*-===*
 *
 * Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * All that a vendor of a distributed build system (DBS) needs to run the
 * backend compiles of a ThinLTO link on their machines.
 *
 * The two sides
 *   The *host* is the linker. The *plugin* is a shared library that exports one
 *   constant object, `dtlto_plugin_entry`, of type `dtlto_plugin`. One link is
 *   one *session*:
 *
 *     host                                     plugin
 *      |  open(host, params) ------------------> |   connect, start threads
 *      |  submit(job) -------------------------> |   OK, or BUSY
 *      | <---------------- job_state(running) -- |
 *      | <------------------- load_changed() --- |   room for more jobs
 *      | <--------- job_done(id, result) ------- |   exactly once a job
 *      |  close() -----------------------------> |   a barrier
 *
 * A job
 *   is the code generation of one module: inputs in memory, the command line of
 *   a stock clang that turns them into one object file, and a few hints. What
 *   comes back is the object file, in memory. The host checks format and
 *   machine of every object, and runs a job itself (or fails the link, as the
 *   user chose) where the plugin can't. Bits that changed on the way of a plain
 *   clang's object it can't see: protect them, if your DBS doesn't.
 *
 * Growing without breaking
 *   Every struct begins with `size`, which whoever *made* the struct sets to
 *   its own sizeof. A field that lies past `size` does not exist: don't read
 *   it. Majors must match. A higher minor has only appended fields to structs
 *   and constants to lists; so treat a constant that you don't know as the
 *   comment of its list says. New abilities come as extensions first (see
 *   `extension`).
 *
 * Threads
 *   [link-thread]  The host makes these calls one at a time and all of a
 *                  session's on one thread of its own.
 *   [any-thread]   May be called on any thread, also at the same time.
 *
 * Memory
 *   A `dtlto_span` and a `const char *` are borrowed: the comment says for how
 *   long. A `dtlto_buffer` is owned: it carries its own release function, which
 *   its last owner calls exactly once. Strings end in NUL and are UTF-8 where
 *   the file system's names are.
 *
 * Nothing here throws, and no exception may leave a function of either side.
 * The host loads a plugin with RTLD_NOW|RTLD_LOCAL and never unloads it. Its
 * constructors come back at once; what may wait or fail belongs in open(). The
 * process is the host's: a plugin never calls exit(), _exit() or the like, nor
 * exit() in a child that it forks, leaves the working folder, umask and signals
 * as they are, standard output alone, and sends to no closed connection without
 * MSG_NOSIGNAL.
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
#define DTLTO_ABI_MINOR 4

/* Makes `dtlto_plugin_entry` visible; its declaration below has it already. */
#if defined(_WIN32)
#define DTLTO_PLUGIN_EXPORT __declspec(dllexport)
#else
#define DTLTO_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/*===----------------------------------------------------------------------===*
 * Constants
 *===----------------------------------------------------------------------===*/

/* Status codes of calls and jobs. The three classes of errors are never mixed,
 * since the host acts on the class: it never repeats its own mistake, tries an
 * infrastructure error again, and shows a compiler error to the user.
 * A value that you don't know is an infrastructure error. */
enum {
  DTLTO_OK = 0,
  /* submit only: no room now. The job was not accepted; `load_changed` will
   * tell when to try again. */
  DTLTO_BUSY = 1,
  /* job_done only: the host asked for it with `cancel`, or called `close`. */
  DTLTO_CANCELLED = 2,
  /* The caller's mistake: a wrong argument, an option that can't be parsed. */
  DTLTO_ERROR_CALLER = 16,
  /* The network, a worker, a daemon, a version, a disk: another try elsewhere
   * may work. */
  DTLTO_ERROR_INFRASTRUCTURE = 17,
  /* The compiler ran and said no. `message` holds its own words. */
  DTLTO_ERROR_COMPILER = 18
};

/* What an input is to its job. Treat an unknown role as DTLTO_ROLE_OTHER: a
 * file that has to be there under its path. */
enum {
  DTLTO_ROLE_OTHER = 0,
  DTLTO_ROLE_PRIMARY = 1, /* the bitcode file that is compiled; exactly one */
  DTLTO_ROLE_IMPORT = 2,  /* a bitcode file that functions are imported from */
  DTLTO_ROLE_INDEX = 3    /* the module's summary index shard; exactly one */
};

/* Parts of a job that the host makes only for plugins that want them; a bit set
 * for `dtlto_plugin.needs` and `dtlto_job.parts`. Making them costs the linker
 * time and memory. A host leaves out what it doesn't know. */
enum {
  DTLTO_PART_INPUTS = 1,  /* inputs, num_inputs */
  DTLTO_PART_ARGS = 2,    /* args, num_args, output; brings INPUTS with it */
  DTLTO_PART_DIGESTS = 4, /* dtlto_input.digest; only with INPUTS */
  DTLTO_PART_CONFIG = 8,  /* config; brings INPUTS with it. Since 1.1 */
  /* Imports are whole modules; only with INPUTS. A path then stands for the
   * same bytes in all jobs of the link, for a DBS whose jobs share one folder.
   * Since 1.4 */
  DTLTO_PART_WHOLE = 16
};

/* Where a job is now. Treat an unknown state as DTLTO_STATE_RUNNING. */
enum {
  DTLTO_STATE_QUEUED = 0,    /* accepted, waits in the plugin or in the DBS;
                                after another state: that attempt failed */
  DTLTO_STATE_SENDING = 1,   /* inputs are being sent to the worker */
  DTLTO_STATE_RUNNING = 2,   /* the worker compiles */
  DTLTO_STATE_RECEIVING = 3, /* the object is being sent back */
  DTLTO_STATE_LOCAL = 4      /* runs on this machine, in this process */
};

/* Levels of `log`. Treat an unknown level as DTLTO_LOG_NOTE. */
enum {
  DTLTO_LOG_DEBUG = 0,   /* shown with --verbose only */
  DTLTO_LOG_NOTE = 1,    /* shown as a plain message */
  DTLTO_LOG_WARNING = 2, /* the link goes on, but the user should know */
  /* What the plugin can't go on without. The host gives it no more jobs, and
   * has no use for those that it has: it fails the link or, where the user
   * chose to fall back to this machine, shows a warning and compiles them
   * itself. Also on any thread while open() runs: then it is the reason why
   * open() fails, and if open() returns DTLTO_OK, the session is over as it
   * begins. Not for single jobs: these have job_done. */
  DTLTO_LOG_ERROR = 3,
  /* What compilers have written to standard error, of which the plugin can't
   * tell the jobs: whole lines. The host shows warnings in it as the linker's.
   * What belongs to a job is the message of its result instead. */
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

/* Owned bytes. Whoever holds the buffer last calls release(owner, data, size)
 * once, on any thread, and the link may wait for it: it must come back at once.
 * A null `release` means that there is nothing to do. The bytes must not change
 * while the buffer lives. */
typedef struct dtlto_buffer {
  const void *data;
  uint64_t size; /* in bytes */
  void *owner;   /* for release; nobody else looks at it */
  void (*release)(void *owner, const void *data, uint64_t size);
} dtlto_buffer;

/*===----------------------------------------------------------------------===*
 * Jobs and results
 *===----------------------------------------------------------------------===*/

/* One file of a job, in memory. */
typedef struct dtlto_input {
  uint32_t size;
  uint32_t role; /* DTLTO_ROLE_... */
  /* Relative, unique within the job, with characters that every file system
   * takes, `/` between folders, never a `..`. The command line and the index
   * shard name the file so: keep it. The same module has the same path in each
   * job, in every link of the same inputs, and on every machine. The path is no
   * name of the contents: as an import, a module may have no more than what
   * jobs of this link import from it. So keep contents under their digest. (A
   * plugin with an ABI before 1.2 gets whole modules, one for each path.) */
  const char *path;
  /* Primary modules and imports: borrowed until close() returns. Equal
   * addresses are equal contents; the same module has the same address in all
   * jobs that import from it. Others: until job_done(). */
  dtlto_span bytes;
  /* BLAKE3 of the bytes (256 bits): equal digests, equal contents. Zero unless
   * the plugin needs DTLTO_PART_DIGESTS. */
  uint8_t digest[32];
} dtlto_input;

/* The code generation of one module. The struct and what it points at are
 * borrowed from submit() until the plugin calls this job's job_done(), whose
 * result may still point there, unless submit() did not return DTLTO_OK: then
 * until submit() returns. */
typedef struct dtlto_job {
  uint32_t size;
  uint32_t parts; /* DTLTO_PART_...: what is filled in; at least plugin.needs */
  uint64_t id;    /* unique in the session, never 0 */
  /* The module's name as the user knows it, `dir/libfoo.a(bar.o at 1234)`. For
   * people: progress, monitors, messages. Not safe as a file name. */
  const char *name;
  const char *triple; /* target triple, e.g. "x86_64-pc-linux-gnu" */
  /* How long this job will take, in proportion to the session's other jobs;
   * without a unit. The host submits mostly in falling order of it. */
  uint64_t cost;
  const dtlto_input *const *inputs;
  /* A complete command line for a stock clang of `params.llvm_version`, run in
   * a folder that holds the inputs: args[0] is "clang" (use the name that your
   * workers have), ... "-o", output. It writes nothing but `output`. This and
   * `output` are null without DTLTO_PART_ARGS. */
  const char *const *args;
  uint32_t num_inputs;
  uint32_t num_args;  /* args[num_args] is null */
  const char *output; /* the path that follows -o; relative. Another host, or
                         another job, may have another one */
  /* Since 1.1. The whole configuration of the code generation, for a worker
   * that is dtlto-codegen: a JSON object of the host's own making. It says more
   * than a command line can. Then dtlto_result.object is what dtlto-codegen
   * writes with --frame, which names the job and shows damage: hand it on as it
   * is. The host refuses anything else of a plugin that asked for the job's
   * bundle, unless local code generation made it. (A plugin with an ABI
   * before 1.4, and each plugin of a host before that, gives what it writes
   * with --pack, which may be more than an object.) Null without
   * DTLTO_PART_CONFIG. */
  const char *config;
  /* Since 1.2. A worker (as job_state() names it) that has the same job already
   * and takes long, or that said that its module doesn't compile, which another
   * is to confirm: choose another if you can. May be null. */
  const char *avoid;
} dtlto_job;

/* What became of a job. */
typedef struct dtlto_result {
  uint32_t size;
  int32_t status; /* DTLTO_OK, _CANCELLED, or an _ERROR_ class */
  /* The object file. With job_done() the host becomes its owner, whatever the
   * status and even if it refuses the result; empty unless status is OK. */
  dtlto_buffer object;
  /* DTLTO_ERROR_COMPILER: what the compiler wrote. Other errors: what failed
   * and where, one line. DTLTO_OK: the compiler's warnings, if any. May be
   * null. Borrowed until job_done() returns. */
  const char *message;
  /* The machine or process that ran the job, for display. May be null. Borrowed
   * until job_done() returns. */
  const char *worker;
} dtlto_result;

/* What the DBS can take now. A number that isn't known is UINT32_MAX (or
 * UINT64_MAX). */
typedef struct dtlto_load {
  uint32_t size;
  uint32_t slots;            /* jobs that can run at the same time */
  uint32_t free;             /* slots that are idle */
  uint32_t queued;           /* accepted jobs that don't run yet */
  uint32_t workers;          /* machines (or processes) in reach */
  uint32_t reserved;         /* 0 */
  uint64_t expected_wait_ms; /* until a job submitted now begins to run */
  /* Since 1.2. Of the slots, those that take this machine's cores; the host
   * then runs fewer jobs of its own. 0, or UINT32_MAX, if they aren't known. */
  uint32_t local;
  uint32_t reserved_2; /* 0 */
} dtlto_load;

/*===----------------------------------------------------------------------===*
 * The host
 *===----------------------------------------------------------------------===*/

/* The host's side of one session; opaque. */
typedef struct dtlto_host_context dtlto_host_context;

/* What the host offers. Valid until close() returns; after that the plugin
 * calls nothing, on no thread. */
typedef struct dtlto_host {
  uint32_t size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;           /* 0 */
  const char *name;            /* "dtlto" */
  const char *version;         /* of the host, for display */
  dtlto_host_context *context; /* first argument of the functions below */

  /* [any-thread] Tells the user something. `level` is DTLTO_LOG_...; `message`
   * is one line, lower case, without the plugin's name (the host adds it), and
   * copied before the call returns. With DTLTO_LOG_COMPILER, it may have
   * several lines. */
  void (*log)(dtlto_host_context *context, uint32_t level, const char *message);

  /* [any-thread] Tells where an accepted job is; `state` is DTLTO_STATE_...,
   * `worker` (may be null) the machine, copied before the call returns.
   * Optional, but a job that is reported is a job that lives: the user's time
   * limit for a job counts from its last report, and while a job is QUEUED,
   * from the session's last sign of life. After the job's job_done() it does
   * nothing: it needs no ordering between threads. */
  void (*job_state)(dtlto_host_context *context, uint64_t job, uint32_t state,
                    const char *worker);

  /* [any-thread] Ends an accepted job; exactly once for each, cancelled ones
   * included, and never from inside submit(), though another thread may before
   * submit() has returned. The host takes `result->object` over, which it may
   * release at once, and copies the rest before the call returns. The object of
   * a second result, or of one for a job that the plugin was never given, is
   * not released, since it may alias another; the plugin gets no more jobs
   * then. */
  void (*job_done)(dtlto_host_context *context, uint64_t job,
                   const dtlto_result *result);

  /* [any-thread] After a BUSY: there is room again. Also: `load` would answer
   * differently now. Never wrong to call. */
  void (*load_changed)(dtlto_host_context *context);

  /* [any-thread] Returns the extension of that id, or null if the host has none
   * of that id. The object is constant and lives as long as the host. */
  const void *(*extension)(dtlto_host_context *context, const char *id);
} dtlto_host;

/* Extension of the host: code generation in the linker's own process. */
#define DTLTO_EXT_LOCAL_CODEGEN "dtlto.local-codegen/1"

typedef struct dtlto_local_codegen {
  uint32_t size;
  /* How many calls of run() the user wants at the same time (--thinlto-jobs, or
   * the number of cores); at least 1. */
  uint32_t slots;
  /* [any-thread] Compiles an accepted job on the calling thread, exactly as
   * in-process ThinLTO does, and fills `result`, whose `size` the caller has
   * set. Give job_done() the result as it is, whose strings live until then; or
   * release its object, and give a worker's result, in its frame. Returns
   * result->status. Warnings reach the user as in a plain link, errors with
   * job_done(). */
  int32_t (*run)(dtlto_host_context *context, uint64_t job,
                 dtlto_result *result);
} dtlto_local_codegen;

/* Extension of the host: what happens to a job that the plugin can't do. */
#define DTLTO_EXT_FALLBACK "dtlto.fallback/1"

typedef struct dtlto_fallback {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] From now on the session's failures fail the link, as with
   * --thinlto-dist-fallback=none: for a DBS whose own settings let a user say
   * so. `why`, one line that names the setting, is added to the message. */
  void (*forbid)(dtlto_host_context *context, const char *why);
} dtlto_fallback;

/* Extension of the host: other parts than `dtlto_plugin.needs`, for a plugin
 * that learns from its arguments what its workers are. Its `needs` are then
 * what it needs in any case: jobs are built before it is open, and one that
 * can't have one of these parts is compiled in the linker. */
#define DTLTO_EXT_NEEDS "dtlto.needs/1"

typedef struct dtlto_needs {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] From inside of open() only: this session's jobs carry `parts`
   * (DTLTO_PART_...). */
  void (*set)(dtlto_host_context *context, uint32_t parts);
} dtlto_needs;

/* Extension of the host: a job as one stream of bytes that dtlto-codegen reads
 * (docs/BUNDLE.md), for a DBS that sends its workers one input. */
#define DTLTO_EXT_BUNDLE "dtlto.bundle/1"

typedef struct dtlto_bundle {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Makes the bundle of an accepted job that has DTLTO_PART_CONFIG
   * and _DIGESTS. Returns DTLTO_OK and fills *bundle, which the caller then
   * owns; or an error, and *bundle is empty. Equal jobs have equal bundles. */
  int32_t (*make)(dtlto_host_context *context, uint64_t job,
                  dtlto_buffer *bundle);
} dtlto_bundle;

/* Extension of the host: the same stream as parts, for a DBS that sends an
 * input once and then names it, or that needs no copy of all. Since 1.4. */
#define DTLTO_EXT_BUNDLE_2 "dtlto.bundle/2"

/* A part of a bundle. */
typedef struct dtlto_bundle_span {
  dtlto_span bytes; /* never empty */
  /* Whose bytes they are, all of them, at the address that they have there: one
   * of dtlto_job.inputs. Null: headers, manifest, or padding. */
  const dtlto_input *input;
} dtlto_bundle_span;

/* The parts, in order: one after the other, they are what `make` of
 * dtlto.bundle/1 makes. The array and what has no input are borrowed until
 * release(owner), which is called once, on any thread, also after job_done();
 * inputs as long as those of dtlto_job. */
typedef struct dtlto_bundle_spans {
  uint32_t size;
  uint32_t num_spans;
  const dtlto_bundle_span *spans;
  void *owner;                  /* for release; nobody else looks at it */
  void (*release)(void *owner); /* null: there is nothing to do */
} dtlto_bundle_spans;

typedef struct dtlto_bundle_2 {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] As `make` of dtlto_bundle. Fills *bundle, whose `size` the
   * caller has set; after an error there is nothing to release. */
  int32_t (*make)(dtlto_host_context *context, uint64_t job,
                  dtlto_bundle_spans *bundle);
} dtlto_bundle_2;

/* Extension of the host: whether a worker's result is whole, for a plugin that
 * can ask another worker, and leave alone one that damages results. Since 1.4.
 */
#define DTLTO_EXT_CHECK "dtlto.check/1"

typedef struct dtlto_check {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Looks at what came back for an accepted job, as job_done()
   * will. Returns DTLTO_OK; or an error, if the host would refuse it since it
   * is cut off, damaged or another job's, which a frame tells (docs/BUNDLE.md),
   * or, for a job with DTLTO_PART_WHOLE and _ARGS, no object for its target. Of
   * a plain clang's object for other jobs it says nothing. Writes one line that
   * says why, cut to `why_size` bytes with its NUL, to `why` (may be null). */
  int32_t (*result)(dtlto_host_context *context, uint64_t job,
                    dtlto_span object, char *why, uint64_t why_size);
} dtlto_check;

/* Extension of the host: room on this machine, for a plugin that compiles here
 * in processes of its own. The user bounds their memory
 * (--thinlto-dist-memory), and a build that runs several programs bounds how
 * many cores each takes (GNU make's jobserver). run() of
 * DTLTO_EXT_LOCAL_CODEGEN goes by both, and needs no enter(). Since 1.4. */
#define DTLTO_EXT_LOCAL_ROOM "dtlto.local-room/1"

typedef struct dtlto_local_room {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] Waits until there is room for an accepted job; one always may
   * run, so the wait has an end. Not from inside the plugin's own functions.
   * Returns DTLTO_OK, and leave() is due; or DTLTO_CANCELLED: nobody needs the
   * job any more. */
  int32_t (*enter)(dtlto_host_context *context, uint64_t job);
  /* [any-thread] The job takes nothing any more. job_done() says so, too.
   * `bytes` is the most memory that it took, without what its processes share
   * with others, for the next link's estimate; 0: not known. */
  void (*leave)(dtlto_host_context *context, uint64_t job, uint64_t bytes);
} dtlto_local_room;

/* Extension of the host: numbers that the plugin counts or its DBS tells of,
 * such as hits of a cache, bytes on the network, or times by a worker's clock.
 * They are for display (--thinlto-dist-report) and decide nothing. Since 1.4.
 */
#define DTLTO_EXT_NUMBERS "dtlto.numbers/1"

/* What a number is of. Treat an unknown unit as DTLTO_UNIT_COUNT. */
enum {
  DTLTO_UNIT_COUNT = 0,
  DTLTO_UNIT_BYTES = 1,
  DTLTO_UNIT_MICROSECONDS = 2
};

typedef struct dtlto_numbers {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [any-thread] A number of the session is `value` now; one of the same name
   * before is replaced. `unit` is DTLTO_UNIT_.... `name` is for people: a few
   * words, lower case, copied before the call returns. A host cuts what is
   * overlong, and shows the first names if there are too many. In close(), too.
   */
  void (*session)(dtlto_host_context *context, const char *name, uint32_t unit,
                  uint64_t value);
  /* [any-thread] The same of an accepted job. After the job's job_done() it
   * does nothing. */
  void (*job)(dtlto_host_context *context, uint64_t job, const char *name,
              uint32_t unit, uint64_t value);
} dtlto_numbers;

/* What the host tells of this link. Borrowed until open() returns. */
typedef struct dtlto_session_params {
  uint32_t size;
  uint32_t num_args;
  const char *const *args;  /* --thinlto-dist-plugin-arg=..., in order */
  const char *llvm_version; /* the linker's, e.g. "19.1.7": results are only
                               the same with exactly this one */
  const char *output;     /* the file that is linked, for display; may be "" */
  uint64_t num_jobs;      /* modules of the link. A job that failed, or is
                             slow, is submitted again with an id of its own,
                             so there may be more jobs. 0: there are none;
                             open() and load() are as ever, but only the
                             status is asked for (DTLTO_EXT_STATUS), so
                             say nothing of jobs that can't be run */
  uint32_t job_timeout_s; /* --thinlto-dist-timeout, in seconds */
  uint32_t verbose;       /* not 0: the user asked for all messages */
  /* Since 1.4. The linker's version line, as it says it itself, e.g. "Debian
   * LLD 19.1.7": its vendor, version and, if it was built from a repository,
   * the revision, as `clang --version` has them. May be null. */
  const char *linker;
  /* Since 1.4. How many bytes of memory results may take together while they
   * are being received (--thinlto-dist-memory). 0: as many as they need. */
  uint64_t result_bytes;
} dtlto_session_params;

/*===----------------------------------------------------------------------===*
 * The plugin
 *===----------------------------------------------------------------------===*/

/* The plugin's side of one session; opaque to the host. */
typedef struct dtlto_session dtlto_session;

typedef struct dtlto_plugin {
  uint32_t size;
  uint32_t abi_major; /* DTLTO_ABI_MAJOR */
  uint32_t abi_minor; /* that of the header that the source was written for: the
                         host keeps to what it promised. DTLTO_ABI_MINOR, if
                         you read the changelog before you build with another */
  uint32_t needs;     /* DTLTO_PART_...: what each job must carry */
  const char *name;   /* short, e.g. "distcc"; the prefix of its messages */
  const char *version;

  /* [link-thread] Begins a session. Returns DTLTO_OK and sets *session, or an
   * error after having told why with host->log(DTLTO_LOG_ERROR). After
   * DTLTO_ERROR_CALLER, a wrong argument, the link fails; after another error
   * it may go on without the plugin. Should come back at once: connect in the
   * background. After a second the linker compiles by itself meanwhile, and a
   * link that is done then leaves the plugin behind in this call. No other
   * function is called after an error. A call of this or another function that
   * takes longer than `job_timeout_s`, 60 s at most, ends the session. */
  int32_t (*open)(const dtlto_host *host, const dtlto_session_params *params,
                  dtlto_session **session);

  /* [link-thread] Offers a job. DTLTO_OK: accepted, and one job_done() will
   * follow. DTLTO_BUSY: not accepted, there is no room. An error: not accepted,
   * will never be. Never waits for the network or for another job. */
  int32_t (*submit)(dtlto_session *session, const dtlto_job *job);

  /* [link-thread] The host has no use for the job any more. Its job_done() is
   * still due, with any status; soon is better. Unknown ids are ignored: the
   * job may have ended a moment ago. */
  void (*cancel)(dtlto_session *session, uint64_t job);

  /* [link-thread] Fills *load, whose `size` the host has set; what the plugin
   * leaves alone isn't known (`local`: 0). Answers from what is known, without
   * waiting. Returns DTLTO_OK. */
  int32_t (*load)(dtlto_session *session, dtlto_load *load);

  /* [link-thread] Ends the session. Jobs that still run are cancelled and get
   * their job_done(); then, and only when no thread of the plugin can call the
   * host again, close() returns. Must end within seconds: after 10 the plugin
   * is left behind. */
  void (*close)(dtlto_session *session);

  /* [any-thread] Returns the plugin's extension of that id, or null. */
  const void *(*extension)(const char *id);
} dtlto_plugin;

/* Extension of the plugin: what its DBS is made of now, for display
 * (--thinlto-dist-status). Since 1.3. */
#define DTLTO_EXT_STATUS "dtlto.status/1"

/* Whether a worker takes jobs. Treat an unknown value as DTLTO_WORKER_UNKNOWN.
 */
enum {
  DTLTO_WORKER_UNKNOWN = 0, /* nobody asked it, or it can't be asked */
  DTLTO_WORKER_UP = 1,      /* takes jobs of a link like this one */
  DTLTO_WORKER_OUT = 2      /* takes none; dtlto_worker_status.why says why */
};

/* One machine of the DBS. Borrowed until the function that got it returns. A
 * number that isn't known is UINT32_MAX, a text null. */
typedef struct dtlto_worker_status {
  uint32_t size;
  uint32_t state;         /* DTLTO_WORKER_... */
  const char *name;       /* as job_state() names it; never null */
  const char *compiler;   /* what it compiles with, e.g. "clang 19.1.7" */
  const char *why;        /* why it is out, one line */
  uint32_t slots;         /* jobs that it runs at the same time */
  uint32_t busy;          /* slots in use, by any client */
  uint32_t load_permille; /* of its cores: 1000 if all have work, or more */
  uint32_t reserved;      /* 0 */
} dtlto_worker_status;

typedef struct dtlto_status {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] In an open session, with or without jobs: asks the DBS and
   * calls worker(context, ...) once for each of its machines, on the calling
   * thread, in the order of the user's own list if there is one. May wait for
   * the network, but returns within `timeout_ms`; a machine that hasn't
   * answered by then is OUT. Returns DTLTO_OK, or an error after having told
   * why with host->log(DTLTO_LOG_WARNING): the DBS as a whole can't be asked.
   */
  int32_t (*query)(dtlto_session *session, uint32_t timeout_ms,
                   void (*worker)(void *context,
                                  const dtlto_worker_status *status),
                   void *context);
} dtlto_status;

/* Extension of the plugin: it is told which of its results were wrong, so that
 * it can leave a worker alone that fails where others don't. Since 1.4. */
#define DTLTO_EXT_REFUTED "dtlto.refuted/1"

typedef struct dtlto_refuted {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] The result of `job`, which has had its job_done(), was wrong.
   * `status` and `worker` are those of the result; `worker` may be null, and is
   * borrowed until this returns. DTLTO_ERROR_COMPILER: the module compiles, on
   * another worker or in the linker. DTLTO_OK: what came is no object for the
   * job, or differs from the object that the linker made. Not told once all jobs have ended. Never waits. One may be an
   * accident; a worker with two is better left alone for a while. */
  void (*result)(dtlto_session *session, uint64_t job, const char *worker,
                 int32_t status);
} dtlto_refuted;

/* Extension of the plugin: it is told when it has all jobs that there are for
 * it, for a DBS that wants many at a time. Since 1.4. */
#define DTLTO_EXT_BATCH "dtlto.batch/1"

typedef struct dtlto_batch {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* [link-thread] The plugin has all jobs that it can get now. The next comes
   * when one that it has ends or is cancelled, when it tells of room after a
   * BUSY, or when the linker takes over one that had to wait. Only a job that
   * is submitted again, since it failed or takes long, may come at any time.
   * Called after each series of submit(), also if that is one. Never waits. */
  void (*complete)(dtlto_session *session);
} dtlto_batch;

/* Extension of the plugin: a store of bytes in the DBS, where a later link
 * finds them, also one on another machine. The host keeps there what modules
 * are optimised to (--thinlto-dist-keep-ir=farm). Since 1.4. */
#define DTLTO_EXT_STORE "dtlto.store/1"

/* Both functions are [any-thread], and may wait for the network, but return
 * within `timeout_ms`. The host calls them while a session with jobs is open,
 * and close() only once they have returned. A `key` is 32 bytes. They return
 * DTLTO_OK; DTLTO_CANCELLED, if the plugin has given up (DTLTO_LOG_ERROR); or
 * an error after having written one line that says why, cut to `why_size` bytes
 * with its NUL, to `why`. After an error the host makes no more calls of that
 * kind, and does without. */
typedef struct dtlto_store {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* What was last put under `key`, by any client: the host checks it, and
   * believes it no more than a worker. The host becomes the owner of *bytes,
   * and may release them after close(). They are empty if there is nothing,
   * nothing any more, or more than `max_bytes`. */
  int32_t (*get)(dtlto_session *session, const uint8_t *key, uint64_t max_bytes,
                 uint32_t timeout_ms, dtlto_buffer *bytes, char *why,
                 uint64_t why_size);
  /* Replaces what is there. The store may drop it at any time. `bytes` are
   * borrowed until this returns; none are as if nothing had been put. */
  int32_t (*put)(dtlto_session *session, const uint8_t *key, dtlto_span bytes,
                 uint32_t timeout_ms, char *why, uint64_t why_size);
} dtlto_store;

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
