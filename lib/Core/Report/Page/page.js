// The page as a whole. The search, selection, sort order and view are in the address, after the #,
// so that a place in a report can be shared.

function select(job, show = false) {
  selected = job || null;
  fillDetails();
  for (const line of byId("modules").querySelectorAll("tr[data-job]"))
    line.classList.toggle("selected", selected !== null && Number(line.dataset.job) === selected.index);
  if (selected && show) {
    const bar = selected.won ? selected.won.phases : selected.prepare ? [selected.prepare] : [];
    if (bar.length) showTime(bar[0].begin, bar[bar.length - 1].end, selected);
    byId("timeline-title").scrollIntoView({ block: "nearest" });
  }
  redraw();
  saveState();
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  matches = words.length ? new Set(jobs.filter((job) => words.every((word) => job.text.includes(word))).map((job) => job.index)) : null;
  byId("found").textContent = matches ? `${count(matches.size)} of ${plural(jobs.length, "module")}` : "";
  order.shown = 25;
  fillModules();
  redraw();
  saveState();
}

let restoring = false;
function saveState() {
  if (restoring) return;
  const state = new URLSearchParams();
  if (byId("search").value) state.set("q", byId("search").value);
  if (selected) state.set("job", selected.index);
  if (order.column !== 1 || !order.falling) state.set("sort", (order.falling ? "-" : "") + order.column);
  if (view.from > begin || view.to < end) state.set("view", view.from.toFixed(4) + "," + view.to.toFixed(4));
  // A page without an origin may not be allowed to do this.
  try { history.replaceState(null, "", String(state) ? "#" + state : location.pathname + location.search); } catch { }
}
function restoreState() {
  restoring = true;
  const state = new URLSearchParams(location.hash.slice(1));
  const sort = /^(-?)(\d+)$/.exec(state.get("sort") || "");
  if (sort && columns[sort[2]]) Object.assign(order, { column: Number(sort[2]), falling: sort[1] === "-" });
  byId("search").value = state.get("q") || "";
  search(byId("search").value);
  if (jobs[state.get("job")]) select(jobs[state.get("job")], true);
  const [from, to] = (state.get("view") || "").split(",").map(Number);
  if (to > from) setView(from, to);
  restoring = false;
}

function start() {
  const { link, totals } = report;
  const name = link.output ? link.output.split(/[\/\\]/).pop() : "ThinLTO link";
  document.title = name + " – ThinLTO link";
  byId("title").textContent = name;
  const date = new Date(link.date);
  byId("subtitle").textContent = [`plugin ${link.plugin} ${link.plugin_version}`.trim(), `dtlto ${link.dtlto}`, `LLVM ${link.llvm}`,
    isNaN(date) ? "" : date.toLocaleString()].filter(Boolean).join(" · ");
  const banner = byId("banner");
  if (link.failed) banner.textContent = "The link failed. This report shows what was done until then.";
  if (link.plugin_failed) banner.textContent += ` The plugin failed: ${link.plugin_failed}`;
  banner.hidden = !banner.textContent;

  readColors();
  fillTiles();
  fillWaits();
  fillLegend();
  fillHosts();
  fillBytes();
  fillNumbers();
  fillTrouble();
  canvas.setAttribute("aria-label", `Timeline of ${plural(totals.jobs, "job")} on ${plural(lanes.length, "lane")}; the table of modules has the same times`);
  listen();
  byId("more").addEventListener("click", () => { order.shown += 200; fillModules(); });
  byId("search").addEventListener("input", (event) => search(event.target.value));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && sorted.length) select(sorted[0], true);
    if (event.key === "Escape") { event.target.value = ""; search(""); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !(event.target instanceof HTMLInputElement)) { byId("search").focus(); event.preventDefault(); }
  });
  window.addEventListener("hashchange", restoreState);
  restoreState();
  drawOverview();
  drawLanes();
  // For tests: the page is ready, with these counts.
  Object.assign(document.documentElement.dataset, { ready: "yes", jobs: jobs.length, lanes: lanes.length });
}

window.addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
start();
