// Rows from the most to the least suspicious; report/ranking.py does the same.

const ranking = {
  // From the log-ratios of the class to be found, of each class; weight(c, i) rows for each.
  of(ratios, rare, counts, weight) {
    const rows = ratios.flatMap((part, c) => Array.from(part, (ratio, i) => [ratio, c, weight(c, i)]));
    rows.sort((a, b) => b[0] - a[0]);
    const ratio = [Infinity], flagged = [0], found = [0];
    let all = 0, own = 0;
    rows.forEach(([value, c, n], i) => {
      all += n;
      if (c === rare) own += n;
      if (i + 1 < rows.length && rows[i + 1][0] === value) return;
      ratio.push(value);
      flagged.push(all);
      found.push(own);
    });
    return { ratio, flagged, found, total: counts[rare], rows: counts[0] + counts[1] };
  },

  cost: (order, k, miss, alarm) =>
    (order.total - order.found[k]) * miss + (order.flagged[k] - order.found[k]) * alarm,

  // Where mistakes cost least; of several such points the one that flags fewest.
  cheapest(order, miss, alarm) {
    let best = 0, least = Infinity;
    for (let k = 0; k < order.flagged.length; k += 1) {
      const cost = ranking.cost(order, k, miss, alarm);
      if (cost < least) [best, least] = [k, cost];
    }
    return best;
  },

  // A log-ratio between the last row that is flagged and the first that is not.
  cut(order, k) {
    const above = order.ratio[k], below = order.ratio[k + 1];
    if (k === 0) return below + 1;
    return below === undefined ? above - 1 : (above + below) / 2;
  },

  // Rows of the class among the first n; ties are cut in proportion.
  foundWithin(order, n) {
    let low = 0, high = order.flagged.length - 1;
    if (n >= order.flagged[high]) return order.found[high];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (order.flagged[middle] <= n) low = middle;
      else high = middle;
    }
    const share = (n - order.flagged[low]) / (order.flagged[high] - order.flagged[low]);
    return order.found[low] + share * (order.found[high] - order.found[low]);
  },
};
