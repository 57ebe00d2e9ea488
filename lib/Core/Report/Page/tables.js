// Everything that is text: tiles, tables and details.

function row(cells, tag = "td", options = {}) {
  return element("tr", options, ...cells.map((cell) => {
    const isSpecial = cell !== null && typeof cell === "object" && !(cell instanceof Node);
    const { text = cell, ...rest } = isSpecial ? cell : {};
    return element(tag, rest, isSpecial ? text : cell);
  }));
}
const right = (text) => ({ text, class: "right" });
const heading = (text, rightly) => ({ text, class: rightly ? "right" : undefined, scope: "col" });

function jobLink(job, text = job.name) {
  return element("button", { type: "button", class: "link", title: "Show in the timeline",
                             on: { click: () => select(job, true) } }, text);
}

function fillTiles() {
  const { link, totals, bound } = report;
  const wall = link.thin_link + link.end;
  const tile = (name, value, note, extra = "") => byId("tiles").append(element("div", { class: "tile" },
    element("div", { class: "name" }, name),
    element("div", { class: "value" }, value),
    element("div", { class: "note" }, note), extra));
  tile("Thin link and jobs", seconds(wall), `${seconds(link.thin_link)} before the first job, ${seconds(link.end)} of jobs`);
  const perSlot = totals.work / bound.slots;
  tile("Could have been", seconds(bound.seconds),
       (bound.longest >= perSlot ? `the longest job takes ${seconds(bound.longest)}`
                                 : `${seconds(totals.work)} of work on ${plural(bound.slots, "slot")}`) +
       (bound.seconds > 0 ? `; it took ${(wall / bound.seconds).toFixed(2)} times that` : ""));
  const parts = [["from_worker", "remotely", "--run"], ["from_here", "in the linker", "--here"],
                 ["from_cache", "cached", "--receive"],
                 ["from_remote_cache", "from the remote cache", "--receive"], ["without_object", "without object", "--bad"]]
    .filter(([key]) => totals[key]);
  const mix = element("div", { class: "stack thin", "aria-hidden": "true" }, ...parts.map(([key, , color]) =>
    element("span", { style: { width: 100 * totals[key] / totals.jobs + "%", background: `var(${color})` } })));
  tile("Jobs", count(totals.jobs), parts.map(([key, label]) => count(totals[key]) + " " + label).join(" · ") || "none", mix);
  tile("Slots", count(bound.slots), (link.end > 0 ? `${(totals.work / link.end).toFixed(1)} of them at work on average; ` : "") +
       plural(hosts.filter((host) => host.kind === "worker").length, "worker") + " had jobs");
  tile("Inputs sent", bytes(totals.bytes_out), totals.whole_import_bytes
    ? `imports were reduced to ${percent(totals.import_bytes, totals.whole_import_bytes)}; ${bytes(totals.bytes_back)} received`
    : `${bytes(totals.bytes_back)} received`);
  const trouble = [totals.failed_attempts && plural(totals.failed_attempts, "failure"),
    totals.second_starts && `${plural(totals.second_starts, "duplicate attempt")}, ${count(totals.second_starts_won)} faster`,
    totals.waste >= 0.001 && `${seconds(totals.waste)} wasted`].filter(Boolean);
  tile("Tried again", count(totals.retries + totals.second_starts), trouble.join("; ") || "no failures, no duplicate attempts");
}

/** Returns the phase that is displayed for a step of the critical path. */
function waitPhase(w) {
  const attempt = w.attempt === undefined ? null : jobs[w.job].attempts[w.attempt];
  return attempt && attempt.in_linker && w.phase === "run" ? "here" : w.phase;
}

