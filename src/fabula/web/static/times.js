// Says of every moment how long ago it was; the moment itself, in the reader's time, is its title.

const STEPS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short" });

export function spellAgo(moment, now = Date.now()) {
  const seconds = (moment - now) / 1000;
  const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relative.format(Math.round(seconds / step[1]), step[0]) : "just now";
}

function tell() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    time.textContent = spellAgo(moment);
    time.title = exact.format(moment);
  }
}

tell();
setInterval(tell, 60_000);
