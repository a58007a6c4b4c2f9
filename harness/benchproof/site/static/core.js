"use strict";
// What every page shares: data that arrives as scripts, the address, elements, numbers.
(() => {
  const given = new Map();
  const asked = new Map();

  // Scripts, because a page from the disk may not fetch.
  const give = (name, data) => given.set(name, data);
  const load = (name, file) => {
    if (!asked.has(file)) {
      asked.set(file, new Promise((resolve, reject) => {
        const tag = document.createElement("script");
        tag.src = `site/data/${file}`;
        tag.onload = () => {
          if (given.has(name)) resolve(given.get(name));
          else reject(new Error(`${file} holds something else: publish the site again`));
          given.delete(name);
          tag.remove();
        };
        tag.onerror = () => {
          asked.delete(file);
          reject(new Error(`${file} could not be loaded: was the site published anew? Load the page again.`));
        };
        document.head.append(tag);
      }));
    }
    return asked.get(file);
  };
  const catalogue = () => load("catalogue", document.documentElement.dataset.catalogue);

  // The address: everything that a reader chose stands behind the #, so that it can be sent.
  const choice = () => new URLSearchParams(location.hash.slice(1));
  const keep = (entries) => {
    const now = new URLSearchParams();
    for (const [key, value] of Object.entries(entries)) if (value) now.set(key, value);
    history.replaceState(null, "", `#${now}`);
  };

  // Text is never parsed as HTML.
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value != null) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  };

  const numbers = (text) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  };
  const places = (text) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Uint16Array(bytes.buffer);
  };

  const significant = (value, digits = 3) => {
    if (!value) return "0";
    const rounded = Number(value.toPrecision(digits));
    const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
    return rounded.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  };
  const scaled = (steps) => (value, digits = 3) => {
    const rounded = Math.abs(Number(value.toPrecision(3)));
    const [size, unit] = steps.find(([least]) => rounded >= least) || steps.at(-1);
    return `${significant(value / size, digits)} ${unit}`.trim();
  };
  const seconds = scaled([[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
  const bytes = scaled([[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
  const large = scaled([[1e9, "G"], [1e6, "M"]]);
  const count = (value, digits = 3) => {
    if (Math.abs(value) >= 1e6) return large(value, Math.max(digits, 4));
    if (Math.abs(value) >= 1000 && digits <= 4) return Math.round(value).toLocaleString("en");
    return Number.isInteger(value) ? value.toLocaleString("en") : significant(value, digits);
  };
  const FORMATS = { wall: seconds, instructions: count, allocations: count, bytes };
  const figure = (meter) => FORMATS[meter] || count;
  const ratio = (value, digits = 3) =>
    value >= 0.5 && value < 2 ? value.toFixed(Math.max(3, digits - 1)) : significant(value, digits);
  // As units.change in Python writes it.
  const percent = (value) => {
    if (value == null || !Number.isFinite(value)) return "from 0";
    if (value === 1) return "=";
    if (value >= 2) return `×${significant(value)}`;
    if (value < 0.05) return value ? `÷${significant(1 / value)}` : "to 0";
    const added = 100 * (value - 1);
    const decimals = Math.abs(Number(added.toFixed(2))) < 10 ? 2 : 1;
    return `${added < 0 ? "-" : "+"}${Math.abs(added).toFixed(decimals)}\u00a0%`;
  };
  const day = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 10);

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const trouble = (error) => {
    const line = document.getElementById("trouble");
    if (line) { line.textContent = error.message || String(error); line.hidden = false; }
  };

  // The commit's address on its host, where the project has one.
  const commitLink = (hash, short = 10) => {
    const base = document.documentElement.dataset.commitUrl;
    const code = element("code", {}, hash.slice(0, short));
    return base ? element("a", { href: base + hash }, code) : code;
  };

  window.benchproof = {
    give, load, catalogue, choice, keep, element, numbers, places, significant, figure, ratio,
    percent, day, colour, trouble, commitLink,
  };
})();
