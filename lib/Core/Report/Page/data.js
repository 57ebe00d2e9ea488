"use strict";
// Part of dtlto. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data, values derived from it, and number formats. Names and messages may contain anything:
// they only ever become text nodes, by element().

const report = JSON.parse(document.getElementById("data").textContent);
const jobs = report.jobs;
const hosts = report.hosts;
const begin = -report.link.thin_link;
const end = Math.max(report.link.end, 1e-6);

// In the order in which a job goes through them. Phases displayed alike have equal names.
const phases = {
  "thin link": { label: "thin link", color: "--thin-link" },
  wait: { label: "wait for its turn", color: "--wait" },
  prepare: { label: "prepare", color: "--prepare" },
  ready: { label: "wait for room", color: "--wait" },
  queue: { label: "queue", color: "--queue" },
  send: { label: "send", color: "--send" },
  run: { label: "run", color: "--run" },
  here: { label: "run in the linker", color: "--here" },
  receive: { label: "receive", color: "--receive" },
  deliver: { label: "deliver", color: "--deliver" },
  merge: { label: "merge between the rounds", color: "--thin-link" },
  close: { label: "close", color: "--wait" },
};

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === false) continue;
    if (key === "on") for (const [event, action] of Object.entries(value)) made.addEventListener(event, action);
    else if (key === "style") Object.assign(made.style, value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
function byId(id) { return document.getElementById(id); }
function swatch(color) { return element("i", { class: "swatch", style: { background: `var(${color})` } }); }

function seconds(value) {
  if (value === undefined) return "";
  if (Math.abs(value) < 0.0005) return "0";
  if (Math.abs(value) < 0.1) return (value * 1000).toFixed(value < 0.01 ? 1 : 0) + " ms";
  if (Math.abs(value) < 10) return value.toFixed(2) + " s";
  if (Math.abs(value) < 100) return value.toFixed(1) + " s";
  if (Math.abs(value) < 600) return value.toFixed(0) + " s";
  return Math.floor(value / 60) + " min " + String(Math.floor(value % 60)).padStart(2, "0") + " s";
}
function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; ++unit; }
  return value.toFixed(unit && value < 99.95 ? 1 : 0) + " " + units[unit];
}
function count(value) { return value.toLocaleString("en").replaceAll(",", "\u202f"); }
function percent(part, whole) { return whole > 0 ? Math.round(100 * part / whole) + " %" : "–"; }
function plural(n, word) { return count(n) + " " + word + (n === 1 ? "" : "s"); }

/** `a/b/libfoo.a(bar.o at 1234)` -> `bar.o`, for narrow places. */
function shortName(name) {
  const member = /\(([^()]*?)(?: at \d+)?\)$/.exec(name);
  const last = (member ? member[1] : name).split(/[\/\\]/).pop();
  return last || name;
}

function phaseOf(attempt, span) { return span.phase === "run" && attempt.in_linker ? "here" : span.phase; }
function hasFailed(attempt) { return !["ok", "cancelled", "open"].includes(attempt.outcome); }

// The attempts on the critical path: "job/attempt".
const critical = new Set();
for (const w of report.waits)
  if (w.job !== undefined && w.attempt !== undefined && w.phase !== "ready") critical.add(w.job + "/" + w.attempt);

// The values of each job that tables and the search use.
jobs.forEach((job, index) => {
  const won = job.winner === undefined ? undefined : job.attempts[job.winner];
  const run = won && won.phases.find((span) => span.phase === "run");
  job.index = index;
  // Both rounds have the same modules.
  if (job.round) job.name += ` (round ${job.round})`;
  job.won = won;
  job.short = shortName(job.name.replace(/ \(round \d\)$/, ""));
  job.took = run ? run.end - run.begin : 0;
  job.inputs = job.bytes.primary + job.bytes.imports + job.bytes.shard;
  job.where = job.from === "cache" ? "the cache"
    : job.from === "remote cache" ? "the remote cache"
    : job.from === "here" ? "in the linker"
    : job.from === "none" ? "no object"
    : (won && won.worker) || "a worker";
  // From when the job could have been sent until its work began.
  const start = won && won.phases.find((span) => span.phase !== "queue");
  job.waited = start && job.prepare ? Math.max(0, start.begin - job.prepare.end) : 0;
  job.text = [job.name, job.where, job.why_here || "", ...job.attempts.flatMap(
    (a) => [a.worker || "", a.message || "", a.outcome === "ok" ? "" : a.outcome,
            a.kind === "first" ? "" : a.kind])].join("\n").toLowerCase();
});

// The bars of each host and lane, in chronological order.
const lanes = [];
hosts.forEach((host, index) => {
  host.first = lanes.length;
  for (let lane = 0; lane < host.lanes; ++lane) lanes.push({ host: index, lane, bars: [] });
});
function addBar(place, bar) {
  if (place.host !== undefined) lanes[hosts[place.host].first + place.lane].bars.push(bar);
}
for (const job of jobs) {
  job.attempts.forEach((attempt, index) => {
    const spans = attempt.phases.filter((span) => span.phase !== "queue")
      .map((span) => ({ phase: phaseOf(attempt, span), begin: span.begin, end: span.end }));
    if (spans.length) {
      const queue = attempt.phases.find((span) => span.phase === "queue");
      addBar(attempt, { job, attempt, index, spans, queued: queue ? queue.begin : undefined,
                        begin: spans[0].begin, end: spans[spans.length - 1].end,
                        isCritical: critical.has(job.index + "/" + index) });
    }
  });
  for (const step of ["prepare", "deliver"])
    if (job[step])
      addBar(job[step], { job, spans: [{ phase: step, begin: job[step].begin, end: job[step].end }],
                          begin: job[step].begin, end: job[step].end });
}
for (const lane of lanes) lane.bars.sort((a, b) => a.begin - b.begin);
