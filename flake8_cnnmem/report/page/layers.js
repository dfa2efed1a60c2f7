// The layer table, sortable by any column; the rows come in call order.

const COLUMNS = [
  ["layer", false], ["type", false], ["line", true], ["output", true], ["values", true], ["parameters", true], ["memory", true],
];

function layerTable(model) {
  const body = make("tbody");
  const heads = COLUMNS.map(([name, number], column) =>
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
    body.replaceChildren(...order.map(({ row: [name, type, line, shape, values, parameters, bytes] }) => make("tr", {},
      make("td", { class: "code" }, ...path(name)), make("td", { class: "code" }, type),
      make("td", { class: "number" }, line ? String(line) : ""), make("td", { class: "number code" }, shapeOf(shape)),
      make("td", { class: "number" }, count(values)), make("td", { class: "number" }, count(parameters)),
      make("td", { class: "number" }, show(bytes)))));
  }

  fill();
  const sum = (column) => model.layers.reduce((total, row) => total + row[column], 0);
  const foot = make("tr", { class: "sum" }, make("td", {}, "sum of the layers"), make("td"), make("td"), make("td"),
    make("td", { class: "number" }, count(sum(4))), make("td", { class: "number" }, count(sum(5))),
    make("td", { class: "number" }, show(sum(6))));
  return make(
    "section", { class: "card long", "aria-labelledby": "layers-title" },
    make("h2", { id: "layers-title" }, "Layers"),
    make("p", { class: "soft" }, "Values are those that a layer writes for one sample, memory theirs for the whole batch, forward only. A heading sorts."),
    make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-labelledby": "layers-title" },
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
