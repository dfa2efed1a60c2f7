// The layer table, sortable by any column; the rows come in call order. What is kept is known where a step was replayed.

// [heading, is a number, place in a row of the data]; on a phone the memory comes before type and line.
const COLUMNS = {
  layer: ["layer", false, 0], type: ["type", false, 1], line: ["line", true, 2], output: ["output", true, 3],
  values: ["values", true, 4], parameters: ["parameters", true, 5], written: ["written", true, 6], kept: ["kept", true, 7],
};
const WIDE_LAYERS = ["layer", "type", "line", "output", "values", "parameters", "written", "kept"];
const NARROW_LAYERS = ["layer", "kept", "written", "parameters", "output", "values", "type", "line"];

function layerTable(model) {
  const kept = model.layers.some((row) => row[7] !== null);
  const narrow = matchMedia("(max-width: 860px)");
  const head = make("tr"), body = make("tbody"), foot = make("tfoot");
  const order = model.layers.map((row, index) => ({ row, index }));
  const zeros = model.layers.filter(isZero).length;
  // A table of nothing but zeros is shown as it is.
  let folded = zeros < model.layers.length, by = "", down = false;

  function columns() {
    return (narrow.matches ? NARROW_LAYERS : WIDE_LAYERS).filter((key) => kept || key !== "kept");
  }

  function sort(key) {
    const [, number, column] = COLUMNS[key];
    down = by === key ? !down : number && column > 2;
    by = key;
    order.sort((a, b) => compared(a.row, b.row, column) * (down ? -1 : 1) || a.index - b.index);
    fill();
  }

  function cell(key, row) {
    const value = row[COLUMNS[key][2]];
    const made = (name, ...children) => make("td", { class: name }, ...children);
    if (key === "layer") return made("code", ...path(value));
    if (key === "type") return made("code", value);
    if (key === "output") return made("number code", shapeOf(value));
    if (key === "line") return made("number", ...path(value));
    return made("number", key === "written" || key === "kept" ? (value === null ? "" : show(value)) : count(value));
  }

  function fill() {
    const shown = columns();
    head.replaceChildren(...shown.map((key) => make("th", {
      scope: "col", class: COLUMNS[key][1] ? "number" : null, "aria-sort": key === by ? (down ? "descending" : "ascending") : null,
    }, make("button", { type: "button", onclick: () => sort(key) }, COLUMNS[key][0]))));
    body.replaceChildren(...order.filter(({ row }) => !folded || !isZero(row)).map(({ row }) => make("tr", {}, ...shown.map((key) => cell(key, row)))));
    const sum = (column) => model.layers.reduce((total, row) => total + row[column], 0);
    const sums = { layer: "sum of the layers", values: count(sum(4)), parameters: count(sum(5)), written: show(sum(6)), kept: show(sum(7)) };
    foot.replaceChildren(make("tr", { class: "sum" }, ...shown.map((key) => make("td", { class: COLUMNS[key][1] ? "number" : null }, sums[key] || ""))));
    fold.textContent = folded ? `show ${count(zeros)} ${zeros === 1 ? "row" : "rows"} of zeros` : "fold the rows of zeros";
  }

  const fold = make("button", { class: "linkish", type: "button", id: "fold", onclick: () => { folded = !folded; fill(); } });
  narrow.addEventListener("change", fill);
  fill();
  return make(
    "section", { class: "card long", "aria-labelledby": "layers-title" },
    make("div", { class: "top" }, make("h2", { id: "layers-title" }, "Layers"), zeros && zeros < model.layers.length ? fold : null),
    make("p", { class: "soft" }, `Values are those that a layer writes for one sample, as the CS231n notes count them; written is their memory for the whole batch${kept ? "; kept is what waits for the backward pass" : ""}. A heading sorts.`),
    make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "The table of layers" },
      make("table", { id: "layers" }, make("thead", {}, head), body, foot)),
  );
}

// Whether a layer has no weights, writes nothing of its own and keeps nothing.
function isZero(row) {
  return !row[4] && !row[5] && !row[6] && !row[7];
}

function compared(a, b, column) {
  const [left, right] = column === 3 ? [volume(a[3]), volume(b[3])] : [a[column], b[column]];
  return compareValues(left, right);
}

function volume(shape) {
  return shape.reduce((product, side) => product * (side || 0), 1);
}

function shapeOf(shape) {
  return shape.map((side) => (side === null ? "?" : String(side))).join("×") || "1";
}