function fillWaits() {
  const all = end - begin, sums = new Map();
  for (const w of report.waits) sums.set(waitPhase(w), (sums.get(waitPhase(w)) || 0) + w.end - w.begin);
  const last = [...report.waits].reverse().find((w) => w.job !== undefined);
  const inJobs = report.waits.filter((w) => w.attempt !== undefined && w.phase === "run");
  const distinct = [...new Set(inJobs.map((w) => w.job))];
  const [main] = [...sums].sort((a, b) => b[1] - a[1]);
  const text = byId("waits-text");
  if (last && distinct.length) {
    const lastWhere = jobs[last.job].where;
    const place = jobs[last.job].from === "here" ? "in the linker" : lastWhere === "no object" ? "" : "on " + lastWhere;
    text.append(`The last job was `, jobLink(jobs[last.job], jobs[last.job].short), ` ${place}. `,
      distinct.length === 1 ? `No other job held it up. `
        : `It ends a chain of ${plural(distinct.length, "job")}, each of which held the slot that the next one waited for. `);
  }
  if (main) text.append(`Most of the time, ${percent(main[1], all)}, is ${main[0] === "run" ? "compiling on workers" : phases[main[0]].label}.`);
  const bar = byId("waits-bar");
  for (const w of report.waits) {
    const phase = phases[waitPhase(w)], job = jobs[w.job];
    const style = { width: 100 * (w.end - w.begin) / all + "%", background: `var(${phase.color})` };
    const title = `${phase.label}${job ? ": " + job.name : ""}\n${seconds(w.end - w.begin)}`;
    bar.append(job ? element("button", { type: "button", tabindex: "-1", title, style, on: { click: () => { select(job); showTime(w.begin, w.end, job); } } })
                   : element("span", { title, style }));
  }
  for (const [phase, sum] of [...sums].sort((a, b) => b[1] - a[1]))
    if (sum >= all * 0.001)
      byId("waits-phases").append(element("span", {}, swatch(phases[phase].color), phases[phase].label + " ",
        element("b", {}, seconds(sum)), " " + percent(sum, all)));
  const table = byId("waits-table");
  table.append(element("thead", {}, row([heading("Since", true), heading("For", true), heading("What"), heading("Module"), heading("Where")], "th")));
  table.append(element("tbody", {}, ...report.waits.slice(-300).map((w) => {
    const job = jobs[w.job], attempt = job && w.attempt !== undefined ? job.attempts[w.attempt] : null;
    return row([right(seconds(w.begin)), right(seconds(w.end - w.begin)), phases[waitPhase(w)].label,
                { text: job ? jobLink(job) : "", class: "name" },
                attempt ? (attempt.in_linker ? "in the linker" : attempt.worker || "") : ""]);
  })));
}

function fillLegend() {
  for (const name of ["queue", "send", "run", "receive", "here", "prepare", "deliver"])
    byId("timeline-legend").append(element("span", {}, swatch(phases[name].color), phases[name].label));
  byId("timeline-legend").append(element("span", {}, swatch("--bad"), "failed"),
                                 element("span", {}, swatch("--cancelled"), "cancelled"));
}

const columns = [
  { name: "Module", key: (job) => job.name, text: (job) => ({ text: jobLink(job), class: "name" }) },
  { name: "Compiled in", key: (job) => job.took, text: (job) => right(job.took ? seconds(job.took) : "–") },
  { name: "Waited", key: (job) => job.waited, text: (job) => right(job.won ? seconds(job.waited) : "–") },
  { name: "Ended", key: (job) => job.end || 0, text: (job) => right(job.end === undefined ? "–" : seconds(job.end)) },
  { name: "Where", key: (job) => job.where, text: (job) => job.where },
  { name: "Starts", key: (job) => job.attempts.length, text: (job) => right(count(job.attempts.length)) },
  { name: "Bitcode", key: (job) => job.bytes.primary, text: (job) => right(bytes(job.bytes.primary)) },
  { name: "Imports", key: (job) => job.bytes.imports, text: (job) => right(bytes(job.bytes.imports)) },
  { name: "Object", key: (job) => job.bytes.object, text: (job) => right(job.bytes.object ? bytes(job.bytes.object) : "–") },
  { name: "Expected", key: (job) => job.cost, text: (job) => right(seconds(job.cost)) },
];
const order = { column: 1, falling: true, shown: 25 };
let sorted = [];

