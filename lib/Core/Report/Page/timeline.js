// The two pictures: activity over time, and each lane's jobs.

const overview = byId("overview"), canvas = byId("lanes"), tooltip = byId("tooltip");
const gutter = 150, axis = 22, maxHeight = 560;
const rowHeight = Math.max(5, Math.min(22, Math.floor(maxHeight / Math.max(1, lanes.length))));
const view = { from: begin, to: end, top: 0 };   // top: of the lanes, in pixels
let colors = {}, selected = null, matches = null, hovered = null, drawn = 0;

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "muted", "line", "lane", "panel", "bad", "cancelled", "on-bar", "mark", "focus", "queue"])
    colors[name] = style.getPropertyValue("--" + name).trim();
  for (const [name, phase] of Object.entries(phases)) colors["phase " + name] = style.getPropertyValue(phase.color).trim();
}

/** Sizes the canvas to its place on the page. Returns a pen and the size in CSS pixels. */
function prepare(target, height) {
  const width = target.clientWidth, ratio = window.devicePixelRatio || 1;
  if (target.width !== Math.round(width * ratio) || target.height !== Math.round(height * ratio)) {
    target.width = Math.round(width * ratio);
    target.height = Math.round(height * ratio);
    target.style.height = height + "px";
  }
  const pen = target.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
  pen.textBaseline = "middle";
  return { pen, width, height };
}

function fillRect(pen, color, ...box) { pen.fillStyle = color; pen.fillRect(...box); }
function fillText(pen, color, ...place) { pen.fillStyle = color; pen.fillText(...place); }

/** Returns round times for an axis, at least `room` pixels apart. */
function ticks(from, to, width, room) {
  const least = (to - from) / Math.max(1, width / room);
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
  const times = [];
  for (let n = Math.ceil(from / step); n * step <= to; ++n) times.push(n * step);
  return { times, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function fit(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle; else high = middle - 1;
  }
  return low ? text.slice(0, low) + "…" : "";
}

// The number of attempts in a phase over time, as steps. Computed once.
const activity = (() => {
  const kinds = { queue: [], run: [], here: [] };
  for (const job of jobs)
    for (const attempt of job.attempts)
      for (const span of attempt.phases) {
        const phase = phaseOf(attempt, span);
        const steps = kinds[phase === "queue" ? "queue" : phase === "here" ? "here" : "run"];
        steps.push([span.begin, 1], [span.end, -1]);
      }
  for (const [kind, steps] of Object.entries(kinds)) {
    steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let sum = 0;
    kinds[kind] = steps.map(([time, change]) => [time, sum += change]);
  }
  return kinds;
})();

/** Returns the average number in each of `columns` equal parts of the time. */
function averages(steps, columns) {
  const all = new Float64Array(columns), width = (end - begin) / columns;
  let from = 0, value = 0;   // in columns
  const goOn = (time) => {
    const to = Math.max(from, Math.min(columns, (time - begin) / width));
    if (value)
      for (let column = Math.floor(from); column < columns && column < to; ++column)
        all[column] += value * (Math.min(to, column + 1) - Math.max(from, column));
    from = to;
  };
  for (const [time, number] of steps) { goOn(time); value = number; }
  goOn(end);
  return all;
}

let averagesOf = { columns: 0 };   // for this width
function allAverages(columns) {
  if (averagesOf.columns !== columns) {
    averagesOf = { columns, run: averages(activity.run, columns), here: averages(activity.here, columns),
                   queue: averages(activity.queue, columns) };
  }
  return averagesOf;
}

function drawOverview() {
  const { pen, width, height } = prepare(overview, 72);
  const room = width - gutter, columns = Math.max(1, Math.floor(room));
  const { run, here, queue } = allAverages(columns);
  const slots = report.bound.slots;
  let most = slots;
  for (let x = 0; x < columns; ++x) most = Math.max(most, run[x] + here[x]);
  const bottom = height - 4, scale = (bottom - 6) / most, queueScale = Math.min(scale, (bottom - 6) / Math.max(1, ...queue));
  fillRect(pen, colors.lane, gutter, 0, room, bottom);
  for (let x = 0; x < columns; ++x) {
    const r = run[x] * scale, h = here[x] * scale;
    if (r) fillRect(pen, colors["phase run"], gutter + x, bottom - r, 1, r);
    if (h) fillRect(pen, colors["phase here"], gutter + x, bottom - r - h, 1, h);
  }
  pen.strokeStyle = colors.muted;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let x = 0; x < columns; ++x) pen.lineTo(gutter + x + 0.5, bottom - queue[x] * queueScale - 0.5);
  pen.stroke();
  pen.setLineDash([4, 4]);
  pen.beginPath();
  pen.moveTo(gutter, bottom - slots * scale + 0.5);
  pen.lineTo(width, bottom - slots * scale + 0.5);
  pen.stroke();
  pen.setLineDash([]);
  pen.fillStyle = colors.muted;
  pen.textAlign = "left";
  pen.fillText("busy slots", 0, 12);
  pen.fillText("of " + count(slots) + " (dashed)", 0, 27);
  const longest = Math.max(0, ...queue);
  if (longest >= 0.5) pen.fillText(fit(pen, "line: queue, to " + count(Math.ceil(longest)), gutter - 8), 0, 42);
  // The part that the lanes show.
  const x0 = gutter + (view.from - begin) / (end - begin) * room, x1 = gutter + (view.to - begin) / (end - begin) * room;
  if (x1 - x0 < room - 1) {
    pen.globalAlpha = 0.6;
    fillRect(pen, colors.panel, gutter, 0, x0 - gutter, height);
    pen.fillRect(x1, 0, width - x1, height);
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.focus;
    pen.lineWidth = 2;
    pen.strokeRect(x0, 1, Math.max(2, x1 - x0), height - 3);
  }
}

