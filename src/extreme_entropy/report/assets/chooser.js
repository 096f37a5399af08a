(() => {
  // One line at a time, as chosen; without a script all are there.
  const chooser = document.getElementById("pair");
  const lines = [...document.querySelectorAll("[data-line]")];
  const show = () => {
    for (const line of lines) line.hidden = line.dataset.line !== chooser.value;
  };
  chooser.addEventListener("change", show);
  show();
  document.getElementById("chooser").hidden = false;
})();