function fillModules() {
  const table = byId("modules"), column = columns[order.column], sign = order.falling ? -1 : 1;
  sorted = jobs.filter((job) => !matches || matches.has(job.index)).sort((a, b) => {
    const x = column.key(a), y = column.key(b);
    return (x < y ? -sign : x > y ? sign : 0) || a.index - b.index;
  });
  const head = row(columns.map((c, i) => ({
    text: element("button", { type: "button", on: { click: () => sortBy(i) } }, c.name),
    class: i && c.name !== "Where" ? "right" : undefined, scope: "col",
    "aria-sort": i !== order.column ? undefined : order.falling ? "descending" : "ascending",
  })), "th");
  const body = sorted.slice(0, order.shown).map((job) =>
    row(columns.map((c) => c.text(job)), "td", { class: job === selected ? "selected" : undefined, "data-job": job.index }));
  if (!body.length) body.push(element("tr", {}, element("td", { colspan: columns.length, class: "muted" }, jobs.length ? "no module matches" : "the link had no ThinLTO modules")));
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
  const left = sorted.length - order.shown, more = byId("more");
  more.hidden = left <= 0;
  more.textContent = left > 200 ? `Show 200 more of ${count(left)}` : `Show the other ${count(left)}`;
}
function sortBy(column) {
  order.falling = order.column === column ? !order.falling : column !== 0 && columns[column].name !== "Where";
  order.column = column;
  fillModules();
  saveState();
}

function fillHosts() {
  const table = byId("hosts");
  table.append(element("thead", {}, row([heading("Worker"), heading("Jobs", true), heading("Starts", true), heading("Failed", true),
    heading("Slots used", true), heading("Busy", true), heading("")], "th")));
  table.append(element("tbody", {}, ...hosts.filter((host) => host.kind !== "linker").map((host) => {
    const share = host.busy / (host.lanes * end);
    const bar = element("span", { class: "share", role: "img", "aria-label": percent(share, 1) + " busy" },
      element("i", { style: { width: 100 * Math.min(1, share) + "%", background: `var(${host.kind === "here" ? "--here" : "--run"})` } }));
    return row([{ text: host.name, class: "name" }, right(count(host.jobs)), right(count(host.attempts)),
      { text: count(host.failed), class: host.failed ? "right bad" : "right" }, right(count(host.lanes)),
      right(seconds(host.busy)), { text: element("span", {}, percent(share, 1), bar), class: "right" }]);
  })));
}

function fillBytes() {
  const sum = (key) => jobs.reduce((n, job) => n + job.bytes[key], 0), { totals } = report;
  const line = (name, value, note) => row([name, right(bytes(value)), { text: note, class: "muted" }]);
  byId("bytes").append(element("tbody", {},
    line("Modules", sum("primary"), "bitcode, each once"),
    line("Imports, whole", sum("whole_imports"), "the files that jobs import from"),
    line("Imports, as sent", sum("imports"), percent(sum("imports"), sum("whole_imports"))),
    line("Index shards", sum("shard"), ""),
    line("Given to the plugin", totals.bytes_out, "including second tries, before compression"),
    line("Objects of workers", totals.bytes_back, ""),
    line("All objects", sum("object"), "except those from the cache")));
}

function numberText({ unit, value }) { return unit === "bytes" ? bytes(value) : unit === "seconds" ? seconds(value) : count(value); }

function fillNumbers() {
  const numbers = report.numbers || [];
  byId("numbers-panel").hidden = !numbers.length;
  byId("numbers").append(element("tbody", {}, ...numbers.map((number) =>
    row([{ text: number.name, class: "name" }, right(numberText(number))]))));
}

