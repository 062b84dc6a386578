// Says of every moment how long ago it was; the moment itself, in the reader's time, is its title.
// Where `data-local` stands the moment itself is said.

const STEPS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
export const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function spellAgo(moment, now = Date.now()) {
  const seconds = (moment - now) / 1000;
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relative.format(Math.round(seconds / step[1]), step[0]) : "just now";
}

function tell() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    const isLocal = time.dataset.local !== undefined;
    time.textContent = isLocal ? exact.format(moment) : spellAgo(moment);
    time.title = isLocal ? moment.toUTCString() : exact.format(moment);
  }
}

tell();
setInterval(tell, 60_000);
