// Numbers as report/numbers.py writes them.

const format = {
  count(n) {
    const whole = Math.round(n);
    return (Math.abs(n - whole) > 1e-6 ? "about " : "") + whole.toLocaleString("en-US");
  },
  amount(x) {
    if (!Number.isFinite(x)) return "–";
    if (x === Math.round(x) || Math.abs(x) >= 1000) return Math.round(x).toLocaleString("en-US");
    return x.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  },
  times(ratio) {
    return ratio >= 100 ? Math.round(ratio).toLocaleString("en-US") : ratio.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  },
  percent(share) {
    if (!Number.isFinite(share)) return "–";
    const whole = (share >= 0.1 && share <= 0.9) || share === 0 || share >= 1;
    const text = (100 * share).toFixed(whole ? 0 : 1);
    if (share < 0.5 && share > 0 && Number(text) === 0) return "under 0.1\u00a0%";
    if (share > 0.5 && share < 1 && Number(text) === 100) return "over 99.9\u00a0%";
    return text + "\u00a0%";
  },
  score: (x) => x.toFixed(3),
};
