// The step over time: what lies in memory at each op, the limit, the peak, and the moment that is pointed at.

const PHASES = {
  start: "start", forward: "forward", loss: "loss", backward: "backward", recompute: "backward", optimizer: "optimizer",
};

// A phase of one moment would be a hair's breadth: it is drawn as wide as its name needs, the ops all alike.
function places(phases) {
  const ops = phases.length;
  const widths = phases.map((phase) =>
    phase === "optimizer" ? Math.max(1, ops / 12) : phase === "start" || phase === "loss" ? Math.max(1, ops / 40) : 1,
  );
  const edges = [0];
  for (const width of widths) edges.push(edges[edges.length - 1] + width);
  return { edges, middles: widths.map((width, index) => edges[index] + width / 2) };
}

// Stretches of one phase: [name, first edge, last edge].
function stretches(phases, edges) {
  const found = [];
  phases.forEach((phase, index) => {
    const name = PHASES[phase];
    const before = found[found.length - 1];
    if (before && before[0] === name) before[2] = edges[index + 1];
    else found.push([name, edges[index], edges[index + 1]]);
  });
  return found;
}

// The columns come as a first figure and the changes from there.
function summed(column) {
  let sum = 0;
  return column.map((change) => (sum += change));
}

// Where the labels of the peak and the limit go, so that neither covers the other, in pixels from the chart's upper left:
// the first of these ways, or else the one that covers least.
function labels(peak, limit) {
  const height = 22, half = peak.width / 2;
  const reach = peak.room < 560 ? 55 : 75;
  const sides = peak.x > 0.6 * peak.room ? [-1, 1] : [1, -1];
  const ways = [];
  for (const ay of [-18, 30, 60, 100]) for (const side of sides) {
    // The label stays inside the chart.
    const middle = Math.min(Math.max(peak.x + side * reach, half), peak.room - half);
    if (peak.y + ay < height / 2 || peak.y + ay > peak.high - height) continue;
    const box = { left: middle - half, right: middle + half, top: peak.y + ay - height / 2, bottom: peak.y + ay + height / 2 };
    for (const below of [false, true]) for (const right of [false, true]) ways.push({ box, ax: middle - peak.x, ay, below, right });
  }
  const covered = ({ box, below, right }) => {
    if (!limit) return 0;
    const top = limit.y === null ? 0 : below ? limit.y : limit.y - height;
    const left = right ? peak.room - limit.width - 6 : 6;
    const wide = Math.min(box.right, left + limit.width) - Math.max(box.left, left);
    // The line itself is not to run through the peak's label either.
    const tall = Math.min(box.bottom, Math.max(top + height, limit.y ?? 0)) - Math.max(box.top, top);
    return Math.max(0, wide) * Math.max(0, tall) + (top < 0 ? 1000 : 0);
  };
  const best = ways.reduce((found, way) => (found && covered(found) <= covered(way) ? found : way), null);
  const taken = best || { ax: sides[0] * reach, ay: -18, below: false, right: false };
  return [taken, taken];
}

