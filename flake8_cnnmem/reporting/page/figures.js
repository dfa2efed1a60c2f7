// Sizes as the reports print them, and elements made of text: nothing from the data is ever read as HTML.

const KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB;

const USES = [
  ["overhead", "overhead"],
  ["parameters", "parameters"],
  ["optimizer", "optimizer state"],
  ["gradients", "gradients"],
  ["input", "input"],
  ["kept", "kept activations"],
  ["temporaries", "temporaries"],
];

// Python's rounding: a tie goes to the even digit, where toFixed takes the larger one.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const rounded = Math.abs(scaled % 1) === 0.5 ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return (Math.abs(scaled % 1) === 0.5 ? rounded / 10 ** digits : value).toFixed(digits);
}

// `13.9 GiB`, `37 MiB`, `4.5 MiB`, `0.02 MiB`: as units.show in Python.
function show(size) {
  if (size < 0) return "−" + show(-size);
  if (Number(fixed(size / GIB, 1)) >= 1) return fixed(size / GIB, 1) + " GiB";
  if (size > 0 && size < 0.005 * MIB) return "<0.01 MiB";
  const digits = size >= 10 * MIB || size === 0 ? 0 : size >= MIB ? 1 : 2;
  return fixed(size / MIB, digits) + " MiB";
}

function count(number) {
  return number.toLocaleString("en-US");
}

// An element: attributes, then children that are elements or text.
function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "style") made.style.cssText = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== "") made.append(child);
  }
  return made;
}

// A module path that may be broken behind its dots.
function path(text) {
  return pieces(text, /(?<=[./])/);
}

// A text that may go on in a new line at these places.
function pieces(text, places) {
  return text.split(places).flatMap((part, index) => (index ? [document.createElement("wbr"), part] : [part]));
}

function swatch(use) {
  return make("span", { class: "swatch", style: `background: var(--${use})` });
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// The charting library reads a few tags in its texts; a name that looks like one stays a name.
function plain(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

const CHART = { displayModeBar: false, responsive: false, doubleClick: false, showTips: false };
