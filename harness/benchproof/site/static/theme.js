"use strict";
// The colour scheme: the system's until the reader chooses, then the choice. Runs before the first paint.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  // A browser that keeps nothing for files on the disk throws here.
  const kept = (change) => { try { return change(localStorage); } catch { return null; } };
  const chosen = kept((store) => store.getItem("benchproof-theme"));
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    const button = document.getElementById("theme");
    if (button) button.textContent = isDark() ? "Light" : "Dark";
    document.dispatchEvent(new Event("benchproof-theme"));
  };
  system.addEventListener("change", tell);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    button.setAttribute("aria-label", "Change the colour scheme");
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      kept((store) => store.setItem("benchproof-theme", root.dataset.theme));
      tell();
    });
    tell();
  });
})();