function stepOverTime(model) {
  const live = Object.fromEntries(Object.entries(model.step.live).map(([use, column]) => [use, summed(column)]));
  const step = { ...model.step, live };
  const total = step.live.parameters.map((_, index) => USES.reduce((sum, [use]) => sum + step.live[use][index], 0));
  const uses = USES.filter(([use]) => step.live[use].some((size) => size > 0));
  const phases = step.phase.map((index) => step.phases[index]);
  const { edges, middles } = places(phases);
  const end = edges[edges.length - 1], last = phases.length - 1;
  const highest = total[step.peak];
  const shown = model.limit && model.limit.bytes <= 3 * highest;
  // Room above the areas for the peak's label, and for the note on a limit that is out of sight.
  const ceiling = Math.max((model.limit && !shown ? 1.32 : 1.18) * highest, shown ? 1.08 * model.limit.bytes : 0);
  const margin = { l: 64, r: 12, t: 8, b: 30 };

  const plot = make("div", { class: "plot", "aria-hidden": "true" });
  const cursor = make("div", { class: "cursor" });
  const slider = make("input", {
    type: "range", min: 0, max: end, step: "any", value: middles[step.peak], "aria-label": "Moment of the step",
  });
  const op = make("div", { class: "op" });
  const place = make("div", { class: "soft code" });
  const sum = make("div", { class: "sum" });
  const change = make("div", { class: "soft number" });
  const sizes = new Map(uses.map(([use]) => [use, make("b")]));
  const legend = make(
    "ul", { class: "legend" },
    [...uses].reverse().map(([use, name]) => make("li", {}, swatch(use), name, sizes.get(use))),
  );
  const back = make("button", { class: "linkish", type: "button", onclick: () => point(step.peak, true) }, "go to the peak");
  const moment = make("div", { class: "moment" }, op, sum, place, change, legend);
  let at = step.peak;

  function point(index, fromHere) {
    at = index;
    const phase = phases[index];
    const name = step.names[step.name[index]];
    const site = step.sites[step.site[index]];
    const label = name ? `${step.words[step.phase[index]]}, at ${name}` : step.words[step.phase[index]];
    op.replaceChildren(...path(label));
    place.replaceChildren(...path(site || (phase === "optimizer" ? "the optimizer's step" : "")));
    sum.textContent = index === step.peak ? model.figure : show(total[index]);
    const before = index ? total[index] - total[index - 1] : 0;
    change.textContent = index ? `${before < 0 ? "−" : "+"}${show(Math.abs(before))} from the op before` : "";
    for (const [use, made] of sizes) made.textContent = show(step.live[use][index]);
    slider.setAttribute("aria-valuetext", `${label}${site ? `, ${site}` : ""}: ${sum.textContent}`);
    if (fromHere) slider.value = middles[index];
    const width = plot.clientWidth - margin.l - margin.r;
    cursor.style.left = `${margin.l + (middles[index] / end) * width}px`;
  }

  function draw() {
    const ink = colour("ink"), soft = colour("soft"), edge = colour("edge"), line = colour("limit");
    const room = plot.clientWidth - margin.l - margin.r;
    const unit = ceiling >= GIB ? [GIB, "GiB"] : [MIB, "MiB"];
    // A moment reaches from its edge to the next one's; the last point ends the last moment.
    const traces = uses.map(([use, name]) => ({
      x: edges, y: [...step.live[use], step.live[use].at(-1)].map((size) => size / unit[0]), name, stackgroup: "step", mode: "lines",
      line: { shape: "hv", width: 0, color: colour(use) }, fillcolor: colour(use), hoverinfo: "none",
    }));
    const bands = stretches(phases, edges);
    const shapes = bands.slice(1).map(([, from]) => ({
      type: "line", x0: from, x1: from, y0: 0, y1: 1, yref: "paper", line: { color: edge, width: 1, dash: "dot" },
    }));
    const annotations = bands
      .filter(([, from, to]) => ((to - from) / end) * room > 7.5 * name.length + 6)
      .map(([name, from, to]) => ({
        x: (from + to) / 2, y: 0, yref: "paper", yanchor: "top", yshift: -6, text: name, showarrow: false,
        font: { color: soft, size: 13 },
      }));
    if (shown) {
      const height = model.limit.bytes / unit[0];
      const across = { type: "line", xref: "paper", x0: 0, x1: 1, y0: height, y1: height };
      // A seam of the ground's colour keeps the line apart from the areas behind it.
      shapes.push({ ...across, line: { color: colour("card"), width: 5 }, opacity: 0.75 });
      shapes.push({ ...across, line: { color: line, width: 2, dash: "dash" } });
    }
    const high = plot.clientHeight - margin.t - margin.b;
    const down = (size) => (1 - size / ceiling) * high;
    const where = middles[step.peak] / end;
    const limitText = model.limit ? (shown ? `limit ${model.limit.text}` : `limit ${model.limit.text}, above this chart`) : "";
    const [peakAt, limitAt] = labels(
      { x: where * room, y: down(highest), width: 8.6 * `peak ${model.figure}`.length + 8, room, high },
      model.limit ? { y: shown ? down(model.limit.bytes) : null, width: 7.6 * limitText.length + 6 } : null,
    );
    if (model.limit) {
      annotations.push({
        xref: "paper", x: limitAt.right ? 1 : 0, xanchor: limitAt.right ? "right" : "left", xshift: limitAt.right ? -6 : 6,
        showarrow: false, font: { color: line, size: 13 }, bgcolor: colour("card"), text: plain(limitText), name: "limit",
        ...(shown ? { y: model.limit.bytes / unit[0], yanchor: limitAt.below ? "top" : "bottom" } : { y: 1, yref: "paper", yanchor: "top" }),
      });
    }
    annotations.push({
      x: middles[step.peak], y: highest / unit[0], text: `<b>peak ${plain(model.figure)}</b>`, font: { color: ink, size: 14 },
      arrowcolor: ink, arrowhead: 2, arrowsize: 0.9, arrowwidth: 1.2, bgcolor: colour("card"), borderpad: 2,
      ax: peakAt.ax, ay: peakAt.ay, name: "peak",
    });
    const axis = { color: soft, gridcolor: edge, zerolinecolor: edge, fixedrange: true };
    return Plotly.react(plot, traces, {
      margin, shapes, annotations, showlegend: false, hovermode: false, dragmode: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, family: "system-ui, sans-serif" },
      width: plot.clientWidth, height: plot.clientHeight,
      xaxis: { ...axis, range: [0, end], showticklabels: false, showgrid: false, zeroline: false },
      yaxis: { ...axis, range: [0, ceiling / unit[0]], ticksuffix: ` ${unit[1]}`, nticks: 6 },
    }, CHART);
  }

  async function drawn() {
    await draw();
    point(at, true);
  }

  // The moment at a place of the x axis.
  function momentAt(x) {
    const index = edges.findIndex((edge) => edge > x) - 1;
    return index < -1 ? last : Math.min(Math.max(index, 0), last);
  }

  for (const name of ["pointermove", "pointerdown"]) {
    plot.addEventListener(name, (event) => {
      const box = plot.getBoundingClientRect();
      point(momentAt((end * (event.clientX - box.left - margin.l)) / (box.width - margin.l - margin.r)), true);
    });
  }

  // The slider runs along the chart, whose moments are not all as wide; its keys go from moment to moment.
  slider.addEventListener("input", () => point(momentAt(Number(slider.value)), false));
  const keys = {
    ArrowRight: () => at + 1, ArrowUp: () => at + 1, ArrowLeft: () => at - 1, ArrowDown: () => at - 1,
    PageUp: () => at + 10, PageDown: () => at - 10, Home: () => 0, End: () => last,
  };
  slider.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    point(Math.min(Math.max(keys[event.key](), 0), last), true);
  });
  const chart = make("div", { class: "chart" }, make("div", { style: "position: relative" }, plot, cursor), slider, moment);
  const card = make(
    "section", { class: "card", "aria-labelledby": "step-title" },
    make("div", { class: "top" }, make("h2", { id: "step-title" }, "The step over time"), back),
    make("p", { class: "soft" }, "What lies in memory at each op. ",
      make("span", { class: "hint" }, "Point at a moment, or move the slider with the arrow keys.")),
    chart,
  );
  return { card, plot, draw: drawn };
}
