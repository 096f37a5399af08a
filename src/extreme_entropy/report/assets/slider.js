(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const rare = data.rare, other = 1 - rare;

  const unpack = (text, Kind) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Kind(bytes.buffer);
  };
  const points = data.points.map((part) => unpack(part, Float64Array));
  const plane = data.plane && { ...data.plane,
    ratios: unpack(data.plane.ratios, Float32Array),
    own: unpack(data.plane.own, Float64Array),
    points: unpack(data.plane.points, Float64Array) };
  const draw = drawing(data, plane);
  const sign = rare === 1 ? 1 : -1;
  const ratios = points.map((part) => part.map((t) => sign * closedForm.logRatio(data.pair, t)));
  const weight = (c, i) => data.weights[c][i < data.exact[c] ? 0 : 1];
  const order = ranking.of(ratios, rare, data.counts, weight);

  // ------------------------------------------------------------------ what is chosen

  const state = { costs: [...data.costs], point: "model" };
  const show = (id, text, value) => {
    const element = at(id);
    element.textContent = text;
    if (value !== undefined) element.dataset.value = value;
  };
  const times = () => {
    const ratio = state.costs[rare] / state.costs[other];
    if (ratio === 1) return "as much as";
    return `${format.amount(ratio)} times as much as`;
  };

  // ------------------------------------------------------------------ what follows

  // The bias of the log-odds and the confusion matrix at the chosen point.
  const decided = () => {
    if (state.point === "cheapest") {
      const k = ranking.cheapest(order, state.costs[rare], state.costs[other]);
      const found = order.found[k], alarms = order.flagged[k] - found;
      const matrix = [[0, 0], [0, 0]];
      matrix[rare][rare] = found;
      matrix[rare][other] = data.counts[rare] - found;
      matrix[other][rare] = alarms;
      matrix[other][other] = data.counts[other] - alarms;
      return { bias: -sign * ranking.cut(order, k), matrix };
    }
    const logPriors = data.logPriors[state.point];
    const bias = closedForm.bias(logPriors, state.costs);
    const asGiven = state.point === "model" && state.costs.every((cost, c) => cost === data.costs[c]);
    const matrix = asGiven ? data.confusion
      : closedForm.confusion(data.pair, logPriors, state.costs, points, weight);
    return { bias, matrix };
  };

  const showMatrix = (matrix) => {
    for (const c of [0, 1]) {
      for (const d of [0, 1]) show(`cell${c}${d}`, format.count(matrix[c][d]), matrix[c][d]);
    }
    const recalls = [0, 1].map((c) => matrix[c][c] / (matrix[c][0] + matrix[c][1]));
    const precisions = [0, 1].map((c) => matrix[c][c] / (matrix[0][c] + matrix[1][c]));
    for (const c of [0, 1]) {
      show(`recall${c}`, format.percent(recalls[c]), recalls[c]);
      show(`precision${c}`, format.percent(precisions[c]), precisions[c]);
    }
    return { recalls, precisions };
  };

  const showCost = (matrix) => {
    const [c0, c1] = state.costs;
    const cost = matrix[0][1] * c0 + matrix[1][0] * c1;
    const nothing = data.counts[rare] * state.costs[rare];
    const all = data.counts[other] * state.costs[other];
    const best = ranking.cheapest(order, state.costs[rare], state.costs[other]);
    const least = ranking.cost(order, best, state.costs[rare], state.costs[other]);
    show("cost", format.amount(cost), cost);
    show("cost-per-row", format.amount((1000 * cost) / (data.counts[0] + data.counts[1])),
      cost / (data.counts[0] + data.counts[1]));
    show("nothing-cost", format.amount(nothing), nothing);
    show("all-cost", format.amount(all), all);
    show("least-cost", format.amount(least), least);
    const now = { flagged: matrix[0][rare] + matrix[1][rare], found: matrix[rare][rare] };
    draw.costs(order, state.costs[rare], state.costs[other], now,
      { flagged: order.flagged[best], found: order.found[best] });
  };

  const showLimit = (bias, thresholds, inside) => {
    const shares = data.logPriors.rows;
    const limit = 1 / (1 + Math.exp(sign * (bias - (shares[1] - shares[0]))));
    draw.limit(limit);
    const name = data.classes[rare];
    const words = inside.length
      ? `Rows are predicted ${name} from a probability of ${format.percent(limit)} on.`
      : "The decision never changes among these rows: one class wins everywhere.";
    show("thresholds", words, thresholds.join(" "));
  };

  let saying;
  const say = (text) => {
    clearTimeout(saying);
    saying = setTimeout(() => show("spoken", text), 400);
  };

  const update = () => {
    const { bias, matrix } = decided();
    const thresholds = closedForm.thresholds(data.pair, bias);
    const { recalls, precisions } = showMatrix(matrix);
    const gmean = Math.sqrt(recalls[0] * recalls[1]);
    show("times", times());
    for (const point of ["rows", "cheapest"]) at(`at-${point}`).hidden = state.point !== point;
    show("live-gmean", format.score(gmean), gmean);
    const balanced = (recalls[0] + recalls[1]) / 2;
    show("live-balanced", format.score(balanced), balanced);
    showCost(matrix);
    showLimit(bias, thresholds, draw.projection(thresholds, bias));
    draw.point("roc", 1 - recalls[other], recalls[rare]);
    draw.point("precision_recall", recalls[rare], precisions[rare]);
    draw.map(bias);
    say(`Missing ${data.classes[rare]} costs ${times()} missing ${data.classes[other]}: ` +
      `${format.count(matrix[rare][rare])} of ${format.count(data.counts[rare])} ${data.classes[rare]} found, ` +
      `${format.count(matrix[other][rare])} false alarms, precision ${format.percent(precisions[rare])}.`);
  };

  // ------------------------------------------------------------------ costs and the point

  const slider = at("ratio"), fields = [at("cost0"), at("cost1")];
  const choices = [...document.querySelectorAll("input[name=point]")];

  const short = (cost) => Number(cost.toPrecision(4));
  const followSlider = () => {
    const ratio = state.costs[rare] / state.costs[other];
    slider.value = Math.min(Math.max(Math.log10(ratio), Number(slider.min)), Number(slider.max));
    slider.setAttribute("aria-valuetext", `${times()} the other`);
  };
  const choose = (point) => {
    state.point = point;
    for (const choice of choices) choice.checked = choice.value === point;
  };

  slider.addEventListener("input", () => {
    // Two digits: what the field shows is what is used.
    const ratio = Number((10 ** Number(slider.value)).toPrecision(2));
    state.costs[rare] = Number((ratio * state.costs[other]).toPrecision(12));
    fields[rare].value = state.costs[rare];
    for (const field of fields) field.removeAttribute("aria-invalid");
    slider.setAttribute("aria-valuetext", `${times()} the other`);
    at("refused").hidden = true;
    update();
  });

  fields.forEach((field, c) => field.addEventListener("input", () => {
    const cost = Number(field.value);
    const fine = field.value.trim() !== "" && Number.isFinite(cost) && cost > 0;
    if (fine) field.removeAttribute("aria-invalid");
    else field.setAttribute("aria-invalid", "true");
    at("refused").hidden = fine;
    if (!fine) return;
    state.costs[c] = cost;
    followSlider();
    update();
  }));

  for (const choice of choices) {
    choice.addEventListener("change", () => {
      state.point = choice.value;
      update();
    });
  }

  at("to-cheapest").addEventListener("click", () => {
    choose("cheapest");
    update();
    at("costs").scrollIntoView();
    choices[choices.length - 1].focus();
  });

  at("reset").addEventListener("click", () => {
    state.costs = [...data.costs];
    choose("model");
    fields.forEach((field, c) => { field.value = short(state.costs[c]); field.removeAttribute("aria-invalid"); });
    at("refused").hidden = true;
    followSlider();
    update();
  });

  // ------------------------------------------------------------------ the budget

  const budget = at("budget-rows");
  const lookAt = () => {
    const n = Number(budget.value);
    const fine = budget.value.trim() !== "" && Number.isInteger(n) && n >= 1 && n <= order.rows;
    if (fine) budget.removeAttribute("aria-invalid");
    else budget.setAttribute("aria-invalid", "true");
    at("budget-refused").hidden = fine;
    if (!fine) return;
    const found = ranking.foundWithin(order, n);
    show("budget-n", format.count(n), n);
    show("budget-share", format.percent(found / order.total), found / order.total);
    show("budget-found", Math.round(found).toLocaleString("en-US"), found);
    show("budget-precision", format.percent(found / n), found / n);
    show("lift", format.times(found / n / (order.total / order.rows)), found / n / (order.total / order.rows));
    draw.point("gains", n, found / order.total);
  };
  budget.addEventListener("input", () => {
    lookAt();
    say(at("budget-words").textContent.replace(/\s+/g, " "));
  });

  // ------------------------------------------------------------------ as the page opens

  fields.forEach((field, c) => { field.value = short(state.costs[c]); });
  choose("model");
  followSlider();
  update();
  lookAt();
  for (const id of ["controls", "budget-controls", "to-cheapest"]) at(id).hidden = false;
})();