function lanesHeight() { return lanes.length * rowHeight; }
function visibleHeight() { return Math.min(maxHeight, Math.max(rowHeight, lanesHeight())); }
function timeAt(x) { return view.from + (x - gutter) / (canvas.clientWidth - gutter) * (view.to - view.from); }

/** Draws the time between two rounds, when no job runs. */
function drawBarrier(pen, X, height) {
  const { first_round_end: from, second_round_begin: to } = report.link;
  if (to === undefined) return;
  const x = Math.max(gutter, X(from)), width = Math.max(2, X(to) - x);
  if (X(to) < gutter) return;
  fillRect(pen, colors["phase thin link"], x, axis, width, height - axis);
  pen.fillStyle = colors.muted;
  pen.textAlign = "left";
  pen.fillText("round 2", x + width + 4, axis + 8);
}

function drawLanes() {
  view.top = Math.max(0, Math.min(view.top, lanesHeight() - visibleHeight()));
  const { pen, width, height } = prepare(canvas, axis + visibleHeight());
  const room = width - gutter, scale = room / (view.to - view.from);
  const X = (time) => gutter + (time - view.from) * scale;
  drawn = 0;

  const { times, digits } = ticks(view.from, view.to, room, 90);
  pen.textAlign = "center";
  for (const time of times) {
    const x = Math.round(X(time)) + 0.5;
    fillRect(pen, colors.line, x - 0.5, axis, 1, height - axis);
    pen.fillStyle = colors.muted;
    if (x < width - 24) pen.fillText(time.toFixed(digits) + " s", x, axis / 2);
  }

  pen.save();
  pen.beginPath();
  pen.rect(0, axis, width, height - axis);
  pen.clip();
  const first = Math.floor(view.top / rowHeight);
  const last = Math.min(lanes.length - 1, Math.floor((view.top + height - axis) / rowHeight));
  for (let row = first; row <= last; ++row) {
    const y = axis + row * rowHeight - view.top;
    if (lanes[row].host % 2 === 0) {
      pen.fillStyle = colors.lane;
      pen.globalAlpha = 0.6;
      pen.fillRect(gutter, y, room, rowHeight);
      pen.globalAlpha = 1;
    }
    if (lanes[row].lane === 0)
      fillRect(pen, colors.line, 0, y, width, 1);
    pen.save();
    pen.beginPath();
    pen.rect(gutter, y, room, rowHeight);
    pen.clip();
    drawLane(pen, lanes[row], y, X);
    pen.restore();
  }
  drawLabels(pen);
  drawBarrier(pen, X, height);
  pen.restore();
  // The time before all lanes.
  const x0 = X(Math.max(begin, view.from)), x1 = X(Math.min(0, view.to));
  if (x1 > x0) {
    pen.fillStyle = colors["phase thin link"];
    pen.globalAlpha = 0.13;
    pen.fillRect(x0, axis, x1 - x0, height - axis);
    pen.globalAlpha = 1;
    pen.fillRect(x0, axis, x1 - x0, 3);
    pen.textAlign = "center";
    fillText(pen, colors.muted, fit(pen, "inputs and thin link", x1 - x0 - 8), (x0 + x1) / 2, axis + 14);
  }
  if (lanesHeight() > visibleHeight()) {
    const part = visibleHeight() / lanesHeight();
    pen.fillStyle = colors.muted;
    pen.globalAlpha = 0.6;
    pen.fillRect(width - 5, axis + view.top * part, 4, visibleHeight() * part);
    pen.globalAlpha = 1;
  }
  if (!lanes.length) {
    pen.fillStyle = colors.muted;
    pen.textAlign = "left";
    pen.fillText("no job ran: all objects came from the cache", gutter + 8, axis + rowHeight / 2);
  }
  canvas.dataset.drawn = drawn;
}

