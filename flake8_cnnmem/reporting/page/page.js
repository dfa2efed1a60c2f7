// The page: the list of models, and everything about the one that is chosen.

let INDEX = [];
let charts = [];

// What an element holds, unpacked. Nothing is fetched: the bytes are in the page.
function unpacked(name) {
  const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

// Text and tables are there before the charting library is read.
let library = null;
function ready() {
  library = library || unpacked("library").then((text) => document.head.append(make("script", {}, text)));
  return library;
}

function head(model) {
  const standing = model.fits === true ? ["fits", "fits"] : model.fits === false ? ["does not fit", "over"] : null;
  const badges = [
    standing && make("span", { class: `badge ${standing[1]}` }, standing[0]),
    model.status === "lower-bound" && make("span", { class: "badge bound" }, model.statusText),
    model.framework && make("span", { class: "badge plain" }, model.framework),
  ].filter(Boolean);
  const parts = [make("h1", {}, ...path(model.name)), make("p", { class: "where" }, make("code", {}, ...path(model.place)), ...badges)];
  if (model.training) parts.push(make("p", { class: "soft", id: "training" }, model.training));
  const figure = make("div", { class: "figure", id: "figure" }, model.figure);
  parts.push(figure, model.terms ? make("p", { class: "soft" }, `memory ${model.accounting}`) : null, model.terms ? gauge(model) : null, model.terms ? make("p", { id: "verdict", style: "margin: 8px 0 0" }, model.verdict) : null);
  if (model.more.length) parts.push(make("ul", { class: "soft", id: "more" }, ...model.more.map((line) => make("li", {}, line))));
  if (model.causes.length) parts.push(causes(model));
  return make("section", { class: "card" }, parts);
}

function gauge(model) {
  const total = model.terms.reduce((sum, [, , bytes]) => sum + bytes, 0);
  const most = Math.max(total, model.limit ? model.limit.bytes : 0, 1) * (model.limit && model.limit.bytes >= total ? 1.02 : 1);
  const share = (bytes) => `${(100 * bytes) / most}%`;
  const bar = make("div", { class: "gauge", role: "img", "aria-label": model.verdict },
    make("div", { class: "terms" }, ...model.terms.map(([use, , bytes]) => make("span", { style: `width: ${share(bytes)}; background: var(--${use})` }))),
    model.limit ? make("div", { class: "limit", style: `left: calc(${share(model.limit.bytes)} - 1px)` }) : null);
  const legend = make("ul", { class: "legend" }, ...model.terms.map(([use, name, bytes]) => make("li", {}, swatch(use), `${name} ${show(bytes)}`)));
  return make("div", {}, bar, legend);
}

function causes(model) {
  const title = model.status === "unresolved" ? "Not estimated, because this is not known:" : "A lower bound, because this is not known:";
  return make("div", { class: "notice", id: "causes" }, make("b", {}, title), make("ul", {}, ...model.causes.map((cause) => make("li", {}, cause))));
}

function simpleTable(title, id, explained, heads, rows) {
  const cell = (tag) => (value, column) =>
    make(tag, { class: [heads[column][1] ? "number" : "", heads[column][2] && tag === "td" ? "code" : ""].join(" ").trim() || null, scope: tag === "th" ? "col" : null }, value);
  return make("section", { class: "card", "aria-labelledby": id },
    make("h2", { id }, title), explained ? make("p", { class: "soft" }, explained) : null,
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(([name], column) => cell("th")(name, column)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell("td"))))))));
}

function remedies(model) {
  const rows = model.remedies.map(({ change, total, fits }) => [
    change, show(total), model.bytes ? less(1 - total / model.bytes) : "",
    fits === null ? "" : make("span", { class: `badge ${fits ? "fits" : "over"}` }, fits ? "fits" : "does not fit"),
  ]);
  const title = model.fits === false ? "What would make it fit" : "What would make it smaller";
  return simpleTable(title, "remedies-title", "Each change alone, with what the step would then take.",
    [["change"], ["memory", true], ["saves", true], ["verdict"]], rows);
}

function less(share) {
  return share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`;
}

function evidence(model) {
  const over = model.facts.some((fact) => fact.passedOver.length);
  const rows = model.facts.map((fact) => [fact.name, fact.value, fact.source || "not said",
    ...(over ? [make("span", {}, ...fact.passedOver.flatMap(([value, source], index) => [index ? "; " : "", `${value} (${source})`]))] : [])]);
  return simpleTable("What was taken from where", "evidence-title", "", [["fact"], ["value"], ["from"], ...(over ? [["passed over"]] : [])], rows);
}

function together(model) {
  return simpleTable("Trained together in one step", "parts-title", "", [["model", false, true], ["where", false, true], ["parameters", true], ["input", true]],
    model.parts.map((part) => [part.name, part.place, count(part.parameters), part.input ? shapeOf(part.input) : ""]));
}

function also(model) {
  return simpleTable("Also in memory", "also-title", "", [["what"], ["where", false, true], ["memory", true]],
    model.also.map(({ what, place, bytes }) => [what, place, show(bytes)]));
}

let wanted = 0;

async function choose(number) {
  wanted = number;
  const model = JSON.parse(await unpacked(`model-${number}`));
  // Another one may have been chosen meanwhile.
  if (wanted !== number) return undefined;
  for (const { plot } of charts) Plotly.purge(plot);
  charts = [];
  const chart = (made) => { charts.push(made); return made.card; };
  const cards = [head(model)];
  if (model.parts.length) cards.push(together(model));
  if (model.also.length) cards.push(also(model));
  if (model.step) cards.push(chart(stepOverTime(model)));
  if (model.remedies.length) cards.push(remedies(model));
  if (model.holds.modules.length) cards.push(chart(whereItGoes(model)));
  if (model.layers.length) cards.push(layerTable(model));
  cards.push(evidence(model));
  document.getElementById("model").replaceChildren(...cards);
  document.title = INDEX.length > 1 ? `${model.name} – cnnmem` : document.title;
  markChosen(number);
  return redraw();
}

function redraw() {
  return ready().then(() => Promise.all(charts.map((chart) => chart.draw())));
}

function chosen() {
  const number = Number(location.hash.slice(1));
  return Number.isInteger(number) && number >= 0 && number < INDEX.length ? number : 0;
}

async function start() {
  if (!window.DecompressionStream) {
    document.getElementById("model").append(make("p", { class: "notice" }, "This page needs a browser from 2023 or newer. cnnmem report prints the same as a table."));
    return;
  }
  INDEX = JSON.parse(await unpacked("index"));
  if (!INDEX.length) {
    document.getElementById("model").append(make("p", { class: "notice" }, "No model was found."));
    document.documentElement.dataset.drawn = "yes";
    return;
  }
  if (INDEX.length > 1) overview();
  addEventListener("hashchange", async () => {
    await choose(chosen());
    const main = document.getElementById("model");
    main.focus({ preventScroll: true });
    if (INDEX.length > 1) main.scrollIntoView();
  });
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(redraw, 120); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // On paper: light, and as wide as a page. The style says the rest.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.print = "yes";
    if (window.Plotly) for (const chart of charts) chart.draw();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.print;
    redraw();
  });
  choose(chosen()).then(() => { performance.mark("drawn"); document.documentElement.dataset.drawn = "yes"; });
}

start();
