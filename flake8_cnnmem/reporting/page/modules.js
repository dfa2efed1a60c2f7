// Where the memory goes, by module path: a treemap that one can walk into, and the same as a list for the keyboard.

// The tree of modules. A node is {name, path, line, weights, kept, children}; sizes include everything below.
function treeOf(holds) {
  const root = { name: "the model", path: "", line: 0, type: "", weights: 0, kept: 0, children: new Map() };
  for (const [path, line, type, weights, kept] of holds) {
    let node = root;
    node.weights += weights;
    node.kept += kept;
    const names = path.split(".");
    names.forEach((name, depth) => {
      if (!node.children.has(name)) {
        const below = names.slice(0, depth + 1).join(".");
        node.children.set(name, { name, path: below, line: 0, type: "", weights: 0, kept: 0, children: new Map() });
      }
      node = node.children.get(name);
      node.weights += weights;
      node.kept += kept;
    });
    node.line = node.line || line;
    node.type = node.type || type;
  }
  return opened(settled(root));
}

// A root with nothing but one module in it shows what is in that one.
function opened(root) {
  const [only] = root.children;
  if (root.children.length !== 1 || !only.children.length) return root;
  return opened({ ...root, children: only.children.map((child) => ({ ...child, name: `${only.name}.${child.name}` })) });
}

// The children as a list, the largest first; a module with nothing but one other in it is that other one.
function settled(node) {
  const children = [...node.children.values()].map((child) => {
    let made = settled(child);
    while (made.children.length === 1 && size(made.children[0]) === size(made)) {
      const [only] = made.children;
      made = { ...only, name: `${made.name}.${only.name}` };
    }
    return made;
  });
  return { ...node, children: children.filter((child) => size(child) > 0).sort((a, b) => size(b) - size(a)) };
}

// Between two colours written as #rrggbb.
function mixer(from, to) {
  const parts = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [parts(from), parts(to)];
  return (share) => `rgb(${a.map((part, index) => Math.round(part + (b[index] - part) * share)).join(",")})`;
}

// The type of a single layer, where its name does not say it already.
function typeOf(node) {
  return node.children.length || node.name.split(".").pop() === node.type ? "" : node.type;
}

function size(node) {
  return node.weights + node.kept;
}

function whereItGoes(model) {
  const root = treeOf(model.holds.modules);
  let trail = [root];
  const plot = make("div", { class: "plot", "aria-hidden": "true" });
  const crumbs = make("ol", { class: "crumbs" });
  const ranked = make("ul", { class: "ranked" });
  const said = make("p", { class: "soft", role: "status" });

  function walk(steps, focus) {
    trail = steps;
    const node = trail[trail.length - 1];
    crumbs.replaceChildren(...trail.map((each, index) => {
      const last = index === trail.length - 1;
      const name = index ? each.name : model.name;
      return make("li", {}, last
        ? make("span", { "aria-current": "location", class: "code" }, ...path(name))
        : make("button", { type: "button", class: "linkish code", onclick: () => walk(trail.slice(0, index + 1), true) }, ...path(name)));
    }));
    const most = Math.max(...node.children.map(size), 1);
    ranked.replaceChildren(...node.children.map((child) => entry(child, most)));
    said.textContent = `${trail.length > 1 ? node.path : "all modules"}: ${show(size(node))}, of which `
      + `${show(node.kept)} ${model.holds.kept} and ${show(node.weights)} ${model.holds.weights}`;
    if (focus) (ranked.querySelector("button") || crumbs.querySelector("li:nth-last-child(2) button") || plot).focus();
    if (plot.isConnected) ready().then(draw);
  }

  function entry(child, most) {
    const percent = (part) => `${(100 * part) / most}%`;
    const inside = [
      make("span", { class: "name" }, ...path(child.name), typeOf(child) ? make("span", { class: "soft" }, ` ${typeOf(child)}`) : null),
      make("span", { class: "number" }, show(size(child))),
      make("span", { class: "bar" },
        make("span", { style: `width: ${percent(child.kept)}; background: var(--kept)` }),
        make("span", { style: `width: ${percent(child.weights)}; background: var(--parameters)` })),
      child.line && !child.children.length ? make("span", { class: "line" }, `line ${child.line}`) : null,
    ];
    return make("li", {}, child.children.length
      ? make("button", { type: "button", onclick: () => walk([...trail, child], true) }, ...inside)
      : make("div", {}, ...inside));
  }

  // Two generations below where we are. Nodes are told apart by number: a path could be anything.
  function draw() {
    const here = trail[trail.length - 1];
    const found = [{ node: here, parent: "", steps: trail }];
    for (const child of here.children) {
      const steps = [...trail, child];
      const number = found.push({ node: child, parent: "0", steps }) - 1;
      for (const below of child.children) found.push({ node: below, parent: String(number), steps: [...steps, below] });
    }
    const mixed = mixer(colour("parameters"), colour("kept"));
    const trace = {
      type: "treemap", ids: found.map((_, index) => String(index)), parents: found.map((each) => each.parent),
      labels: found.map(({ node }) => node === here ? "" : plain(`${node.name} ${typeOf(node)}`.trim())), values: found.map(({ node }) => size(node)),
      text: found.map(({ node }) => (node === here ? "" : show(size(node)))), texttemplate: "%{label}<br>%{text}", branchvalues: "total",
      sort: true, hoverinfo: "none", pathbar: { visible: false }, tiling: { pad: 2 },
      textfont: { size: 13, color: "#10141a" },
      marker: {
        colors: found.map(({ node }) => (node === here ? colour("card") : mixed(node.kept / Math.max(1, size(node))))),
        line: { width: 1, color: colour("card") }, pad: { t: 20, l: 2, r: 2, b: 2 }, cornerradius: 3,
      },
    };
    return Plotly.react(plot, [trace], {
      margin: { l: 0, r: 0, t: 0, b: 0 }, width: plot.clientWidth, height: plot.clientHeight,
      paper_bgcolor: "rgba(0,0,0,0)", font: { family: "system-ui, sans-serif" }, uniformtext: { minsize: 10, mode: "hide" },
    }, CHART).then(() => {
      plot.removeAllListeners("plotly_treemapclick");
      plot.on("plotly_treemapclick", (event) => {
        const { node, steps } = found[Number(event.points[0].id)];
        if (node !== here && node.children.length) walk(steps, false);
        return false;
      });
    });
  }

  walk(trail, false);
  const card = make(
    "section", { class: "card", "aria-labelledby": "modules-title" },
    make("h2", { id: "modules-title" }, "Where the memory goes"),
    make("p", { class: "soft" }, model.holds.title),
    make("nav", { "aria-label": "Module path" }, crumbs),
    make("div", { class: "modules" }, plot, ranked), said,
    make("ul", { class: "legend" }, make("li", {}, swatch("kept"), model.holds.kept), make("li", {}, swatch("parameters"), model.holds.weights)),
  );
  return { card, plot, draw };
}
