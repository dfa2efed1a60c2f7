// The layer table, sortable by any column; the rows come in call order. What is kept is known where a step was replayed.

const COLUMNS = [
  ["layer", false], ["type", false], ["line", true], ["output", true], ["values", true], ["parameters", true], ["written", true],
  ["kept", true],
];

function layerTable(model) {
  const body = make("tbody");
  const columns = model.layers.some((row) => row[7] !== null) ? COLUMNS : COLUMNS.slice(0, 7);
  const heads = columns.map(([name, number], column) =>
    make("th", { scope: "col", class: number ? "number" : null },
      make("button", { type: "button", onclick: () => sort(column) }, name)));
  const order = model.layers.map((row, index) => ({ row, index }));
  let by = -1, down = false;

  function sort(column) {
    const number = COLUMNS[column][1];
    down = by === column ? !down : number && column > 2;
    by = column;
    order.sort((a, b) => compared(a.row, b.row, column) * (down ? -1 : 1) || a.index - b.index);
    heads.forEach((head, index) => {
      if (index === by) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    fill();
  }

  function fill() {
    body.replaceChildren(...order.map(({ row: [name, type, line, shape, values, parameters, bytes, kept] }) => make("tr", {},
      make("td", { class: "code" }, ...path(name)), make("td", { class: "code" }, type),
      make("td", { class: "number" }, line ? String(line) : ""), make("td", { class: "number code" }, shapeOf(shape)),
      make("td", { class: "number" }, count(values)), make("td", { class: "number" }, count(parameters)),
      make("td", { class: "number" }, show(bytes)), columns[7] ? make("td", { class: "number" }, kept === null ? "" : show(kept)) : null)));
  }

  fill();
  const sum = (column) => model.layers.reduce((total, row) => total + row[column], 0);
  const foot = make("tr", { class: "sum" }, make("td", {}, "sum of the layers"), make("td"), make("td"), make("td"),
    make("td", { class: "number" }, count(sum(4))), make("td", { class: "number" }, count(sum(5))),
    make("td", { class: "number" }, show(sum(6))), columns[7] ? make("td", { class: "number" }, show(sum(7))) : null);
  return make(
    "section", { class: "card long", "aria-labelledby": "layers-title" },
    make("h2", { id: "layers-title" }, "Layers"),
    make("p", { class: "soft" }, `Values are those that a layer writes for one sample, as the CS231n notes count them; written is their memory for the whole batch${columns[7] ? "; kept is what waits for the backward pass" : ""}. A heading sorts.`),
    make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "The table of layers" },
      make("table", { id: "layers" }, make("thead", {}, make("tr", {}, ...heads)), body, make("tfoot", {}, foot))),
  );
}

function compared(a, b, column) {
  const [left, right] = column === 3 ? [volume(a[3]), volume(b[3])] : [a[column], b[column]];
  return typeof left === "number" ? left - right : left.localeCompare(right, "en", { numeric: true });
}

function volume(shape) {
  return shape.reduce((product, side) => product * (side || 0), 1);
}

function shapeOf(shape) {
  return shape.map((side) => (side === null ? "?" : String(side))).join("×") || "1";
}