function fillTrouble() {
  const box = byId("trouble"), failures = [], reasons = new Map();
  for (const job of jobs) {
    for (const attempt of job.attempts)
      if (hasFailed(attempt) || attempt.kind === "retry" || attempt.kind === "second start") failures.push({ job, attempt });
    if (job.why_here && job.from === "here") reasons.set(job.why_here, [...(reasons.get(job.why_here) || []), job]);
  }
  if (reasons.size) {
    box.append(element("p", {}, "Compiled in the linker, and why:"));
    const table = element("table", {}, element("thead", {}, row([heading("Jobs", true), heading("Why"), heading("For example")], "th")),
      element("tbody", {}, ...[...reasons].sort((a, b) => b[1].length - a[1].length).slice(0, 50).map(([why, some]) =>
        row([right(count(some.length)), { text: why, class: "name" }, { text: jobLink(some[0]), class: "name" }]))));
    box.append(element("div", { class: "scroll" }, table));
  }
  if (failures.length) {
    failures.sort((a, b) => (a.attempt.done || 0) - (b.attempt.done || 0));
    box.append(element("p", {}, "Failures, retries and duplicate attempts" + (failures.length > 200 ? ", the first 200 of " + count(failures.length) : "") + ":"));
    const table = element("table", {}, element("thead", {}, row([heading("Until", true), heading("Module"), heading("Start"), heading("Where"), heading("Outcome"), heading("Message")], "th")),
      element("tbody", {}, ...failures.slice(0, 200).map(({ job, attempt }) =>
        row([right(seconds(attempt.done)), { text: jobLink(job), class: "name" }, attempt.kind, attempt.in_linker ? "in the linker" : attempt.worker || "",
          { text: attempt.outcome, class: hasFailed(attempt) ? "bad" : undefined }, { text: (attempt.message || "").slice(0, 1000), class: "name" }]))));
    box.append(element("div", { class: "scroll" }, table));
  }
  if (!box.childNodes.length) box.append(element("p", { class: "muted" }, "Nothing: no job failed, had a duplicate attempt, or was compiled in the linker."));
}

/** Shows the details of the selected job under the timeline. */
function fillDetails() {
  const box = byId("details"), job = selected;
  if (!job) return box.replaceChildren();
  const facts = [`task ${job.number}`, `object from ${job.from === "cache" ? "LLVM's cache" : job.from === "none" ? "nowhere" : job.where}`,
    `${bytes(job.bytes.primary)} of bitcode`, `imports ${bytes(job.bytes.imports)}` + (job.bytes.whole_imports ? ` of ${bytes(job.bytes.whole_imports)}` : ""),
    `object ${bytes(job.bytes.object)}`];
  if (job.busy) facts.push(`${plural(job.busy, "time")} there was no room`);
  const table = element("table", {}, element("thead", {}, row([heading("Start"), heading("Where"), heading("Outcome"), heading("Offered", true),
    ...["queue", "send", "run", "receive"].map((name) => heading(phases[name].label, true)), heading("Done", true), heading("Message")], "th")),
    element("tbody", {}, ...job.attempts.map((attempt) => {
      const spent = (name) => right(seconds((attempt.phases.filter((span) => span.phase === name).map((span) => span.end - span.begin))[0]));
      return row([attempt.kind, attempt.in_linker ? "in the linker" : attempt.worker || "", { text: attempt.outcome, class: hasFailed(attempt) ? "bad" : undefined },
        right(seconds(attempt.offered)), spent("queue"), spent("send"), spent("run"), spent("receive"), right(seconds(attempt.done)),
        { text: [...(attempt.numbers || []).map((number) => `${number.name}: ${numberText(number)}`), attempt.message || ""].filter(Boolean).join("; "), class: "name" }]);
    })));
  box.replaceChildren(element("h3", {}, job.name), element("p", { class: "muted" }, facts.join(" · ")),
    job.why_here ? element("p", {}, "Compiled in the linker: " + job.why_here) : "",
    job.attempts.length ? element("div", { class: "scroll" }, table) : "");
}