function firstAfter(bars, time) {
  let low = 0, high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bars[middle].end < time) low = middle + 1; else high = middle;
  }
  return low;
}

function drawLane(pen, lane, y, X) {
  const bars = lane.bars, gap = rowHeight > 8 ? 2 : 1, h = rowHeight - gap;
  let lastX = -1;
  for (let i = firstAfter(bars, view.from); i < bars.length && bars[i].begin <= view.to; ++i) {
    const bar = bars[i];
    const x0 = X(bar.begin), x1 = X(bar.end);
    // While the slot was idle, its next job was on its way to it.
    if (bar.queued !== undefined) {
      const from = Math.max(bar.queued, i ? bars[i - 1].end : begin);
      if ((bar.begin - from) > 0 && x0 - X(from) > 1)
        fillRect(pen, colors.queue, X(from), y + 1 + h / 2 - 1, x0 - X(from), 2);
    }
    const isMatch = !matches || matches.has(bar.job.index), isSelected = selected === bar.job;
    // Of many bars on one pixel, draw one, and those that match the search.
    if (x1 - lastX < 0.7 && !(matches && isMatch) && !isSelected) continue;
    lastX = x1;
    ++drawn;
    pen.globalAlpha = isMatch ? 1 : 0.15;
    const wide = x1 - x0 > 3;
    const isBad = bar.attempt && hasFailed(bar.attempt);
    const isCancelled = bar.attempt && bar.attempt.outcome === "cancelled";
    if (!wide) {
      const longest = bar.spans.reduce((a, b) => (b.end - b.begin > a.end - a.begin ? b : a));
      fillRect(pen, isBad ? colors.bad : isCancelled ? colors.cancelled : colors["phase " + longest.phase], x0, y + 1, Math.max(0.7, x1 - x0), h);
    } else {
      for (const span of bar.spans) {
        const a = Math.max(gutter - 2, X(span.begin)), b = Math.min(pen.canvas.clientWidth + 2, X(span.end));
        if (b <= a) continue;
        fillRect(pen, isCancelled ? colors.cancelled : colors["phase " + span.phase], a, y + 1, Math.max(0.7, b - a - (span === bar.spans[bar.spans.length - 1] ? 1 : 0)), h);
      }
      if (isBad)
        fillRect(pen, colors.bad, Math.max(x0, x1 - 6), y + 1, Math.min(6, x1 - x0), h);
      if (rowHeight >= 13) {
        const from = Math.max(x0, gutter) + 4, to = Math.min(x1, pen.canvas.clientWidth) - 5;
        if (to - from > 28) {
          pen.textAlign = "left";
          fillText(pen, colors["on-bar"], fit(pen, bar.job.short, to - from), from, y + 1 + h / 2);
        }
      }
    }
    if (isSelected || bar === hovered || bar.isCritical) {
      pen.strokeStyle = isSelected || bar === hovered ? colors.focus : colors.mark;
      pen.lineWidth = isSelected ? 3 : 1.5;
      if (rowHeight < 10 && !isSelected && bar !== hovered) {
        fillRect(pen, colors.mark, x0, y + h, Math.max(2, x1 - x0), 1);
      } else if (wide || isSelected) pen.strokeRect(x0 + 0.75, y + 1.75, Math.max(1, x1 - x0 - 2), h - 1.5);
      else fillRect(pen, colors.mark, x0, y + h - 1, 2, 2);
    }
    pen.globalAlpha = 1;
  }
}

/** Draws as many of the hosts' names as there is room for. */
function drawLabels(pen) {
  pen.textAlign = "left";
  let free = axis - 100;
  for (const host of hosts) {
    const top = axis + host.first * rowHeight - view.top, bottom = top + host.lanes * rowHeight;
    if (bottom < axis || top > canvas.clientHeight) continue;
    const y = Math.max(top, axis) + 8;
    if (y - 8 < free || y + 4 > bottom + 8) continue;
    fillText(pen, colors.ink, fit(pen, host.name, gutter - 12), 4, y + 1);
    free = y + 8;
    if (bottom - y >= 18 && host.kind !== "linker") {
      fillText(pen, colors.muted, plural(host.lanes, "slot") + ", " + percent(host.busy, host.lanes * end) + " busy", 4, y + 15);
      free += 14;
    }
  }
}

let pending = false;
function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    drawOverview();
    drawLanes();
  });
}

function setView(from, to) {
  const all = end - begin, least = Math.max(all * 1e-6, 1e-5);
  const length = Math.min(all, Math.max(least, to - from));
  view.from = Math.max(begin, Math.min(from, end - length));
  view.to = view.from + length;
  redraw();
}
function zoom(factor, at = (view.from + view.to) / 2) {
  setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
function pan(part) { setView(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from)); }

