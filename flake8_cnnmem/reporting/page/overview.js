// All models in one table, what needs most first: to sort, to filter, to choose from.

// Where a name or a path may go on in a new line.
const JOINTS = /(?<=[/_])|(?<=[a-z])(?=[A-Z])/;

// [heading, is a number, what is shown, what is sorted by]; where it lies comes last, on a phone below the name, as the
// state does.
const OVERVIEW = {
  name: ["name", false, (model) => make("b", {}, ...pieces(model.name, JOINTS)), (model) => model.name],
  place: ["where", false, (model) => pieces(model.place, JOINTS), (model) => model.place],
  needs: ["needs", true, (model) => (model.bytes === null ? "" : model.figure), (model) => model.bytes ?? -1],
  limit: ["limit", true, (model) => (model.limit === null ? "" : show(model.limit)), (model) => model.limit ?? -1],
  largest: ["largest batch", true, (model) => (model.largest === null ? "" : model.largest < 1 ? "none" : count(model.largest)), (model) => model.largest ?? -1],
  state: ["state", false, (model) => stateOf(model, pieces(model.state, JOINTS)), (model) => model.state],
  batch: ["batch", true, (model) => model.batch, (model) => Number.parseInt(model.batch, 10) || 0],
  input: ["input", false, (model) => model.input, (model) => model.input],
};
const WIDE_OVERVIEW = ["name", "place", "needs", "limit", "largest", "state", "batch", "input"];
const NARROW_OVERVIEW = ["name", "needs", "state", "limit", "largest", "batch", "input", "place"];
const PHONE_OVERVIEW = ["name", "needs", "limit", "largest", "batch", "input"];

function stateOf(model, shown) {
  return make("span", { class: model.over ? "bad" : model.fits ? "good" : "soft" }, ...shown);
}

// What stands below a name on a phone: its file and, of a part, that of the model that it is a part of.
function belowName(model) {
  const short = (text) => text.split(" ").map((word) => word.split("/").pop()).join(" ");
  return [make("small", { title: model.place }, short(model.place)), make("small", {}, stateOf(model, [short(model.state)]))];
}

function overview() {
  const limited = INDEX.some((model) => model.limit !== null);
  const narrow = matchMedia("(max-width: 860px)"), phone = matchMedia("(max-width: 520px)");
  const order = INDEX.map((model, number) => ({ model, number }));
  const head = make("tr"), body = make("tbody");
  let by = "", down = false, word = "";

  function columns() {
    return (phone.matches ? PHONE_OVERVIEW : narrow.matches ? NARROW_OVERVIEW : WIDE_OVERVIEW).filter((key) => limited || (key !== "limit" && key !== "largest"));
  }

  function sort(key) {
    const [, number, , value] = OVERVIEW[key];
    down = by === key ? !down : number;
    by = key;
    order.sort((a, b) => compareValues(value(a.model), value(b.model)) * (down ? -1 : 1) || a.number - b.number);
    fill();
  }

  function fill() {
    const shown = columns();
    head.replaceChildren(...shown.map((key) => make("th", {
      scope: "col", class: OVERVIEW[key][1] ? "number" : null, "aria-sort": key === by ? (down ? "descending" : "ascending") : null,
    }, make("button", { type: "button", onclick: () => sort(key) }, OVERVIEW[key][0]))));
    const found = order.filter(({ model }) => `${model.name} ${model.place} ${model.training} ${model.state}`.toLowerCase().includes(word));
    body.replaceChildren(...found.map(({ model, number }) => make("tr", { "data-model": number },
      ...shown.map((key) => make("td", { class: [OVERVIEW[key][1] ? "number" : "", key === "place" ? "code" : key === "state" ? "state" : ""].join(" ").trim() || null },
        key === "name" ? make("a", { href: `#${number}` }, OVERVIEW[key][2](model), ...(phone.matches ? belowName(model) : model.training ? [make("small", {}, ...pieces(model.training, JOINTS))] : [])) : OVERVIEW[key][2](model))))));
    markChosen(wanted);
  }

  const filter = make("input", { type: "search", placeholder: "Filter by name, place or state", "aria-label": "Filter the models" });
  filter.addEventListener("input", () => { word = filter.value.toLowerCase(); fill(); });
  for (const width of [narrow, phone]) width.addEventListener("change", fill);
  fill();
  const over = INDEX.filter((model) => model.over).length, parts = INDEX.filter((model) => model.part).length;
  const section = document.getElementById("models");
  section.append(
    make("div", { class: "top" }, make("h2", { id: "models-title" }, counted(INDEX.length - parts, over, parts)), filter),
    make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "The table of models" },
      make("table", {}, make("thead", {}, head), body)));
  section.hidden = false;
}

function counted(models, over, parts) {
  return [
    `${models} ${models === 1 ? "model" : "models"}`,
    over ? `, ${over} over ${over === 1 ? "its limit" : "their limits"}` : "",
    parts ? `, and ${parts} that ${parts === 1 ? "is a part" : "are parts"} of them` : "",
  ].join("");
}

function markChosen(number) {
  for (const row of document.querySelectorAll("#models tbody tr")) {
    const link = row.querySelector("a");
    if (row.dataset.model === String(number)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function compareValues(left, right) {
  return typeof left === "number" ? left - right : left.localeCompare(right, "en", { numeric: true });
}
