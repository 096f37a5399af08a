"use strict";
(() => {
  // One pair at a time, as chosen; without a script all are there.
  const chooser = document.getElementById("pair");
  const figures = [...document.querySelectorAll("[data-pair]")];
  const show = () => {
    for (const figure of figures) figure.hidden = figure.dataset.pair !== chooser.value;
  };
  chooser.addEventListener("change", show);
  show();
  document.getElementById("chooser").hidden = false;
})();