/** Shows a time with some margin, and the job's lane. */
function showTime(from, to, job) {
  const length = Math.max(to - from, (end - begin) * 1e-4);
  if (from < view.from || to > view.to || to - from < (view.to - view.from) / 20)
    setView(from - length * 2, to + length * 2);
  const row = lanes.findIndex((lane) => lane.bars.some((bar) => bar.job === job && bar.attempt === job.won));
  if (row >= 0 && (row * rowHeight < view.top || (row + 1) * rowHeight > view.top + visibleHeight()))
    view.top = row * rowHeight - visibleHeight() / 2;
  redraw();
}

function barAt(x, y) {
  const row = Math.floor((y - axis + view.top) / rowHeight);
  if (x < gutter || y < axis || row < 0 || row >= lanes.length) return null;
  const slack = 2 * (view.to - view.from) / Math.max(1, canvas.clientWidth - gutter), time = timeAt(x);
  const bars = lanes[row].bars;
  for (let i = firstAfter(bars, time - slack); i < bars.length && bars[i].begin <= time + slack; ++i) return bars[i];
  return null;
}

function describe(bar) {
  const lines = [bar.job.name];
  if (bar.attempt) {
    const kind = { first: "", retry: ", second try", "second start": ", duplicate attempt", here: "", verify: ", to compare" };
    lines.push((bar.attempt.in_linker ? "in the linker" : bar.attempt.worker || "a worker") + kind[bar.attempt.kind] +
      (bar.attempt.outcome === "ok" ? "" : ": " + bar.attempt.outcome));
    for (const span of bar.attempt.phases) lines.push(phases[phaseOf(bar.attempt, span)].label + "  " + seconds(span.end - span.begin));
    if (bar.attempt.message) lines.push(bar.attempt.message.slice(0, 300));
  } else {
    lines.push(phases[bar.spans[0].phase].label + "  " + seconds(bar.end - bar.begin));
  }
  lines.push("from " + seconds(bar.begin) + " to " + seconds(bar.end));
  return lines.join("\n");
}

function hover(bar, x, y) {
  if (bar !== hovered) {
    hovered = bar;
    redraw();
    tooltip.hidden = !bar;
    if (bar) tooltip.textContent = describe(bar);
  }
  if (!bar) return;
  const box = canvas.getBoundingClientRect();
  tooltip.style.left = Math.max(0, Math.min(x + 14, box.width - tooltip.offsetWidth - 4)) + "px";
  tooltip.style.top = (y + 18) + "px";
}

function listen() {
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, top: view.top, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return hover(barAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) < 4 && !drag.moved) return;
    drag.moved = true;
    hover(null);
    canvas.classList.add("dragging");
    const shift = -dx / (canvas.clientWidth - gutter) * (drag.to - drag.from);
    view.top = drag.top - dy;
    setView(drag.from + shift, drag.to + shift);
  });
  const release = (event) => {
    canvas.classList.remove("dragging");
    if (drag && !drag.moved && event.type === "pointerup") {
      const bar = barAt(event.offsetX, event.offsetY);
      select(bar && bar.job);
    }
    drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("dblclick", (event) => zoom(0.4, timeAt(event.offsetX)));
  canvas.addEventListener("wheel", (event) => {
    const isZoom = event.ctrlKey || event.metaKey || (document.activeElement === canvas && !event.shiftKey && !event.deltaX);
    const dx = event.deltaX || (event.shiftKey ? event.deltaY : 0);
    if (isZoom) zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * 0.002))), timeAt(Math.max(gutter, event.offsetX)));
    else if (dx) pan(dx / (canvas.clientWidth - gutter));
    else return;   // let the page scroll
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const actions = {
      ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
      ArrowUp: () => { view.top -= 3 * rowHeight; redraw(); }, ArrowDown: () => { view.top += 3 * rowHeight; redraw(); },
      "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7),
      0: () => setView(begin, end), Home: () => setView(begin, end), Escape: () => select(null),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    action();
    event.preventDefault();
  });

  let chosen = null;
  const timeIn = (event) => begin + (event.offsetX - gutter) / (overview.clientWidth - gutter) * (end - begin);
  overview.addEventListener("pointerdown", (event) => { chosen = timeIn(event); overview.setPointerCapture(event.pointerId); });
  overview.addEventListener("pointermove", (event) => {
    if (chosen !== null) setView(Math.min(chosen, timeIn(event)), Math.max(chosen, timeIn(event)));
  });
  overview.addEventListener("pointerup", (event) => {
    // A click shows that place, at the current zoom.
    if (Math.abs(timeIn(event) - chosen) < (end - begin) * 0.003) {
      const half = Math.min(view.to - view.from, (end - begin) / 4) / 2;
      setView(chosen - half, chosen + half);
    }
    chosen = null;
  });
  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-fit").addEventListener("click", () => setView(begin, end));
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); redraw(); });
}
